/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_launches.h - which zone of a thread each zone of a device belongs to, and to which zone
 * work went from another one, for arrows
 *
 * Way of the data:  trace_walk (ZONE_KEY, FLOW), device_tracks -> [timeline_launches] (device_keys,
 *                   flow_match) -> timeline_index -> view_content, html_file
 *
 * A zone of a thread and one of a device said the same key (analyze/devices/device_keys.h); two zones of
 * threads follow each other in a flow (analyze/stats/flow_match.h).  They come in any order and are joined
 * when all are there, or when a page asks about a trace that still grows.
 *
 * Memory: 72 bytes for each key that a zone said, 32 for each zone of a device with a key, 48 for each event
 * of a flow, 56 for each pair; zones beyond TIMELINE_LAUNCHES_MAX, and events of flows beyond as many, are
 * counted and left out.  Not thread-safe.
 */
#ifndef TIMELINE_TIMELINE_LAUNCHES_H
#define TIMELINE_TIMELINE_LAUNCHES_H

#include "analyze/devices/device_keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_zone;
struct timeline_index;
struct trace_dictionary;
struct trace_event;
struct walked_thread;

#define TIMELINE_LAUNCHES_MAX (UINT32_C(1) << 21)

/* A zone of a device that has a key. */
struct timeline_launched {
        uint64_t key, begin_ns;
        uint32_t space, device, location, track;
};

/* An event of a flow. */
struct timeline_flow {
        uint64_t time_ns, id;
        uint64_t zone_ns; /* when the innermost zone began, the time of the event outside of zones */
        uint32_t space, thread, phase;
        uint32_t location; /* of that zone; 0 = outside of zones */
};

struct timeline_launches {
        struct timeline_index *index; /* borrowed; gets the pairs */
        struct device_keys keys;
        struct timeline_launched *zones; /* heap; in the order of arrival */
        size_t capacity;
        uint32_t n_zones;
        struct timeline_flow *flows; /* heap; in the order of arrival */
        size_t flows_capacity;
        uint32_t n_flows;
        uint64_t n_lost;                               /* zones and events beyond the limits */
        uint32_t n_old_keys, n_old_zones, n_old_flows; /* when the index got its pairs */
};

/* To be deinitialised in any case. */
void timeline_launches_init(struct timeline_launches *l, struct timeline_index *index,
                            const struct trace_dictionary *dictionary);
void timeline_launches_deinit(struct timeline_launches *l);

/*
 * An event ZONE_KEY or FLOW, which is a key as well; a zone of a device, with the track that shows it.
 * Return 0 or -ENOMEM.
 */
int timeline_launches_add_key(struct timeline_launches *l, const struct walked_thread *thread,
                              const struct trace_event *event);
int timeline_launches_add_zone(struct timeline_launches *l, const struct device_zone *zone, uint32_t track);

/* An event FLOW.  Returns 0 or -ENOMEM. */
int timeline_launches_add_flow(struct timeline_launches *l, const struct walked_thread *thread,
                               const struct trace_event *event);

/* Gives the index the pairs of all that has come, unless it has them.  Returns 0 or -ENOMEM. */
int timeline_launches_join(struct timeline_launches *l);

/*
 * A zone of a thread and one of a device, or of another thread or the same one, to which work went from the
 * first: as lanes have them, begins since the start of the recording.
 */
struct timeline_launch {
        uint64_t host_ns, device_ns;
        uint64_t from_ns, to_ns; /* of the arrow between them */
        uint32_t host_track, host_location;
        uint32_t device_track, device_location; /* location: 0 = outside of zones, as of the first */
};

/* Puts the pairs of an index in order, after they were read or joined.  Returns 0 or -ENOMEM. */
int timeline_launches_sort(struct timeline_index *t);

struct timeline_launch_search {
        uint64_t begin_ns; /* of the zone, since the start of the recording */
        uint32_t track, location;
        bool is_device; /* the second of a pair: a zone of a device, or to which work went */
};

/* How many pairs have that zone, and which: at most @n_max, by their begin on the device; borrowed. */
uint32_t timeline_launches_find(const struct timeline_index *t, const struct timeline_launch_search *search,
                                const struct timeline_launch **ret, uint32_t n_max);

/*
 * timeline_launches_view() - how many arrows have a part between two times, and the longest of them: at most
 * @n_max, borrowed; of those whose lengths are the same up to a factor of 2, the first of the index's order
 */
uint32_t timeline_launches_view(const struct timeline_index *t, uint64_t from_ns, uint64_t to_ns,
                                const struct timeline_launch **ret, uint32_t n_max);

#endif /* TIMELINE_TIMELINE_LAUNCHES_H */
