/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_comparison.h - two recordings, or two sets of them, beside each other
 *
 * Way of the data:  diff_run -> [diff_comparison]: diff_steps, diff_test -> diff_view
 *
 * The method is in docs/use/diff.md.  If nothing has changed, the probability of calling any item significant
 * is at most `alpha` (Holm's correction over all judged items, and the whole run).
 */
#ifndef ANALYZE_DIFF_DIFF_COMPARISON_H
#define ANALYZE_DIFF_DIFF_COMPARISON_H

#include "analyze/diff/diff_item.h"
#include "analyze/samples/python_stacks.h"
#include "analyze/samples/unsampled_time.h"
#include "analyze/walk/lost_zones.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fewer are not enough to judge by. */
#define DIFF_SAMPLES_MIN    30 /* of a function, in each run of the side that has more */
#define DIFF_ZONES_MIN      10 /* of a zone, in each run of both sides that have it */
#define DIFF_NEW_MIN        15 /* samples on one side alone: fewer may be missing on the other by chance */
#define DIFF_NEW_OF_RUN_MIN 10 /* of a function that all runs of the other side lack, in each run of a set */
#define DIFF_CALLS_MIN      10 /* waits and system calls of the larger side of a pair */
#define DIFF_RUNS_MAX       256

/* With many runs a stricter level costs little; a pair shows nothing of how runs differ. */
#define DIFF_ALPHA_PAIR 0.01
#define DIFF_ALPHA_SETS 0.05
#define DIFF_ALPHA_MANY 0.005
#define DIFF_MANY_RUNS  8     /* on each side */
#define DIFF_ALPHA_LOST 0.005 /* where a run lost samples: lost data must not make a claim likelier */

#define DIFF_SHARE_MIN 0.005

/* If a larger share of a program's zones was lost, the remaining zones may be no fair sample. */
#define DIFF_LOST_ZONES_MAX 0.01

/* Sets of this size are recommended after a pair. */
#define DIFF_RUNS_ADVISED 5

struct diff_options {
        struct diff_basis basis;
        double noise;     /* standard deviation of a cost from run to run: for pairs */
        double alpha;     /* 0 = by the number of runs */
        double share_min; /* smaller items are not judged */
        const char *only; /* "functions", "zones", "waits", "syscalls", or a glob of names; NULL = all */
};

/* All samples of a run together. */
struct diff_whole {
        double value_before, value_after; /* weight of a run, or of a unit; a mean of the runs */
        struct diff_verdict verdict;
        bool is_judged, is_significant;
};

struct diff_comparison {
        const struct diff_names *names;
        struct diff_options options;
        struct diff_item *items; /* heap */
        size_t n_items;
        struct diff_whole whole;
        uint32_t n_before, n_after;         /* runs */
        double weight_before, weight_after; /* of the samples, a mean of the runs */
        double duration_ns_before, duration_ns_after;
        double units_before, units_after;
        double threads_ns_before, threads_ns_after; /* diff_run_threads_ns() */
        double waited_ns_before, waited_ns_after;
        uint64_t n_samples_before, n_samples_after; /* of all runs */
        bool weight_is_ns;
        bool lacks_switches;                       /* so zones are compared by wall-clock time */
        double alpha;                              /* that was applied */
        uint32_t n_asked;                          /* functions and zones that --only leaves */
        uint32_t n_judged[DIFF_KIND_COUNT];        /* without the whole */
        uint32_t n_significant;                    /* with the whole */
        struct lost_zones lost_before, lost_after; /* of the run that has lost the largest share */
        struct unsampled_time unsampled_before, unsampled_after; /* of the run with the largest share */
        bool is_folded; /* native code counts for the Python functions that called it */
        struct python_parts python_before, python_after; /* of all runs */
        uint32_t n_unspread;
        uint64_t n_unnamed;
        /* each run has items of the kind, or could have some, so they can be compared */
        bool has_kind[DIFF_KIND_COUNT];
        bool any_kind[DIFF_KIND_COUNT]; /* a run has some */
};

/* All that is set by default. */
struct diff_options diff_options_default(void);

/*
 * diff_comparison_init() - compare
 * @runs:  @n_before runs, then @n_after; each at least one; borrowed for the call
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int diff_comparison_init(struct diff_comparison *c, const struct diff_names *names,
                         const struct diff_run *const *runs, uint32_t n_before, uint32_t n_after,
                         const struct diff_options *options);
void diff_comparison_deinit(struct diff_comparison *c);

/*
 * Whether the change of an item has an interval.  In a pair, waits for others have none: they may differ by
 * any factor, however steady they are in each run.
 */
bool diff_comparison_has_interval(const struct diff_comparison *c, const struct diff_item *item);

/* The 95 % confidence interval of the change; 0.05 is +5 %. */
void diff_comparison_interval(const struct diff_verdict *v, double *ret_low, double *ret_high);

/*
 * The judged item that changed the run's time most, a function if any is judged; NULL if nothing is
 * judged.
 */
const struct diff_item *diff_comparison_leading(const struct diff_comparison *c);

/* The change of an item that sets of so many runs would find with probability 0.9: 0.05 is 5 %. */
double diff_comparison_detectable(const struct diff_comparison *c, const struct diff_item *item,
                                  uint32_t n_before, uint32_t n_after);

uint32_t diff_comparison_count_judged(const struct diff_comparison *c);

/* How many judged items could count as a change for the worse, the whole run included. */
uint32_t diff_comparison_count_gates(const struct diff_comparison *c);

/*
 * Whether an item can count as a change for the worse: waits and system calls only if options.only asks for
 * them.
 */
bool diff_comparison_gates(const struct diff_comparison *c, const struct diff_item *item);

bool diff_comparison_is_pair(const struct diff_comparison *c);

/*
 * diff_comparison_worst() - the largest significant change for the worse of all that is asked for
 * Functions do not count in a run that got faster: their time only moved.  A new function or zone counts as
 * much as it slowed the run down.
 * @ret_item:  the item with this change; NULL = the whole, or there is no such change
 * Returns the change: 0.05 is 5 %, 0 is none.
 */
double diff_comparison_worst(const struct diff_comparison *c, const struct diff_item **ret_item);

/*
 * diff_comparison_suspected() - the largest change for the worse that is not certain
 * Returns the recorded change of the whole run or, where that is not judged, the largest change of an item
 * whose own interval is above 0.
 */
double diff_comparison_suspected(const struct diff_comparison *c, const struct diff_item **ret_item);

/*
 * How much more time an item took in a run, or in a unit; for a zone, with the number of instances before.
 */
double diff_moved_ns(const struct diff_item *item);

/* The same as a share of the longer run, to weigh items of all kinds against each other. */
double diff_moved_share(const struct diff_comparison *c, const struct diff_item *item);

#endif /* ANALYZE_DIFF_DIFF_COMPARISON_H */
