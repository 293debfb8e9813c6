/* SPDX-License-Identifier: MIT */
#include "analyze/stats/cluster_ratio.h"

#include <math.h>

void cluster_ratio_add(struct cluster_ratio *r, double x, double w)
{
        if (!(w > 0))
                return;
        r->x += x;
        r->w += w;
        r->xx += x * x;
        r->xw += x * w;
        r->ww += w * w;
        r->n++;
        r->n_with += x > 0;
}

double cluster_ratio_value(const struct cluster_ratio *r)
{
        return r->w > 0 ? r->x / r->w : 0;
}

/*
 * Adds one observation of each kind: a group without the thing must not have zero variance (Agresti and
 * Caffo).
 */
static double shrunk_value(const struct cluster_ratio *r, double unit)
{
        double value = (r->x + unit) / (r->w + 2 * unit);

        return fmin(fmax(value, 0), 1);
}

/* The variance, linearised over clusters (Cochran); at least the variance of independent tosses. */
static double variance_of(const struct cluster_ratio *r, double value, double unit)
{
        double plain = cluster_ratio_value(r);
        double residuals = r->xx - 2 * plain * r->xw + plain * plain * r->ww;
        double n = (double)r->n;
        double clusters = fmax(residuals, 0) * n / (n - 1) / (r->w * r->w);
        double tosses = value * (1 - value) * unit / (r->w + 2 * unit);

        return fmax(clusters, tosses);
}

double cluster_ratio_variance(const struct cluster_ratio *r, double unit)
{
        return r->n < 2 || !(r->w > 0) ? 0 : variance_of(r, shrunk_value(r, unit), unit);
}

double cluster_ratio_compare(const struct cluster_ratio *slow, const struct cluster_ratio *typical,
                             double unit)
{
        double slow_value, typical_value, slow_variance, typical_variance, variance, df;

        if (slow->n < 2 || typical->n < 2 || !(unit > 0))
                return 1;
        slow_value = shrunk_value(slow, unit);
        typical_value = shrunk_value(typical, unit);
        slow_variance = variance_of(slow, slow_value, unit);
        typical_variance = variance_of(typical, typical_value, unit);
        variance = slow_variance + typical_variance;
        if (!(variance > 0))
                return 1;
        df = variance * variance /
             (slow_variance * slow_variance / (double)(slow->n - 1) +
              typical_variance * typical_variance / (double)(typical->n - 1));
        return student_tail((slow_value - typical_value) / sqrt(variance), fmax(df, 1));
}

/* The logarithm of the number of ways to choose @k of @n. */
static double log_choose(double n, double k)
{
        int sign; /* for lgamma_r(); lgamma() would write a global variable */

        return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double binomial_tail(uint64_t k, uint64_t n, double q)
{
        double p = 0;

        if (k == 0 || q >= 1)
                return 1;
        if (q <= 0)
                return 0;
        for (uint64_t i = k; i <= n; i++)
                p += exp(log_choose((double)n, (double)i) + (double)i * log(q) + (double)(n - i) * log1p(-q));
        return fmin(p, 1);
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
        const double tiny = 1e-300;
        double c = 1, d = 1 - (a + b) * x / (a + 1), h;

        d = 1 / (fabs(d) < tiny ? tiny : d);
        h = d;
        for (int i = 1; i <= 500; i++) {
                double m = i;
                double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
                double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
                double change;

                d = 1 + even * d;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = 1 + even / c;
                c = fabs(c) < tiny ? tiny : c;
                h *= d * c;
                d = 1 + odd * d;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = 1 + odd / c;
                c = fabs(c) < tiny ? tiny : c;
                change = d * c;
                h *= change;
                if (fabs(change - 1) < 1e-14)
                        break;
        }
        return h;
}

static double incomplete_beta(double a, double b, double x)
{
        double front;
        int sign; /* for lgamma_r(); lgamma() would write a global variable */

        if (x <= 0 || x >= 1)
                return x <= 0 ? 0 : 1;

        front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
                    b * log1p(-x));
        if (x < (a + 1) / (a + b + 2))
                return front * beta_fraction(a, b, x) / a;
        return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_tail(double t, double df)
{
        double both = incomplete_beta(df / 2, 0.5, df / (df + t * t));

        return t > 0 ? both / 2 : 1 - both / 2;
}
