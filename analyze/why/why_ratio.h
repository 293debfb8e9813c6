/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_ratio.h - the share of a whole that is spent on one thing, and whether two groups differ in
 * it
 *
 * Way of the data:  why_instances -> [why_ratio] -> why_causes
 *
 * A group of instances gives pairs: how much (x) of a whole (w).  Their ratio is
 * sum(x) / sum(w), whose variance comes from the differences between instances, not from the samples, which
 * are not independent within an instance.  docs/use/why.md has the formulas
 * and their sources.
 */
#ifndef ANALYZE_WHY_WHY_RATIO_H
#define ANALYZE_WHY_WHY_RATIO_H

#include <stdint.h>

struct why_ratio {
        double x, w, xx, xw, ww; /* sums, and sums of products */
        uint64_t n;              /* instances with w > 0 */
        uint64_t n_with;         /* of these, with x > 0 */
};

/* Adds one instance; ignores one without a whole (@w not over 0). */
void why_ratio_add(struct why_ratio *r, double x, double w);

/* sum(x) / sum(w); 0 if the whole is 0. */
double why_ratio_value(const struct why_ratio *r);

/*
 * why_ratio_compare() - the probability of such a difference, or a larger one, if the
 * ratio of @slow is no larger
 * @unit:  the part of the whole for which one independent observation stands: a sample's weight, an
 *         instance's time.  One observation of each kind is added to both groups, and no variance is below
 *         that of as many coin tosses
 * Returns 0 .. 1; 1 if there are less than two instances in a group.
 */
double why_ratio_compare(const struct why_ratio *slow, const struct why_ratio *typical, double unit);

/* The variance of the ratio, with that unit; 0 of fewer than two instances. */
double why_ratio_variance(const struct why_ratio *r, double unit);

/* P(X >= k) for @n tosses with the probability @q: the binomial distribution. */
double why_binomial_tail(uint64_t k, uint64_t n, double q);

/* P(T > t) of Student's distribution with @df degrees of freedom, at least 1. */
double why_student_tail(double t, double df);

#endif /* ANALYZE_WHY_WHY_RATIO_H */
