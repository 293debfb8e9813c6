/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/histogram_bins.h - a histogram as a few bars with round limits
 *
 * Way of the data:  histogram -> [histogram_bins] -> zones_view, zone_view
 *
 * A wide range of numbers is in bars of 1, 2 and 5 times a power of ten, or of powers of ten; a narrow one in
 * bars of equal width.  No bar is narrower than the buckets of the histogram.
 */
#ifndef ANALYZE_STATS_HISTOGRAM_BINS_H
#define ANALYZE_STATS_HISTOGRAM_BINS_H

#include "analyze/trace/histogram.h"

#include <stdint.h>

#define HISTOGRAM_BINS_MAX 24

struct histogram_bin {
        uint64_t from, to; /* without `to`; UINT64_MAX = without end */
        uint64_t n_values;
};

struct histogram_bins {
        struct histogram_bin bins[HISTOGRAM_BINS_MAX];
        uint32_t n_bins;    /* 0 for an empty histogram; the first and the last bar are not empty */
        uint64_t n_largest; /* of the fullest */
};

/* @step: the numbers are multiples of it, and no bar is narrower; 0 = of 1 */
void histogram_bins_fill(struct histogram_bins *b, const struct histogram *h, uint64_t step);

/* Finer bars, for drawing: each power of two in 16 steps of equal width, numbers below 64 in steps of 4. */
#define HISTOGRAM_STEPS_MAX (HISTOGRAM_BUCKETS / 4)

struct histogram_step {
        uint64_t from, to; /* without `to` */
        uint64_t n_values;
        uint64_t sum; /* of the numbers, each within 1 % */
};

/* The steps that are not empty, the smallest first; @steps has room for all.  Returns how many. */
uint32_t histogram_steps_fill(const struct histogram *h, struct histogram_step *steps);

#endif /* ANALYZE_STATS_HISTOGRAM_BINS_H */
