/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_query.h - what is on a lane between two times, at a resolution
 *
 * Way of the data:  timeline_index -> [timeline_query] -> web (columns of a reply)
 *
 * The view of a lane with a bucket of q = 2^bucket_log2 ns, between from and to:
 *
 *      spans    each span of at least q that touches [from, to) is an item; all shorter spans that begin in
 *               one bucket (begin >> bucket_log2) are one item: begin of the first, end of the last, count,
 *               and the longest (begin, length, `what`; the first of equals).  Such an item is in the view if
 *               its bucket, or its end, reaches into [from, to), and then it is whole
 *      values   all values of one bucket are one item: begin, min, max, first, last, count.  The items
 *               before and after those that reach into [from, to) are in the view as well, so that
 *               lines can be drawn to them
 *
 * So an item does not depend on where the view begins and ends.  There are at most 2 * (to - from) / q + 4
 * items.  A query takes time in proportion to the number of items and to the logarithm of the lane's length.
 */
#ifndef TIMELINE_TIMELINE_QUERY_H
#define TIMELINE_TIMELINE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline_index;
struct timeline_item;

struct timeline_view {
        uint32_t lane;
        unsigned bucket_log2;
        uint64_t from_ns, to_ns; /* since the start of the recording */
};

/*
 * One array a field, by item; times since the start of the recording.  Has the fields for both kinds of
 * lanes.
 */
struct timeline_columns {
        double *begin_ns, *end_ns; /* heap, as all of them; exact below 2^53 */
        union {
                struct {
                        double *longest_begin_ns, *longest_ns;
                };
                struct {
                        double *min, *max;
                };
        };
        double *first, *last; /* of values only, as min and max */
        uint32_t *what;       /* of spans only, as the longest */
        uint32_t *count;
        size_t n, capacity;
        size_t n_max; /* set by the caller, 0 = no limit: more items are -E2BIG */
};

/* Zero-initialised is empty.  Kept from one question to the next. */
void timeline_columns_deinit(struct timeline_columns *c);

/*
 * timeline_query_view() - fill the columns
 * @columns:  overwritten; incomplete after a failure
 * Returns 0, -EINVAL (no such lane, or from >= to), -E2BIG, -ENOMEM, -EBADMSG (the file is damaged: build it
 * again), -errno of read(2).
 */
int timeline_query_view(struct timeline_index *t, const struct timeline_view *view,
                        struct timeline_columns *columns, struct error *err);

/* Appends the last span of a lane, which is not over, with its length so far.  Returns 0 or -ENOMEM. */
int timeline_columns_add_open(struct timeline_columns *c, uint64_t begin_ns, uint64_t end_ns, uint32_t what);

/* Appends a value, or adds it to the last item of the same bucket.  Returns as timeline_query_view(). */
int timeline_columns_add_value(struct timeline_columns *c, const struct timeline_view *view, uint64_t at_ns,
                               double value, struct error *err);

/* Some values of `what`, of one kind of lane. */
struct timeline_wanted {
        const uint64_t *bits; /* borrowed; of `first` + i: bit i % 64 of word i / 64 */
        uint32_t first, n;    /* all are in first .. first + n - 1; n = 0: nothing is wanted */
        uint64_t ref_bits;    /* timeline_ref_bit() of all of them */
};

static inline bool timeline_wanted_has(const struct timeline_wanted *w, uint32_t what)
{
        uint32_t i = what - w->first;

        return i < w->n && (w->bits[i / 64] >> i % 64 & 1) != 0;
}

struct timeline_search {
        const uint32_t *lanes; /* by id; NULL = all lanes of which something is wanted */
        size_t n_lanes;
        uint64_t at_ns;
        bool is_backwards; /* the last that begins before at_ns, not the first that begins after it */
        bool any;          /* whatever its `what` */
        uint32_t what;
        const struct timeline_wanted *wanted; /* in place of `any` and `what`, by kind of lane; or NULL */
};

struct timeline_found {
        uint32_t lane, what;
        uint64_t begin_ns, end_ns;
        double value; /* of a lane of values */
};

/*
 * timeline_query_find() - the nearest span of any of the lanes
 * If two are equally near, the lane that is named first wins.  Pages without the wanted `what` are skipped.
 * Returns 1, 0 if there is none, or as timeline_query_view().
 */
int timeline_query_find(struct timeline_index *t, const struct timeline_search *search,
                        struct timeline_found *ret_found, struct error *err);

#endif /* TIMELINE_TIMELINE_QUERY_H */
