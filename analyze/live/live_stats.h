/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_stats.h - a trace that is still being written: its last ten seconds, and all so far
 *
 * Way of the data:  trace_follow -> [live_stats] (trace_walk) -> live_rows -> `hyprof top`, the live screen
 *
 * Sums by ids alone: names come later than events, so the rows are named when they are shown.  "Now" is the
 * time of the latest events; a clock that goes back by more than the window starts the window anew, and is
 * counted.  Memory: bounded by the limits of live_window, LIVE_ZONES_MAX and LIVE_THREADS_MAX, and
 * that of the walk: open zones and threads.  Durations take half a KiB for each power of two that one place
 * has in a second: a few MiB as a rule, 340 MiB if a program is made to use as much as it can.  Not
 * thread-safe.
 */
#ifndef ANALYZE_LIVE_LIVE_STATS_H
#define ANALYZE_LIVE_LIVE_STATS_H

#include "analyze/live/live_ends.h"
#include "analyze/live/live_window.h"
#include "analyze/samples/unsampled_time.h"
#include "analyze/trace/histogram.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/walk/trace_walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_ZONES_MAX   1024  /* places of zones; those that come later are summed together */
#define LIVE_THREADS_MAX 16384 /* that are listed */

struct error;
struct trace_dictionary;
struct trace_item;

struct live_zone_slot {
        uint64_t second;            /* as in struct live_slot */
        struct histogram durations; /* with the quantiles that a report has */
        uint64_t self_ns;
};

/* The zones of one place. */
struct live_zone {
        uint32_t location;
        struct live_zone_slot slots[LIVE_SLOTS_AND_ALL];
};

/* How long each thread had run at one moment. */
struct live_mark {
        uint64_t time_ns; /* 0 = none */
        uint64_t *ran_ns; /* heap; by thread id - 1 */
        uint32_t n_threads;
};

/* How many things fell into one second. */
struct live_tally {
        uint64_t second; /* as in struct live_slot */
        uint64_t n_samples, n_zones;
        uint64_t n_zones_beside; /* of n_zones, those for whose place there was no room */
};

struct live_stats {
        const struct trace_dictionary *dictionary; /* borrowed; grows */
        struct trace_walk walk;
        struct live_window samples; /* by call stack + 1: the weight of samples of `event` */
        struct live_window waits;   /* by live_wait_key(): nanoseconds */
        struct live_ends ends;      /* of these waits */
        struct live_zone **zones;   /* heap; LIVE_ZONES_MAX of them, each on the heap */
        uint32_t n_zones;
        uint32_t *zone_of; /* heap; by location - 1: place in `zones` + 1; 0 = none; UINT32_MAX = no room */
        size_t zone_of_capacity;
        uint32_t n_locations;
        struct live_tally tallies[LIVE_SLOTS_AND_ALL];
        struct live_mark marks[LIVE_SLOTS + 1];
        uint32_t next_mark;
        struct sample_sum sum; /* of all these samples so far */
        /* whose samples count: the first event with samples of its own; 0 = none yet */
        uint32_t event;
        uint64_t first_ns; /* of the events */
        uint64_t now_ns;   /* 0 = there was none yet */
        uint32_t n_clock_jumps;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int live_stats_init(struct live_stats *s, const struct trace_dictionary *dictionary);
void live_stats_deinit(struct live_stats *s);

/*
 * live_stats_add() - a chunk, with the dictionary as it is after it
 * Returns 0, -EBADMSG (events that cannot be decoded; the events before them were added), -ENOMEM.
 */
int live_stats_add(struct live_stats *s, const struct trace_item *item, struct error *err);

/*
 * Moves the present time on without events.  @now_ns: by the trace's clock; a time before the present one is
 * ignored.
 */
void live_stats_advance(struct live_stats *s, uint64_t now_ns);

/*
 * The length of the window by now: at most LIVE_SLOTS seconds, and up to a second less.  @all: since the
 * first event.
 */
uint64_t live_stats_window_ns(const struct live_stats *s, bool all);

/* When the window began. */
uint64_t live_stats_window_start(const struct live_stats *s, bool all);

/* The numbers of the window: sums of its rows, and of those for which there was no room. */
struct live_tally live_stats_tally(const struct live_stats *s, bool all);

/* How much time has no samples, from the beginning to now. */
struct unsampled_time live_stats_unsampled(const struct live_stats *s);

/* Of `waits`: the call stack and the state, enum trace_wait_state. */
static inline uint64_t live_wait_key(uint32_t stack, uint32_t state)
{
        return UINT64_C(1) << 63 | (uint64_t)state << 32 | stack;
}

static inline uint32_t live_wait_stack(uint64_t key)
{
        return (uint32_t)key;
}

static inline uint32_t live_wait_state(uint64_t key)
{
        return (uint32_t)(key >> 32) & UINT32_C(0x7fffffff);
}

#endif /* ANALYZE_LIVE_LIVE_STATS_H */
