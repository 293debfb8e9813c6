/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_test.h - how certain it is that one function or zone changed
 *
 * Way of the data:  diff_item, diff_run -> [diff_test] -> diff_comparison
 *
 * Each run gives one number, the logarithm of what the item cost in it.  With several runs a side, the two
 * groups of numbers are compared by Student's t test, which takes the variance between runs of one program
 * from them.  A pair of runs does not show that: there a prior stands in, which was fitted on repeats of
 * several programs (docs/use/diff.md).
 *
 * Pure functions; thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_TEST_H
#define ANALYZE_DIFF_DIFF_TEST_H

#include <stdint.h>

/*
 * The prior, printed by tests/bench/fit_diff_prior.py from recordings of tests/bench/diff_rates.sh.  The
 * logarithm of an item's cost varies from run to run with the variance DIFF_PRIOR_RUN^2 +
 * DIFF_PRIOR_COUNTS * (variance by counts); this variance itself is as uncertain as one that is estimated
 * with DIFF_PRIOR_DF degrees of freedom.
 */
#define DIFF_PRIOR_RUN    0.025
#define DIFF_PRIOR_COUNTS 1.0
#define DIFF_PRIOR_DF     3.0

/* Runs may agree by chance: no change is known better than this, as a standard deviation. */
#define DIFF_SE_MIN 0.0025

struct diff_verdict {
        double change;   /* natural logarithm of after / before */
        double variance; /* of one run's logarithm */
        double se, df;   /* of `change` */
        double p;        /* of such a change, or a larger one, if nothing changed */
};

/*
 * diff_test_sets() - Student's t test with the variance of both sets together
 * @logs:  @n_before, then @n_after; each at least 1, together at least 3
 */
struct diff_verdict diff_test_sets(const double *logs, uint32_t n_before, uint32_t n_after);

/* diff_test_pair() - the same of two runs; @variance: of each one's logarithm, by diff_test_prior() */
struct diff_verdict diff_test_pair(double log_before, double log_after, double variance_before,
                                   double variance_after);

/*
 * diff_test_prior() - the variance of one run's logarithm that is expected of any program
 * @run:        standard deviation from run to run; DIFF_PRIOR_RUN unless the user knows better
 * @by_counts:  variance by the number of samples or zones alone
 */
double diff_test_prior(double run, double by_counts);

/*
 * diff_test_detectable() - the change that sets of runs find with probability 0.9, as a logarithm
 * @variance:  of one run's logarithm
 * @alpha:     what p must not exceed
 */
double diff_test_detectable(double variance, uint32_t n_before, uint32_t n_after, double alpha);

#endif /* ANALYZE_DIFF_DIFF_TEST_H */
