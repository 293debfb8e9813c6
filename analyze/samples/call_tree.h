/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/call_tree.h - callstacks of samples -> a tree of functions, from the
 * root or from the innermost
 *
 * Way of the data:  sample_stats, function_table -> [call_tree] -> functions_view, zone_view
 *
 * From the top: a node is a chain of calls from the thread's first function,
 * its weight that of all samples with this chain.  From the bottom: the roots are the innermost functions of
 * samples, and below each function are its callers.
 *
 * With a choice of functions, the tree shows what they called, or who called
 * them; recursion counts once, at its outermost call.
 *
 * The tree is built level by level, without nodes that weigh less than wanted, so the work is in proportion
 * to the stacks and the shown levels.  Not thread-safe.
 */
#ifndef ANALYZE_SAMPLES_CALL_TREE_H
#define ANALYZE_SAMPLES_CALL_TREE_H

#include "analyze/trace/sample_stats.h"

#include <stdbool.h>
#include <stdint.h>

struct function_table;
struct python_stacks;
struct trace_dictionary;

/* Nodes beyond are left out and counted. */
#define CALL_TREE_NODES_MAX (UINT32_C(1) << 20)
#define CALL_TREE_DEPTH_MAX 4096

struct call_tree_node {
        uint32_t label;                   /* function; 0 for the root */
        uint32_t parent;                  /* index in `nodes` */
        uint32_t first_child, n_children; /* these follow each other, the heaviest first */
        uint32_t depth;                   /* 0 for the root's children */
        /* from the top: the function's own samples; from the bottom: samples without a caller */
        struct sample_sum self;
        struct sample_sum total;
};

struct call_tree_options {
        bool from_bottom;
        uint64_t weight_min; /* of a node; the least is 1 */
        uint32_t depth_max;  /* levels; 0 = CALL_TREE_DEPTH_MAX */
        const bool *wanted;  /* by label, [0] unused; NULL = no choice of functions */
        /* Python functions stand for the native code below; NULL = stacks as they are */
        const struct python_stacks *folds;
        bool has_path; /* only samples taken directly in the zone path `path`; 0 = outside of every zone */
        uint32_t path;
};

struct call_tree {
        struct call_tree_node
                *nodes; /* heap; [0] is the root; its total is that of all samples in the tree */
        uint32_t n_nodes;
        size_t nodes_capacity;
        /* functions left out below nodes of the tree: too light, too deep, or too many */
        uint64_t n_left_out;
};

/*
 * call_tree_init() - the tree of the samples of one event
 * @functions:  of the same trace
 * Returns 0 or -ENOMEM; the tree is empty then.
 */
int call_tree_init(struct call_tree *t, const struct trace_dictionary *dictionary,
                   const struct function_table *functions, const struct sample_stats *stats, uint32_t event,
                   const struct call_tree_options *options);
void call_tree_deinit(struct call_tree *t);

#endif /* ANALYZE_SAMPLES_CALL_TREE_H */
