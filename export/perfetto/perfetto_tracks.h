/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/perfetto_tracks.h - the rows of Perfetto's timeline: threads, plots,
 * frames, waits for locks
 *
 * Way of the data:  loaded_trace -> [perfetto_tracks] -> export_perfetto
 *
 * A track is described when its first event comes.  Each thread has a packet sequence of its own, whose
 * default is its track, so that events need not name it.  Memory: 24 bytes a thread and process, and the
 * distinct plots, frames and zones of each.  Not thread-safe.
 */
#ifndef EXPORT_PERFETTO_PERFETTO_TRACKS_H
#define EXPORT_PERFETTO_PERFETTO_TRACKS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct loaded_trace;
struct perfetto_packets;

enum perfetto_track_kind {
        PERFETTO_TRACK_PLOT,   /* a counter of a process */
        PERFETTO_TRACK_FRAMES, /* of a process */
        PERFETTO_TRACK_LOCKS,  /* of a thread: its waits */
        PERFETTO_TRACK_DEVICE, /* of a process: a device, which is the owner */
};

/* No padding: compared as bytes. */
struct perfetto_track_key {
        uint32_t kind;  /* enum perfetto_track_kind */
        uint32_t owner; /* process, thread or device */
        uint32_t name;  /* string; 0 = none */
};

struct perfetto_tracks {
        const struct loaded_trace *trace; /* borrowed; its names were read */
        struct perfetto_packets *packets; /* borrowed */
        bool *threads, *processes;        /* heap; by id: were described */
        uint32_t *main_threads;           /* heap; by process id; 0 = none */
        uint32_t *plots;                  /* heap; by string: the row of PLOTS; NULL = there are none */
        struct intern named;              /* struct perfetto_track_key */
        bool *open;                       /* heap; by id in `named` - 1: a frame is open on it */
        size_t open_capacity;
        struct intern zones; /* struct perfetto_zone_key */
};

/* Names of zones are described once in each sequence. */
struct perfetto_zone_key {
        uint32_t thread;
        uint32_t location;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int perfetto_tracks_init(struct perfetto_tracks *t, const struct loaded_trace *trace,
                         struct perfetto_packets *packets);
void perfetto_tracks_deinit(struct perfetto_tracks *t);

/*
 * Before a thread's event: begins its sequence if that was not done.  Returns 0 or what went
 * wrong with the output.
 */
int perfetto_tracks_thread(struct perfetto_tracks *t, uint32_t thread);

/* The sequence of a thread's events. */
uint64_t perfetto_tracks_sequence(uint32_t thread);

/* A zone's name and place, in a packet of the thread's.  Returns 0, -ENOMEM, -EOVERFLOW. */
int perfetto_tracks_put_zone(struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread,
                             uint32_t location);

/*
 * perfetto_tracks_named() - before an event of PERFETTO_SEQUENCE_TRACKS: its track
 * @ret_uuid:  what the event names
 * @ret_open:  whether a frame is open on it; the caller changes it; may be NULL
 * Returns 0, -ENOMEM, -EOVERFLOW, or what went wrong with the output.
 */
int perfetto_tracks_named(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint64_t *ret_uuid,
                          bool **ret_open);

#endif /* EXPORT_PERFETTO_PERFETTO_TRACKS_H */
