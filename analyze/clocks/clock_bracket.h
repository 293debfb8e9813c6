/* SPDX-License-Identifier: MIT */
/*
 * analyze/clocks/clock_bracket.h - between which times another clock had which ticks
 *
 * Way of the data:  clock_fit -> [clock_bracket] -> clock_hull
 *
 * A bracket says that the other clock had @ticks not before @low_ns and not after @high_ns.  If both are the
 * same, the error of the reading is not known, and a bracket is to be estimated: such a reading was noted at
 * its time or up to an unknown span before, never later.  The least span in which a straight line passes at
 * least 9 of 10 readings is taken for it; later readings are left out.  It is not known how late the best
 * readings were: the line may lie by one span before or after the bottom of that strip.
 *
 * Where the clock wanders, so that a few readings in a row pass a far narrower strip than all do, each such
 * few have a strip of their own.
 */
#ifndef ANALYZE_CLOCKS_CLOCK_BRACKET_H
#define ANALYZE_CLOCKS_CLOCK_BRACKET_H

#include <stddef.h>
#include <stdint.h>

struct clock_bracket {
        uint64_t ticks, low_ns, high_ns;
};

/* Counts those that are known: high_ns > low_ns. */
size_t clock_bracket_count(const struct clock_bracket *brackets, size_t n);

/* By ticks, then by time. */
void clock_bracket_sort(struct clock_bracket *brackets, size_t n);

/* Removes those that are not known, and returns how many. */
size_t clock_bracket_keep(struct clock_bracket *brackets, size_t *n);

/* Later and earlier by @by_ns. */
void clock_bracket_widen(struct clock_bracket *brackets, size_t n, uint64_t by_ns);

/*
 * clock_bracket_merge() - makes one bracket of neighbours with equal ticks: what all of them allow
 * Returns how many were removed because they allow nothing that those before them allow.
 */
size_t clock_bracket_merge(struct clock_bracket *brackets, size_t *n);

/*
 * clock_bracket_estimate() - gives @brackets their low_ns and high_ns, and removes late ones
 * @brackets:  ticks ascend; low_ns == high_ns is when it was noted
 * @n:         how many; those that remain afterwards, at least one if there was one
 * Returns how many were removed, or -ENOMEM.
 */
int64_t clock_bracket_estimate(struct clock_bracket *brackets, size_t *n);

#endif /* ANALYZE_CLOCKS_CLOCK_BRACKET_H */
