/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_hits.h - the spans that have one of many names: how many they are, and step by step
 *
 * Way of the data:  timeline_index -> [timeline_hits] -> web (search)
 *
 * All hits of all lanes have one order: by begin, then by lane, then by place in the lane.  So one step leads
 * from each of them to the next, also where several begin at once.
 *
 * Not thread-safe.  Nothing is kept.
 */
#ifndef TIMELINE_TIMELINE_HITS_H
#define TIMELINE_TIMELINE_HITS_H

#include "timeline/timeline_query.h"

#include <stdbool.h>
#include <stdint.h>

/* Which hit: the @rank-th of those that begin at @at_ns, from 1; 0 = before the first of them. */
struct timeline_hit_place {
        uint64_t at_ns;
        uint64_t rank;
};

/*
 * timeline_hits_step() - the hit after a place, or before it
 * @wanted:     by enum timeline_lane_kind
 * @place:      from where; then of the one that is found
 * Time: as timeline_query_find().  Returns 1, 0 if there is none, or as timeline_query_view().
 */
int timeline_hits_step(struct timeline_index *t, const struct timeline_wanted *wanted,
                       struct timeline_hit_place *place, bool is_backwards, struct timeline_found *ret_found,
                       struct error *err);

/* The place among all hits of one that was found otherwise.  Returns 0 or as timeline_query_view(). */
int timeline_hits_place(struct timeline_index *t, const struct timeline_wanted *wanted,
                        const struct timeline_found *found, struct timeline_hit_place *ret_place,
                        struct error *err);

struct timeline_hit_counts {
        uint64_t *const *by_what; /* by kind of lane; by what - first: is added to; NULL = not wanted */
        uint64_t n;               /* all hits */
        uint64_t n_before;        /* those that begin before at_ns */
};

/*
 * timeline_hits_count() - reads all pages before at_ns that may have a hit
 * The index knows how often a name occurs in all; where it does not, all pages are read.
 * Returns 0 or as timeline_query_view().
 */
int timeline_hits_count(struct timeline_index *t, const struct timeline_wanted *wanted, uint64_t at_ns,
                        struct timeline_hit_counts *counts, struct error *err);

#endif /* TIMELINE_TIMELINE_HITS_H */
