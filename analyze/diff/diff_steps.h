/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_steps.h - the steps of a comparison: new names of items, doubts, verdicts; for
 * diff_comparison.c
 *
 * Way of the data:  diff_item, diff_run -> [diff_steps]: diff_test -> diff_comparison
 *
 * A file has the name of its step.  Verdicts and doubts are pure functions; thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_STEPS_H
#define ANALYZE_DIFF_DIFF_STEPS_H

#include "analyze/diff/diff_item.h"
#include "analyze/diff/diff_test.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_comparison;
struct diff_run;

/* ------------------------------------------------------------------ renames */

#define DIFF_RENAMES_MAX 64 /* of each side */

/*
 * diff_renames_find() - find new functions and zones that are old ones under another name, and join each such
 * pair
 *
 * A function that is gone and a new one are the same if, in this order,
 *
 *      - they have the same name, in another module or file ("moved");
 *      - they are in the same module, are called by the same function (zones: are in the same file and
 *        function), cost the same to 15 %, and share half of the longer name.
 *
 * A partner must be the only one that fits.  Only the heaviest of each side are examined.  The gone item of a
 * pair gets the key, the numbers and the share of the new one, whose keys become 0.
 */
void diff_renames_find(const struct diff_names *names, struct diff_item *items, size_t n_items);

/* ------------------------------------------------------------------ doubts */

/*
 * Why an item of a comparison is not judged, apart from its counts.
 * @is_named: asked for by name, so judged however small it is
 */
enum diff_doubt diff_doubt_find(const struct diff_comparison *c, const struct diff_item *item,
                                const struct diff_run *const *runs, bool is_named);

/* Whether a run lost so many zones that the remaining ones may be no fair sample. */
bool diff_doubt_lost_zones(const struct diff_run *run);

/* Whether the trace of a run is cut off, so that its costs are those of an unknown part of its work. */
bool diff_doubt_is_cut(const struct diff_comparison *c, const struct diff_run *run);

/* ------------------------------------------------------------------ verdicts */

/*
 * The verdict on one item, from one number of each run.
 *
 * The larger side must have enough counts in each of its runs.  If the smaller side has fewer, or none, its
 * counts are judged as Poisson numbers.
 */

struct diff_number {
        double value, low, high; /* the cost in a run, and its bounds if lost data is considered */
        double variance;         /* of its logarithm, by counts alone */
        double spread; /* the same by the spread within the run, at least `variance`; HUGE_VAL = unknown */
        double moved;  /* so much of it may be another item's */
        double one;    /* the cost of one count, for runs that may have no count */
        uint64_t n;    /* samples, zones */
        double n_seen; /* of waits: how many of `n` have a call stack, and determine `variance` */
};

/* The numbers of all runs: @n_before, then @n_after. */
struct diff_numbers {
        const struct diff_number *of;
        double *logs; /* room for one of each run */
        uint32_t n_before, n_after;
        uint64_t n_min;       /* counts of a run that are enough */
        double noise;         /* struct diff_options */
        bool is_few_steady;   /* use the spread within the run also if the other side has few counts */
        double steady_noises; /* DIFF_STEADY_..._NOISES; 0 = the spread within a run is not a measure */
};

enum diff_basis_of_judgement {
        DIFF_BY_NOTHING,    /* no side has enough */
        DIFF_BY_FEW_BEFORE, /* after has enough, before has less */
        DIFF_BY_FEW_AFTER,
        DIFF_BY_BOTH,
};

enum diff_basis_of_judgement diff_judgement_basis(const struct diff_numbers *numbers);

/* @basis: what diff_judgement_basis() said, not DIFF_BY_NOTHING */
struct diff_verdict diff_judgement_of(const struct diff_numbers *numbers, enum diff_basis_of_judgement basis);

#endif /* ANALYZE_DIFF_DIFF_STEPS_H */
