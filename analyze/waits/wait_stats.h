/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/wait_stats.h - how long threads waited, where, and who ended it
 *
 * Way of the data:  trace_walk -> trace_totals -> [wait_stats] -> report_waits
 *
 * A wait is the time from a SWITCH_OUT that is no preemption to the thread's
 * next SWITCH_IN.  Waits at the same callstack, in the same zone path, of the
 * same state and of about the same length are one row; names play no part, since
 * they may stand at the end of the trace.  If a WAKEUP lies in between, the first one shows who ended the
 * wait, and the time after it is the scheduling delay, which is part of the wait.
 *
 * Left out: the ends of threads, idle threads of the kernel, and waits whose first or last switch the trace
 * lacks.  Callstacks are those that were recorded: waits without one have rows of their own, and nothing is
 * guessed.
 *
 * Keeps a state for each thread and a sum for each distinct row, never events.
 * Not thread-safe.
 */
#ifndef ANALYZE_WAITS_WAIT_STATS_H
#define ANALYZE_WAITS_WAIT_STATS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_wait;

struct wait_sum {
        uint64_t n_waits;
        uint64_t total_ns;
        uint64_t max_ns;
};

#define WAIT_LENGTHS 32

/* The identity of a row, compared as bytes. */
struct wait_key {
        uint32_t stack; /* 0 = not recorded */
        uint32_t path;  /* of the walk's zone_paths; 0 = outside of every zone */
        uint32_t wait;  /* enum trace_wait_state, or of a newer version */
        /* 0: below 4 ns, 1: below 16 ns ...; waits with a call stack represent others of about this length */
        uint32_t length;
};

/* The logarithm to the base 4, rounded down. */
static inline uint32_t wait_length_of(uint64_t wait_ns)
{
        return wait_ns != 0 ? (63 - (uint32_t)__builtin_clzll(wait_ns)) / 2 : 0;
}

struct wait_row {
        struct wait_sum ended;
        struct wait_sum delays; /* from the wake-up until the thread ran; of waits with a wake-up */
        uint64_t n_open;        /* had not ended when the recording did */
        uint64_t open_ns;       /* how long they had lasted by then */
};

struct waker_key {
        uint32_t row;    /* row of the waits that it ended, an id in `keys` */
        uint32_t thread; /* 0 = not recorded, or an interrupt */
        uint32_t name;   /* string; 0 = unknown */
        uint32_t stack;  /* of the thread, or of the interrupt; 0 = not recorded */
        uint32_t below;  /* the thread below the interrupt; 0 = none, or not recorded */
};

struct wait_thread {
        struct wait_row waits;
        struct wait_sum preempted; /* the time in which it could have run on, and did not */
        /* time of the waits that ended in which a signal or a debugger had stopped it */
        uint64_t stopped_ns;
};

struct wait_stats {
        struct intern keys;    /* struct wait_key */
        struct wait_row *rows; /* heap; of the key with id i at i - 1 */
        size_t rows_capacity;
        struct intern waker_keys; /* struct waker_key */
        struct wait_sum *wakers;  /* heap; the waits that each waker ended, by id - 1 */
        size_t wakers_capacity;
        struct wait_thread *threads; /* heap; by thread id - 1 */
        size_t threads_capacity;
        uint32_t n_threads;
};

void wait_stats_init(struct wait_stats *s);
void wait_stats_deinit(struct wait_stats *s);

/* Makes room for the threads 1 .. @n_threads.  Returns 0 or -ENOMEM. */
int wait_stats_reserve(struct wait_stats *s, uint32_t n_threads);

/*
 * wait_stats_add() - take in a wait of a thread for which there is room, ended or not
 * Amortised constant time.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int wait_stats_add(struct wait_stats *s, uint32_t thread, const struct thread_wait *wait);

static inline uint32_t wait_stats_count(const struct wait_stats *s)
{
        return s->keys.n_items;
}

static inline void wait_sum_add(struct wait_sum *sum, uint64_t ns)
{
        sum->n_waits++;
        sum->total_ns += ns;
        if (ns > sum->max_ns)
                sum->max_ns = ns;
}

static inline void wait_sum_merge(struct wait_sum *sum, const struct wait_sum *more)
{
        sum->n_waits += more->n_waits;
        sum->total_ns += more->total_ns;
        if (more->max_ns > sum->max_ns)
                sum->max_ns = more->max_ns;
}

static inline void wait_row_merge(struct wait_row *row, const struct wait_row *more)
{
        wait_sum_merge(&row->ended, &more->ended);
        wait_sum_merge(&row->delays, &more->delays);
        row->n_open += more->n_open;
        row->open_ns += more->open_ns;
}

/* The waits' time, as far as it is known. */
static inline uint64_t wait_row_total_ns(const struct wait_row *row)
{
        return row->ended.total_ns + row->open_ns;
}

#endif /* ANALYZE_WAITS_WAIT_STATS_H */
