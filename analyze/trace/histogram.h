/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/histogram.h - many numbers in little room, with their quantiles
 *
 * Way of the data:  zone_stats -> [histogram] -> report
 *
 * Log-linear: each power of two is split into 64 buckets of equal width, and
 * numbers below 128 have a bucket of their own.  A quantile is the middle of
 * the bucket in which it falls, hence at most 1/128 (0.8 %) off; count, sum,
 * smallest and largest are exact.  Memory is 512 bytes for each power of two
 * between the smallest and the largest number; but the first 64 numbers are kept
 * as they are, since a program may have a million zones that hardly ever run.
 *
 * Zero-initialised is empty and valid.  Not thread-safe.
 */
#ifndef ANALYZE_TRACE_HISTOGRAM_H
#define ANALYZE_TRACE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* Buckets of all numbers together. */
#define HISTOGRAM_BUCKETS 3776

struct histogram {
        uint64_t n_values;
        uint64_t sum;               /* modulo 2^64 */
        uint64_t smallest, largest; /* of the added numbers; 0 while empty */
        /* heap; counts of the buckets from `first_bucket` on, or the numbers themselves */
        uint64_t *counts;
        /* multiples of the 64 buckets of a power of two; n_buckets 0 = a list of numbers */
        uint32_t first_bucket, n_buckets;
};

void histogram_deinit(struct histogram *h);

#define HISTOGRAM_GROUP_BITS 6
#define HISTOGRAM_GROUP_BUCKETS \
        (UINT32_C(1) << HISTOGRAM_GROUP_BITS) /* a group is a power of two; the first is 0 .. 63 */

/* The number of the bucket of a number, below HISTOGRAM_BUCKETS. */
static inline uint32_t histogram_bucket_of(uint64_t value)
{
        uint32_t shift;

        if (value < HISTOGRAM_GROUP_BUCKETS)
                return (uint32_t)value;
        shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_GROUP_BITS;
        /* The leading bit of `value >> shift` moves the number into the next group. */
        return (shift << HISTOGRAM_GROUP_BITS) + (uint32_t)(value >> shift);
}

/* Private: counts a number that has no bucket.  Returns 0 or -ENOMEM. */
int histogram_add_beside(struct histogram *h, uint64_t value);

/* Counts one number.  Constant time.  Returns 0, or -ENOMEM with the histogram as it was. */
static inline int histogram_add(struct histogram *h, uint64_t value)
{
        uint32_t at = histogram_bucket_of(value) - h->first_bucket;

        /* One comparison checks both ends: below the first bucket the difference wraps around. */
        if (at < h->n_buckets) {
                h->counts[at]++;
        } else {
                int r = histogram_add_beside(h, value);

                if (r < 0)
                        return r;
        }
        if (h->n_values == 0 || value < h->smallest)
                h->smallest = value;
        if (value > h->largest)
                h->largest = value;
        h->sum += value;
        h->n_values++;
        return 0;
}

/* Counts all numbers of @more.  Returns 0, or -ENOMEM, after which @h has some of them. */
int histogram_merge(struct histogram *h, const struct histogram *more);

/*
 * histogram_quantile() - the number that a share of all numbers does not exceed
 * @share:  0 .. 1; 0.5 is the median.  By nearest rank: the ceil(share * n)-th smallest.
 * Returns 0 for an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *h, double share);

/* How many numbers are below @value, to the accuracy of the buckets. */
uint64_t histogram_count_below(const struct histogram *h, uint64_t value);

/* The middle of a bucket. */
uint64_t histogram_bucket_middle(uint32_t bucket);

/*
 * The contents, one after the other for @i = 0, 1 ..: a number and how often it occurs, perhaps 0 times.
 * Returns false at the end.
 */
bool histogram_get(const struct histogram *h, uint32_t i, uint64_t *ret_value, uint64_t *ret_n);

#endif /* ANALYZE_TRACE_HISTOGRAM_H */
