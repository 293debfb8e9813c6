/* SPDX-License-Identifier: MIT */
#include "analyze/stats/student_t.h"

#include <math.h>
#include <stdbool.h>

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
