/* SPDX-License-Identifier: MIT */
/*
 * analyze/clocks/clock_epoch.h - one stretch in which a counter went on
 *
 * Way of the data:  clock_fit -> [clock_epoch] -> clock_fit
 *
 * This is what clock_epoch.c and clock_fit.c share: the working memory of a fit, and what is possible in
 * one of its epochs.  clock_fit.h says what an epoch is.
 */
#ifndef ANALYZE_CLOCKS_CLOCK_EPOCH_H
#define ANALYZE_CLOCKS_CLOCK_EPOCH_H

#include "analyze/clocks/clock_bracket.h"
#include "analyze/clocks/clock_fit.h"
#include "analyze/clocks/clock_hull.h"

#define CLOCK_PERIOD_MAX_NS 1e9 /* a slower clock is not believed */
#define CLOCK_PERIOD_MIN_NS 1e-6

struct clock_build {
        struct clock_fit *fit;
        struct clock_reading *readings; /* the caller's, in the order of the host's time */
        size_t n_readings;
        struct clock_bracket *brackets; /* heap, as the rest; of the epoch that is being read */
        struct clock_corner *upper, *lower;
        double *low, *high;
        size_t n_brackets;
        double period_ns; /* as named, or 0 */
        double rate_ns;   /* of most pairs of readings, or 0 */
};

/* By how much @value exceeds @from, exactly below 2^53. */
static inline double clock_after(uint64_t value, uint64_t from)
{
        return value < from ? -(double)(from - value) : (double)(value - from);
}

/* 0 for what is less, the largest number for what is more than any time. */
uint64_t clock_whole(double ns);

/* The nearest slope that is believed. */
double clock_reasonable(double slope_ns);

/* For qsort(), of doubles. */
int clock_compare_numbers(const void *left, const void *right);

/*
 * clock_epoch_add() - adds to the fit the epoch of the brackets of @b, or several where the counter jumped
 * There is at least one bracket; they are used up.  Returns 0 or -ENOMEM.
 */
int clock_epoch_add(struct clock_build *b);

/* Where a tick is, in nanoseconds after the origin of the epoch. */
double clock_epoch_place(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks);

uint64_t clock_epoch_time_ns(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks);
uint64_t clock_epoch_error_ns(const struct clock_fit *f, const struct clock_epoch *e, uint64_t ticks);

/* The largest error between its readings; the slope of the fit is known. */
uint64_t clock_epoch_bound_ns(const struct clock_fit *f, const struct clock_epoch *e);

#endif /* ANALYZE_CLOCKS_CLOCK_EPOCH_H */
