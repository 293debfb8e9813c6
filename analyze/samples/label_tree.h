/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/label_tree.h - weights on the nodes of a tree -> self and total of each label
 *
 * Way of the data:  sample_stats -> [label_tree] -> report
 *
 * Two trees of a trace need this.  Callstacks: the nodes are stacks, the labels functions (several on one
 * node where functions were inlined).  Zone paths: the labels are source locations.
 *
 *      self of a label:   the weight on nodes of which it is the innermost label
 *      total of a label:  the weight on nodes from which the way to the root
 *                         meets it at least once; recursion counts once
 *
 * A sum takes time in proportion to the nodes with weights and those between them and the root, however deep
 * the tree is.  Not thread-safe.
 */
#ifndef ANALYZE_SAMPLES_LABEL_TREE_H
#define ANALYZE_SAMPLES_LABEL_TREE_H

#include "analyze/trace/sample_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The labels of a node, innermost first.  Nodes share them through groups: a frame is in many stacks. */
struct label_groups {
        uint32_t *first;   /* heap; group g has the labels [first[g], first[g + 1]) of `labels` */
        uint32_t *labels;  /* heap; each 1 .. n_labels */
        uint32_t n_groups; /* ids 1 .. this; `first` has two more items */
        uint32_t n_labels;
};

struct label_node {
        struct sample_sum sum; /* its own, then with its children's */
        uint32_t parent;       /* an earlier node; 0 = root */
        uint32_t group;
        uint32_t first_child; /* of the current question; 0 = none */
        uint32_t next_sibling;
        bool linked; /* is part of the current question */
};

struct label_sum {
        struct sample_sum self, total;
        uint32_t n_on_way; /* while summing: how often the label lies between the present node and the root */
        bool listed;
};

struct label_tree {
        const struct label_groups *groups; /* borrowed */
        struct label_node *nodes;          /* heap; ids 1 .. n_nodes, [0] stands for the root */
        struct label_sum *sums;            /* heap; by label, [0] unused */
        uint32_t *found;                   /* heap; labels of the last question */
        uint32_t n_nodes, n_found;
};

void label_groups_deinit(struct label_groups *g);

/*
 * label_tree_init() - a tree without weights
 * @groups:   outlives the tree
 * @n_nodes:  the caller then sets parent and group of nodes[1 .. n_nodes]
 * Returns 0 or -ENOMEM.
 */
int label_tree_init(struct label_tree *t, const struct label_groups *groups, uint32_t n_nodes);
void label_tree_deinit(struct label_tree *t);

/* Puts weight on a node, 1 .. n_nodes, for the next label_tree_sum(). */
void label_tree_add(struct label_tree *t, uint32_t node, const struct sample_sum *sum);

/*
 * label_tree_sum() - sum up the weights and forget them
 * `found` lists the labels that were met, `sums` holds their self and total, until the next label_tree_sum()
 * or label_tree_add().
 */
void label_tree_sum(struct label_tree *t);

#endif /* ANALYZE_SAMPLES_LABEL_TREE_H */
