/* SPDX-License-Identifier: MIT */
#include "analyze/trace/histogram.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BITS    HISTOGRAM_GROUP_BITS
#define GROUP_BUCKETS HISTOGRAM_GROUP_BUCKETS

_Static_assert(HISTOGRAM_BUCKETS == (64 - GROUP_BITS + 1) << GROUP_BITS, "bucket of UINT64_MAX");

#define LISTED_MAX 64 /* so many numbers are listed before there are buckets: the room of one group */

uint64_t histogram_bucket_middle(uint32_t bucket)
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

/* Puts a number into the list; its room is the next power of two. */
static int append(struct histogram *h, uint64_t value)
{
        if ((h->n_values & (h->n_values - 1)) == 0) {
                size_t capacity = h->n_values != 0 ? (size_t)h->n_values * 2 : 1;
                uint64_t *numbers = realloc(h->counts, capacity * sizeof(*numbers));

                if (!numbers)
                        return -ENOMEM;
                h->counts = numbers;
        }
        h->counts[h->n_values] = value;
        return 0;
}

/* Makes buckets of the list. */
static int sort_into_buckets(struct histogram *h)
{
        struct histogram buckets = { .n_values = 0 };

        for (uint64_t i = 0; i < h->n_values; i++) {
                uint32_t bucket = histogram_bucket_of(h->counts[i]);

                if (bucket - buckets.first_bucket >= buckets.n_buckets && grow(&buckets, bucket) < 0) {
                        histogram_deinit(&buckets);
                        return -ENOMEM;
                }
                buckets.counts[bucket - buckets.first_bucket]++;
        }
        free(h->counts);
        h->counts = buckets.counts;
        h->first_bucket = buckets.first_bucket;
        h->n_buckets = buckets.n_buckets;
        return 0;
}

int histogram_add_beside(struct histogram *h, uint64_t value)
{
        uint32_t bucket = histogram_bucket_of(value);
        int r = 0;

        if (h->n_buckets == 0 && h->n_values < LISTED_MAX)
                return append(h, value);
        if (h->n_buckets == 0)
                r = sort_into_buckets(h);
        if (r == 0 && bucket - h->first_bucket >= h->n_buckets)
                r = grow(h, bucket);
        if (r == 0)
                h->counts[bucket - h->first_bucket]++;
        return r;
}

static int merge_buckets(struct histogram *h, const struct histogram *more)
{
        int r = h->n_buckets == 0 && h->n_values != 0 ? sort_into_buckets(h) : 0;

        if (r == 0 && more->first_bucket - h->first_bucket >= h->n_buckets)
                r = grow(h, more->first_bucket);
        if (r == 0 && more->first_bucket + more->n_buckets > h->first_bucket + h->n_buckets)
                r = grow(h, more->first_bucket + more->n_buckets - 1);
        for (uint32_t i = 0; r == 0 && i < more->n_buckets; i++)
                h->counts[more->first_bucket + i - h->first_bucket] += more->counts[i];
        return r;
}

int histogram_merge(struct histogram *h, const struct histogram *more)
{
        int r = 0;

        if (more->n_buckets == 0) {
                for (uint64_t i = 0; r == 0 && i < more->n_values; i++)
                        r = histogram_add(h, more->counts[i]);
                return r;
        }
        r = merge_buckets(h, more);
        if (r < 0)
                return r;
        if (h->n_values == 0 || more->smallest < h->smallest)
                h->smallest = more->smallest;
        if (more->largest > h->largest)
                h->largest = more->largest;
        h->sum += more->sum;
        h->n_values += more->n_values;
        return 0;
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a;
        uint64_t y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* The @rank-th smallest of the list. */
static uint64_t listed_quantile(const struct histogram *h, uint64_t rank)
{
        uint64_t sorted[LISTED_MAX];

        memcpy(sorted, h->counts, (size_t)h->n_values * sizeof(*sorted));
        qsort(sorted, (size_t)h->n_values, sizeof(*sorted), compare);
        return sorted[rank - 1];
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
        if (h->n_buckets == 0)
                return listed_quantile(h, rank);
        for (uint32_t i = 0; i < h->n_buckets; i++) {
                uint64_t middle;

                n_seen += h->counts[i];
                if (n_seen < rank)
                        continue;
                middle = histogram_bucket_middle(h->first_bucket + i);
                if (middle < h->smallest)
                        return h->smallest;
                return middle < h->largest ? middle : h->largest;
        }
        return h->largest;
}

uint64_t histogram_count_below(const struct histogram *h, uint64_t value)
{
        uint64_t n = 0;

        if (h->n_values == 0 || value <= h->smallest)
                return 0;
        if (value > h->largest)
                return h->n_values;
        if (h->n_buckets == 0) {
                for (uint64_t i = 0; i < h->n_values; i++)
                        n += h->counts[i] < value;
                return n;
        }
        for (uint32_t i = 0; i < h->n_buckets && histogram_bucket_middle(h->first_bucket + i) < value; i++)
                n += h->counts[i];
        return n;
}

bool histogram_get(const struct histogram *h, uint32_t i, uint64_t *ret_value, uint64_t *ret_n)
{
        bool is_list = h->n_buckets == 0;

        if (i >= (is_list ? h->n_values : h->n_buckets))
                return false;
        *ret_value = is_list ? h->counts[i] : histogram_bucket_middle(h->first_bucket + i);
        *ret_n = is_list ? 1 : h->counts[i];
        return true;
}
