/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_doubt.h - why an item of a comparison is not judged, apart from its counts
 *
 * Way of the data:  diff_item, diff_run -> [diff_doubt] -> diff_comparison
 *
 * Pure functions; thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_DOUBT_H
#define ANALYZE_DIFF_DIFF_DOUBT_H

#include "analyze/diff/diff_item.h"

#include <stdbool.h>

struct diff_comparison;
struct diff_run;

/* @is_named: asked for by name, so judged however small it is */
enum diff_doubt diff_doubt_find(const struct diff_comparison *c, const struct diff_item *item,
                                const struct diff_run *const *runs, bool is_named);

/* Whether a run lost so many zones that the rest may be others than those. */
bool diff_doubt_lost_zones(const struct diff_run *run);

/* Whether the trace of a run is cut off, so that its costs are those of an unknown part of its work. */
bool diff_doubt_is_cut(const struct diff_comparison *c, const struct diff_run *run);

#endif /* ANALYZE_DIFF_DIFF_DOUBT_H */
