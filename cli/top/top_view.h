/* SPDX-License-Identifier: MIT */
/*
 * cli/top/top_view.h - the tables of `hyprof top`: rows of the last seconds as a document, in any order
 *
 * Way of the data:  live_rows -> [top_view] (view_document) -> top_screen, standard output
 *
 * All text is escaped (text_table.h): no control character of a trace reaches the terminal.
 */
#ifndef CLI_TOP_TOP_VIEW_H
#define CLI_TOP_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_FILTER_BYTES 64

struct answer_schema;
struct live_rows;
struct view_document;

enum top_table { TOP_FUNCTIONS, TOP_ZONES, TOP_THREADS, TOP_WAITS, TOP_TABLES };

/* The table that is wanted. */
struct top_view {
        enum top_table table;
        unsigned
                sort[TOP_TABLES]; /* of each table, the column that it is sorted by, largest or first first */
        bool is_reversed[TOP_TABLES];
        char filter[TOP_FILTER_BYTES]; /* only rows with this in one of their texts, in any case; "" = all */
        uint32_t zone;                 /* in TOP_ZONES: this place alone, with its durations; 0 = the table */
        uint32_t n_columns;            /* of a line; 0 = any number */
};

/* A table as text. */
struct top_text {
        char *bytes; /* heap, NUL-terminated; lines; the first ones are the titles */
        size_t n_bytes;
        uint32_t *zones; /* heap; of the rows of TOP_ZONES: their places; else NULL */
        size_t n_rows;   /* without the titles */
        bool is_python;  /* native code counts for the Python functions that called it */
};

/* The name of a table, as it is written in options and titles; and the reverse, -1 = no such table. */
const char *top_view_name(enum top_table table);
int top_view_find(const char *name);

/* The title of the column that a table is sorted by. */
const char *top_view_sorted_by(const struct top_view *view);

/* The column of a table with a title, whatever its case; -1 = there is none. */
int top_view_find_column(enum top_table table, const char *title);

/* Sorts by the column that is @step further. */
void top_view_sort_next(struct top_view *view, int step);

extern const struct answer_schema top_view_schema;

/*
 * top_view_fill() - add the table to a document; after that of one zone, its durations
 * @n_rows_max:     0 = all
 * @ret_is_python:  as in struct top_text
 * Returns 0 or -ENOMEM.
 */
int top_view_fill(const struct top_view *v, const struct live_rows *of, size_t n_rows_max,
                  struct view_document *d, bool *ret_is_python);

/*
 * top_view_print() - the same document as text
 * @n_rows_max: 0 = all
 * @ret: to be freed by top_text_free()
 * Returns 0 or -ENOMEM.
 */
int top_view_print(const struct top_view *v, const struct live_rows *of, size_t n_rows_max,
                   struct top_text *ret);
void top_text_free(struct top_text *text);

#endif /* CLI_TOP_TOP_VIEW_H */
