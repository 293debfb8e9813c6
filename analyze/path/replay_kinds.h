/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/replay_kinds.h - how much of what threads ran was in functions that are to take less time
 *
 * Way of the data:  samples of stretches of running -> [replay_kinds] -> replay
 *
 * Samples are far apart, so a single stretch does not show it.  Stretches of one *kind* are those of
 * one group of threads between two events of the same sorts, such as from a wait at one place to a
 * wake-up.  First all stretches are learnt; then a stretch gains what is usual for its kind, and by
 * its own samples, as far as stretches of its kind differ from each other: where a thread runs now one
 * job and now another, its samples decide; where each stretch is the same mixture, they would only add
 * chance.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_REPLAY_KINDS_H
#define ANALYZE_PATH_REPLAY_KINDS_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define REPLAY_KINDS_MAX (UINT32_C(1) << 16) /* of stretches of further ones nothing is known */

/* The samples of a stretch; x of a sample: the share of it that is saved. */
struct replay_counts {
        double n, x, xx; /* samples; sums of x and its square */
        double weight, saved;
};

/* Compared as bytes. */
struct replay_kind_key {
        uint32_t group;
        uint32_t begin, end; /* the sorts of events, by any numbers */
};

/* The samples of all stretches of a kind, and all pairs of samples of one stretch. */
struct replay_kind {
        double n, weight, saved;
        double pairs, pairs_x, pairs_xx, products; /* sums of x, its square, and the x of both */
};

struct replay_kinds {
        struct intern keys;       /* struct replay_kind_key */
        struct replay_kind *rows; /* heap; by key - 1 */
        size_t capacity;
};

void replay_kinds_init(struct replay_kinds *k);
void replay_kinds_deinit(struct replay_kinds *k);

/* Adds a sample of which the share @x is saved. */
void replay_counts_add(struct replay_counts *c, double x, double weight);

/* Takes a stretch into account.  Returns 0 or -ENOMEM. */
int replay_kinds_learn(struct replay_kinds *k, const struct replay_kind_key *key,
                       const struct replay_counts *stretch);

/* After all: the share of a stretch that is saved, 0 .. 1. */
double replay_kinds_share(const struct replay_kinds *k, const struct replay_kind_key *key,
                          const struct replay_counts *stretch);

#endif /* ANALYZE_PATH_REPLAY_KINDS_H */
