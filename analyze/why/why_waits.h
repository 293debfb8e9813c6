/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_waits.h - waits, grouped by the function that slow instances wait in
 *
 * Way of the data:  why_instances, wait_places, why_profile -> [why_waits] -> why_causes, why_words
 *
 * One function that waits has a place for each of its callers, and one function may wait in several
 * that it calls.  So waits go through rounds as samples do.  A round chooses, of all functions at any
 * depth of a chain and of all ways to wait in one, the one whose share of the time grows most in slow
 * instances; of nearly equal ones the innermost.  Its waits are taken out before the next round.
 * Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_WAITS_H
#define ANALYZE_WHY_WHY_WAITS_H

#include <stdint.h>

struct why;

/* The labels by which a group of waits is named; 0 = unknown, or several. */
struct why_wait_name {
        uint32_t label;  /* the function that they have in common */
        uint32_t inner;  /* the one that most of them are directly in, if it is another one */
        uint32_t call;   /* what it called in the C library */
        uint32_t kernel; /* the kernel's function, which shows what it waits for */
};

struct why_waits {
        struct why_wait_name *names; /* heap; by place - 1, of the places that stand for their group */
        uint64_t n_tested;           /* functions, and ways to wait in one, that were looked at */
};

/*
 * why_waits_find() - replace every place in `place_ids` by the one that stands for its group
 * @w:  with places, their ids, the sums of its groups and the profile
 * Returns 0 or -ENOMEM; @g is to be deinitialised in any case.
 */
int why_waits_find(struct why_waits *g, struct why *w);
void why_waits_deinit(struct why_waits *g);

#endif /* ANALYZE_WHY_WHY_WAITS_H */
