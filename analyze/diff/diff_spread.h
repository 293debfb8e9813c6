/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_spread.h - the times of a zone's instances by their magnitude, so that the
 * slowest few can be left out
 *
 * Way of the data:  zone instances -> [diff_spread] -> diff_run
 *
 * One instance of 10 ns that an interrupt or a switch fell into lasts as long as a hundred thousand
 * others: a mean with it says nothing about the program.  So the slowest of each thousand, and at
 * least one, do not count.
 */
#ifndef ANALYZE_DIFF_DIFF_SPREAD_H
#define ANALYZE_DIFF_DIFF_SPREAD_H

#include <stdint.h>

#define DIFF_SPREAD_OCTAVES     64
#define DIFF_SPREAD_ONE_LEFT_OF 1000 /* the slowest of so many is left out */

/* By power of two; zero-initialised is empty. */
struct diff_spread {
        uint64_t n[DIFF_SPREAD_OCTAVES];
        double sum[DIFF_SPREAD_OCTAVES], squares[DIFF_SPREAD_OCTAVES];
};

struct diff_typical {
        double mean;     /* without the slowest; 0 if there is no instance */
        double variance; /* of the mean, relative to its square, by counts alone; HUGE_VAL if it is unknown */
};

/* Counts an instance of @ns, not negative. */
void diff_spread_add(struct diff_spread *s, double ns);

/* For all but the slowest; those are accurate to a power of two. */
struct diff_typical diff_spread_typical(const struct diff_spread *s);

#endif /* ANALYZE_DIFF_DIFF_SPREAD_H */
