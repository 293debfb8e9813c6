/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_moved.h - how much time a change moved, which decides what is named first
 *
 * Way of the data:  diff_comparison -> [diff_moved] -> diff_view
 *
 * Pure functions; thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_MOVED_H
#define ANALYZE_DIFF_DIFF_MOVED_H

#include "analyze/diff/diff_item.h"

struct diff_comparison;

/*
 * How much more time of a run, or of a unit, an item took; for a zone, at the number of instances
 * before.
 */
double diff_moved_ns(const struct diff_item *item);

/* The same as a part of the longer run, where items of all kinds are weighed against each other. */
double diff_moved_share(const struct diff_comparison *c, const struct diff_item *item);

#endif /* ANALYZE_DIFF_DIFF_MOVED_H */
