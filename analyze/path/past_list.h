/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_list.h - things that happened, sorted by time, of which the oldest are dropped
 *
 * Way of the data:  past -> [past_list] -> path_walk, path_sums
 *
 * Every item begins with its time, a uint64_t in nanoseconds.  Events of different threads come in another
 * order than that of time, but never far from it: an item finds its place near the end.  One that would have
 * to go before PAST_LIST_LATE_MAX others is refused, which bounds the work for traces that lie.  A *span*
 * lasts from its time to its end.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PAST_LIST_H
#define ANALYZE_PATH_PAST_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAST_LIST_LATE_MAX 16384
/* So many spans are looked at for the one that ends now, and for those that began long before a time. */
#define PAST_LIST_LOOK_MAX 1024

/* Zero-initialised is an empty one. */
struct past_list {
        void *items;               /* heap */
        size_t first, n, capacity; /* items [first, n) are there */
        uint32_t n_open;           /* of spans: have not ended */
        bool overlaps;             /* spans that began while another one lasted */
};

/* Anything that a thread did from `begin_ns` to `end_ns`, with someone or something. */
struct past_span {
        uint64_t begin_ns, end_ns; /* end: UINT64_MAX while it lasts */
        uint32_t id;               /* the lock, thread or fiber */
        uint32_t n_times;          /* it began again so often, while it lasted; each has an end of its own */
};

static inline size_t past_list_count(const struct past_list *list)
{
        return list->n - list->first;
}

static inline const struct past_span *past_list_spans(const struct past_list *list)
{
        return list->items;
}

/* Adds an item at its place.  Returns 0, 1 = it is refused, -ENOMEM. */
int past_list_insert(struct past_list *list, size_t item_bytes, const void *item);

/* How many items, counted from items[0] on, have a time before @time_ns: at least `first`. */
size_t past_list_before(const struct past_list *list, size_t item_bytes, uint64_t time_ns);

/* Drops the items with a time before @time_ns. */
void past_list_trim(struct past_list *list, size_t item_bytes, uint64_t time_ns);

/*
 * past_list_open() - a span begins
 * @is_alone:  there is one at a time: those that last and began before end where the next one begins
 * Returns as past_list_insert().  A span of the same id that lasts goes on, and needs one more end.
 */
int past_list_open(struct past_list *list, uint64_t time_ns, uint32_t id, bool is_alone);

/*
 * past_list_close() - the latest span of @id ends; of any id that lasts, if that is 0
 * Also one that ended later, where another one had taken its place.  Does nothing if there is none.
 */
void past_list_close(struct past_list *list, uint64_t time_ns, uint32_t id);

/* Drops the spans that ended before @time_ns; those that last stay, wherever they are. */
void past_list_trim_spans(struct past_list *list, uint64_t time_ns);

/* The same for a list that has one span at a time: what began before the one at @time_ns is dropped. */
void past_list_trim_alone(struct past_list *list, uint64_t time_ns);

/*
 * past_spans() - the spans that may overlap [begin_ns, end_ns)
 * They lie in [*ret_first, return value); some of these have ended before.  Looks for spans that last long
 * among the PAST_LIST_LOOK_MAX that began before @begin_ns.
 */
size_t past_spans(const struct past_list *list, uint64_t begin_ns, uint64_t end_ns, size_t *ret_first);

void past_list_deinit(struct past_list *list);

#endif /* ANALYZE_PATH_PAST_LIST_H */
