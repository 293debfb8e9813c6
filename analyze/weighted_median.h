/* SPDX-License-Identifier: MIT */
/*
 * analyze/weighted_median.h - the middle of numbers of different weight
 *
 * Way of the data:  diff_pair, diff_sets -> [weighted_median] -> the same
 */
#ifndef ANALYZE_WEIGHTED_MEDIAN_H
#define ANALYZE_WEIGHTED_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

struct weighted_value {
        double value;
        double weight;  /* not negative */
        uint32_t owner; /* whose it is, for weighted_median_without() */
};

#define WEIGHTED_MEDIAN_NOBODY UINT32_MAX

/* By value. */
void weighted_values_sort(struct weighted_value *values, size_t n);

/*
 * weighted_median_without() - the median of sorted values, as if those of @owner were not there
 * Half of the weight lies on each side; where it falls between two values, the middle of these.  0 without weight.
 */
double weighted_median_without(const struct weighted_value *values, size_t n, uint32_t owner);

#endif /* ANALYZE_WEIGHTED_MEDIAN_H */
