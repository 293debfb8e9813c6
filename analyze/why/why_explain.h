/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_explain.h - the steps that explain the extra time of slow instances; for why.c
 *
 * Way of the data:  why_instances, wait_places, why_profile -> [why_explain] -> why
 *
 * Each step fills its part of struct why from the parts of earlier steps.  A file has the name of its step.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_EXPLAIN_H
#define ANALYZE_WHY_WHY_EXPLAIN_H

#include <stdint.h>

struct why;
struct why_links;
struct why_waits;

/*
 * why_waits_find() - replace every place in `place_ids` by the one that stands for its group
 *
 * A function that waits has a place for each of its callers, and it may wait in several functions that it
 * calls.  So waits go through rounds as samples do.  A round has as candidates all functions at any depth of
 * a chain, and all ways to wait in one.  It chooses the candidate whose share of the time grows most in slow
 * instances; of nearly equal ones the innermost.  The next round ignores its waits.
 * @w:  with places, their ids, the sums of its groups and the profile
 * Returns 0 or -ENOMEM; @g is to be deinitialised in any case.
 */
int why_waits_find(struct why_waits *g, struct why *w);
void why_waits_deinit(struct why_waits *g);

/* Split the extra time of slow instances into causes, and judge them. */

/* Fills `causes`; needs profile and place_ids.  Returns 0 or -ENOMEM. */
int why_causes_find(struct why *w);

/* The same, and `delays`, of zones of devices; needs their groups.  Returns 0 or -ENOMEM. */
int why_span_causes_find(struct why *w);

/* The order of `causes`, for qsort(): surer ones first, then those with more of the extra time. */
int why_causes_compare(const void *a, const void *b);

/* Fills `zones` and `counters`.  Returns 0 or -ENOMEM. */
int why_causes_find_parts(struct why *w);

/*
 * Fills the `device` of waits that were for devices; after why_causes_find().  Returns 0 or -ENOMEM.
 *
 * A device is named if it has more than half of the time that slow instances wait there, and of the time by
 * which they wait longer than the others; one work of it, if that has more than half of the latter.
 */
int why_devices_find(struct why *w);

/* After why_causes_find(). */
struct why_links why_links_of(const struct why *w);

#endif /* ANALYZE_WHY_WHY_EXPLAIN_H */
