/* SPDX-License-Identifier: MIT */
#include "analyze/histogram.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BITS    6
#define GROUP_BUCKETS (UINT32_C(1) << GROUP_BITS) /* a group is a power of two; group 0 is 0 .. 63 */

static uint32_t bucket_of(uint64_t value)
{
        uint32_t shift;

        if (value < GROUP_BUCKETS)
                return (uint32_t)value;
        shift = 63 - (uint32_t)__builtin_clzll(value) - GROUP_BITS;
        /* The leading one of `value >> shift` is what moves the number into the next group. */
        return (shift << GROUP_BITS) + (uint32_t)(value >> shift);
}

static uint64_t middle_of(uint32_t bucket)
{
        uint32_t group = bucket >> GROUP_BITS;
        uint64_t lowest;

        if (group == 0)
                return bucket;
        lowest = (uint64_t)(GROUP_BUCKETS + (bucket & (GROUP_BUCKETS - 1))) << (group - 1);
        return lowest + (((UINT64_C(1) << (group - 1)) - 1) >> 1);
}

void histogram_deinit(struct histogram *h)
{
        free(h->counts);
        *h = (struct histogram){ .n_values = 0 };
}

/* Makes room for whole groups up to or down to that of @bucket. */
static int grow(struct histogram *h, uint32_t bucket)
{
        uint32_t group_first = bucket & ~(GROUP_BUCKETS - 1);
        uint32_t first = group_first;
        uint32_t end = group_first + GROUP_BUCKETS;
        uint64_t *counts;

        if (h->n_buckets != 0) {
                if (h->first_bucket < first)
                        first = h->first_bucket;
                if (h->first_bucket + h->n_buckets > end)
                        end = h->first_bucket + h->n_buckets;
        }
        counts = calloc(end - first, sizeof(*counts));
        if (!counts)
                return -ENOMEM;
        if (h->n_buckets != 0)
                memcpy(counts + (h->first_bucket - first), h->counts, h->n_buckets * sizeof(*counts));
        free(h->counts);
        h->counts = counts;
        h->first_bucket = first;
        h->n_buckets = end - first;
        return 0;
}

int histogram_add(struct histogram *h, uint64_t value)
{
        uint32_t bucket = bucket_of(value);

        /* One comparison for both ends: below the first bucket the difference wraps around. */
        if (bucket - h->first_bucket >= h->n_buckets) {
                int r = grow(h, bucket);

                if (r < 0)
                        return r;
        }
        h->counts[bucket - h->first_bucket]++;
        if (h->n_values == 0 || value < h->smallest)
                h->smallest = value;
        if (value > h->largest)
                h->largest = value;
        h->sum += value;
        h->n_values++;
        return 0;
}

uint64_t histogram_quantile(const struct histogram *h, double share)
{
        double wanted = share * (double)h->n_values;
        uint64_t rank = (uint64_t)wanted;
        uint64_t n_seen = 0;

        if (h->n_values == 0)
                return 0;
        if ((double)rank < wanted)
                rank++;
        if (rank <= 1)
                return h->smallest;
        if (rank >= h->n_values)
                return h->largest;
        for (uint32_t i = 0; i < h->n_buckets; i++) {
                uint64_t middle;

                n_seen += h->counts[i];
                if (n_seen < rank)
                        continue;
                middle = middle_of(h->first_bucket + i);
                if (middle < h->smallest)
                        return h->smallest;
                return middle < h->largest ? middle : h->largest;
        }
        return h->largest;
}
