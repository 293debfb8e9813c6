/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/frame_zones.h - which zones take the time of frames
 *
 * Way of the data:  trace_walk, frame_stats -> [frame_zones] -> frames_view
 *
 * A zone that is open when a frame is marked is around frames; so is every zone of its path.  The outermost
 * of all other zones are in frames, and their time in frames is added up by place.  This takes a second pass
 * through the trace: the first one finds which paths are around.  Memory: a row for each set of
 * frames and place.  Not thread-safe.
 */
#ifndef ANALYZE_STATS_FRAME_ZONES_H
#define ANALYZE_STATS_FRAME_ZONES_H

#include "analyze/stats/frame_stats.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

#define FRAME_ZONES_ROWS_MAX (UINT32_C(1) << 16)

/* Compared as bytes. */
struct frame_zone_key {
        uint32_t set;       /* id in frame_stats */
        uint32_t location;  /* row of LOCATIONS */
        uint32_t is_marker; /* 1: on the thread that marks the frames; 0: on the others */
};

struct frame_zone {
        uint64_t n_zones; /* that have time in frames */
        uint64_t total_ns;
        /* time in each of the slowest frames, in the order of `slowest` of the set */
        uint64_t slowest_ns[FRAME_STATS_SLOWEST];
};

struct frame_zones {
        const struct frame_stats *stats; /* borrowed */
        struct intern keys;              /* struct frame_zone_key */
        struct frame_zone *rows;         /* heap; by id - 1 */
        size_t capacity;
        uint64_t n_lost; /* zones beyond the limit of rows */
};

/*
 * frame_zones_take() - go through the trace again
 * @stats:   of the same trace and filter; borrowed, but its paths move to @z
 * @filter:  NULL = everything; its range of time selects frames: zones that began before count as well
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.  To be deinitialised in any case.
 */
int frame_zones_take(struct frame_zones *z, struct frame_stats *stats, struct loaded_trace *trace,
                     const struct trace_filter *filter, struct error *err);
void frame_zones_deinit(struct frame_zones *z);

#endif /* ANALYZE_STATS_FRAME_ZONES_H */
