/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_devices.h - devices and the tree of their lanes, as hyprof's own export says them
 *
 * Way of the data:  import_trace_event -> [trace_event_devices] -> import_rows
 *
 * Metadata describe each device and each lane with a name, before what is on them; other lanes have numbers.
 * Devices have numbers of their own: "device" of an event is not a process id.
 * Their times are those of the file; a device whose places have a proven bound has a clock with that bound,
 * which devices with the same bound share.  Memory: a row for each lane, TRACE_EVENT_TRACKS_MAX at most.
 */
#ifndef IMPORT_TRACE_EVENT_DEVICES_H
#define IMPORT_TRACE_EVENT_DEVICES_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "import/json/trace_event_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;
struct import_value;
struct trace_event_tracks;

struct trace_event_devices {
        struct import_rows *rows;          /* borrowed */
        struct trace_event_tracks *tracks; /* borrowed; of the processes that devices belong to */
        uint32_t clock;                    /* of all times of the file */
        struct intern ids;                 /* struct trace_event_lane_key */
        struct trace_event_lane {
                uint32_t track, clock; /* of import_rows */
        } * lanes;                     /* heap; by id - 1 */
        size_t capacity;
        uint64_t n_no_bound; /* devices that the file places, but with no proven bound */
        struct trace_event_bound {
                uint64_t bound_ns;
                uint32_t clock;
        } * bounds; /* heap; the clocks of devices */
        size_t n_bounds, bounds_capacity;
        struct intern names; /* of counters that have a unit */
        uint32_t *units;     /* heap; strings of import_rows, by id - 1 */
        size_t units_capacity;
        struct byte_buffer room;
};

/* The caller's storage. */
void trace_event_devices_init(struct trace_event_devices *d, struct import_rows *rows,
                              struct trace_event_tracks *tracks, uint32_t clock);
void trace_event_devices_deinit(struct trace_event_devices *d);

/*
 * trace_event_devices_describe() - take metadata
 * Returns 1, 0 if they are about something else, -EBADMSG if they describe nothing, -E2BIG for one lane too
 * many, or -errno with words.
 */
int trace_event_devices_describe(struct trace_event_devices *d, const struct trace_event_row *row,
                                 struct error *err);

/* Whether an event is on a lane of a device that was described. */
bool trace_event_devices_has(const struct trace_event_devices *d, const struct trace_event_row *row);

/* The track of a lane of that device.  Returns 0, -EBADMSG, -E2BIG, or -errno with words. */
int trace_event_devices_lane(struct trace_event_devices *d, const struct trace_event_row *row,
                             struct json_value lane, uint32_t *ret_track, struct error *err);

/* The track and unit of the values of a counter, whose id is "DEVICE/LANE".  Returns the same. */
int trace_event_devices_counter(struct trace_event_devices *d, const struct trace_event_row *row,
                                struct import_value *value, struct error *err);

#endif /* IMPORT_TRACE_EVENT_DEVICES_H */
