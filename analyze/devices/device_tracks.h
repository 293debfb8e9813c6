/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_tracks.h - zones of devices by their begin, outermost first, each with its place,
 * for formats that draw them
 *
 * Way of the data:  device_zones -> [device_tracks], device_lanes -> export_firefox, export_perfetto,
 *                   export_chrome, timeline_shared
 *
 * The times of a zone come late and in any order.  So up to DEVICE_TRACKS_ZONES_MAX zones are kept; at that
 * number, the older half is handed out, and zones that come even later are handed out of order.  Needs its
 * own pass through the trace.  Memory: these zones.  Not thread-safe.
 */
#ifndef ANALYZE_DEVICES_DEVICE_TRACKS_H
#define ANALYZE_DEVICES_DEVICE_TRACKS_H

#include "analyze/devices/device_lanes.h"
#include "analyze/devices/device_zones.h"
#include "analyze/devices/lane_names.h"

#include <stddef.h>
#include <stdint.h>

#define DEVICE_TRACKS_ZONES_MAX 65536

/* Returns 0, or -errno after error_set(), which ends the walk. */
typedef int device_tracks_take_zone(void *context, const struct device_zone *zone,
                                    const struct device_place *place, struct error *err);

/* How many rows were there when they were read. */
struct device_tracks_rows {
        uint32_t n_devices, n_clocks, n_tracks;
};

struct device_tracks {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct device_tracks_rows rows;
        struct device_zones zones;
        struct lane_names names;
        struct device_lanes lanes; /* all that zones were placed on, also after the walk */
        device_tracks_take_zone *take;
        device_zones_take_mark *take_mark; /* NULL = not wanted; as they come, before and after zones */
        void *context;                     /* of both */
        struct device_zone *kept;          /* heap */
        size_t n_kept;
        uint64_t n_handed, n_marks;
        uint64_t n_unplaced_marks; /* as n_unplaced */
        uint64_t n_unplaced;       /* zones of devices whose clock was never read: their times are unknown */
};

/*
 * The object does not move from here on; to be deinitialised in any case.  Events of devices that are not in
 * the dictionary are left out.  Returns 0 or -ENOMEM.
 */
int device_tracks_init(struct device_tracks *t, const struct trace_dictionary *dictionary,
                       device_tracks_take_zone *take, void *context);

/* As device_zones_add() and device_zones_add_span(). */
int device_tracks_add(struct device_tracks *t, const struct ordered_event *event, struct error *err);
int device_tracks_add_span(struct device_tracks *t, const struct ordered_span *span, struct error *err);

/*
 * device_tracks_grow() - of a trace that grows: take what is new in the dictionary, and hand out the zones
 * that began before @until_ns
 * Zones are placed by the readings of clocks so far.  Returns as device_tracks_add().
 */
int device_tracks_grow(struct device_tracks *t, uint64_t until_ns, struct error *err);
int device_tracks_finish(struct device_tracks *t, struct error *err);

/*
 * device_tracks_take() - go through the trace, if it has devices
 * After device_tracks_init(), and setting `take_mark`.  Returns as device_zones_take().
 */
int device_tracks_take(struct device_tracks *t, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err);
void device_tracks_deinit(struct device_tracks *t);

/* How many zones were not handed out. */
uint64_t device_tracks_left_out(const struct device_tracks *t);

#endif /* ANALYZE_DEVICES_DEVICE_TRACKS_H */
