/* SPDX-License-Identifier: MIT */
/*
 * export/stacks/flame_tree.h - folded call stacks as a tree of boxes side by side
 *
 * Way of the data:  export_folded (lines) -> [flame_tree] -> export_flamegraph
 *
 * Children lie in the order of their names, so that the same stacks give the same picture.  Not thread-safe.
 */
#ifndef EXPORT_STACKS_FLAME_TREE_H
#define EXPORT_STACKS_FLAME_TREE_H

#include <stddef.h>
#include <stdint.h>

struct flame_node {
        const char *name; /* borrowed from the lines; not ended by NUL */
        size_t n_name;
        uint64_t begin;   /* samples to its left */
        uint64_t total;   /* its samples, with those of its children */
        uint64_t waiting; /* of the total: of stacks whose innermost frame is one of waiting_words.h */
        uint32_t depth;   /* of the root: 0 */
};

struct flame_tree {
        struct flame_node *nodes; /* heap; the root is the first, parents come before their children */
        uint32_t n_nodes, depth_max;
        size_t capacity;
};

/*
 * flame_tree_read() - "thread;main;update 12", a line for each stack
 * @text:  borrowed as long as the tree; lines without a number are passed over
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int flame_tree_read(struct flame_tree *t, const char *text, size_t n_bytes);
void flame_tree_deinit(struct flame_tree *t);

#endif /* EXPORT_STACKS_FLAME_TREE_H */
