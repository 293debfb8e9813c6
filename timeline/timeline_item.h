/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_item.h - spans of a lane, and what they are folded to
 *
 * Way of the data:  timeline_lane (pages) -> [timeline_item] -> timeline_query
 *
 * A view of a lane has a bucket of q = 2^bucket_log2.  Each span of at least q is an item of its own.
 * Shorter spans are folded by the bucket that they begin in: all of one bucket are one item.  They are always
 * neighbours, since a long span that begins in a bucket ends beyond it.  A view of 2q is therefore made from
 * the items of the view of q as well as from the spans.
 *
 * Times are in units of the index.  Nothing here allocates.
 */
#ifndef TIMELINE_TIMELINE_ITEM_H
#define TIMELINE_TIMELINE_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_TIME_BITS  48
#define TIMELINE_TIME_MAX   ((UINT64_C(1) << TIMELINE_TIME_BITS) - 1)
#define TIMELINE_BUCKET_MAX 62 /* bucket_log2 at most */

#define TIMELINE_SPAN_BYTES   16 /* a span or a value, as it is kept */
#define TIMELINE_FOLDED_BYTES 32 /* a folded item of spans, as it is kept */
#define TIMELINE_VALUES_BYTES 48 /* a folded item of values, likewise */

/* One span, one value, or some that were folded. */
struct timeline_item {
        uint64_t begin, end; /* of the first, and of the last */
        union {
                struct {
                        uint64_t longest_begin, longest; /* the longest one: the first of equals */
                };
                struct {
                        double min, max, first, last;
                };
        };
        uint32_t what;  /* of the longest */
        uint32_t count; /* stops at UINT32_MAX */
};

/* Returns 0, or anything else to stop. */
typedef int timeline_item_take(void *context, const struct timeline_item *item);

/* Folds items that come in order. */
struct timeline_fold {
        timeline_item_take *take;
        void *context;
        struct timeline_item open;
        unsigned bucket_log2;
        bool has_values, is_open;
};

/* The item of one span. */
static inline struct timeline_item timeline_item_of_span(uint64_t begin, uint64_t length, uint32_t what)
{
        return (struct timeline_item){
                .begin = begin,
                .end = begin + length,
                .longest_begin = begin,
                .longest = length,
                .what = what,
                .count = 1,
        };
}

static inline struct timeline_item timeline_item_of_value(uint64_t time, double value)
{
        return (struct timeline_item){ .begin = time,
                                       .end = time,
                                       .min = value,
                                       .max = value,
                                       .first = value,
                                       .last = value,
                                       .count = 1 };
}

/* Hands out the open item, if there is one.  Returns what `take` returns, else 0. */
int timeline_fold_flush(struct timeline_fold *f);

/*
 * Adds the next item, which was folded with the same bucket or a smaller one.  Returns as
 * timeline_fold_flush().
 */
int timeline_fold_add(struct timeline_fold *f, const struct timeline_item *item);

/*
 * The smallest bucket_log2, not below @least, with which @n items are at most @n_max folded ones;
 * TIMELINE_BUCKET_MAX if none.
 */
unsigned timeline_item_bucket(const struct timeline_item *items, size_t n, bool has_values, size_t n_max,
                              unsigned least);

/* As they are kept: little endian, TIMELINE_SPAN_BYTES, _FOLDED_BYTES or _VALUES_BYTES. */
void timeline_item_put_span(uint8_t *at, uint64_t begin, uint64_t length, uint32_t what);
void timeline_item_put_value(uint8_t *at, uint64_t time, double value);
struct timeline_item timeline_item_get_span(const uint8_t *at, bool has_values);
void timeline_item_put_folded(uint8_t *at, const struct timeline_item *item, bool has_values);
struct timeline_item timeline_item_get_folded(const uint8_t *at, bool has_values);

static inline size_t timeline_item_folded_bytes(bool has_values)
{
        return has_values ? TIMELINE_VALUES_BYTES : TIMELINE_FOLDED_BYTES;
}

#endif /* TIMELINE_TIMELINE_ITEM_H */
