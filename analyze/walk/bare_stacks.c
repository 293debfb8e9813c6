/* SPDX-License-Identifier: MIT */
#include "analyze/walk/bare_stacks.h"

#include "base/mapped_path.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define VOTES_MAX 10000 /* call stacks that are followed to their outermost frame */

static bool is_mark(const struct trace_dictionary *d, uint32_t module)
{
        const struct trace_module *row = module != 0 ? trace_dictionary_row(d, TRACE_TABLE_MODULES, module)
                                                     : NULL;

        return row && row->kind == TRACE_MODULE_MARK;
}

/* The module of a call stack's outermost frame, below the mark "[truncated]"; 0 = unknown. */
static uint32_t find_outer_module(const struct trace_dictionary *d, uint32_t stack)
{
        const struct trace_stack *row;
        uint32_t outer = 0;

        for (; stack != 0; stack = row->parent) {
                const struct trace_frame *frame;

                row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);
                frame = row->frame != 0 ? trace_dictionary_row(d, TRACE_TABLE_FRAMES, row->frame) : NULL;
                if (!frame || !is_mark(d, frame->module))
                        outer = frame ? frame->module : 0;
        }
        return outer;
}

void bare_stacks_add(struct bare_stacks *b, const struct trace_dictionary *d, uint32_t stack)
{
        uint32_t module;

        if (b->n_stacks++ >= VOTES_MAX)
                return;
        module = find_outer_module(d, stack);
        if (b->n_votes == 0)
                b->module = module;
        if (b->module == module)
                b->n_votes++;
        else
                b->n_votes--;
}

void bare_stacks_name(const struct bare_stacks *b, const struct trace_dictionary *d, uint64_t n_truncated,
                      char *name, size_t n_bytes)
{
        const struct trace_module *module = NULL;
        const char *path, *slash;
        size_t path_bytes;

        name[0] = '\0';
        if (b->n_votes != 0 && b->module != 0 && b->n_stacks > n_truncated / 2)
                module = trace_dictionary_row(d, TRACE_TABLE_MODULES, b->module);
        if (!module || module->kind != TRACE_MODULE_FILE)
                return;
        path = trace_dictionary_string(d, module->path, &path_bytes);
        path_bytes = mapped_path_count(path, path_bytes);
        slash = path_bytes > 0 ? memrchr(path, '/', path_bytes) : NULL;
        if (slash) {
                path_bytes -= (size_t)(slash + 1 - path);
                path = slash + 1;
        }
        if (path_bytes >= n_bytes)
                path_bytes = n_bytes - 1;
        if (path_bytes > 0)
                memcpy(name, path, path_bytes);
        name[path_bytes] = '\0';
}
