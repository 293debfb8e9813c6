/* SPDX-License-Identifier: MIT */
/*
 * timeline/query_step.h - the way down through the pages of a lane: the references of one page
 *
 * Way of the data:  timeline_pages -> [query_step] -> timeline_query, timeline_hits
 */
#ifndef TIMELINE_QUERY_STEP_H
#define TIMELINE_QUERY_STEP_H

#include "timeline/timeline_pages.h"

#include <stdint.h>

struct error;
struct timeline_index;
struct timeline_lane;

/* The references of one page: those from `i` on are still to be looked at. */
struct query_step {
        const struct timeline_ref *refs;
        uint32_t n_refs, i;
        const uint8_t *summaries; /* of the references from `i` on, when they are visited in order */
        struct timeline_ref own[TIMELINE_FANOUT];
};

/* Levels shrink on the way down, and pages of level 0 have no step of their own. */
#define QUERY_STEPS_MAX TIMELINE_LEVELS_MAX

/*
 * query_step_open() - read a page of references, and check it
 * Its summaries are borrowed until the next page of its level is read.  Returns as timeline_pages_read().
 */
int query_step_open(struct query_step *step, struct timeline_index *t, const struct timeline_lane *lane,
                    const struct timeline_ref *ref, struct error *err);

#endif /* TIMELINE_QUERY_STEP_H */
