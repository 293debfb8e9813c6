/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_durations.h - which instances are slow: ranks them by a time, without the cost of samples
 *
 * Way of the data:  trace_walk, why_spent -> [why_durations] -> why
 *
 * Exact for WHY_DURATIONS_EXACT_MAX instances; more instances are in histograms, within 0.8 %, in memory that
 * does not grow: for each measure, one for instances without a sample, with one and with more, each with and
 * without time off the CPU.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_DURATIONS_H
#define ANALYZE_WHY_WHY_DURATIONS_H

#include "analyze/samples/sample_cost.h"
#include "analyze/why/why_spent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_DURATIONS_EXACT_MAX (UINT32_C(1) << 16)
#define WHY_DURATIONS_CLASSES   6

struct why_bin;

struct why_durations {
        uint64_t n, n_samples, on_cpu_ns; /* of all */
        uint64_t n_evident;               /* instances with a sample, or with time off the CPU */
        struct why_spent *exact;          /* heap; all instances, while they are few */
        size_t n_exact, capacity;
        struct why_bin *bins[WHY_BY_COUNT][WHY_DURATIONS_CLASSES]; /* heap; NULL until needed */
};

void why_durations_deinit(struct why_durations *d);

/* Returns 0 or -ENOMEM. */
int why_durations_add(struct why_durations *d, const struct why_spent *spent);

/* The cost of these instances' samples.  Returns 0 or -ENOMEM. */
int why_durations_learn(const struct why_durations *d, struct sample_cost *ret_cost);

struct why_rank_request {
        enum why_by by;
        double slowest;          /* share of the instances, unless slower_than_ns is given */
        uint64_t slower_than_ns; /* 0 = not given */
};

struct why_rank {
        double median_ns, high_ns; /* high: three of four are no slower */
        double slow_ns;            /* what the slow ones take at least */
        /* the same for instances with a sample: from here on, its cost cannot be the reason */
        double slow_sampled_ns;
        /*
         * An instance that waits so long by itself is slow from slow_ns on, with a sample as well: no sample
         * makes it wait.  INFINITY if instances are not ranked by what they wait.
         */
        double sure_wait_ns;
        double n_slow;        /* about how many */
        double machine_share; /* share of the slow ones' extra time in which others had the CPU */
};

/*
 * why_durations_rank() - find from which time on instances are slow
 * Instances without a sample decide; each stands for the instances of its length with one.
 * Returns 0 or -ENOMEM.
 */
int why_durations_rank(const struct why_durations *d, const struct why_rank_request *request,
                       const struct sample_cost *cost, struct why_rank *ret_rank);

/* Whether an instance whose why_spent_value() is @value_ns is one of the slow ones. */
bool why_rank_is_slow(const struct why_rank *rank, const struct why_spent *spent, double value_ns);

#endif /* ANALYZE_WHY_WHY_DURATIONS_H */
