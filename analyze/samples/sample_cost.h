/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/sample_cost.h - how much longer a sample makes the instance of a zone in which it falls
 *
 * Way of the data:  why_durations, zone_stats -> [sample_cost] -> why, report
 *
 * The interrupt of a sample takes microseconds, which lengthen the instance.  Instances without a sample and
 * with one show how many: an instance of the duration d has a sample with the probability d / period, so the
 * durations without a sample predict, one by one, those with a sample; the cost is the median of the time by
 * which these exceed the prediction.  docs/use/why.md has the reasons.  Thread-safe.
 */
#ifndef ANALYZE_SAMPLES_SAMPLE_COST_H
#define ANALYZE_SAMPLES_SAMPLE_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct histogram;

/* Instances that last at least this part of a period are not compared: nearly all of them have a sample. */
#define SAMPLE_COST_PERIOD_MAX 0.75

/* The numbers of instances with one sample that are needed to compute a cost, and to print it. */
#define SAMPLE_COST_LEARN_MIN 5
#define SAMPLE_COST_PRINT_MIN 20

struct sample_cost_point {
        double duration_ns;
        double n; /* instances that last so long */
};

struct sample_cost {
        bool is_known;
        double cost_ns;
        double spread_ns; /* nine of ten samples cost at most so much more than the median */
        double error_ns;  /* standard error of cost_ns */
        double period_ns; /* time on a CPU between two samples, without what they cost */
        uint64_t n;       /* instances with a sample from which the cost was computed */
};

/*
 * sample_cost_learn() - compute the cost from instances that never left the CPU
 * @without, @once:  instances without a sample, and with one; sorted by duration
 * @period_ns:  time on a CPU between two samples
 * Returns 0 or -ENOMEM; with too few instances, or too different ones, the cost stays unknown.
 */
int sample_cost_learn(struct sample_cost *c, const struct sample_cost_point *without, size_t n_without,
                      const struct sample_cost_point *once, size_t n_once, double period_ns);

/* The same from histograms: @all has the instances with samples as well. */
int sample_cost_learn_histograms(struct sample_cost *c, const struct histogram *all,
                                 const struct histogram *once, const struct histogram *more,
                                 double period_ns);

/* Whether the cost is exact enough to be printed: within a tenth. */
bool sample_cost_is_exact(const struct sample_cost *c);

/* A duration without the cost of its samples; not below 0. */
double sample_cost_without(const struct sample_cost *c, double duration_ns, double n_samples);

#endif /* ANALYZE_SAMPLES_SAMPLE_COST_H */
