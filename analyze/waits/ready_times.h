/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/ready_times.h - when threads were ready to run and did not
 *
 * Way of the data:  trace_walk -> [ready_times] -> ready_owners
 *
 * A preempted thread is ready on the CPU that it left; a woken one, on the CPU onto which it then comes.
 * Memory is bounded: if there are too many times, half of them are dropped, by a hash of thread and time, and
 * the others count double.  Not thread-safe.
 */
#ifndef ANALYZE_WAITS_READY_TIMES_H
#define ANALYZE_WAITS_READY_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct thread_wait;

#define READY_TIMES_MAX (UINT32_C(1) << 18)

struct ready_time {
        uint64_t begin_ns, end_ns;
        uint64_t owned_ns; /* how long a recorded thread had the CPU; see ready_owners */
        uint32_t cpu;
        uint32_t thread;
        uint32_t tag; /* the caller's, to tell rows apart */
};

struct ready_times {
        struct ready_time *items; /* heap */
        size_t n_items, capacity;
        unsigned n_halved; /* how often half of the times were dropped */
};

/*
 * ready_time_of() - the part of a wait, from @from_ns on, in which the thread was ready to run
 * Empty (no longer than 0) if there is no such part, or it is not known.
 */
struct ready_time ready_time_of(const struct thread_wait *wait, uint32_t thread, uint64_t from_ns);

/* Ignores empty times.  Amortised constant time.  Returns 0 or -ENOMEM. */
int ready_times_add(struct ready_times *t, const struct ready_time *time);
void ready_times_deinit(struct ready_times *t);

/* By CPU, then by time. */
void ready_times_sort(struct ready_times *t);

static inline uint64_t ready_time_ns(const struct ready_time *time)
{
        return time->end_ns > time->begin_ns ? time->end_ns - time->begin_ns : 0;
}

/* How many each stands for. */
static inline double ready_times_weight(const struct ready_times *t)
{
        return (double)(UINT64_C(1) << t->n_halved);
}

#endif /* ANALYZE_WAITS_READY_TIMES_H */
