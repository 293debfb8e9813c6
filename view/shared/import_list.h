/* SPDX-License-Identifier: MIT */
/*
 * view/shared/import_list.h - the files of other tools that a trace was made of, and what of them it lacks
 *
 * Way of the data:  trace_dictionary (IMPORTS, IMPORT_LOSSES) -> [import_list] -> overview_view, check
 */
#ifndef VIEW_SHARED_IMPORT_LIST_H
#define VIEW_SHARED_IMPORT_LIST_H

struct answer_part;
struct trace_dictionary;
struct view_document;

/* For people a line for each file, the first ten; for programs the tables of the parts below. */
void import_list_add(struct view_document *d, const struct trace_dictionary *dictionary);
extern const struct answer_part import_list_files_part, import_list_losses_part;

#endif /* VIEW_SHARED_IMPORT_LIST_H */
