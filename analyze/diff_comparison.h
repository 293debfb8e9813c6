/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff_comparison.h - two recordings, or two sets of them, beside each other
 *
 * Way of the data:  diff_run -> [diff_comparison]: diff_renames, diff_pair, diff_sets -> diff_view
 *
 * The method is in docs/diff.md.  Of the functions that are called significant at most the share `alpha` has not
 * changed, and the same of the zones (Benjamini and Hochberg).
 */
#ifndef ANALYZE_DIFF_COMPARISON_H
#define ANALYZE_DIFF_COMPARISON_H

#include "analyze/diff_item.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of fewer is no reason to say anything. */
#define DIFF_SAMPLES_MIN 30 /* of a function, in each of a pair */
#define DIFF_ZONES_MIN   10 /* of a zone */
#define DIFF_NEW_MIN     15 /* samples on one side alone: fewer may be missing on the other by chance */
#define DIFF_RUNS_MAX    256

#define DIFF_ALPHA        0.05
#define DIFF_SHARE_MIN    0.005
#define DIFF_ALLOW_ITEM   0.005
#define DIFF_ALLOW_KERNEL 0.4
#define DIFF_ALLOW_WHOLE  0.05

struct diff_options {
        struct diff_basis basis;
        struct diff_allowance allowance;
        double alpha;
        double share_min; /* smaller items are not judged */
        const char *only; /* "functions", "zones", or a glob of names; NULL = all */
};

struct diff_comparison {
        const struct diff_names *names;
        struct diff_options options;
        struct diff_item *items; /* heap */
        size_t n_items;
        struct diff_whole wholes[DIFF_KIND_COUNT];
        uint32_t n_before, n_after;         /* runs */
        double weight_before, weight_after; /* of the samples, a mean of the runs */
        double duration_ns_before, duration_ns_after;
        double units_before, units_after;
        uint64_t n_samples_before, n_samples_after; /* of all runs */
        bool weight_is_ns;
        bool lacks_switches;                /* zones are compared by wall-clock time for that reason */
        uint32_t n_judged[DIFF_KIND_COUNT]; /* that were asked for, with the whole */
        uint32_t n_significant;             /* of all */
        uint32_t n_unsliced;
        uint64_t n_unnamed;
        bool has_kind[DIFF_KIND_COUNT]; /* every run has some, so that they can be compared */
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

/* The interval in which the change is with 95 % confidence, as changes: 0.05 is +5 %. */
void diff_comparison_interval(double change, double se, double df, double *ret_low, double *ret_high);

/* The change that would probably have been found in a usual item of a kind, as a change; 0 if none is judged. */
double diff_comparison_resolution(const struct diff_comparison *c, enum diff_kind kind);

/*
 * diff_comparison_worst() - the largest significant change for the worse of all that is asked for, as a change
 * @ret_item:  whose; NULL = of the whole
 * 0 if there is none.
 */
double diff_comparison_worst(const struct diff_comparison *c, const struct diff_item **ret_item);

#endif /* ANALYZE_DIFF_COMPARISON_H */
