/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff_pair.h - what changed between two recordings, one before and one after
 *
 * Way of the data:  diff_run, diff_item -> [diff_pair] -> diff_comparison
 *
 * How sure a change is comes from three things, whose variances add up (docs/diff.md):
 *
 *      - what varies within the recordings: a local block bootstrap over their slices of time, all items together,
 *        so that what slows everything for a while cancels out;
 *      - what differs between any two recordings of one program: an allowance, or the scatter of all items if that
 *        is larger;
 *      - the change of the whole, which is taken out: how well the other items tell it.
 *
 * The same input gives the same numbers: the bootstrap's random numbers are always the same ones.
 */
#ifndef ANALYZE_DIFF_PAIR_H
#define ANALYZE_DIFF_PAIR_H

#include "analyze/diff_item.h"

#include <stddef.h>

#define DIFF_PAIR_REPLICATES 400
#define DIFF_PAIR_BLOCK      8 /* slices that are drawn together */
#define DIFF_PAIR_NEAR       8 /* slices that one is drawn from lie this near */
/* Of the variance: slices are few, and neighbours depend on each other. */
#define DIFF_PAIR_DF 20

struct diff_pair {
        const struct diff_run *before, *after;
        struct diff_basis basis;
        struct diff_allowance allowance;
        enum diff_kind kind;
};

/*
 * diff_pair_judge() - fill the statistics of the judged items of one kind, and of the whole
 * Returns 0 or -ENOMEM.
 */
int diff_pair_judge(const struct diff_pair *pair, struct diff_item *items, size_t n_items,
                    struct diff_whole *ret_whole);

#endif /* ANALYZE_DIFF_PAIR_H */
