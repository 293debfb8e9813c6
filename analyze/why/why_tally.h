/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_tally.h - the amounts that slow and typical instances spend on each of many things, and
 * their variance
 *
 * Way of the data:  why_instances -> [why_tally] -> why_causes
 *
 * Instance by instance: add its amounts, then close it.  Amounts that come several
 * times for one thing in one instance are added up first.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_TALLY_H
#define ANALYZE_WHY_WHY_TALLY_H

#include "analyze/stats/cluster_ratio.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum why_group { WHY_TYPICAL = 0, WHY_SLOW = 1 };

/* All instances of a group. */
struct why_group_sum {
        double duration, duration2; /* ns: sum, sum of squares */
        uint64_t n;
};

struct why_measure {
        struct cluster_ratio
                ratio[2];      /* by enum why_group; w, ww and n, those of the base, are of all instances */
        double by_duration[2]; /* sum of amount times duration */
        double by_own[2];      /* the same, times the part of the duration that is not the machine's */
        uint64_t n_times[2];   /* how often, or how many samples */
};

struct why_tally {
        struct why_measure *measures; /* heap; by thing, 0 .. n - 1 */
        double *amounts;              /* heap; of the instance that is open */
        uint32_t *touched;            /* heap */
        uint32_t n, n_touched;
        struct cluster_ratio base[2]; /* its w, ww, n */
};

/* Returns 0 or -ENOMEM. */
int why_tally_init(struct why_tally *t, uint32_t n);
void why_tally_deinit(struct why_tally *t);

void why_tally_add(struct why_tally *t, enum why_group group, uint32_t thing, double amount,
                   uint64_t n_times);
/*
 * @base: the whole to which the amounts of this instance belong.  @own: its duration without the machine's
 *        part.
 */
void why_tally_close(struct why_tally *t, enum why_group group, double base, double duration, double own);
/* Adds many instances of which only the durations are known: they have no amount of any thing. */
void why_tally_skip(struct why_tally *t, enum why_group group, const struct why_group_sum *sum);
/* Nothing more comes: fills in the sums that all measures share. */
void why_tally_finish(struct why_tally *t);

/*
 * A measure's share of the extra time of slow instances, with a 95 % interval: all 0 without extra time.
 */
struct why_share {
        double slow_ns, typical_ns; /* mean of an instance */
        double value, low, high;
};

struct why_share why_share_of(const struct why_measure *m, const struct why_group_sum groups[2]);

/* The same for the extra time without the machine's part, whose sums are @own_groups. */
struct why_share why_share_of_own(const struct why_measure *m, const struct why_group_sum own_groups[2]);

/*
 * why_share_of_run() - the same for measures from samples, which divide the time on a CPU
 * @on_cpu_ns:  by enum why_group: the mean of an instance
 * @unit:  weight of a sample
 */
struct why_share why_share_of_run(const struct why_measure *m, const double on_cpu_ns[2],
                                  const struct why_group_sum groups[2], double unit);

#endif /* ANALYZE_WHY_WHY_TALLY_H */
