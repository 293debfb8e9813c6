/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/meanwhile.h - what threads did while others waited for them
 *
 * Way of the data:  trace_walk, waits -> [meanwhile] -> why_meanwhile
 *
 * A wait is either for a lock, and so for any thread that holds it, or for the thread that ended the wait,
 * which "holds itself" all the time.  Each thread's samples, waits and preemptions in this time are added up.
 * If a thread for which others wait waits itself, the next level is about the thread that ended that wait.
 * Each level takes one walk.  Time counts once for each wait into which it falls.
 * Memory: a row for each wait's kind, thread and callstack, bounded by MEANWHILE_ROWS_MAX, and
 * MEANWHILE_WAITS_MAX waits.  Not thread-safe.
 */
#ifndef ANALYZE_STATS_MEANWHILE_H
#define ANALYZE_STATS_MEANWHILE_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;

#define MEANWHILE_ROWS_MAX (UINT32_C(1) << 20)
/* Waits of a level; further ones are left out. */
#define MEANWHILE_WAITS_MAX (UINT32_C(1) << 16)
/*
 * The most waits that are examined in all: it bounds the work for a trace in which all threads wait for one
 * lock all the time.
 */
#define MEANWHILE_STEPS_MAX (UINT64_C(1) << 28)
/* Locks that a thread holds at once; further ones are not followed. */
#define MEANWHILE_HELD_MAX 32
/* Threads that wait for one another, in a row. */
#define MEANWHILE_LEVELS 3

enum meanwhile_doing {
        MEANWHILE_HELD = 1,      /* of locks: held it */
        MEANWHILE_SAMPLE = 2,    /* ran */
        MEANWHILE_WAITED = 3,    /* waited itself */
        MEANWHILE_PREEMPTED = 4, /* could have run */
};

struct meanwhile_wait {
        uint64_t begin_ns, end_ns;
        uint32_t lock, by; /* the lock for which it waits; if that is 0, the thread that ended the wait */
        uint32_t thread;   /* that waits */
        uint32_t kind;     /* chosen by the caller: waits of different kinds have different rows */
};

struct meanwhile_waits {
        struct meanwhile_wait *items; /* heap */
        size_t n_items, capacity;
        uint64_t n_left_out;
};

/* Compared as bytes. */
struct meanwhile_key {
        uint32_t kind;  /* of the first wait */
        uint32_t level; /* 0: during the first wait; 1: during a wait of a thread of level 0; ... */
        uint32_t thread;
        uint32_t doing; /* enum meanwhile_doing */
        uint32_t stack; /* 0 of MEANWHILE_HELD and MEANWHILE_PREEMPTED */
        uint32_t by;    /* of MEANWHILE_WAITED: the thread that ended that wait; 0 = unknown */
};

struct meanwhile_sum {
        uint64_t n;
        uint64_t amount; /* ns; of MEANWHILE_SAMPLE weight */
};

struct meanwhile {
        struct intern keys;         /* struct meanwhile_key */
        struct meanwhile_sum *sums; /* heap; of the key with id i at i - 1 */
        size_t sums_capacity;
        uint32_t event;
};

/* Adds waits while there is room, and counts the others.  Returns 0 or -ENOMEM. */
int meanwhile_waits_add(struct meanwhile_waits *w, const struct meanwhile_wait *items, size_t n);

/*
 * meanwhile_take() - walk through the trace, if there are waits
 * @waits:  sorted by this call
 * Returns 0 or what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int meanwhile_take(struct meanwhile *m, struct loaded_trace *trace, struct meanwhile_waits *waits,
                   uint32_t event, struct error *err);
void meanwhile_deinit(struct meanwhile *m);

#endif /* ANALYZE_STATS_MEANWHILE_H */
