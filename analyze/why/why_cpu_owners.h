/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_cpu_owners.h - who had the CPU while the instances that are slow by wall time
 * were ready to run
 *
 * Way of the data:  why_collector -> [why_cpu_owners] -> why_view
 *
 * Instances are divided by their wall time here, whatever they are ranked by elsewhere: the time of the
 * others is what makes them slow.  Measured, not judged.  Memory: what ready_times and ready_owners need.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_CPU_OWNERS_H
#define ANALYZE_WHY_WHY_CPU_OWNERS_H

#include "analyze/waits/ready_owners.h"
#include "analyze/waits/ready_times.h"
#include "analyze/why/why_durations.h"
#include "analyze/why/why_tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct thread_wait;

struct why_owner {
        enum ready_owner_kind kind;
        uint32_t n;      /* OWN: threads; PROGRAM: processes */
        uint32_t thread; /* of OWN and PROGRAM: the one that had the most of it */
        double most;     /* of the kind's time: that thread's, or its process's */
        double ns[2];    /* mean of an instance; by enum why_group */
        double part;     /* of the time that all kinds together take longer in slow instances: 0 .. 1 */
};

/* The ready times of a thread's open instance. */
struct why_owner_thread {
        struct ready_times times;
        uint64_t stopped_ns;
};

struct why_cpu_owners {
        bool is_wanted;       /* else nothing is collected */
        bool wants_all;       /* times outside of instances as well, to share what a quota took */
        struct why_rank rank; /* by wall time */
        struct sample_cost cost;
        struct why_owner_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        struct ready_times times;
        uint64_t n[2]; /* instances; by enum why_group, as the next two */
        double machine_ns[2], stopped_ns[2];
        struct why_owner rows[READY_OWNER_KINDS]; /* those with a part, the largest first */
        size_t n_rows;
};

/* @rank: by wall time.  @wants_all: there was a quota.  Returns 0 or -ENOMEM. */
int why_cpu_owners_init(struct why_cpu_owners *o, const struct why_rank *rank, const struct sample_cost *cost,
                        uint32_t n_threads, bool wants_all);
void why_cpu_owners_deinit(struct why_cpu_owners *o);

/* An instance begins on a thread; a wait of a thread, in an instance or not; an instance is over. */
void why_cpu_owners_begin(struct why_cpu_owners *o, uint32_t thread);
int why_cpu_owners_wait(struct why_cpu_owners *o, uint32_t thread, const struct thread_wait *wait,
                        const struct why_wait_parts *parts, bool is_open);
int why_cpu_owners_end(struct why_cpu_owners *o, uint32_t thread, const struct why_spent *spent);

/* Walks through the trace once more, if there is anything to find.  Returns as loaded_trace_walk(). */
int why_cpu_owners_take(struct why_cpu_owners *o, struct loaded_trace *trace, struct error *err);

/* The kind that had most of it, if it is known; NULL if it is not, or nothing was looked for. */
const struct why_owner *why_cpu_owners_find_known(const struct why_cpu_owners *o);

#endif /* ANALYZE_WHY_WHY_CPU_OWNERS_H */
