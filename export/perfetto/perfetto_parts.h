/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/perfetto_parts.h - the parts of a Perfetto trace: packets, and in them tracks,
 * callstacks and samples
 *
 * Way of the data:  export_perfetto -> [perfetto_parts] -> export_stream -> file
 */
#ifndef EXPORT_PERFETTO_PERFETTO_PARTS_H
#define EXPORT_PERFETTO_PERFETTO_PARTS_H

#include "analyze/devices/lane_names.h"
#include "analyze/trace/device_clock.h"
#include "analyze/trace/id_set.h"
#include "base/intern.h"
#include "export/shared/export_frames.h"
#include "export/shared/export_stream.h"
#include "export/shared/wake_arrow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct loaded_trace;
struct trace_dictionary;
struct zone_paths;

/*
 * perfetto_packets.c - the packets of a Perfetto trace, one after the other
 *
 * Way of the data:  export_perfetto and its parts -> [perfetto_packets] -> export_stream -> file
 *
 *      struct byte_buffer *b = perfetto_packets_begin(p, sequence, time_ns);
 *      ... fields of TracePacket ...
 *      r = perfetto_packets_end(p);
 *
 * Each sequence starts with one packet of perfetto_packets_start().  Not thread-safe.
 */

struct perfetto_packets {
        struct export_stream out;
        size_t packet; /* that is open */
};

void perfetto_packets_init(struct perfetto_packets *p, FILE *out);
void perfetto_packets_deinit(struct perfetto_packets *p);

/* The first packet of a sequence; the caller adds its defaults. */
struct byte_buffer *perfetto_packets_start(struct perfetto_packets *p, uint64_t sequence);
struct byte_buffer *perfetto_packets_begin(struct perfetto_packets *p, uint64_t sequence, uint64_t time_ns);

/* Returns 0 or what went wrong with the output so far. */
int perfetto_packets_end(struct perfetto_packets *p);

/* Fields of the message TrackEvent, which the caller ends. */
size_t perfetto_packets_begin_event(struct byte_buffer *b, uint32_t type);

/*
 * In the first packet of a sequence: begins its defaults with the clock of its times; the caller adds other
 * defaults and ends the message.  Once a packet: if there are two such messages, Perfetto's reader takes the
 * last.
 */
size_t perfetto_packets_begin_defaults(struct byte_buffer *b);

/* Puts the first packet of the file, which relates the clocks.  Returns as perfetto_packets_end(). */
int perfetto_packets_put_snapshot(struct perfetto_packets *p, uint64_t raw_ns, uint64_t realtime_ns);

/* Adds a named text or number to an event. */
void perfetto_packets_annotate_text(struct byte_buffer *b, const char *name, const char *text,
                                    size_t n_bytes);
void perfetto_packets_annotate_number(struct byte_buffer *b, const char *name, int64_t number);

/*
 * perfetto_tracks.c - the rows of Perfetto's timeline: threads, plots,
 * frames, waits for locks
 *
 * Way of the data:  loaded_trace -> [perfetto_tracks] -> export_perfetto
 *
 * A track is described when its first event comes.  Each thread has a packet sequence of its own, whose
 * default is its track, so that events need not name it.  Memory: 24 bytes a thread and process, and the
 * distinct plots, frames and zones of each.  Not thread-safe.
 */

enum perfetto_track_kind {
        PERFETTO_TRACK_PLOT,        /* a counter of a process */
        PERFETTO_TRACK_FRAMES,      /* of a process */
        PERFETTO_TRACK_LOCKS,       /* of a thread: its waits */
        PERFETTO_TRACK_DEVICE,      /* of a process: a device, which is the key's owner; around its lanes */
        PERFETTO_TRACK_LANE,        /* of a device, which is the key's owner: a sub-lane */
        PERFETTO_TRACK_DEVICE_PLOT, /* a counter of a lane of a device, which is the key's owner */
};

/* No padding: compared as bytes. */
struct perfetto_track_key {
        uint32_t kind;    /* enum perfetto_track_kind */
        uint32_t owner;   /* process, thread or device */
        uint32_t name;    /* string; 0 = none; of a lane: its number */
        uint32_t sublane; /* of a counter of a device: the lane */
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
        struct intern names; /* struct perfetto_name_key */
        struct lane_names lane_names;
        struct device_clocks clocks; /* how exact they are */
};

/* Names of events are described once in each sequence. */
struct perfetto_name_key {
        uint32_t thread;
        uint32_t iid; /* of a zone: its location; of an arrow's end: above all locations */
};

