/* SPDX-License-Identifier: MIT */
/*
 * export/stacks/callgrind_graph.h - callstacks with weights -> functions with costs of their own,
 * and calls between them
 *
 * Way of the data:  callstack_sums, export_frames -> [callgrind_graph] -> export_callgrind
 *
 * A node is a function, a zone or a thread, which is the root of its callstacks.  Callgrind's readers take
 * the cost of incoming calls for a function's inclusive cost; so each function of a callstack is entered at
 * most once with the cost, at its outermost place, and further calls to it (recursion) are there with a cost
 * of 0.  Memory: the distinct lines and calls.  Not thread-safe.
 */
#ifndef EXPORT_STACKS_CALLGRIND_GRAPH_H
#define EXPORT_STACKS_CALLGRIND_GRAPH_H

#include "base/intern.h"
#include "export/shared/callstack_sums.h"
#include "export/shared/export_frames.h"

#include <stddef.h>
#include <stdint.h>

/* No padding: compared as bytes. */
struct callgrind_line {
        uint32_t node;
        uint32_t line;   /* 0 = not known */
        uint32_t callee; /* node; 0 = the cost of the line itself */
};

struct callgrind_cost {
        uint64_t n_calls; /* samples in which there was such a call */
        struct callstack_sum sum;
};

struct callgrind_graph {
        struct export_frames *frames; /* borrowed */
        struct intern lines;          /* struct callgrind_line */
        struct callgrind_cost *costs; /* heap; of the line with id i at i - 1 */
        size_t costs_capacity;
        struct export_frame
                *examples; /* heap; by node: one of its frames; all 0 = none is known, or it is a thread */
        uint32_t *seen;    /* heap; by node: the callstack in which it was met last */
        uint32_t n_labels, n_zones, n_nodes;
        uint32_t n_callstacks;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case.  @frames is asked while callstacks are added. */
int callgrind_graph_init(struct callgrind_graph *g, struct export_frames *frames, uint32_t n_threads);
void callgrind_graph_deinit(struct callgrind_graph *g);

/* Adds a callstack, @frames->items, of a thread.  Returns 0, -ENOMEM, -EOVERFLOW. */
int callgrind_graph_add(struct callgrind_graph *g, uint32_t thread, const struct callstack_sum *sum);

/* Sorts the ids of lines by node; the caller frees.  Returns NULL without memory. */
uint32_t *callgrind_graph_order(const struct callgrind_graph *g);

/* The thread that a node is; 0 = none. */
static inline uint32_t callgrind_graph_thread(const struct callgrind_graph *g, uint32_t node)
{
        return node > g->n_labels + g->n_zones ? node - g->n_labels - g->n_zones : 0;
}

#endif /* EXPORT_STACKS_CALLGRIND_GRAPH_H */
