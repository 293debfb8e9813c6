/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_table.h - columns of text that line up, whatever the names are made of
 *
 * Way of the data:  document_text -> [text_table] -> terminal
 *
 * Text from a trace is escaped on its way in: invalid UTF-8 and characters that a terminal would obey are
 * shown as \xNN and \u{NNNN}, as are characters beyond ASCII where the locale has nothing else
 * (text_charset.h).  Every character is taken to be one column wide.
 *
 * Sticky: when memory runs out, `failed` is set and text_table_print() fails.
 */
#ifndef VIEW_TEXT_TEXT_TABLE_H
#define VIEW_TEXT_TEXT_TABLE_H

#include "base/byte_buffer.h"
#include "view/text/text_width.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text_column {
        const char *title;
        uint32_t n_columns_max; /* longer cells are cut and end in an ellipsis; 0 = what the line leaves */
        bool right;             /* flush right, for numbers */
        bool may_go;            /* is left out if the line has no room for it; the last such column first */
};

struct text_cell {
        size_t at_bytes; /* in `text` */
        size_t n_bytes;
        uint32_t n_columns;
};

/* Words on lines of their own below a row. */
struct text_below {
        size_t row;
        size_t at_bytes, n_bytes; /* in `text` */
};

struct text_table {
        const struct text_column *columns; /* borrowed */
        uint32_t n_columns;
        struct byte_buffer text;
        struct text_cell *cells; /* heap; row by row */
        size_t n_cells, cells_capacity;
        struct text_below *below; /* heap; in the order of the rows */
        size_t n_below, below_capacity;
        /* the longest line; 0, the initial value = the width of what the table is printed to */
        uint32_t line_columns;
        bool bold_titles; /* with the codes of a terminal */
        bool full_names;  /* cells that are no numbers are never cut, and move the rest of their line */
        bool failed;
};

void text_table_init(struct text_table *t, const struct text_column *columns, uint32_t n_columns);
void text_table_deinit(struct text_table *t);

/* Adds the next cell of the row; rows are `n_columns` cells.  @bytes may be hostile. */
void text_table_add(struct text_table *t, const char *bytes, size_t n_bytes);
/* Words below the row that is being filled, or was filled last if it has all of its cells. */
void text_table_add_below(struct text_table *t, const char *bytes, size_t n_bytes);

/* Writes titles and rows, each line after @n_indent spaces.  Returns 0 or -ENOMEM. */
int text_table_print(const struct text_table *t, uint32_t n_indent, FILE *out);

/*
 * text_table_print_fitting() - the same; reports which columns were left out
 * @ret_widths:  gets the width of each column, 0 = left out; has room for all columns
 * The other columns are made to fit, if need be by cutting each down to an ellipsis.
 */
int text_table_print_fitting(const struct text_table *t, uint32_t n_indent, FILE *out, uint32_t *ret_widths);

/* Appends @bytes escaped; returns how many columns they take. */
uint32_t text_escape(struct byte_buffer *out, const char *bytes, size_t n_bytes);

/*
 * text_wrap() - write words in lines of at most text_width_of(@out) columns
 * @text:      escaped already
 * @n_indent:  spaces before every line but the first, which is where the caller left it
 * A word longer than a line is broken.
 */
void text_wrap(const char *text, size_t n_bytes, uint32_t n_indent, FILE *out);

/* The same in lines of @line_columns, more than @n_indent. */
void text_wrap_within(const char *text, size_t n_bytes, uint32_t n_indent, uint32_t line_columns, FILE *out);

#endif /* VIEW_TEXT_TEXT_TABLE_H */
