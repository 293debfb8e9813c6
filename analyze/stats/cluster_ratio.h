/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/cluster_ratio.h - the share of a whole that is spent on one thing, and whether two
 * groups differ in it
 *
 * Way of the data:  why_instances, path_sums -> [cluster_ratio] -> why_causes, path
 *
 * A group of instances gives pairs: how much (x) of a whole (w).  Their ratio is
 * sum(x) / sum(w), whose variance comes from the differences between instances, not from the samples, which
 * are not independent within an instance.  docs/use/why.md has the formulas
 * and their sources.
 */
#ifndef ANALYZE_STATS_CLUSTER_RATIO_H
#define ANALYZE_STATS_CLUSTER_RATIO_H

#include <stdint.h>

struct cluster_ratio {
        double x, w, xx, xw, ww; /* sums, and sums of products */
        uint64_t n;              /* instances with w > 0 */
        uint64_t n_with;         /* of these, with x > 0 */
};

/* Adds one instance; ignores one without a whole (@w not over 0). */
void cluster_ratio_add(struct cluster_ratio *r, double x, double w);

/* sum(x) / sum(w); 0 if the whole is 0. */
double cluster_ratio_value(const struct cluster_ratio *r);

/*
 * cluster_ratio_compare() - the probability of such a difference, or a larger one, if the
 * ratio of @slow is no larger
 * @unit:  the part of the whole for which one independent observation stands: a sample's weight, an
 *         instance's time.  One observation of each kind is added to both groups, and no variance is below
 *         that of as many coin tosses
 * Returns 0 .. 1; 1 if there are less than two instances in a group.
 */
double cluster_ratio_compare(const struct cluster_ratio *slow, const struct cluster_ratio *typical,
                             double unit);

/* The variance of the ratio, with that unit; 0 of fewer than two instances. */
double cluster_ratio_variance(const struct cluster_ratio *r, double unit);

/* P(X >= k) for @n tosses with the probability @q: the binomial distribution. */
double binomial_tail(uint64_t k, uint64_t n, double q);

/* P(T > t) of Student's distribution with @df degrees of freedom, at least 1. */
double student_tail(double t, double df);

#endif /* ANALYZE_STATS_CLUSTER_RATIO_H */
