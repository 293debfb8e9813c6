/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_collector.h - the second pass of `why`: evidence of the slow instances, and of typical ones
 *
 * Way of the data:  trace_walk, why_survey -> [why_collector] -> why_instances
 *
 * The parts of an instance are known only when it is over, so each open instance has a draft.  Instances with
 * samples or waits are kept; all others are only added up.  If there are more than fit, a hash of thread and
 * time chooses: so the choice does not depend on what happened in them.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_COLLECTOR_H
#define ANALYZE_WHY_WHY_COLLECTOR_H

#include "analyze/samples/sample_cost.h"
#include "analyze/why/why_common.h"
#include "analyze/why/why_cpu_owners.h"
#include "analyze/why/why_durations.h"
#include "analyze/why/why_instances.h"
#include "analyze/why/why_spent.h"
#include "analyze/why/why_tally.h"
#include "analyze/zones/zone_ranks.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;
struct trace_filter;
struct zone_pattern;

/* The most distinct waits and wakers; further ones count as unknown, 0. */
#define WHY_KEYS_MAX (UINT32_C(1) << 20)

/* Samples of threads that ran fibers. */
#define WHY_FIBERS_SAMPLES_MAX (UINT32_C(1) << 20)

/* Compared as bytes. */
struct why_wait_key {
        uint32_t stack; /* 0 = not recorded */
        uint32_t state; /* enum trace_wait_state, or of a newer version */
};

struct why_waker_key {
        uint32_t kind, id; /* of the row of the wait: WHY_LOCK or WHY_WAIT */
        uint32_t thread;   /* 0 = not recorded, or an interrupt */
        uint32_t name;     /* string; 0 = unknown */
        uint32_t stack;    /* 0 = not recorded */
};

/* The groups: the slow instances, and all others. */
struct why_bounds {
        enum why_by by;
        struct sample_cost cost;
        struct why_rank rank;
        double keep_slow, keep_typical; /* share of them that is looked at */
};

/* Instances without samples and without time off the CPU: only their times are known. */
struct why_bare {
        struct why_group_sum sum;
        double on_cpu_ns;
};

struct why_collector_thread {
        struct why_draft draft;
        struct why_inside inside;
        struct why_spending spending;
        uint64_t n_migrations, n_gaps, n_moved_gaps, n_samples, weight;
        uint64_t lock_since_ns;
        uint32_t lock; /* that it waits for; 0 = none */
        uint32_t depth;
        bool is_open;
};

struct why_collector {
        const struct zone_pattern *pattern; /* borrowed: whose zones are instances */
        struct why_bounds bounds;
        uint32_t event;    /* whose samples count; 0 = none */
        bool has_switches; /* else a wait for a lock lasts from its LOCK_WAIT to its LOCK_OBTAIN */
        const struct trace_dictionary *dictionary;
        struct why_collector_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        struct why_instances instances;
        struct why_bare bare[2];      /* by enum why_group */
        struct why_tally zones[2];    /* zones inside of instances, by location: time, and time on a CPU */
        struct why_common common;     /* of all instances */
        struct zone_ranks ranks;      /* the same: of several processes, which came last */
        struct why_cpu_owners owners; /* wanted or not: by the caller */
        struct intern waits;          /* struct why_wait_key */
        struct intern wakers;         /* struct why_waker_key */
        uint64_t n_slow, n_typical;   /* that there were */
        uint64_t n_gaps,
                n_moved_gaps; /* preemptions in instances that are not slow, and those that moved a thread */
};

/* The caller sets pattern, bounds, event and has_switches; all other members are zero. */
int why_collector_take(struct why_collector *c, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err);
void why_collector_deinit(struct why_collector *c);

/*
 * why_fibers_take() - samples of threads that ran fibers -> instances of those fibers' zones
 *
 * A fiber has zones but no samples: these are in the streams of the threads on which it ran, which come
 * before it or after it.  So a pass of its own puts the samples into the instances when all instances are
 * known; there is no such pass if no instance is a fiber's.  Memory: WHY_FIBERS_SAMPLES_MAX samples; more are
 * counted.
 * @event:  whose samples count; samples of other events become counters
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int why_fibers_take(struct why_instances *instances, struct loaded_trace *trace,
                    const struct trace_filter *filter, uint32_t event, struct error *err);

#endif /* ANALYZE_WHY_WHY_COLLECTOR_H */
