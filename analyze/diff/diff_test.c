/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_test.h"

#include "analyze/stats/student_t.h"

#include <math.h>

/* The normal distribution's quantile of 0.9. */
#define NORMAL_90 1.2815515655446004

static double diff_test_mean(const double *values, uint32_t n)
{
        double sum = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += values[i];
        return sum / n;
}

static double diff_test_squares(const double *values, uint32_t n, double mean)
{
        double sum = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += (values[i] - mean) * (values[i] - mean);
        return sum;
}

static struct diff_verdict diff_test_finish(struct diff_verdict v)
{
        v.se = fmax(v.se, DIFF_SE_MIN);
        v.p = student_t_two_sided(v.change / v.se, v.df);
        return v;
}

struct diff_verdict diff_test_sets(const double *logs, uint32_t n_before, uint32_t n_after)
{
        double before = diff_test_mean(logs, n_before), after = diff_test_mean(logs + n_before, n_after);
        struct diff_verdict v = { .change = after - before, .df = n_before + n_after - 2 };

        v.variance = (diff_test_squares(logs, n_before, before) +
                      diff_test_squares(logs + n_before, n_after, after)) /
                     v.df;
        v.se = sqrt(v.variance * (1.0 / n_before + 1.0 / n_after));
        return diff_test_finish(v);
}

struct diff_verdict diff_test_pair(double log_before, double log_after, double variance_before,
                                   double variance_after)
{
        struct diff_verdict v = { .change = log_after - log_before, .df = DIFF_PRIOR_DF };

        v.variance = (variance_before + variance_after) / 2;
        v.se = sqrt(variance_before + variance_after);
        return diff_test_finish(v);
}

double diff_test_prior(double run, double by_counts)
{
        return run * run + DIFF_PRIOR_COUNTS * by_counts;
}

double diff_test_detectable(double variance, uint32_t n_before, uint32_t n_after, double alpha)
{
        double se = fmax(sqrt(variance * (1.0 / n_before + 1.0 / n_after)), DIFF_SE_MIN);
        double df = n_before + n_after - 2, far = student_t_quantile(alpha, df);

        /* The noncentral distribution, by Johnson and Welch's approximation. */
        return se * (far * (1 - 1 / (4 * df)) + NORMAL_90 * sqrt(1 + far * far / (2 * df)));
}