/* The category WAKE_ARROW_CATEGORY, in each thread's sequence. */
#define PERFETTO_CATEGORY_IID_WAKE_UP 1

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

/* Puts a zone's name and place into a packet of the thread's sequence.  Returns 0, -ENOMEM, -EOVERFLOW. */
int perfetto_tracks_put_zone(struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread,
                             uint32_t location);

/*
 * perfetto_tracks_put_wake() - put the name of an arrow's end into a packet of the thread's sequence
 * @other:  the thread at the other end
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int perfetto_tracks_put_wake(struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread,
                             enum wake_arrow_end end, uint32_t other, uint32_t *ret_iid);

/*
 * perfetto_tracks_named() - before an event of PERFETTO_SEQUENCE_TRACKS: its track
 * @ret_uuid:  what the event names
 * @ret_open:  whether a frame is open on it; the caller changes it; may be NULL
 * Returns 0, -ENOMEM, -EOVERFLOW, or what went wrong with the output.
 */
int perfetto_tracks_named(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint64_t *ret_uuid,
                          bool **ret_open);

/*
 * perfetto_callstacks.c - callstacks that Perfetto's samples name by
 * number, each described once
 *
 * Way of the data:  export_frames -> [perfetto_callstacks] -> export_perfetto
 *
 * The parts of a callstack (functions, files, modules, frames) are described in the packet of the first
 * sample that needs it.  Memory: flags for all of these, and the distinct callstacks.  Not thread-safe.
 */

struct perfetto_callstacks {
        struct export_frames *frames;                           /* borrowed */
        const struct zone_paths *paths;                         /* borrowed */
        struct intern stacks;                                   /* struct perfetto_callstack_key */
        struct id_set functions, places, files, modules, zones; /* that were described */
};

/* No padding: compared as bytes. */
struct perfetto_callstack_key {
        uint32_t path; /* zones as frames; 0 = none */
        uint32_t stack;
};

void perfetto_callstacks_init(struct perfetto_callstacks *c, struct export_frames *frames,
                              const struct zone_paths *paths);
void perfetto_callstacks_deinit(struct perfetto_callstacks *c);

/*
 * perfetto_callstacks_put() - the number of a callstack
 * @b:  in a TracePacket: new parts are added
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int perfetto_callstacks_put(struct perfetto_callstacks *c, struct byte_buffer *b,
                            const struct perfetto_callstack_key *key, uint32_t *ret_iid);

/*
 * perfetto_samples.c - samples, waits and allocations as Perfetto shows them:
 * callstacks with a weight
 *
 * Way of the data:  export_perfetto -> [perfetto_samples] -> perfetto_callstacks, perfetto_packets
 */

enum perfetto_sample_kind { PERFETTO_SAMPLE_EVENT, PERFETTO_SAMPLE_OFF_CPU, PERFETTO_SAMPLE_ALLOCATION };

struct perfetto_sample {
        uint64_t time_ns;
        uint64_t weight; /* in the unit of the event; ns; bytes */
        uint64_t cpu;    /* if has_cpu */
        uint32_t thread;
        uint32_t stack;
        uint32_t path;  /* of zones that are frames; else 0 */
        uint32_t event; /* sample event, of PERFETTO_SAMPLE_EVENT */
        enum perfetto_sample_kind kind;
        bool has_cpu;
};

struct perfetto_samples {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct perfetto_packets *packets;          /* borrowed */
        struct export_frames frames;
        struct perfetto_callstacks callstacks;
        uint32_t event;       /* whose samples are PerfSamples */
        uint64_t *cpu_counts; /* heap; by CPU: the running count of the event */
        size_t n_cpus, cpus_capacity;
};

/* Returns 0, -ENOMEM, -EOVERFLOW; to be deinitialised in any case.  Borrows all of its arguments. */
int perfetto_samples_init(struct perfetto_samples *s, const struct trace_dictionary *dictionary,
                          struct perfetto_packets *packets, const struct zone_paths *paths);
void perfetto_samples_deinit(struct perfetto_samples *s);

/* Begins the sequence; once.  @event: the one that Perfetto's profiler counts; 0 = none. */
int perfetto_samples_start(struct perfetto_samples *s, uint32_t event);

/* Returns 0, -ENOMEM, -EOVERFLOW, or what went wrong with the output. */
int perfetto_samples_put(struct perfetto_samples *s, const struct perfetto_sample *sample);

#endif /* EXPORT_PERFETTO_PERFETTO_PARTS_H */
