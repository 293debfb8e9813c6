/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff_shift.h - how much a whole recording is faster or slower than another, by what its items say
 *
 * Way of the data:  diff_item -> [diff_shift] -> diff_pair, diff_sets
 *
 * The weighted median of the items' changes.  An item that has changed moves it little, however much it did, as long
 * as items of more than half of the weight have not; and for an item itself, it is found from the others alone.
 * An item weighs what is known of it, 1 / (variance by counts + allowance); that no run is expected to be faster than
 * another weighs as much as a usual item of them, at most 1 / allowance, as a change of 0.
 */
#ifndef ANALYZE_DIFF_SHIFT_H
#define ANALYZE_DIFF_SHIFT_H

#include "analyze/diff_item.h"
#include "analyze/weighted_median.h"

#include <stdint.h>

#define DIFF_SHIFT_NOBODY WEIGHTED_MEDIAN_NOBODY

struct diff_shift {
        uint32_t owners[DIFF_REFERENCES_MAX]; /* indexes of items */
        double weights[DIFF_REFERENCES_MAX];
        double allowances[DIFF_REFERENCES_MAX]; /* of each, between two runs, as a variance */
        uint32_t n;
        double prior_weight, prior_allowance;                  /* a variance */
        struct weighted_value values[DIFF_REFERENCES_MAX + 1]; /* of the current question */
};

/*
 * diff_shift_init() - choose the items that it is found from
 * @allowance:  standard deviation of the change of the whole between two runs
 * The caller then calls diff_shift_set() for each of `owners`.
 */
void diff_shift_init(struct diff_shift *s, const struct diff_item *items, size_t n_items, enum diff_kind kind,
                     double allowance);

/*
 * What is known of owner @index, as variances
 * @by_counts:  of its change, by the number of its samples or zones
 * @allowance:  of its change between any two runs of one program
 */
void diff_shift_set(struct diff_shift *s, uint32_t index, double by_counts, double allowance);

/* Asks about other changes: @changes by owner, in the order of `owners`. */
void diff_shift_ask(struct diff_shift *s, const double *changes);

/* The answer, without what item @owner says (DIFF_SHIFT_NOBODY: with all). */
double diff_shift_find(const struct diff_shift *s, uint32_t owner);

/*
 * How far that answer can be off, as a variance: because runs differ (what varies within them is not in it), and because
 * the items do not agree, which weighs the more the fewer they are.
 */
double diff_shift_variance(const struct diff_shift *s, uint32_t owner);

#endif /* ANALYZE_DIFF_SHIFT_H */
