/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_explain.h - the steps that explain the extra time of slow instances; for why.c
 *
 * Way of the data:  why_instances, wait_places, why_profile, meanwhile -> [why_explain] -> why
 *
 * Each fills its part of struct why from the parts that are there by then.  A file has the name of its step.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_EXPLAIN_H
#define ANALYZE_WHY_WHY_EXPLAIN_H

#include <stdint.h>

struct why;
struct why_links;
struct why_steps;
struct why_waits;

/*
 * why_waits_find() - replace every place in `place_ids` by the one that stands for its group
 *
 * One function that waits has a place for each of its callers, and one function may wait in several
 * that it calls.  So waits go through rounds as samples do.  A round chooses, of all functions at any
 * depth of a chain and of all ways to wait in one, the one whose share of the time grows most in slow
 * instances; of nearly equal ones the innermost.  Its waits are taken out before the next round.
 * @w:  with places, their ids, the sums of its groups and the profile
 * Returns 0 or -ENOMEM; @g is to be deinitialised in any case.
 */
int why_waits_find(struct why_waits *g, struct why *w);
void why_waits_deinit(struct why_waits *g);

/* The extra time of slow instances, split into causes that are judged. */

/* Fills `causes`; profile and place_ids are there by then.  Returns 0 or -ENOMEM. */
int why_causes_find(struct why *w);

/* Fills `zones` and `counters`.  Returns 0 or -ENOMEM. */
int why_causes_find_parts(struct why *w);

/* After why_causes_find(). */
struct why_links why_links_of(const struct why *w);

/*
 * What @thread did while slow instances waited for a lock or in a place.  A thread that waits itself is
 * followed by the one that ended most of that.  Returns 0 or -ENOMEM.
 */
int why_meanwhile_follow(struct why *w, uint32_t lock, uint32_t place, uint32_t thread,
                         struct why_steps *ret);

#endif /* ANALYZE_WHY_WHY_EXPLAIN_H */
