/* SPDX-License-Identifier: MIT */
/*
 * cli/text_table.h - columns of text that line up, whatever the names are made of
 *
 * Way of the data:  report_text -> [text_table] -> terminal
 *
 * What comes from a trace is escaped on its way in: bytes that are no UTF-8 and
 * characters that a terminal would obey are shown as \xNN and \u{NNNN}.  Every
 * character is taken to be one column wide.
 *
 * Sticky: when memory runs out, `failed` is set and text_table_print() fails.
 */
#ifndef CLI_TEXT_TABLE_H
#define CLI_TEXT_TABLE_H

#include "base/byte_buffer.h"
#include "cli/text_width.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text_column {
        const char *title;
        bool right;             /* flush right, for numbers */
        uint32_t n_columns_max; /* longer cells are cut and end in an ellipsis; 0 = what the line leaves */
};

struct text_cell {
        size_t at_bytes; /* in `text` */
        size_t n_bytes;
        uint32_t n_columns;
};

struct text_table {
        const struct text_column *columns; /* borrowed */
        uint32_t n_columns;
        struct byte_buffer text;
        struct text_cell *cells; /* heap; row by row */
        size_t n_cells, cells_capacity;
        bool failed;
};

void text_table_init(struct text_table *t, const struct text_column *columns, uint32_t n_columns);
void text_table_deinit(struct text_table *t);

/* Adds the next cell of the row; rows are `n_columns` cells.  @bytes may be hostile. */
void text_table_add(struct text_table *t, const char *bytes, size_t n_bytes);
void text_table_add_text(struct text_table *t, const char *text);

/* Writes titles and rows, each line behind @n_indent spaces.  Returns 0 or -ENOMEM. */
int text_table_print(const struct text_table *t, uint32_t n_indent, FILE *out);

/* Appends @bytes escaped; returns how many columns they take. */
uint32_t text_escape(struct byte_buffer *out, const char *bytes, size_t n_bytes);

/*
 * text_wrap() - write words in lines of at most text_width_of(@out) columns
 * @text:      escaped already
 * @n_indent:  spaces before every line but the first, which is where the caller left it
 * A word longer than a line is broken.
 */
void text_wrap(const char *text, size_t n_bytes, uint32_t n_indent, FILE *out);

/* The same in lines of at most @n_columns. */
void text_wrap_to(const char *text, size_t n_bytes, uint32_t n_indent, uint32_t n_columns, FILE *out);

#endif /* CLI_TEXT_TABLE_H */
