/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_judgement.h - the verdict on one thing, from a number of each run
 *
 * Way of the data:  diff_item, diff_run -> [diff_judgement]: diff_test -> diff_comparison
 *
 * The larger side must have enough in each of its runs.  Where the smaller one has less, or nothing, its
 * counts are judged as Poisson numbers.  Pure functions; thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_JUDGEMENT_H
#define ANALYZE_DIFF_DIFF_JUDGEMENT_H

#include "analyze/diff/diff_test.h"

#include <stdbool.h>
#include <stdint.h>

struct diff_number {
        double value, low, high; /* the cost in a run, and its bounds by what the run lost */
        double variance;         /* of its logarithm, by counts alone */
        double spread; /* the same by the spread within the run; at least that; HUGE_VAL = unknown */
        double moved;  /* so much of it may be another item's */
        double one;    /* the cost of one count, where there may be none */
        uint64_t n;    /* samples, zones */
        double n_seen; /* of `n`, those that `variance` is of, if these are fewer; waits */
};

/* The numbers of all runs: @n_before, then @n_after. */
struct diff_numbers {
        const struct diff_number *of;
        double *logs; /* room for one of each run */
        uint32_t n_before, n_after;
        uint64_t n_min;       /* counts of a run that are enough */
        double noise;         /* struct diff_options */
        bool is_few_steady;   /* the spread within the run counts as well where the other side has few */
        double steady_noises; /* DIFF_STEADY_..._NOISES; 0 = the spread within a run says nothing of it */
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

#endif /* ANALYZE_DIFF_DIFF_JUDGEMENT_H */
