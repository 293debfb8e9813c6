/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_test.h"

#include <math.h>

/* The normal distribution's quantile of 0.9. */
#define NORMAL_90 1.2815515655446004

/* Normal quantiles of 0.975 and of 1 - DIFF_FEW_TAIL. */
#define NORMAL_975 1.9599639845400545
#define NORMAL_FEW 4.7534243088229

#define LOG_FAR 50 /* e^50 stands for a ratio to zero */

static double mean_of(const double *values, uint32_t n)
{
        double sum = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += values[i];
        return sum / n;
}

static double squares(const double *values, uint32_t n, double mean)
{
        double sum = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += (values[i] - mean) * (values[i] - mean);
        return sum;
}

static struct diff_verdict finish(struct diff_verdict v)
{
        v.se = fmax(v.se, DIFF_SE_MIN);
        v.p = student_t_two_sided(v.change / v.se, v.df);
        return v;
}

struct diff_verdict diff_test_sets(const double *logs, uint32_t n_before, uint32_t n_after)
{
        double before = mean_of(logs, n_before), after = mean_of(logs + n_before, n_after);
        struct diff_verdict v = { .change = after - before, .df = n_before + n_after - 2 };

        v.variance = (squares(logs, n_before, before) + squares(logs + n_before, n_after, after)) / v.df;
        v.se = sqrt(v.variance * (1.0 / n_before + 1.0 / n_after));
        return finish(v);
}

struct diff_verdict diff_test_pair(double log_before, double log_after, double variance_before,
                                   double variance_after)
{
        struct diff_verdict v = { .change = log_after - log_before, .df = DIFF_PRIOR_DF };

        v.variance = (variance_before + variance_after) / 2;
        v.se = sqrt(variance_before + variance_after);
        return finish(v);
}

void diff_test_steady(struct diff_verdict *v, const struct diff_steady *steady)
{
        double se = fmax(sqrt(steady->variance), DIFF_SE_MIN), nearest;

        if (!(steady->low > 0) || !(steady->high > steady->low) || !(se < HUGE_VAL))
                return;
        nearest = log(steady->high / steady->low) - steady->far;
        if (nearest > 0)
                v->p = fmin(v->p, student_t_two_sided(nearest / se, steady->df));
}

struct diff_verdict diff_test_few(const struct diff_few *few)
{
        double mean = mean_of(few->logs, few->n), estimate = few->mean > 0 ? few->mean : few->high;
        double below = few->low > 0 ? fmin(log(estimate / few->low), LOG_FAR) : LOG_FAR;
        double above = log(few->high / estimate), ratio = log(estimate) - mean, nearest;
        struct diff_verdict v = { .df = DIFF_PRIOR_DF + few->n - 1 };

        v.variance = (DIFF_PRIOR_DF * few->prior + squares(few->logs, few->n, mean)) / v.df;
        v.se = fmax(sqrt(v.variance * (1.0 / few->n + (few->n_few > 1 ? 1.0 / few->n_few : 0))), DIFF_SE_MIN);
        nearest = fmax(mean - few->lost - log(few->far), 0);
        v.p = fmin(student_t_two_sided(nearest / v.se, v.df) + DIFF_FEW_TAIL, 1);
        v.change = few->is_after ? ratio : -ratio;
        v.lost_low = few->is_after ? below : above + few->lost;
        v.lost_high = few->is_after ? above + few->lost : below;
        return v;
}

/* Wilson and Hilferty's approximation: the cube root of a Poisson count's bound is nearly normal. */
static double count_above(uint64_t n, double far)
{
        double m = (double)n + 1;

        return m * pow(1 - 1 / (9 * m) + far / (3 * sqrt(m)), 3);
}

double diff_test_count_high(uint64_t n)
{
        return count_above(n, NORMAL_975);
}

double diff_test_count_far(uint64_t n)
{
        return count_above(n, NORMAL_FEW);
}

double diff_test_count_low(uint64_t n)
{
        double m = (double)n;

        return n == 0 ? 0 : m * pow(fmax(1 - 1 / (9 * m) - NORMAL_975 / (3 * sqrt(m)), 0), 3);
}

void diff_test_widen(struct diff_verdict *v, double lost_low, double lost_high)
{
        double nearest = v->change > 0 ? fmax(v->change - lost_low, 0) : fmin(v->change + lost_high, 0);

        v->lost_low = lost_low;
        v->lost_high = lost_high;
        v->p = student_t_two_sided(nearest / v->se, v->df);
}

void diff_test_show(struct diff_verdict *v, double change)
{
        double by = 1;

        if (change * v->change > 0)
                by = change / v->change;
        else if (change != v->change)
                v->p = 1;
        v->change = change;
        v->se = fmin(v->se * by, LOG_FAR);
        v->variance = fmin(v->variance * by * by, LOG_FAR * LOG_FAR);
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

/* ------------------------------------------------------------------ Student's distribution */

#define N_STEPS_MAX 300 /* of the continued fraction, which needs a few dozen */
#define TINY        1e-300

static double away_from_zero(double x)
{
        return fabs(x) < TINY ? TINY : x;
}

/* The value of the continued fraction by Lentz's method, for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
        double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;

        for (int m = 1; m <= N_STEPS_MAX; m++) {
                double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
                double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
                double step;

                d = 1 / away_from_zero(1 + even * d);
                c = away_from_zero(1 + even / c);
                value *= c * d;
                d = 1 / away_from_zero(1 + odd * d);
                c = away_from_zero(1 + odd / c);
                step = c * d;
                value *= step;
                if (fabs(step - 1) < 1e-13)
                        break;
        }
        return value;
}

/*
 * The regularised incomplete beta function; @rest is 1 - @x, which may be too small to
 * be found by subtraction.
 */
static double incomplete_beta(double a, double b, double x, double rest)
{
        int sign; /* lgamma() alone keeps it in a global */
        double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
                           b * log(rest));

        if (x < (a + 1) / (a + b + 2))
                return front * beta_fraction(a, b, x) / a;
        return 1 - front * beta_fraction(b, a, rest) / b;
}

double student_t_two_sided(double t, double df)
{
        double square = t * t;

        if (isnan(t) || square <= 0)
                return 1;
        if (isinf(square))
                return 0;
        if (df >= STUDENT_T_NORMAL)
                return erfc(fabs(t) / sqrt(2));
        return incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

double student_t_quantile(double p, double df)
{
        double low = 0, high = 1e6;

        for (int i = 0; i < 100 && high - low > 1e-9; i++) {
                double middle = (low + high) / 2;
                bool is_low = student_t_two_sided(middle, df) > p;

                low = is_low ? middle : low;
                high = is_low ? high : middle;
        }
        return (low + high) / 2;
}
