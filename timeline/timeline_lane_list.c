/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_lane_list.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void timeline_lane_list_deinit(struct timeline_lane_list *l)
{
        free(l->ids);
        *l = (struct timeline_lane_list){ .ids = NULL };
}

int timeline_lane_list_make(struct timeline_lane_list *l, struct timeline_index *t, uint32_t track,
                            enum timeline_lane_kind kind, uint32_t depth)
{
        size_t before = l->capacity;
        int r;

        if (array_reserve(&l->ids, &l->capacity, (size_t)depth + 1, sizeof(*l->ids)) < 0)
                return -ENOMEM;
        memset(l->ids + before, 0, (l->capacity - before) * sizeof(*l->ids));
        r = timeline_index_lane(t, track, kind, depth);
        if (r >= 0)
                l->ids[depth] = (uint32_t)r + 1;
        return r;
}

int timeline_lane_list_add(struct timeline_lane_list *l, struct timeline_index *t,
                           struct timeline_lane_place place, const struct timeline_raw_span *span,
                           struct error *err)
{
        int lane = timeline_lane_list_get(l, t, place.track, place.kind, place.depth);

        if (lane == -EOVERFLOW) {
                t->n_left_out++;
                return 0;
        }
        if (lane < 0)
                return error_set(err, lane, "the index of the time line: out of memory");
        return timeline_index_add_span(t, (uint32_t)lane, span, err);
}
