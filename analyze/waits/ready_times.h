/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/ready_times.h - when threads were ready to run and did not
 *
 * Way of the data:  trace_walk -> [ready_times] -> ready_owners
 *
 * A thread is ready on the CPU that it was preempted on; after a wake-up, on the one that it then came onto.
 * Memory is bounded: if there are too many, every second one is left out, by a hash of thread and time, and
 * those that stay count double.  Not thread-safe.
 */
#ifndef ANALYZE_WAITS_READY_TIMES_H
#define ANALYZE_WAITS_READY_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct thread_wait;

#define READY_TIMES_MAX (UINT32_C(1) << 19)

struct ready_time {
        uint64_t begin_ns, end_ns;
        uint64_t owned_ns; /* a recorded thread had the CPU; see ready_owners */
        uint32_t cpu;
        uint32_t thread;
        uint32_t tag; /* the caller's, to tell rows apart */
};

struct ready_times {
        struct ready_time *items; /* heap */
        size_t n_items, capacity;
        unsigned n_halved; /* times that every second one was left out */
};

/*
 * ready_time_of() - the part of a wait, from @from_ns on, in which the thread was ready to run
 * Empty (not longer than 0) if there is none, or it is not known.
 */
struct ready_time ready_time_of(const struct thread_wait *wait, uint32_t thread, uint64_t from_ns);

/* Empty ones are not kept.  Amortised constant time.  Returns 0 or -ENOMEM. */
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
