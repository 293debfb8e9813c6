/* SPDX-License-Identifier: MIT */
#include "web/model/view_names.h"

#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "view/document/json_value.h"
#include "view/shared/report_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096 /* of one stack */

int view_names_init(struct view_names *n, const struct trace_dictionary *dictionary)
{
        uint32_t n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES);
        int r;

        *n = (struct view_names){ .dictionary = dictionary, .n_frames = n_frames };
        r = function_table_init(&n->functions, dictionary);
        if (r < 0)
                return r;
        n->first_symbols = trace_dictionary_find_symbols(dictionary);
        return n->first_symbols ? 0 : -ENOMEM;
}

void view_names_deinit(struct view_names *n)
{
        function_table_deinit(&n->functions);
        free(n->first_symbols);
        *n = (struct view_names){ .dictionary = NULL };
}

static json_t *name_of_function(const struct view_names *n, const struct function *f)
{
        struct text_view name = trace_dictionary_text(n->dictionary, f->name);

        return json_value_string(report_names_function(name, (enum function_kind)f->kind));
}

static bool is_kernel(const struct view_names *n, const struct function *f)
{
        struct text_view path = trace_dictionary_text(n->dictionary, f->module);

        return path.n_bytes > 0 && path.bytes[0] == '[' && path.n_bytes >= 7 &&
               memcmp(path.bytes, "[kernel", 7) == 0;
}

static json_t *module_of_function(const struct view_names *n, const struct function *f)
{
        return json_value_string(trace_dictionary_text(n->dictionary, f->module));
}

json_t *view_names_list_functions(const struct view_names *n)
{
        json_t *list = json_array();

        for (uint32_t i = 1; list && i <= n->functions.frames.n_labels; i++) {
                const struct function *f = function_table_get(&n->functions, i);
                json_t *item = json_pack("{s:o*,s:o*,s:b}", "name", name_of_function(n, f), "module",
                                         module_of_function(n, f), "is_kernel", (int)is_kernel(n, f));

                if (item)
                        (void)json_array_append_new(list, item);
        }
        return list;
}

static json_t *place_of_symbol(const struct view_names *n, const struct trace_symbol *row)
{
        struct text_view file = { .n_bytes = 0 };
        struct byte_buffer place = { .data = NULL };
        char line[16];
        json_t *value;

        if (row)
                file = trace_dictionary_text(n->dictionary, row->file);
        if (file.n_bytes == 0)
                return json_null();
        byte_buffer_add(&place, file.bytes, file.n_bytes);
        if (row->line != 0)
                byte_buffer_add(&place, line, (size_t)snprintf(line, sizeof(line), ":%" PRIu32, row->line));
        value = place.failed
                        ? NULL
                        : json_value_string((struct text_view){ (const char *)place.data, place.used_bytes });
        byte_buffer_deinit(&place);
        return value;
}

/* The row of the frame's symbols for its @index-th function; NULL if there is none. */
static const struct trace_symbol *symbol_of(const struct view_names *n, uint32_t frame, uint32_t index)
{
        uint32_t id = n->first_symbols[frame] + index;
        const struct trace_symbol *row;

        if (n->first_symbols[frame] == 0 || id > trace_dictionary_count(n->dictionary, TRACE_TABLE_SYMBOLS))
                return NULL;
        row = trace_dictionary_row(n->dictionary, TRACE_TABLE_SYMBOLS, id);
        return row->frame == frame ? row : NULL;
}

static void append_frame(const struct view_names *n, uint32_t frame, json_t *list)
{
        const struct label_groups *groups = &n->functions.frames;

        for (uint32_t at = groups->first[frame]; at < groups->first[frame + 1]; at++) {
                const struct function *f = function_table_get(&n->functions, groups->labels[at]);
                const struct trace_symbol *row = symbol_of(n, frame, at - groups->first[frame]);
                json_t *item = json_pack("{s:o*,s:o*,s:o*,s:b,s:b}", "name", name_of_function(n, f), "module",
                                         module_of_function(n, f), "place", place_of_symbol(n, row),
                                         "is_inlined", (int)(at + 1 < groups->first[frame + 1]), "is_kernel",
                                         (int)is_kernel(n, f));

                if (item)
                        (void)json_array_append_new(list, item);
        }
}

json_t *view_names_list_stack(const struct view_names *n, uint32_t stack)
{
        uint32_t n_stacks = trace_dictionary_count(n->dictionary, TRACE_TABLE_STACKS);
        json_t *list = json_array();

        for (int i = 0; list && stack != 0 && stack <= n_stacks && i < FRAMES_MAX; i++) {
                const struct trace_stack *row = trace_dictionary_row(n->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                append_frame(n, row->frame, list);
                stack = row->parent;
        }
        return list;
}
