/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/lock_stats.h - a program's events of locks -> who waited, how long, and for whom
 *
 * Way of the data:  event_walk -> [lock_stats] -> locks_view
 *
 * A wait lasts from LOCK_WAIT to the same thread's LOCK_OBTAIN; if another event of the thread comes before,
 * the thread gave up.  A wait is contended if another thread held the lock in that time, and they could not
 * share it.  The time of waits is attributed to the holders: with two threads waiting, a nanosecond counts
 * twice.  Waits and holds that are open at the end of the trace count up to there.
 *
 * Memory: two histograms a lock, a row for each lock, thread and zone path up to LOCK_STATS_ROWS_MAX, and
 * LOCK_STATS_PARTIES_MAX threads that hold a lock or wait for it at once.  Further ones are counted.
 */
#ifndef ANALYZE_STATS_LOCK_STATS_H
#define ANALYZE_STATS_LOCK_STATS_H

#include "analyze/trace/histogram.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct event_walk;
struct loaded_trace;
struct ordered_event;
struct trace_filter;

#define LOCK_STATS_ROWS_MAX    (UINT32_C(1) << 20)
#define LOCK_STATS_PARTIES_MAX 64

/* A thread that holds a lock, or waits for it. */
struct lock_party {
        uint64_t since_ns;
        uint64_t blocked_ns; /* of others, while it held it */
        uint32_t thread, path;
        uint32_t place; /* the lowest number that no other party has at the same time */
        bool shared, contended;
};

struct lock_parties {
        struct lock_party *items; /* heap */
        size_t capacity;
        uint32_t n;
};

struct lock_state {
        struct lock_parties holding, waiting;
        uint64_t at_ns;                      /* up to where `blocked_ns` was added up */
        struct histogram waits_ns, holds_ns; /* that ended */
        uint64_t n_obtains;
        uint64_t n_shared;    /* of them */
        uint64_t n_contended; /* waits because another thread held the lock */
        uint64_t n_given_up;  /* waits without an obtain */
        uint64_t blocked_ns;  /* put down to holders */
        uint32_t name;        /* string: its last name; 0 = named by its location */
        uint32_t mark;        /* last location that the program named as holding it; 0 = none */
        bool is_gone, any;
};

/* Compared as bytes. */
struct lock_row_key {
        uint32_t lock, thread, path;
        uint32_t holds; /* 1: it held the lock; 0: it waited for it */
};

struct lock_row {
        uint64_t n, total_ns, max_ns;
        uint64_t blocked_ns;  /* of holds: how long others waited in the meantime */
        uint64_t n_contended; /* of who waited */
};

/* A wait or a hold that is over. */
struct lock_span {
        uint64_t begin_ns, end_ns;
        uint32_t lock, thread;
        uint32_t place; /* as in struct lock_party: spans of one place do not overlap */
        bool holds;
};

/* Returns 0 or -errno, which ends the walk. */
typedef int lock_stats_take_span(void *context, const struct lock_span *span, struct error *err);

struct lock_stats {
        lock_stats_take_span
                *take; /* NULL = only sums are wanted; set by the caller after lock_stats_init() */
        void *context;
        struct lock_state *locks; /* heap; by lock id - 1 */
        uint32_t n_locks;         /* of the table */
        uint32_t n_used;          /* that were obtained or waited for */
        struct intern keys;       /* struct lock_row_key */
        struct lock_row *rows;    /* heap; of the key with id i at i - 1 */
        size_t rows_capacity;
        uint64_t n_rows_lost;      /* holds and waits that no row has */
        uint64_t n_untracked;      /* obtains and waits beyond LOCK_STATS_PARTIES_MAX at once */
        uint64_t n_releases_alone; /* releases of locks that the thread did not hold, as far as is known */
        uint64_t n_open_holds, n_open_waits;
};

/* All locks are unused then.  Returns 0 or -ENOMEM; to be deinitialised in any case. */
int lock_stats_init(struct lock_stats *s, uint32_t n_locks);
void lock_stats_deinit(struct lock_stats *s);

/* Makes room for locks that were not known yet.  Returns 0 or -ENOMEM. */
int lock_stats_reserve(struct lock_stats *s, uint32_t n_locks);

/*
 * Events of the ops LOCK_WAIT to LOCK_NAME, and EVENT_WALK_GIVE_UP, in the order of
 * time.  Returns 0 or -ENOMEM.
 */
int lock_stats_add(struct lock_stats *s, const struct ordered_event *event);
int lock_stats_finish(struct lock_stats *s, uint64_t end_ns);

/*
 * lock_stats_take() - the statistics of a whole trace
 * @walk:  not initialised; keeps the paths of the rows, to be deinitialised in any case
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int lock_stats_take(struct lock_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    struct event_walk *walk, struct error *err);

#endif /* ANALYZE_STATS_LOCK_STATS_H */
