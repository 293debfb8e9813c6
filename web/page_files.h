/* SPDX-License-Identifier: MIT */
/*
 * web/page_files.h - the viewer's pages, which are built into the program
 *
 * Way of the data:  web/pages -> Makefile -> [page_files] -> http_server, html_file
 *
 * web/pages/page.html has two marker lines, PAGE_STYLE_MARK in its head and PAGE_SCRIPTS_MARK at the end of
 * its body;
 * web/pages/order names the scripts, one a line, in the order in which they run.
 */
#ifndef WEB_PAGE_FILES_H
#define WEB_PAGE_FILES_H

#include "base/text_view.h"

#define PAGE_STYLE_MARK   "<!-- style -->"
#define PAGE_SCRIPTS_MARK "<!-- scripts -->"
#define PAGE_DOCUMENT     "page.html"
#define PAGE_STYLE        "page.css"

struct byte_buffer;

/* One file; both borrow the program's own memory.  `name` is not ended by NUL. */
struct page_file {
        struct text_view name, text;
};

/* Goes through all, from one with `name.bytes` NULL on, scripts in their order.  Returns 1, 0 at the end. */
int page_files_next(struct page_file *file);

/* Returns whether there is a file of that name. */
int page_files_find(const char *name, struct page_file *ret_file);

/* The document for the server: the markers are replaced by links to the style and to each script. */
void page_files_put_start(struct byte_buffer *out);

/*
 * page_files_split() - the document in three parts, around its markers
 * Returns 0, or -EBADMSG if a marker is missing.
 */
int page_files_split(struct text_view ret_parts[3]);

#endif /* WEB_PAGE_FILES_H */
