/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_lanes.h - a place for each zone of a device, so that all who draw them do it alike
 *
 * Way of the data:  device_tracks -> [device_lanes] -> exports, timeline
 *
 * A lane of a device is what the program named one: a core, a processor, a stream.  Zones of one lane may
 * cross nevertheless, and tracks of most tools cannot show that.  So a lane has sub-lanes: within one, a zone
 * lies inside of another or begins after its end.  A zone is on the first sub-lane where that holds; given
 * the same zones in the same order, the places are the same.
 *
 * Zones come by their begin, outermost first.  One that comes too late, and begins before another on the
 * sub-lane, is on a further one.  Memory: DEVICE_LANES_TRACKS_MAX sub-lanes in all; 16 bytes for each zone
 * that is open.  Not thread-safe.
 *
 * Whether zones cross is a matter of their ticks (last_ns).  A begin and a length, each rounded, may be a
 * nanosecond beyond what begins with the last tick, or lies around it: that much of a zone is cut off.
 */
#ifndef ANALYZE_DEVICES_DEVICE_LANES_H
#define ANALYZE_DEVICES_DEVICE_LANES_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct device_zone;

#define DEVICE_LANES_TRACKS_MAX   (UINT32_C(1) << 16) /* sub-lanes, of all lanes */
#define DEVICE_LANES_SUBLANES_MAX 256                 /* of a lane */
#define DEVICE_LANES_DEPTH_MAX    256 /* zones in each other on a sub-lane; further ones are on another */

/* Compared as bytes. */
struct device_lane_key {
        uint32_t device, lane;
};

struct device_lane_open {
        uint64_t last_ns, end_ns;
};

/* A sub-lane. */
struct device_lane_track {
        struct device_lane_key key;
        uint32_t sublane;              /* 0 = the first of its lane */
        uint32_t next;                 /* id of the next sub-lane of the lane; 0 = none */
        uint64_t begin_ns;             /* of its last zone */
        uint64_t closed_ns;            /* the last end of a zone that is over */
        struct device_lane_open *open; /* heap; the zones around the last zone, and that */
        size_t capacity;
        uint32_t n_open;
};

struct device_lanes {
        struct intern keys; /* struct device_lane_key */
        uint32_t *firsts;   /* heap; by id of `keys` - 1: the id of its first sub-lane */
        size_t firsts_capacity;
        struct device_lane_track *tracks; /* heap; by id - 1, in the order of their first zones */
        size_t capacity;
        uint32_t n_tracks;
        uint64_t n_left_out; /* zones without a place: more sub-lanes than the limits */
};

struct device_place {
        uint32_t track;   /* id of the sub-lane, from 1 */
        uint32_t sublane; /* of the lane; 0 = the first */
        uint32_t depth;   /* on the sub-lane; 0 = outermost */
};

/* Zero-initialised, it may be deinitialised. */
void device_lanes_init(struct device_lanes *l);
void device_lanes_deinit(struct device_lanes *l);

/* The first sub-lane of a lane, also of one without zones.  Returns its id, 0 (one too many) or -ENOMEM. */
int64_t device_lanes_first(struct device_lanes *l, uint32_t device, uint32_t lane);

/* @zone: is cut as said above.  Returns 1, 0 (left out, and counted) or -ENOMEM. */
int device_lanes_place(struct device_lanes *l, struct device_zone *zone, struct device_place *ret_place);

#endif /* ANALYZE_DEVICES_DEVICE_LANES_H */
