/* SPDX-License-Identifier: MIT */
#include "base/winner_tree.h"

#include <errno.h>
#include <stdlib.h>

int winner_tree_init(struct winner_tree *t, size_t n_sources)
{
        *t = (struct winner_tree){ .n_sources = n_sources, .n_leaves = 1 };
        while (t->n_leaves < n_sources)
                t->n_leaves *= 2;
        t->keys = malloc(t->n_leaves * sizeof(*t->keys));
        t->winners = malloc(2 * t->n_leaves * sizeof(*t->winners));
        if (!t->keys || !t->winners)
                return -ENOMEM;
        for (size_t i = 0; i < t->n_leaves; i++)
                t->keys[i] = WINNER_TREE_NONE;
        for (size_t node = 2 * t->n_leaves - 1; node > 0; node--)
                t->winners[node] = node >= t->n_leaves ? (uint32_t)(node - t->n_leaves)
                                                       : t->winners[2 * node];
        return 0;
}

void winner_tree_deinit(struct winner_tree *t)
{
        free(t->keys);
        free(t->winners);
        *t = (struct winner_tree){ .keys = NULL };
}

void winner_tree_set(struct winner_tree *t, size_t source, uint64_t key)
{
        uint64_t others = WINNER_TREE_NONE;

        t->keys[source] = key;
        if (t->winners[1] == source && key < t->second_key)
                return;
        for (size_t node = (t->n_leaves + source) / 2; node > 0; node /= 2) {
                uint32_t left = t->winners[2 * node], right = t->winners[2 * node + 1];
                uint32_t loser = t->keys[right] < t->keys[left] ? left : right;

                t->winners[node] = left ^ right ^ loser;
                if (t->keys[loser] < others)
                        others = t->keys[loser];
        }
        /* If it came out first, it has beaten the best of each part of the others on its way. */
        t->second_key = t->winners[1] == source ? others : 0;
}

size_t winner_tree_first(const struct winner_tree *t)
{
        return t->keys[t->winners[1]] == WINNER_TREE_NONE ? t->n_sources : t->winners[1];
}
