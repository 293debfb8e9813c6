/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_window.h - sums of the last seconds and of all that has arrived, by key
 *
 * Way of the data:  live_stats -> [live_window] -> live_rows
 *
 * A ring of slots of a second each, and one slot for all time.  When a slot comes round again, the first
 * addition to it empties it, so that time may jump by any amount at no cost.  Memory: LIVE_KEYS_MAX cells a
 * slot at most; all further keys share one sum.  Not thread-safe.
 */
#ifndef ANALYZE_LIVE_LIVE_WINDOW_H
#define ANALYZE_LIVE_LIVE_WINDOW_H

#include "base/saturating.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_SLOT_NS       UINT64_C(1000000000)
#define LIVE_SLOTS         10         /* the last of them is not over */
#define LIVE_SLOT_ALL      LIVE_SLOTS /* the number of the slot of all time */
#define LIVE_SLOTS_AND_ALL (LIVE_SLOTS + 1)
#define LIVE_KEYS_MAX      8192 /* a slot */

struct live_sum {
        uint64_t n, sum, largest;
};

/* One key of one slot. */
struct live_cell {
        uint64_t key; /* never 0 */
        struct live_sum sum;
};

struct live_slot {
        uint64_t second;         /* its time / LIVE_SLOT_NS, plus 1; 0 = empty */
        struct live_cell *cells; /* heap; open addressing, key 0 = free */
        size_t n_cells, n_used;  /* n_cells is a power of two */
        struct live_sum others;  /* of the keys that found no room */
};

struct live_window {
        struct live_slot slots[LIVE_SLOTS_AND_ALL];
};

/* Zero-initialised is empty. */
void live_window_deinit(struct live_window *w);

/* Adds @amount at a time.  @key is not 0.  Returns 0 or -ENOMEM. */
int live_window_add(struct live_window *w, uint64_t time_ns, uint64_t key, uint64_t amount);

static inline void live_sum_add(struct live_sum *s, uint64_t amount)
{
        s->n++;
        s->sum = saturating_add(s->sum, amount);
        if (amount > s->largest)
                s->largest = amount;
}

static inline void live_sum_merge(struct live_sum *s, const struct live_sum *more)
{
        s->n += more->n;
        s->sum = saturating_add(s->sum, more->sum);
        if (more->largest > s->largest)
                s->largest = more->largest;
}

/* The stamp of the slot that holds a time, and its number in the ring. */
static inline uint64_t live_slot_second(uint64_t time_ns)
{
        return time_ns / LIVE_SLOT_NS + 1;
}

/* Whether a slot with this stamp is one of the last LIVE_SLOTS at @now_ns. */
static inline bool live_slot_is_recent(uint64_t second, uint64_t now_ns)
{
        uint64_t now = live_slot_second(now_ns);

        return second != 0 && second <= now && now - second < LIVE_SLOTS;
}

/*
 * live_window_collect() - the sums of all recent slots, or of all time
 * @ret_cells:  a heap array, the caller's to free; NULL if there are none
 * @ret_others: the sum of keys for which there was no room
 * Returns how many cells, or -ENOMEM.
 */
int live_window_collect(const struct live_window *w, uint64_t now_ns, bool all, struct live_cell **ret_cells,
                        struct live_sum *ret_others);

#endif /* ANALYZE_LIVE_LIVE_WINDOW_H */
