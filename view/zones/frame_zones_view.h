/* SPDX-License-Identifier: MIT */
/*
 * view/zones/frame_zones_view.h - the tables of --frames that say which zones took the time
 *
 * Way of the data:  frame_zones -> [frame_zones_view] -> view_document
 * Specification:    docs/use/view-json.md
 */
#ifndef VIEW_ZONES_FRAME_ZONES_VIEW_H
#define VIEW_ZONES_FRAME_ZONES_VIEW_H

#include "base/text_view.h"

#include <stdint.h>

struct answer_part;
struct event_names;
struct frame_stats;
struct frame_zones;

/* The name of a set of frames, by id; "[main]" if it has no name. */
struct text_view frame_zones_view_name(const struct event_names *n, const struct frame_stats *s,
                                       uint32_t set);

/*
 * Add the tables of the sets 1 .. @n_sets: of all frames together, and of each of the slowest frames.  No
 * tables if no zone is in the frames.
 */
void frame_zones_view_add(struct event_names *n, const struct frame_zones *z, uint32_t n_sets);
void frame_zones_view_add_slowest(struct event_names *n, const struct frame_zones *z, uint32_t n_sets);

extern const struct answer_part frame_zones_view_part, frame_zones_view_slowest_part;

#endif /* VIEW_ZONES_FRAME_ZONES_VIEW_H */
