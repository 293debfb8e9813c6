/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_shared.h - what several threads have in common: locks, plots, frames, memory, devices
 *
 * Way of the data:  ordered_events -> lock_stats, memory_stats, device_tracks -> [timeline_shared] ->
 *                   timeline_index
 *
 *      locks    who holds a lock, and who waits for it; as many lanes as hold it or wait at once
 *      plots    a track for each name in a process
 *      frames   a lane for each set: from one mark to the next, or from a beginning to an end
 *      memory   bytes in use in a pool, after each change
 *      devices  a track for each lane of a device; zones by depth, and where they cross, further down; the
 *               zones of threads that they belong to
 *
 * Memory: that of the statistics, which commands use as well, and some bytes a track.
 */
#ifndef TIMELINE_TIMELINE_SHARED_H
#define TIMELINE_TIMELINE_SHARED_H

#include "analyze/devices/device_tracks.h"
#include "analyze/stats/lock_stats.h"
#include "analyze/stats/memory_stats.h"
#include "analyze/walk/ordered_events.h"
#include "base/intern.h"
#include "timeline/timeline_lane_list.h"
#include "timeline/timeline_launches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;

/* A plot of a lane of a device.  Compared as bytes. */
struct device_plot_key {
        uint32_t device, lane, plot;
};

/* State of a track while it grows. */
struct timeline_shared_track {
        struct timeline_lane_list lanes;
        struct timeline_lane_list waiters; /* of a lock; of a device its moments; of frames their pictures */
        uint64_t begin_ns;                 /* of the frame that is open */
        uint64_t *begins_ns;               /* heap: of the last main frames, by number; NULL = of none */
        uint32_t picture;                  /* of the frame that is open: attachment; 0 = none */
        uint32_t n_pictured;               /* the last frame that got its picture, by number */
        uint64_t busy_until_ns;            /* of a device: the last end so far */
        uint32_t n_frames;
        bool is_open;
        bool has_name; /* of a lock: the program named it */
        bool has_gaps; /* the frame that is open has a begin of its own, and will have an end */
};

struct timeline_shared {
        struct timeline_index *index;
        const struct trace_dictionary *dictionary;
        struct ordered_events events; /* for the builder to hand events to */
        struct lock_stats locks;
        struct memory_stats memory;
        struct device_tracks devices;
        struct timeline_launches launches;    /* for the builder to add keys */
        struct intern device_plots;           /* struct device_plot_key */
        struct event_order device_marks;      /* values and moments of devices, by their time on the device */
        struct timeline_shared_track *tracks; /* heap; by track id */
        size_t capacity;
};

/* To be deinitialised in any case.  The object does not move from here on.  Returns 0 or -ENOMEM. */
int timeline_shared_init(struct timeline_shared *s, struct timeline_index *index,
                         const struct trace_dictionary *dictionary);
void timeline_shared_deinit(struct timeline_shared *s);

/* Makes room for the threads and locks that the dictionary has by now.  Returns 0 or -ENOMEM. */
int timeline_shared_reserve(struct timeline_shared *s);

/*
 * While the trace grows:
 *
 * timeline_shared_grow_devices()  takes devices, their clocks and names that are new, and their zones, values
 *                                 and moments that began before @until_ns
 * timeline_shared_grow()          takes all other events before @until_ns
 * timeline_shared_add_open()      makes the lanes of holds, waits and frames that are not over, names locks
 * timeline_shared_open()          the hold, wait or frame of a lane that is not over; returns whether there
 *                                 is one.  A frame that ends with the next mark is none before that: there
 *                                 may be no next mark
 * Return as timeline_index_add_span().
 */
int timeline_shared_grow_devices(struct timeline_shared *s, uint64_t until_ns, struct error *err);
int timeline_shared_grow(struct timeline_shared *s, uint64_t until_ns, struct error *err);
int timeline_shared_add_open(struct timeline_shared *s, struct error *err);
bool timeline_shared_open(const struct timeline_shared *s, const struct timeline_lane_facts *lane,
                          uint64_t now_ns, struct timeline_raw_span *ret_span);

/* Nothing more comes.  Locks that are held are held until then.  Returns as timeline_index_add_span(). */
int timeline_shared_finish(struct timeline_shared *s, uint64_t end_ns, struct error *err);

#endif /* TIMELINE_TIMELINE_SHARED_H */
