/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/cpu_lanes.h - who ran on which CPU, and for how long
 *
 * Way of the data:  event_decoder -> trace_totals -> [cpu_lanes] -> event_order -> report_cpus
 *
 * A thread runs on the CPU of its SWITCH_IN until its SWITCH_OUT.  The first switch or sample of a thread
 * shows whether it ran when the recording began.  If the trace lacks the end of a stretch, the stretch counts
 * as no time, unless another thread comes onto the CPU: then it lasts until that moment, but not beyond the
 * thread's exit.  A CPU has one thread at a time: no instant counts twice, whatever switches the trace lacks.
 *
 * Keeps a state for each thread and each CPU, a sum for each pair of CPU and
 * thread, and some ten thousand switches, to put them into one order.
 * Not thread-safe.
 */
#ifndef ANALYZE_WAITS_CPU_LANES_H
#define ANALYZE_WAITS_CPU_LANES_H

#include "analyze/trace/event_order.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_event;

/* Compared as bytes. */
struct cpu_lane_key {
        uint64_t cpu; /* a number from the trace, unchecked */
        uint32_t thread;
        uint32_t reserved; /* 0 */
};

struct cpu_lane_sum {
        uint64_t busy_ns;
        uint64_t n_switches; /* times that the thread came onto the CPU */
};

struct cpu_thread {
        uint64_t cpu, since_ns; /* these and the next three are as of the last event in the order of time */
        bool is_running, is_cpu_known, has_ended;
        uint64_t waits_on; /* the CPU from which it was preempted, plus 1; 0 = it was not, or runs again */
        bool has_begun, was_seen; /* these and the next are as of its last event that came; seen: on a CPU */
        bool is_out;              /* it waits, or was woken from that */
        uint64_t ready_ns;        /* since when it could run, while it is out; 0 = it cannot, or not known */
        uint64_t expected_ns;
};

struct cpu_lane {
        uint64_t given_ns;     /* all time before it was given to a thread, or belongs to none */
        uint64_t wanted_ns;    /* `take_unowned` has all time before it */
        uint64_t preempted_ns; /* since when threads are ready that were preempted there, if there are any */
        uint32_t n_preempted;
        uint32_t thread; /* the thread that has it now, until that thread's exit; 0 = none */
};

/*
 * The thread had the CPU in [begin_ns, end_ns).  Calls for one CPU come in the order of time.  Returns 0 or
 * -errno.
 */
typedef int cpu_lanes_take(void *context, uint64_t cpu, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);

struct cpu_lanes {
        cpu_lanes_take *take; /* NULL = only sums are wanted; set by the caller after cpu_lanes_init() */
        /*
         * Likewise; NULL = not wanted: no thread of the trace had the CPU while @thread, or another one, was
         * ready to run there: it had been preempted there, or came there right after.  In the order of time.
         */
        cpu_lanes_take *take_unowned;
        void *context;
        struct intern keys;        /* struct cpu_lane_key */
        struct cpu_lane_sum *sums; /* heap; of the key with id i at i - 1 */
        size_t sums_capacity;
        struct cpu_thread *threads; /* heap; by thread id - 1 */
        size_t threads_capacity;
        uint32_t n_threads;
        struct intern cpus;     /* their numbers */
        struct cpu_lane *lanes; /* heap; of the CPU with id i at i - 1 */
        size_t lanes_capacity;
        struct event_order order;
};

void cpu_lanes_init(struct cpu_lanes *l);
void cpu_lanes_deinit(struct cpu_lanes *l);

/* Makes room for the threads 1 .. @n_threads.  Returns 0 or -ENOMEM. */
int cpu_lanes_reserve(struct cpu_lanes *l, uint32_t n_threads);

/*
 * A thread without events so far lived at @time_ns: if its first event shows that it runs, it ran since then.
 */
void cpu_lanes_expect(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns);

/*
 * cpu_lanes_add() - takes in an event of a thread that is no fiber, of any op
 * The object must not move after the first call.  Amortised constant time.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int cpu_lanes_add(struct cpu_lanes *l, uint32_t id, const struct trace_event *event);

/*
 * While the trace grows: takes in all events before @until_ns; no earlier ones are to come.
 * Returns as cpu_lanes_add().
 */
int cpu_lanes_hand_out(struct cpu_lanes *l, uint64_t until_ns);

/* The CPUs that were met so far are 0 .. l->cpus.n_items - 1. */
struct cpu_lane_open {
        uint64_t cpu, since_ns;
        uint32_t thread; /* that has the CPU since then, as far as events were taken in; 0 = none */
};
struct cpu_lane_open cpu_lanes_open(const struct cpu_lanes *l, uint32_t index);

/* Nothing more comes: threads that run are taken to run until @end_ns.  Returns 0, -ENOMEM, -EOVERFLOW. */
int cpu_lanes_finish(struct cpu_lanes *l, uint64_t end_ns);

#endif /* ANALYZE_WAITS_CPU_LANES_H */
