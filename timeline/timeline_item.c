/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_item.h"

#include <string.h>

/* ---- folding ------------------------------------------------------------------------------------------- */

int timeline_fold_flush(struct timeline_fold *f)
{
        if (!f->is_open)
                return 0;
        f->is_open = false;
        return f->take(f->context, &f->open);
}

static void add_to_open(struct timeline_fold *f, const struct timeline_item *item)
{
        struct timeline_item *open = &f->open;

        open->end = item->end > open->end ? item->end : open->end;
        if (__builtin_add_overflow(open->count, item->count, &open->count))
                open->count = UINT32_MAX;
        if (f->has_values) {
                open->min = item->min < open->min ? item->min : open->min;
                open->max = item->max > open->max ? item->max : open->max;
                open->last = item->last;
        } else if (item->longest > open->longest) {
                open->longest_begin = item->longest_begin;
                open->longest = item->longest;
                open->what = item->what;
        }
}

int timeline_fold_add(struct timeline_fold *f, const struct timeline_item *item)
{
        bool is_long = !f->has_values && item->longest >> f->bucket_log2 != 0;
        int r;

        if (f->is_open && !is_long && (item->begin ^ f->open.begin) >> f->bucket_log2 == 0) {
                add_to_open(f, item);
                return 0;
        }
        r = timeline_fold_flush(f);
        if (r != 0)
                return r;
        if (is_long)
                return f->take(f->context, item);
        f->open = *item;
        f->is_open = true;
        return 0;
}

/*
 * Two neighbours become one item from the bucket size on at which both begin in the same bucket and both
 * are shorter than a bucket.  So one pass counts how many items are left at each bucket size.
 */
unsigned timeline_item_bucket(const struct timeline_item *items, size_t n, bool has_values, size_t n_max,
                              unsigned least)
{
        uint32_t n_joined[65] = { 0 };
        size_t n_left = n;

        for (size_t i = 1; i < n; i++) {
                uint64_t bits = items[i - 1].begin ^ items[i].begin;

                if (!has_values)
                        bits |= items[i - 1].longest | items[i].longest;
                n_joined[bits == 0 ? 0 : 64 - __builtin_clzll(bits)]++;
        }
        for (unsigned log2 = 0; log2 < TIMELINE_BUCKET_MAX; log2++) {
                n_left -= n_joined[log2];
                if (log2 >= least && n_left <= n_max)
                        return log2;
        }
        return TIMELINE_BUCKET_MAX;
}

/* ---- as they are kept ---------------------------------------------------------------------------------- */

/* Written out byte by byte, because compilers turn these forms into one load and one store. */
static inline uint64_t item_load(const uint8_t *p)
{
        return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
               (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline void item_store(uint8_t *p, uint64_t v)
{
        for (unsigned i = 0; i < sizeof(v); i++)
                p[i] = (uint8_t)(v >> 8 * i);
}

static inline double load_double(const uint8_t *p)
{
        uint64_t bits = item_load(p);
        double value;

        memcpy(&value, &bits, sizeof(value));
        return value;
}

static inline void store_double(uint8_t *p, double value)
{
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        item_store(p, bits);
}

/* Two words: 48 bits, 48 bits and 32 bits. */
static inline void store_three(uint8_t *p, uint64_t a, uint64_t b, uint32_t c)
{
        item_store(p, (a & TIMELINE_TIME_MAX) | b << TIMELINE_TIME_BITS);
        item_store(p + 8, (b >> 16 & UINT32_MAX) | (uint64_t)c << 32);
}

static inline uint64_t second_of(uint64_t low, uint64_t high)
{
        return low >> TIMELINE_TIME_BITS | (high & UINT32_MAX) << 16;
}

void timeline_item_put_span(uint8_t *at, uint64_t begin, uint64_t length, uint32_t what)
{
        store_three(at, begin, length, what);
}

void timeline_item_put_value(uint8_t *at, uint64_t time, double value)
{
        item_store(at, time);
        store_double(at + 8, value);
}

struct timeline_item timeline_item_get_span(const uint8_t *at, bool has_values)
{
        uint64_t low = item_load(at), high;

        if (has_values)
                return timeline_item_of_value(low & TIMELINE_TIME_MAX, load_double(at + 8));
        high = item_load(at + 8);
        return timeline_item_of_span(low & TIMELINE_TIME_MAX, second_of(low, high), (uint32_t)(high >> 32));
}

void timeline_item_put_folded(uint8_t *at, const struct timeline_item *item, bool has_values)
{
        if (has_values) {
                item_store(at, item->begin);
                item_store(at + 8, item->count);
                store_double(at + 16, item->min);
                store_double(at + 24, item->max);
                store_double(at + 32, item->first);
                store_double(at + 40, item->last);
                return;
        }
        store_three(at, item->begin, item->end - item->begin, item->count);
        store_three(at + 16, item->longest_begin - item->begin, item->longest, item->what);
}

struct timeline_item timeline_item_get_folded(const uint8_t *at, bool has_values)
{
        uint64_t low = item_load(at), high = item_load(at + 8);
        struct timeline_item item = { .begin = low & TIMELINE_TIME_MAX };

        if (has_values) {
                item.end = item.begin;
                item.count = (uint32_t)high;
                item.min = load_double(at + 16);
                item.max = load_double(at + 24);
                item.first = load_double(at + 32);
                item.last = load_double(at + 40);
                return item;
        }
        item.end = item.begin + second_of(low, high);
        item.count = (uint32_t)(high >> 32);
        low = item_load(at + 16);
        high = item_load(at + 24);
        item.longest_begin = item.begin + (low & TIMELINE_TIME_MAX);
        item.longest = second_of(low, high);
        item.what = (uint32_t)(high >> 32);
        return item;
}
