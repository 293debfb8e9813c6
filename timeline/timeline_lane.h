/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_lane.h - one lane: an open page for each level, which goes to the file when it is full
 *
 * Way of the data:  timeline_index -> [timeline_lane] -> timeline_pages
 *
 * In the order of time, the references of the open node of the highest level come first, then those of the
 * next level, and at last the open spans.
 */
#ifndef TIMELINE_TIMELINE_LANE_H
#define TIMELINE_TIMELINE_LANE_H

#include "timeline/timeline_pages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* A page of level 1 or higher that still grows. */
struct timeline_node {
        struct timeline_ref refs[TIMELINE_FANOUT];
        uint32_t n_refs;
        uint8_t *summaries; /* heap; one after the other */
        size_t n_summary_bytes, capacity_bytes;
};

struct timeline_lane {
        uint32_t track, depth;
        uint32_t kind; /* enum timeline_lane_kind */
        bool has_values;
        bool is_loaded; /* from a file: does not grow */
        uint64_t n_items;
        uint64_t first_begin, last_begin, last_end; /* in units of the index */
        uint8_t *spans;                             /* heap; the open page of level 0 */
        uint32_t n_spans, spans_capacity;
        uint32_t n_levels;
        struct timeline_node *nodes[TIMELINE_LEVELS_MAX]; /* heap; of level i + 1 */
        struct timeline_ref
                *roots; /* heap; of a loaded one: the pages that were open, the highest level first */
        uint32_t n_roots;
};

/* @pages: those of the index that the lane is in. */
void timeline_lane_free(struct timeline_pages *pages, struct timeline_lane *lane);

/* Times in units.  Returns 0, -ENOMEM, -errno of write(2). */
int timeline_lane_add(struct timeline_pages *pages, struct timeline_lane *lane, uint64_t begin, uint64_t end,
                      uint32_t what, struct error *err);
int timeline_lane_add_value(struct timeline_pages *pages, struct timeline_lane *lane, uint64_t time,
                            double value, struct error *err);

/*
 * Writes open pages, full or not, to free memory: all but that of the highest level, or, if @is_hard,
 * all.  Returns as timeline_lane_add().
 */
int timeline_lane_flush(struct timeline_pages *pages, struct timeline_lane *lane, bool is_hard,
                        struct error *err);

/*
 * timeline_lane_save() - write a copy of each open page
 * @ret_roots: room for TIMELINE_LEVELS_MAX + 1; the highest level first
 * The lane goes on growing as it was.  Returns the number of roots, or as above.
 */
int timeline_lane_save(struct timeline_pages *pages, const struct timeline_lane *lane,
                       struct timeline_ref *ret_roots, struct error *err);

#endif /* TIMELINE_TIMELINE_LANE_H */
