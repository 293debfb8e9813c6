/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_cpu_owners.h - who had the CPU while the instances that are slow by wall time
 * were ready to run
 *
 * Way of the data:  why_collector -> [why_cpu_owners] -> why_view
 *
 * Here instances are divided by their wall time, whatever they are ranked by elsewhere: it includes the time
 * in which others had the CPU. The results are measured, not judged.  Memory: what ready_times and
 * ready_owners need.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_CPU_OWNERS_H
#define ANALYZE_WHY_WHY_CPU_OWNERS_H

#include "analyze/path/ready_owners.h"
#include "analyze/waits/ready_times.h"
#include "analyze/why/why_durations.h"
#include "analyze/why/why_tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_wait;
struct trace_dictionary;

struct why_owner {
        enum ready_owner_kind kind;
        uint32_t n;      /* OWN: threads; PROGRAM: processes */
        uint32_t thread; /* of OWN and PROGRAM: the thread that had the CPU the longest */
        double most;     /* share of that thread, or of its process, in the time of the kind */
        double ns[2];    /* mean of an instance; by enum why_group */
        double part;     /* share of the extra time of all kinds together: 0 .. 1 */
};

/* The ready times of a thread's open instance. */
struct why_owner_thread {
        struct ready_times times;
        uint64_t stopped_ns;
};

struct why_cpu_owners {
        bool is_wanted; /* else nothing is collected */
        /* take times outside of instances as well, to divide the time that a quota took */
        bool wants_all;
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

/*
 * Take the beginning of an instance on a thread; a wait of a thread, in an instance or not; the end of an
 * instance.
 */
void why_cpu_owners_begin(struct why_cpu_owners *o, uint32_t thread);
int why_cpu_owners_wait(struct why_cpu_owners *o, uint32_t thread, const struct thread_wait *wait,
                        const struct why_wait_parts *parts, bool is_open);
int why_cpu_owners_end(struct why_cpu_owners *o, uint32_t thread, const struct why_spent *spent);

/* Adds up the owners of `times`, if there is anything to find.  Returns 0 or -ENOMEM. */
int why_cpu_owners_finish(struct why_cpu_owners *o, const struct trace_dictionary *d,
                          struct ready_owners *found);

/* The kind of owner with most of the time; NULL if that is unknown, or owners were not looked for. */
const struct why_owner *why_cpu_owners_find_known(const struct why_cpu_owners *o);

#endif /* ANALYZE_WHY_WHY_CPU_OWNERS_H */
