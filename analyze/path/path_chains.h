/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_chains.h - who waited for whom, by the names of threads, and for how long
 *
 * Way of the data:  path_walk (chains), path_sums -> [path_chains] -> path_view
 *
 * A group is there once, where it is nearest to the end of the chain.
 */
#ifndef ANALYZE_PATH_PATH_CHAINS_H
#define ANALYZE_PATH_PATH_CHAINS_H

#include "analyze/path/path_walk.h"

#include <stddef.h>
#include <stdint.h>

struct path_names;
struct path_sums;

/* Compared as bytes. */
struct path_chain_key {
        uint32_t n;
        uint32_t groups[PATH_WALK_DEPTH_MAX +
                        1]; /* from the last one that is waited for to the first thread; then 0 */
};

struct path_chain {
        struct path_chain_key key;
        double ns; /* that the thread at its end took */
};

struct path_chains {
        struct path_chain *items; /* heap; the longest time first */
        size_t n, capacity;
};

/* Returns 0, -ENOMEM or -EOVERFLOW; to be deinitialised in any case. */
int path_chains_take(struct path_chains *c, const struct path_walk *walk, const struct path_names *names,
                     const struct path_sums *sums);
void path_chains_deinit(struct path_chains *c);

/*
 * The threads that wait in a chain, from the one at its end to the first.
 * @threads:  has room for PATH_WALK_DEPTH_MAX + 1; returns how many there are
 */
uint32_t path_chains_threads(const struct path_walk *walk, uint32_t chain, uint32_t *threads);

#endif /* ANALYZE_PATH_PATH_CHAINS_H */
