/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_test.h - how certain it is that one function or zone changed
 *
 * Way of the data:  diff_item, diff_run -> [diff_test] -> diff_comparison
 *
 * Each run gives one number, the logarithm of what the item cost in it.  With several runs a side, the two
 * groups of numbers are compared by Student's t test, which takes the variance between runs of one program
 * from them.  A pair of runs does not show this variance: instead, the test uses a prior, which was fitted on
 * repeats of several programs (docs/use/diff.md).
 *
 * Pure functions; thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_TEST_H
#define ANALYZE_DIFF_DIFF_TEST_H

#include <stdbool.h>
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

/*
 * Two runs of one program may differ for reasons that no single run shows.  At most, one whole run is slower
 * by DIFF_STEADY_..._NOISES standard deviations (the machine, the layout of memory), and the part
 * DIFF_STEADY_..._MOVED of a run moves between items (samples fall beside a function, a cache misses in
 * another zone).
 */
#define DIFF_STEADY_FUNCTION_NOISES 6.0
#define DIFF_STEADY_FUNCTION_MOVED  0.03
#define DIFF_STEADY_ZONE_NOISES     4.0
#define DIFF_STEADY_ZONE_MOVED      0.02
#define DIFF_STEADY_DF              30.0 /* of both runs, from DIFF_RUN_BLOCKS parts of each */

/*
 * Waits and numbers of system calls: how much more than functions they vary from run to run, as standard
 * deviations, and how many of these are the margin of a pair.  Sleeps last as long as the program asked for;
 * accesses to disks vary.
 */
#define DIFF_SLEEP_NOISES       4.0
#define DIFF_DISK_NOISES        24.0
#define DIFF_CALL_NOISES        5.0
#define DIFF_STEADY_CALL_NOISES 6.0
#define DIFF_STEADY_WAIT_MOVED  0.05 /* of the time of all threads, on a disk */

/* Runs may agree by chance: no change is known more exactly than this standard deviation. */
#define DIFF_SE_MIN 0.0025

struct diff_verdict {
        double change;   /* natural logarithm of after / before */
        double variance; /* of one run's logarithm */
        double se, df;   /* of `change` */
        /* the probability of such a change, or a larger one, if nothing changed */
        double p;
        /* so much smaller, or larger, the true change may be because of lost data */
        double lost_low, lost_high;
};

/*
 * diff_test_sets() - Student's t test with the variance of both sets together
 * @logs:  @n_before, then @n_after; each at least 1, together at least 3
 */
struct diff_verdict diff_test_sets(const double *logs, uint32_t n_before, uint32_t n_after);

/*
 * diff_test_pair() - the same for two runs; the variances are those of their logarithms, by
 * diff_test_prior()
 */
struct diff_verdict diff_test_pair(double log_before, double log_after, double variance_before,
                                   double variance_after);

/* Two runs, each of which shows how even its costs are. */
struct diff_steady {
        double low, high; /* the most that the cheaper run, the least that the dearer run may have cost */
        double far;       /* runs differ by that logarithm at most */
        double variance;  /* of the logarithm of both, by the spread within each run */
        double df;
};

/*
 * diff_test_steady() - lower v->p if the change is larger than the differences between runs of one program
 * It assumes the largest such difference, and compares the rest of the change with the spread within each
 * run.
 */
void diff_test_steady(struct diff_verdict *v, const struct diff_steady *steady);

/*
 * One side has too few counts in a run to take their logarithm, perhaps 0; the other side has enough.  The
 * few are a Poisson number with bounds.
 */
struct diff_few {
        const double *logs;     /* of the larger side's runs */
        uint32_t n;             /* number of those; at least 1 */
        double prior;           /* variance of one such logarithm, by diff_test_prior() */
        double lost;            /* lost data may make the larger side so much smaller, as a logarithm */
        double mean, low, high; /* of a run of the smaller side, and its 95 % bounds; `low` may be 0 */
        double far;             /* a run of the smaller side exceeds it with probability DIFF_FEW_TAIL */
        /* number of runs behind `far`; if above 1, they vary as the larger side does */
        uint32_t n_few;
        bool is_after; /* the smaller side is the later one */
};

#define DIFF_FEW_TAIL 1e-6

/*
 * diff_test_few() - how certain it is that the smaller side is smaller
 * Combines the variance of the larger side's runs with the prior, each by its degrees of freedom.  p is that
 * of a change from the larger side to `far`, plus the probability that `far` is exceeded.
 */
struct diff_verdict diff_test_few(const struct diff_few *few);

/* Bounds of a Poisson number's mean: `high` and `low` hold 95 %, `far` is exceeded with DIFF_FEW_TAIL. */
double diff_test_count_high(uint64_t n);
double diff_test_count_low(uint64_t n);
double diff_test_count_far(uint64_t n);

/*
 * diff_test_widen() - take lost data into account
 * Nothing is assumed about whose time was lost: p becomes that of the smallest possible change.
 */
void diff_test_widen(struct diff_verdict *v, double lost_low, double lost_high);

/*
 * diff_test_show() - set the change of a verdict that was found by adjusted numbers to the change of the true
 * ones
 * Its p stays, and the interval contains 0 exactly if it did before; p becomes 1 if the two changes have
 * different signs.
 */
void diff_test_show(struct diff_verdict *v, double change);

/*
 * diff_test_prior() - the variance of one run's logarithm to expect of any program
 * @run:        standard deviation from run to run; DIFF_PRIOR_RUN unless the user knows better
 * @by_counts:  variance by the number of samples or zones alone
 */
double diff_test_prior(double run, double by_counts);

/*
 * diff_test_detectable() - the change that sets of so many runs find with probability 0.9, as a logarithm
 * @variance:  of one run's logarithm
 * @alpha:     what p must not exceed
 */
double diff_test_detectable(double variance, uint32_t n_before, uint32_t n_after, double alpha);

/*
 * Student's distribution: how surprising a difference is.  Computed by the continued fraction of the
 * incomplete beta function (Abramowitz and Stegun 26.5.8); exact to 1e-10.
 */

/* Above these degrees of freedom, it is the normal distribution. */
#define STUDENT_T_NORMAL 1e6

/* The probability of a value that is as far from 0 as @t, or farther, in either direction.  @df: above 0. */
double student_t_two_sided(double t, double df);

/* The value that is exceeded, in either direction, with the probability @p, 0 < @p < 1; at most 1e6. */
double student_t_quantile(double p, double df);

#endif /* ANALYZE_DIFF_DIFF_TEST_H */
