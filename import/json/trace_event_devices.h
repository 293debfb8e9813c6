/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_devices.h - devices and the tree of their lanes, as hyprof's own export says them
 *
 * Way of the data:  import_trace_event -> [trace_event_devices] -> import_rows
 *
 * Metadata describe each device and each lane with a name, before what is on them; other lanes have numbers.
 * Devices have numbers of their own: "device" of an event is not a process id.
 * Memory: a row for each lane, TRACE_EVENT_TRACKS_MAX at most.
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
struct trace_event_tracks;

struct trace_event_devices {
        struct import_rows *rows;          /* borrowed */
        struct trace_event_tracks *tracks; /* borrowed; of the processes that devices belong to */
        uint32_t clock;
        struct intern ids;    /* struct trace_event_lane_key */
        uint32_t *ids_tracks; /* heap; of import_rows, by id - 1 */
        size_t capacity;
        uint64_t n_devices; /* that were described */
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

/* The track of the lane that such an event names.  Returns 0, -EBADMSG, -E2BIG, or -errno with words. */
int trace_event_devices_lane(struct trace_event_devices *d, const struct trace_event_row *row,
                             uint32_t *ret_track, struct error *err);

#endif /* IMPORT_TRACE_EVENT_DEVICES_H */
