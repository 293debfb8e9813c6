/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_tree.h - the call tree of slow instances beside that of typical ones
 *
 * Way of the data:  why_instances, function_table -> [why_tree] -> why_view
 *
 * Nodes are functions below their callers, from the root; times are ns of a mean instance, including callees.
 * At most WHY_NODES_MAX nodes.
 */
#ifndef ANALYZE_WHY_WHY_TREE_H
#define ANALYZE_WHY_WHY_TREE_H

#include "analyze/why/why_tally.h"
#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct why_profile;

#define WHY_NODES_MAX (UINT32_C(1) << 20)

/* Compared as bytes. */
struct why_node_key {
        uint32_t parent; /* 0 = root */
        uint32_t label;
};

struct why_node {
        double ns[2];                       /* by enum why_group: mean of an instance */
        uint32_t first_child, next_sibling; /* the largest extra time first; 0 = none */
};

struct why_tree {
        struct intern keys;     /* struct why_node_key */
        struct why_node *nodes; /* heap; by id; [0] is the root */
        size_t capacity;
        uint64_t n_left_out; /* callstacks */
};

/*
 * @ns_per_weight: by enum why_group, in a mean instance.  Returns 0 or -ENOMEM; to be
 * deinitialised in any case.
 */
int why_tree_init(struct why_tree *t, const struct why_profile *profile, const double ns_per_weight[2]);
void why_tree_deinit(struct why_tree *t);

const struct why_node_key *why_tree_key(const struct why_tree *t, uint32_t node);

static inline double why_node_extra_ns(const struct why_node *node)
{
        return node->ns[WHY_SLOW] - node->ns[WHY_TYPICAL];
}

#endif /* ANALYZE_WHY_WHY_TREE_H */
