/* SPDX-License-Identifier: MIT */
#include "export/shared/export_frames.h"

#include "analyze/samples/python_stacks.h"
#include "analyze/trace/zone_paths.h"
#include "analyze/trace/zone_pattern.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int export_frames_init(struct export_frames *f, const struct trace_dictionary *dictionary)
{
        int r;

        *f = (struct export_frames){ .dictionary = dictionary };
        r = function_table_init(&f->functions, dictionary);
        if (r < 0)
                return r;
        f->first_symbols = trace_dictionary_find_symbols(dictionary);
        return f->first_symbols ? 0 : -ENOMEM;
}

void export_frames_deinit(struct export_frames *f)
{
        function_table_deinit(&f->functions);
        free(f->first_symbols);
        free(f->items);
        free(f->ids);
        byte_buffer_deinit(&f->name);
        *f = (struct export_frames){ .n_items = 0 };
}

static int push(struct export_frames *f, const struct export_frame *frame)
{
        if (array_reserve(&f->items, &f->capacity, f->n_items + 1, sizeof(*f->items)) < 0)
                return -ENOMEM;
        f->items[f->n_items++] = *frame;
        return 0;
}

static int push_id(struct export_frames *f, size_t n_ids, uint32_t id)
{
        if (array_reserve(&f->ids, &f->ids_capacity, n_ids + 1, sizeof(*f->ids)) < 0)
                return -ENOMEM;
        f->ids[n_ids] = id;
        return 0;
}

