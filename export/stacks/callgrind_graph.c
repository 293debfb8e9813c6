/* SPDX-License-Identifier: MIT */
#include "export/stacks/callgrind_graph.h"

#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

int callgrind_graph_init(struct callgrind_graph *g, struct export_frames *frames, uint32_t n_threads)
{
        *g = (struct callgrind_graph){
                .frames = frames,
                .n_labels = frames->functions.frames.n_labels,
                .n_zones = trace_dictionary_count(frames->dictionary, TRACE_TABLE_LOCATIONS),
        };
        intern_init(&g->lines, sizeof(struct callgrind_line), 0);
        g->n_nodes = g->n_labels + g->n_zones + n_threads;
        g->examples = calloc((size_t)g->n_nodes + 1, sizeof(*g->examples));
        g->seen = calloc((size_t)g->n_nodes + 1, sizeof(*g->seen));
        return g->examples && g->seen ? 0 : -ENOMEM;
}

void callgrind_graph_deinit(struct callgrind_graph *g)
{
        intern_deinit(&g->lines);
        free(g->costs);
        free(g->examples);
        free(g->seen);
        *g = (struct callgrind_graph){ .frames = NULL };
}

static int add_cost(struct callgrind_graph *g, const struct callgrind_line *line,
                    const struct callstack_sum *sum, bool counts)
{
        struct callgrind_cost *cost;
        uint32_t id;
        int r = intern_add_row(&g->lines, line, &g->costs, &g->costs_capacity, sizeof(*g->costs), &id);

        if (r < 0)
                return r;
        cost = &g->costs[id - 1];
        cost->n_calls += sum->values[CALLSTACK_SAMPLES];
        for (int i = 0; i < CALLSTACK_VALUES && counts; i++)
                cost->sum.values[i] += sum->values[i];
        return 0;
}

static uint32_t node_of(const struct callgrind_graph *g, const struct export_frame *frame)
{
        return frame->location != 0 ? g->n_labels + frame->location : frame->label;
}

int callgrind_graph_add(struct callgrind_graph *g, uint32_t thread, const struct callstack_sum *sum)
{
        struct callgrind_line line = { .node = g->n_labels + g->n_zones + thread };
        uint32_t callstack = ++g->n_callstacks;
        int r = 0;

        for (size_t i = 0; i < g->frames->n_items && r == 0; i++) {
                const struct export_frame *frame = &g->frames->items[i];

                line.callee = node_of(g, frame);
                r = add_cost(g, &line, sum, g->seen[line.callee] != callstack);
                g->seen[line.callee] = callstack;
                g->examples[line.callee] = *frame;
                line.node = line.callee;
                (void)export_frames_file(g->frames, frame, &line.line);
        }
        line.callee = 0;
        return r < 0 ? r : add_cost(g, &line, sum, true);
}

/* Counting sort: as many buckets as nodes, and the ids stay in order. */
uint32_t *callgrind_graph_order(const struct callgrind_graph *g)
{
        uint32_t *order = calloc((size_t)g->lines.n_items + 1, sizeof(*order));
        uint32_t *next = calloc((size_t)g->n_nodes + 2, sizeof(*next));

        if (!order || !next) {
                free(order);
                free(next);
                return NULL;
        }
        for (uint32_t i = 1; i <= g->lines.n_items; i++) {
                const struct callgrind_line *line = intern_get(&g->lines, i, NULL);

                next[line->node + 1]++;
        }
        for (uint32_t node = 1; node <= g->n_nodes + 1; node++)
                next[node] += next[node - 1];
        for (uint32_t i = 1; i <= g->lines.n_items; i++) {
                const struct callgrind_line *line = intern_get(&g->lines, i, NULL);

                order[next[line->node]++] = i;
        }
        free(next);
        return order;
}
