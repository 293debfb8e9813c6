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

#include "view/document/view_column.h"

#include <stdint.h>

struct answer_part;
struct answer_words;
struct python_parts;
struct report;
struct view_document;

/*
 * The columns of a row with the `parts`.  They belong before the name, since text drops columns from the
 * right.
 */
/* clang-format off */
#define PYTHON_COLUMNS(COLUMN)                                                                                \
        COLUMN(SHARE, "python_share", "Python", python_columns_share(report, parts, parts->python),           \
               "of self_share: in Python itself; null for native functions that no Python function called")   \
        COLUMN(SHARE, "native_share", "native", python_columns_share(report, parts, parts->native),           \
               "of self_share: in native code")                                                               \
        COLUMN(SHARE, "kernel_share", "kernel", python_columns_share(report, parts, parts->kernel),           \
               "of self_share: in the kernel")
/* clang-format on */

/* @part as a share of all samples; unknown for a function that no Python function called. */
struct view_value python_columns_share(const struct report *report, const struct python_parts *parts,
                                       uint64_t part);

/* The facts, and the line that says the same to people, with the option that undoes it. */
extern const struct answer_part python_columns_facts_part;
void python_columns_add_facts(struct view_document *d, const struct report *report);

/* For the end of a title's explanation: says that "self" includes the native code below; else "". */
const char *python_columns_about(const struct report *report);

/* "0.4% Python, 24.5% native code, 3.7% kernel"; as shares of @whole, or of the report's samples */
void python_columns_say_parts(struct answer_words *a, const struct python_parts *parts, uint64_t whole);
void python_columns_say(struct answer_words *a, const struct report *report,
                        const struct python_parts *parts);

#endif /* VIEW_SHARED_PYTHON_COLUMNS_H */
