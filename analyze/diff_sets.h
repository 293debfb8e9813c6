/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff_sets.h - what changed between several recordings before and several after
 *
 * Way of the data:  diff_run, diff_item -> [diff_sets] -> diff_comparison
 *
 * How sure a change is comes from how much the runs of a set differ, in which everything is: samples, frequencies,
 * where things lie in memory.  Each run is one number for each item, beside the change of the whole run; Welch's test
 * compares the two sets of numbers; how far the items agree on the change of the whole is added to its variance.  A set
 * of a single run is taken to vary as the other one does.
 */
#ifndef ANALYZE_DIFF_SETS_H
#define ANALYZE_DIFF_SETS_H

#include "analyze/diff_item.h"

#include <stddef.h>
#include <stdint.h>

/* Runs of a set may agree by chance alone: no change is known better than this, as a standard deviation. */
#define DIFF_SETS_SE_MIN 0.0025

struct diff_sets {
        const struct diff_run *const *runs; /* those before, then those after */
        uint32_t n_before, n_after;         /* each at least 1, together at least 3 */
        struct diff_basis basis;
        struct diff_allowance allowance;
        enum diff_kind kind;
};

/*
 * diff_sets_judge() - fill the statistics of the judged items of one kind, and of the whole
 * Returns 0 or -ENOMEM.
 */
int diff_sets_judge(const struct diff_sets *sets, struct diff_item *items, size_t n_items,
                    struct diff_whole *ret_whole);

#endif /* ANALYZE_DIFF_SETS_H */
