/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_page.h - where text of titles and tables is written to, and whether titles are bold there
 *
 * Way of the data:  annotate_text -> [text_page] -> text_table, text_line -> terminal
 */
#ifndef VIEW_TEXT_TEXT_PAGE_H
#define VIEW_TEXT_TEXT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct byte_buffer;
struct text_table;

struct text_page {
        FILE *out; /* borrowed */
        bool color;
        bool full_names; /* of tables: see text_table.h */
};

/* Our own words, as the first line; further lines of them are indented. */
void text_page_print_head(const struct text_page *page, const char *words);

/* The same after an empty line. */
void text_page_print_title(const struct text_page *page, const char *words);

/* The same of a line that is composed already, and emptied.  Returns 0 or -ENOMEM. */
int text_page_print_title_line(const struct text_page *page, struct byte_buffer *line);

/* As text_table_print(), with the page's titles and names. */
int text_page_print_table(const struct text_page *page, struct text_table *table, uint32_t n_indent);

#endif /* VIEW_TEXT_TEXT_PAGE_H */
