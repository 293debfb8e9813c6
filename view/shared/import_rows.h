/* SPDX-License-Identifier: MIT */
/*
 * view/shared/import_rows.h - the files of other tools that a trace was made of, and what of them it lacks
 *
 * Way of the data:  trace_dictionary (IMPORTS, IMPORT_LOSSES) -> [import_rows] -> overview_view, check
 */
#ifndef VIEW_SHARED_IMPORT_ROWS_H
#define VIEW_SHARED_IMPORT_ROWS_H

struct answer_part;
struct trace_dictionary;
struct view_document;

/* For people a line for each file, the first ten; for programs the tables of the parts below. */
void import_rows_add(struct view_document *d, const struct trace_dictionary *dictionary);
extern const struct answer_part import_rows_files_part, import_rows_losses_part;

#endif /* VIEW_SHARED_IMPORT_ROWS_H */
