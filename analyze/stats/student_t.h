/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/student_t.h - Student's distribution: how surprising a difference is
 *
 * Way of the data:  diff_pair, diff_sets -> [student_t] -> diff_comparison
 *
 * By the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8); exact to 1e-10.
 */
#ifndef ANALYZE_STATS_STUDENT_T_H
#define ANALYZE_STATS_STUDENT_T_H

/* Above these degrees of freedom, it is the normal distribution. */
#define STUDENT_T_NORMAL 1e6

/* The probability of a value that is as far from 0 as @t, or farther, in either direction.  @df: above 0. */
double student_t_two_sided(double t, double df);

/* The value that is exceeded, in either direction, with the probability @p, 0 < @p < 1; at most 1e6. */
double student_t_quantile(double p, double df);

#endif /* ANALYZE_STATS_STUDENT_T_H */
