/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/replay.h - the times of the past, if some functions had taken less time
 *
 * Way of the data:  past, path_names -> [replay] -> path_walk (its other times), what_if
 *
 * Each thread has a *gain*: how much earlier it is at a moment than it was.  It grows where the thread runs
 * such a function.  When a thread waited for another one, its gain is the other's at the wake-up, and at most
 * so much that the wait takes no time: it is as late as the latest of what it depends on.  So
 *
 *      wait     gain := the lesser of the waker's, and its own and the length of the wait
 *      timeouts a wait that only its timer ended, and that began again at once, is one with the next, which
 *               another thread ended
 *      barrier  all that leave it together have the gain of who is the last one now
 *      birth    a thread begins with the gain of who made it
 *      fiber    has the gain of the thread that runs it
 *      CPU      who could run, and had to wait for the CPU of a recorded thread, has it when that is done
 *      others   timers, devices, and programs that were not recorded take as long as they took; but who does
 *               not wait any more need not get a CPU again
 *
 * Locks need no rule of their own: their holders end the waits, in the order of the past.  Gains go on from
 * one instance to the next, so that a producer that runs ahead all the time is a little further ahead each
 * time.  Waits that were not necessary in the past, and would be now, are not there: gains are an upper
 * bound.
 *
 * A first pass learns how much of what threads ran is saved (replay_kinds.h), the second one replays.
 *
 * Forward only.  Memory: REPLAY_POINTS_MAX, and 100 bytes for each event of two seconds.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_REPLAY_H
#define ANALYZE_PATH_REPLAY_H

#include "analyze/path/replay_kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past;
struct past_wait;
struct path_names;
struct replay_moment;

#define REPLAY_POINTS_MAX (UINT32_C(1) << 21) /* of all threads; 24 bytes each; older ones are forgotten */

/* The gain of a thread, which changes evenly from one point to the next. */
struct replay_point {
        uint64_t time_ns; /* of the past */
        int64_t gain_ns;
        uint32_t lag_ns;      /* what decided when the wait ended: `by`, so long before `time_ns` */
        uint32_t by : 31;     /* thread; itself: it does not wait any more; 0 = nothing of this */
        uint32_t is_jump : 1; /* it waits here, where it did not wait: the point before has the same time */
};

struct replay_thread {
        struct replay_point *points; /* heap: [first, n) are there */
        size_t first, n, capacity;
        int64_t gain_ns;
        uint64_t since_ns; /* until when the stretch is counted; or when it began to wait */
        uint64_t ran_ns;   /* of the stretch */
        struct replay_counts counts;
        uint32_t begin;   /* private: what the stretch began with */
        uint32_t carrier; /* of a fiber */
        bool runs;
        bool passes; /* it does not wait where it waited last */
};

struct replay_mark {
        uint64_t time_ns;
        uint32_t thread;
};

struct replay {
        const struct past *past;       /* borrowed */
        struct path_names *names;      /* borrowed */
        struct replay_thread *threads; /* heap; by thread id - 1 */
        size_t threads_capacity;
        uint32_t n_threads;
        struct replay_kinds kinds;
        struct replay_mark *marks; /* heap: those that are still to come */
        size_t n_marks, marks_capacity;
        struct replay_moment *moments; /* heap; private */
        size_t n_moments, moments_capacity;
        size_t n_points;
        uint64_t done_ns; /* everything before it is replayed */
        bool learns;      /* counts; gains nothing */
};

/*
 * replay_init() - before the first event of the pass that learns
 * To be deinitialised.
 */
void replay_init(struct replay *r, const struct past *past, struct path_names *names);
void replay_deinit(struct replay *r);

/* Keeps what was learnt; all else begins again.  The past is a new one, at the same place. */
void replay_begin(struct replay *r);

/* A zone begins or ends: the thread's runs before and after it are two stretches.  Returns 0 or -ENOMEM. */
int replay_mark(struct replay *r, uint32_t thread, uint64_t time_ns);

/* Replays what happened before @until_ns, to which the past is complete.  Returns 0, -ENOMEM, -EOVERFLOW. */
int replay_advance(struct replay *r, uint64_t until_ns);

/* Nothing before @time_ns is asked for any more. */
void replay_forget(struct replay *r, uint64_t time_ns);

/* ------------------------------------------------------------------ questions about replayed times */

/* The gain of a thread at a time: before a jump at that time, or after it. */
int64_t replay_gain_before(const struct replay *r, uint32_t thread, uint64_t time_ns);
int64_t replay_gain_after(const struct replay *r, uint32_t thread, uint64_t time_ns);

/* The gain of the thread by what it runs itself from one time to another, if it need not wait there. */
int64_t replay_gain_of_run(const struct replay *r, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);

/* The time in the past at which the thread @other is as far as @thread is at @time_ns, in the replay. */
uint64_t replay_same_time(const struct replay *r, uint32_t thread, uint64_t time_ns, uint32_t other);

/* The point at which a wait ended that was no preemption; NULL = it is forgotten. */
const struct replay_point *replay_wait_end(const struct replay *r, uint32_t thread,
                                           const struct past_wait *wait);

/* The last jump in (@begin_ns, @end_ns); NULL = there is none. */
const struct replay_point *replay_jump(const struct replay *r, uint32_t thread, uint64_t begin_ns,
                                       uint64_t end_ns);

#endif /* ANALYZE_PATH_REPLAY_H */
