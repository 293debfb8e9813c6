/* SPDX-License-Identifier: MIT */
#include "analyze/samples/python_stacks.h"

#include "base/saturating.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

bool python_stacks_is_python(const struct trace_dictionary *dictionary, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(dictionary, TRACE_TABLE_FRAMES, frame);
        const struct trace_module *module;

        if (row->module == 0)
                return false;
        module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES, row->module);
        return module->kind == TRACE_MODULE_PYTHON;
}

static bool has_python(const struct trace_dictionary *d)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_MODULES);

        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, id);

                if (row->kind == TRACE_MODULE_PYTHON)
                        return true;
        }
        return false;
}

int python_stacks_init(struct python_stacks *p, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_STACKS);

        *p = (struct python_stacks){ .n_stacks = n };
        if (!has_python(dictionary))
                return 0;
        p->innermost = calloc((size_t)n + 1, sizeof(*p->innermost));
        if (!p->innermost)
                return -ENOMEM;
        /* The stack of a caller has an earlier row. */
        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_stack *row = trace_dictionary_row(dictionary, TRACE_TABLE_STACKS, id);

                if (python_stacks_is_python(dictionary, row->frame))
                        p->innermost[id] = id;
                else if (row->parent < id)
                        p->innermost[id] = p->innermost[row->parent];
        }
        return 0;
}

void python_stacks_deinit(struct python_stacks *p)
{
        free(p->innermost);
        *p = (struct python_stacks){ .innermost = NULL };
}

void python_stacks_add(const struct python_stacks *p, const struct trace_dictionary *dictionary,
                       uint32_t stack, uint64_t weight, struct python_parts *parts)
{
        uint32_t python = python_stacks_find(p, stack);
        const struct trace_stack *row;

        parts->all = saturating_add(parts->all, weight);
        if (python == 0)
                return;
        row = trace_dictionary_row(dictionary, TRACE_TABLE_STACKS, stack);
        if (python == stack)
                parts->python = saturating_add(parts->python, weight);
        else if (trace_dictionary_is_kernel_frame(dictionary, row->frame))
                parts->kernel = saturating_add(parts->kernel, weight);
        else
                parts->native = saturating_add(parts->native, weight);
}

struct python_parts python_stacks_sum(const struct python_stacks *p,
                                      const struct trace_dictionary *dictionary,
                                      const struct sample_stats *stats, uint32_t event)
{
        struct python_parts parts = { .all = 0 };

        for (uint32_t i = 0; i < sample_stats_count(stats); i++) {
                const struct sample_key *key = sample_stats_key(stats, i);

                if (key->event == event)
                        python_stacks_add(p, dictionary, key->stack, stats->sums[i].weight, &parts);
        }
        return parts;
}
