/* SPDX-License-Identifier: MIT */
/*
 * web/model/view_names.h - the functions of a trace and the frames of its stacks, with their names, for the
 * pages
 *
 * Way of the data:  loaded_trace -> function_table -> [view_names] -> view_model, view_content, html_file
 */
#ifndef WEB_MODEL_VIEW_NAMES_H
#define WEB_MODEL_VIEW_NAMES_H

#include "analyze/samples/function_table.h"

#include <jansson.h>
#include <stdint.h>

struct trace_dictionary;

struct view_names {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct function_table functions;
        uint32_t n_frames;       /* that it knows: a dictionary that grows has more */
        uint32_t *first_symbols; /* heap; by frame: the first row of its names; 0 = none */
};

/* Returns 0 or -ENOMEM, -EOVERFLOW; to be deinitialised in any case. */
int view_names_init(struct view_names *n, const struct trace_dictionary *dictionary);
void view_names_deinit(struct view_names *n);

/* [{"name","module","is_kernel"}], by label less 1.  NULL without memory. */
json_t *view_names_list_functions(const struct view_names *n);

/*
 * [{"name","module","place","is_inlined","is_kernel"}], the innermost first
 * @stack: of the trace; the list of an unknown stack is empty
 */
json_t *view_names_list_stack(const struct view_names *n, uint32_t stack);

#endif /* WEB_MODEL_VIEW_NAMES_H */
