/* SPDX-License-Identifier: MIT */
/*
 * analyze/clocks/clock_hull.h - all straight lines that go through a row of brackets
 *
 * Way of the data:  clock_fit -> [clock_hull] -> clock_fit
 *
 * Brackets are added in the order of their ticks, as long as a line goes through all of them (O'Rourke
 * 1981).  The lines that do are below the lower convex hull of the upper ends and above the upper convex hull
 * of the lower ends; the steepest and the flattest of them bound the rest.  All decisions are exact:
 * differences of 64 bits, products of 128.
 */
#ifndef ANALYZE_CLOCKS_CLOCK_HULL_H
#define ANALYZE_CLOCKS_CLOCK_HULL_H

#include "analyze/clocks/clock_bracket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_corner {
        uint64_t ticks, ns;
};

struct clock_hull {
        struct clock_corner *upper, *lower; /* the caller's; room for as many as are added */
        size_t upper_first,
                upper_end; /* corners of the upper bound are upper[upper_first .. upper_end - 1] */
        size_t lower_first, lower_end;
        size_t n_brackets;
};

/* Empty; @upper and @lower stay the caller's. */
void clock_hull_init(struct clock_hull *h, struct clock_corner *upper, struct clock_corner *lower);

/*
 * clock_hull_add() - @b: more ticks than the one before, low_ns <= high_ns
 * Returns false, and changes nothing, if no line goes through this one and all before.  Constant time, in the
 * mean.
 */
bool clock_hull_add(struct clock_hull *h, const struct clock_bracket *b);

/* Slopes of lines that remain, in nanoseconds a tick; needs two brackets.  Either may be negative. */
double clock_hull_flattest(const struct clock_hull *h);
double clock_hull_steepest(const struct clock_hull *h);

/*
 * clock_hull_limit() - leaves of the corners those that lines from @flattest to @steepest touch
 * At least one line that remains has such a slope.
 */
void clock_hull_limit(struct clock_hull *h, double flattest, double steepest);

#endif /* ANALYZE_CLOCKS_CLOCK_HULL_H */
