/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/address_map.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKET_SEGMENTS 2 /* in a bucket, about */

void address_map_deinit(struct address_map *map)
{
        free(map->ranges);
        free(map->segments);
        free(map->buckets);
        *map = (struct address_map){ .ranges = NULL };
}

int address_map_add(struct address_map *map, uint64_t start, uint64_t end, uint32_t value)
{
        if (end <= start)
                return 0;
        if (map->n_ranges >= UINT32_MAX ||
            array_reserve(&map->ranges, &map->ranges_capacity, map->n_ranges + 1, sizeof(*map->ranges)) < 0)
                return -ENOMEM;
        map->ranges[map->n_ranges] = (struct address_map_range){ start, end, value, (uint32_t)map->n_ranges };
        map->n_ranges++;
        return 0;
}

/* Outer ranges before the inner ones that start with them. */
static int compare_ranges(const void *a, const void *b)
{
        const struct address_map_range *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        if (x->end != y->end)
                return x->end > y->end ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

/* Lets @value hold from @start on.  The segments have room: see address_map_build(). */
static void put_segment(struct address_map *map, uint64_t start, uint32_t value)
{
        struct address_map_segment *last = map->segments + map->n_segments;

        if (map->n_segments > 0 && last[-1].start == start)
                last[-1].value = value; /* the one before would be empty */
        else
                map->segments[map->n_segments++] = (struct address_map_segment){ start, value };
}

/* Ends the open ranges that end at or before @address; the ranges around them go on after them. */
static size_t close_ranges(struct address_map *map, const uint32_t *open, size_t n_open, uint64_t address)
{
        while (n_open > 0 && map->ranges[open[n_open - 1]].end <= address) {
                uint64_t end = map->ranges[open[--n_open]].end;

                /* An enclosing range may have ended earlier, when the two overlap without nesting. */
                while (n_open > 0 && map->ranges[open[n_open - 1]].end <= end)
                        n_open--;
                put_segment(map, end, n_open ? map->ranges[open[n_open - 1]].value : ADDRESS_MAP_NONE);
        }
        return n_open;
}

/* Without memory for the buckets, a lookup only takes longer. */
static void make_buckets(struct address_map *map)
{
        uint64_t first = map->segments[0].start, span = map->segments[map->n_segments - 1].start - first;
        uint32_t n_buckets, at = 0;

        if (map->n_segments < BUCKET_SEGMENTS || map->n_segments >= UINT32_MAX)
                return;
        n_buckets = (uint32_t)map->n_segments / BUCKET_SEGMENTS + 1;
        while (span >> map->bucket_shift >= n_buckets)
                map->bucket_shift++;
        map->buckets = malloc(((size_t)n_buckets + 1) * sizeof(*map->buckets));
        if (!map->buckets)
                return;
        for (uint32_t i = 0; i < n_buckets; i++) {
                while (at < map->n_segments && (map->segments[at].start - first) >> map->bucket_shift < i)
                        at++;
                map->buckets[i] = at;
        }
        map->buckets[n_buckets] = (uint32_t)map->n_segments;
        map->n_buckets = n_buckets;
}

int address_map_build(struct address_map *map)
{
        size_t n_ranges = map->n_ranges, n_open = 0;
        uint32_t *open;

        if (n_ranges == 0)
                return 0;
        open = malloc(n_ranges * sizeof(*open));
        /* Each range puts at most one segment at its start and one at its end. */
        if (!open || array_reserve(&map->segments, &map->segments_capacity, 2 * n_ranges,
                                   sizeof(*map->segments)) < 0) {
                free(open);
                return -ENOMEM;
        }
        qsort(map->ranges, n_ranges, sizeof(*map->ranges), compare_ranges);
        for (size_t i = 0; i < n_ranges; i++) {
                n_open = close_ranges(map, open, n_open, map->ranges[i].start);
                put_segment(map, map->ranges[i].start, map->ranges[i].value);
                open[n_open++] = (uint32_t)i;
        }
        (void)close_ranges(map, open, n_open, UINT64_MAX);
        free(open);
        free(map->ranges);
        map->ranges = NULL;
        map->n_ranges = 0;
        map->ranges_capacity = 0;
        make_buckets(map);
        return 0;
}

uint32_t address_map_find(const struct address_map *map, uint64_t address)
{
        size_t low = 0, left = map->n_segments;

        if (left == 0 || address < map->segments[0].start)
                return ADDRESS_MAP_NONE;
        if (map->n_buckets > 0) {
                uint64_t bucket = (address - map->segments[0].start) >> map->bucket_shift;

                bucket = bucket < map->n_buckets ? bucket : map->n_buckets - 1;
                low = map->buckets[bucket];
                left = map->buckets[bucket + 1] - low;
        }
        /*
         * Either the first segment of the bucket is not above the address, or the segment before `low` is
         * the one.
         */
        while (left > 0) {
                size_t half = (left + 1) / 2;

                low += map->segments[low + half - 1].start <= address ? half : 0;
                left -= half;
        }
        return map->segments[low - 1].value;
}

uint64_t address_map_find_next(const struct address_map *map, uint64_t address)
{
        size_t low = 0, high = map->n_segments;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (map->segments[middle].start <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        while (low < map->n_segments && map->segments[low].value == ADDRESS_MAP_NONE)
                low++;
        return low < map->n_segments ? map->segments[low].start : UINT64_MAX;
}
