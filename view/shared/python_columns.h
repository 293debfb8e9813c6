/* SPDX-License-Identifier: MIT */
/*
 * view/shared/python_columns.h - a report's columns and facts where native code counts for the Python
 * function that called it: the parts of its samples
 *
 * Way of the data:  report_samples -> [python_columns] -> functions_view, lines_view, zone_view and others
 *
 * Nothing of it is there in a report that is not folded (analyze/samples/python_stacks.h).
 */
#ifndef VIEW_SHARED_PYTHON_COLUMNS_H
#define VIEW_SHARED_PYTHON_COLUMNS_H

#include <stdint.h>

struct answer_words;
struct python_parts;
struct report;
struct view_column;
struct view_document;
struct view_table;

#define PYTHON_COLUMNS 3

/*
 * python_columns_insert() - the columns of a table, with these from @at on where the report is folded
 * @ret_columns:  room for @n_columns and PYTHON_COLUMNS
 * Returns how many there are.
 */
uint32_t python_columns_insert(const struct report *report, const struct view_column *columns,
                               uint32_t n_columns, uint32_t at, struct view_column *ret_columns);

/* Their cells, shares of all samples; unknown for what is not below a Python function. */
void python_columns_put(struct view_document *d, struct view_table *t, const struct report *report,
                        const struct python_parts *parts);

/* The facts, and the line that says the same to people, with the way back. */
void python_columns_add_facts(struct view_document *d, const struct report *report);

/* For the end of a title's explanation: ""; that "self" is with the native code below. */
const char *python_columns_about(const struct report *report);

/* "0.4% Python, 24.5% native code, 3.7% kernel"; of a whole, of a report's samples */
void python_columns_say_parts(struct answer_words *a, const struct python_parts *parts, uint64_t whole);
void python_columns_say(struct answer_words *a, const struct report *report,
                        const struct python_parts *parts);

#endif /* VIEW_SHARED_PYTHON_COLUMNS_H */
