/* SPDX-License-Identifier: MIT */
/*
 * base/winner_tree.h - which of many sources has the least key, found anew in log2(n) steps after one changed
 *
 * Way of the data:  each source (the time of a ring's oldest record) -> [winner_tree] -> the next one
 *
 * A tournament, as in Knuth, The Art of Computer Programming, volume 3, 5.4.1: each inner node holds the
 * winner of its two children.  Among equal keys the lower number wins.  A winner that stays the winner costs
 * one step: so it is while one source has all there is.  Used by one thread.
 */
#ifndef BASE_WINNER_TREE_H
#define BASE_WINNER_TREE_H

#include <stddef.h>
#include <stdint.h>

#define WINNER_TREE_NONE UINT64_MAX /* the key of a source that has nothing */

/* Zero-initialised: no source. */
struct winner_tree {
        uint64_t *keys; /* heap, owned: by source */
        uint32_t *
                winners; /* heap, owned: [1] is the root's source, the children of node i are 2i and 2i + 1 */
        size_t n_sources, n_leaves;
        uint64_t second_key; /* at most the least key of the others than the first source */
};

/* All keys are WINNER_TREE_NONE.  Returns 0 or -ENOMEM; after an error winner_tree_deinit() is fine. */
int winner_tree_init(struct winner_tree *t, size_t n_sources);
void winner_tree_deinit(struct winner_tree *t);

void winner_tree_set(struct winner_tree *t, size_t source, uint64_t key);

/* The source with the least key; `n_sources` if none has one. */
size_t winner_tree_first(const struct winner_tree *t);

#endif /* BASE_WINNER_TREE_H */
