/* SPDX-License-Identifier: MIT */
/*
 * web/model/page_files.h - the viewer's pages, which are built into the program
 *
 * Way of the data:  web/pages -> Makefile -> [page_files] -> http_server, html_file
 *
 * There are three: the document, which has two marker lines, PAGE_STYLE_MARK in its head and PAGE_SCRIPT_MARK
 * at the end of its body; its style; and one script, which join_pages.awk makes of the modules of web/pages.
 */
#ifndef WEB_MODEL_PAGE_FILES_H
#define WEB_MODEL_PAGE_FILES_H

#include "base/text_view.h"

#define PAGE_STYLE_MARK  "<!-- style -->"
#define PAGE_SCRIPT_MARK "<!-- script -->"
#define PAGE_DOCUMENT    "page.html"
#define PAGE_STYLE       "page.css"
#define PAGE_SCRIPT      "page.js"

struct byte_buffer;

/* One file; both borrow the program's own memory.  `name` is not ended by NUL. */
struct page_file {
        struct text_view name, text;
};

/* Returns whether there is a file of that name, one of the three. */
int page_files_find(const char *name, struct page_file *ret_file);

/* The document for the server: the markers are replaced by links to the style and to the script. */
void page_files_put_start(struct byte_buffer *out);

/*
 * page_files_split() - the document in three parts, around its markers
 * Returns 0, or -EBADMSG if a marker is missing.
 */
int page_files_split(struct text_view ret_parts[3]);

#endif /* WEB_MODEL_PAGE_FILES_H */