/* The table lists the innermost function first. */
static int push_functions(struct export_frames *f, uint32_t group, uint32_t frame)
{
        const struct label_groups *groups = &f->functions.frames;
        uint32_t first = groups->first[group];
        uint32_t n = groups->first[group + 1] - first;
        uint32_t symbol = frame != 0 ? f->first_symbols[frame] : 0;

        for (uint32_t i = n; i > 0; i--) {
                struct export_frame item = {
                        .frame = frame,
                        .symbol = symbol != 0 ? symbol + i - 1 : 0,
                        .label = groups->labels[first + i - 1],
                        .inline_depth = n - i,
                };

                if (push(f, &item) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int push_path(struct export_frames *f, const struct zone_paths *paths, uint32_t path)
{
        size_t n = 0;

        for (; path != 0; path = zone_paths_parent(paths, path)) {
                if (n == EXPORT_FRAMES_DEPTH_MAX) {
                        f->n_cut++;
                        continue;
                }
                if (push_id(f, n++, zone_paths_location(paths, path)) < 0)
                        return -ENOMEM;
        }
        while (n > 0) {
                struct export_frame item = { .location = f->ids[--n] };

                if (push(f, &item) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int push_stack(struct export_frames *f, uint32_t stack)
{
        size_t n = 0;

        stack = python_stacks_shown(f->folds, stack);
        while (stack != 0) {
                const struct trace_stack *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                if (n == EXPORT_FRAMES_DEPTH_MAX)
                        f->n_cut++;
                else if (push_id(f, n++, row->frame) < 0)
                        return -ENOMEM;
                stack = python_stacks_shown(f->folds, row->parent);
        }
        while (n > 0) {
                uint32_t frame = f->ids[--n];

                if (push_functions(f, frame, frame) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int export_frames_of(struct export_frames *f, const struct zone_paths *paths, uint32_t path, uint32_t stack)
{
        f->n_items = 0;
        if (path != 0 && push_path(f, paths, path) < 0)
                return -ENOMEM;
        if (stack == 0) /* its group is the last one */
                return push_functions(f, f->functions.frames.n_groups, 0);
        return push_stack(f, stack);
}

int export_frames_of_frame(struct export_frames *f, uint32_t frame)
{
        f->n_items = 0;
        return push_functions(f, frame, frame);
}

/* ---- what one of them is ------------------------------------------------------------------------------- */

static const struct trace_module *module_of(const struct export_frames *f, const struct export_frame *frame)
{
        uint32_t module = export_frames_module(f, frame);

        return module != 0 ? trace_dictionary_row(f->dictionary, TRACE_TABLE_MODULES, module) : NULL;
}

static const char *join(struct export_frames *f, const char *before, uint32_t string, const char *after,
                        size_t *ret_bytes)
{
        size_t n_bytes;
        const char *bytes = trace_dictionary_string(f->dictionary, string, &n_bytes);

        byte_buffer_clear(&f->name);
        byte_buffer_add(&f->name, before, strlen(before));
        byte_buffer_add(&f->name, bytes, n_bytes);
        byte_buffer_add(&f->name, after, strlen(after));
        *ret_bytes = f->name.used_bytes;
        return f->name.failed ? NULL : (const char *)f->name.data;
}

/* "[libc.so.6]": the last part of a path, which may have brackets already, as "[kernel]". */
static const char *module_name(struct export_frames *f, uint32_t path, size_t *ret_bytes)
{
        size_t n_bytes;
        const char *bytes = trace_dictionary_string(f->dictionary, path, &n_bytes);
        const char *slash = n_bytes > 0 ? memrchr(bytes, '/', n_bytes) : NULL;

        if (n_bytes == 0)
                return join(f, "[unknown]", 0, "", ret_bytes);
        if (bytes[0] == '[')
                return join(f, "", path, "", ret_bytes);
        if (slash) {
                n_bytes -= (size_t)(slash + 1 - bytes);
                bytes = slash + 1;
        }
        byte_buffer_clear(&f->name);
        byte_buffer_add(&f->name, "[", 1);
        byte_buffer_add(&f->name, bytes, n_bytes);
        byte_buffer_add(&f->name, "]", 1);
        *ret_bytes = f->name.used_bytes;
        return f->name.failed ? NULL : (const char *)f->name.data;
}

const char *export_frames_name(struct export_frames *f, const struct export_frame *frame, size_t *ret_bytes)
{
        const struct function *function;

        if (frame->location != 0) {
                const struct trace_location *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_LOCATIONS,
                                                                        frame->location);

                return join(f, "zone:", row->name != 0 ? row->name : row->function, "", ret_bytes);
        }
        function = function_table_get(&f->functions, frame->label);
        if (function->name != 0)
                return trace_dictionary_string(f->dictionary, function->name, ret_bytes);
        if (function->kind == FUNCTION_NO_CALLSTACK)
                return join(f, "[no call stack]", 0, "", ret_bytes);
        return module_name(f, function->module, ret_bytes);
}

struct text_view export_frames_zone_name(const struct trace_dictionary *d, uint32_t location)
{
        return zone_pattern_name_of(d, location);
}

uint32_t export_frames_module(const struct export_frames *f, const struct export_frame *frame)
{
        const struct trace_frame *row;

        if (frame->frame == 0)
                return 0;
        row = trace_dictionary_row(f->dictionary, TRACE_TABLE_FRAMES, frame->frame);
        return row->module;
}

bool export_frames_is_kernel(const struct export_frames *f, const struct export_frame *frame)
{
        const struct trace_module *module = module_of(f, frame);

        return module && module->kind == TRACE_MODULE_KERNEL;
}

uint32_t export_frames_file(const struct export_frames *f, const struct export_frame *frame,
                            uint32_t *ret_line)
{
        *ret_line = 0;
        if (frame->location != 0) {
                const struct trace_location *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_LOCATIONS,
                                                                        frame->location);

                *ret_line = row->line;
                return row->file;
        }
        if (frame->symbol != 0) {
                const struct trace_symbol *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_SYMBOLS,
                                                                      frame->symbol);

                *ret_line = row->line;
                return row->file;
        }
        return 0;
}

uint64_t export_frames_address(const struct export_frames *f, const struct export_frame *frame)
{
        const struct trace_frame *row;

        if (frame->frame == 0)
                return 0;
        row = trace_dictionary_row(f->dictionary, TRACE_TABLE_FRAMES, frame->frame);
        if ((row->flags & TRACE_FRAME_RETURN_ADDRESS) != 0 && row->offset > 0)
                return row->offset - 1;
        return row->offset;
}
