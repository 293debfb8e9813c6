/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_lane_list.h - the lanes of one kind of a track, by depth, made as they are needed
 *
 * Way of the data:  timeline_builder and its parts -> [timeline_lane_list] -> timeline_index
 */
#ifndef TIMELINE_TIMELINE_LANE_LIST_H
#define TIMELINE_TIMELINE_LANE_LIST_H

#include "timeline/timeline_index.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. */
struct timeline_lane_list {
        uint32_t *ids; /* heap; id + 1 by depth; 0 = none yet */
        size_t capacity;
};

void timeline_lane_list_deinit(struct timeline_lane_list *l);

/* Private: makes the lane.  Returns as below. */
int timeline_lane_list_make(struct timeline_lane_list *l, struct timeline_index *t, uint32_t track,
                            enum timeline_lane_kind kind, uint32_t depth);

/*
 * timeline_lane_list_get() - the lane of a depth
 * Returns its id, -ENOMEM, or -EOVERFLOW: there are too many lanes, and the caller counts the lane's spans as
 * left out.
 */
static inline int timeline_lane_list_get(struct timeline_lane_list *l, struct timeline_index *t,
                                         uint32_t track, enum timeline_lane_kind kind, uint32_t depth)
{
        if (depth < l->capacity && l->ids[depth] != 0)
                return (int)(l->ids[depth] - 1);
        return timeline_lane_list_make(l, t, track, kind, depth);
}

struct timeline_lane_place {
        uint32_t track, depth;
        enum timeline_lane_kind kind;
};

/* Adds a span to the lane of a depth, or counts it as left out.  Returns as timeline_index_add_span(). */
int timeline_lane_list_add(struct timeline_lane_list *l, struct timeline_index *t,
                           struct timeline_lane_place place, const struct timeline_raw_span *span,
                           struct error *err);

#endif /* TIMELINE_TIMELINE_LANE_LIST_H */
