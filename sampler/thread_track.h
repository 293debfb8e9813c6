/* SPDX-License-Identifier: MIT */
/*
 * sampler/thread_track.h - one thread while it is recorded: its open zones, and what waits to be written
 *
 * Way of the data:  sample_source -> pending events of [thread_track] -> merge -> event_encoder
 *                   zone_source -> zone events through [thread_track] -> merge -> event_encoder
 */
#ifndef SAMPLER_THREAD_TRACK_H
#define SAMPLER_THREAD_TRACK_H

#include "format/trace_event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_encoder;
struct loss_counter;
struct process_track;
struct trace_dictionary;

#define THREAD_TRACK_ZONES_MAX 4096 /* nested; deeper ones are counted, not followed */

struct open_zone {
        uint32_t location;
        uint32_t path; /* id in the table ZONE_PATHS; 0 = not looked up yet */
};

/* An event of the kernel's, waiting for the zone events before it. */
struct pending_event {
        struct trace_event event;
        bool closes_zones; /* a new program (execve): what was open is over */
};

struct thread_track {
        struct process_track *process;
        uint32_t tid;
        uint32_t thread; /* id in the table THREADS */
        uint32_t name;   /* string; 0 = unknown */

        struct open_zone *zones; /* heap, owned; outermost first */
        size_t n_zones, zones_capacity;
        uint64_t n_too_deep; /* zones open beyond the limit */

        struct pending_event *pending; /* heap, owned; in order of time */
        size_t n_pending, pending_capacity;

        uint64_t last_ns; /* of the last event written */
        bool listed;      /* in the process table's list of threads with pending events */
        bool exited;      /* its THREAD_EXIT was written */
};

/* What a thread's stream is written with; all borrowed. */
struct thread_sink {
        struct event_encoder *encoder; /* a run of the thread is open */
        struct trace_dictionary *dictionary;
        struct loss_counter *losses;
};

void thread_track_deinit(struct thread_track *t);

/* Queues an event of the kernel's, in order of time.  Returns 0 or -ENOMEM. */
int thread_track_add_pending(struct thread_track *t, const struct pending_event *event);

/*
 * thread_track_write_pending() - write the pending events up to @until_ns, inclusively
 * Samples get the zone path that is open then.  Returns 0 or -ENOMEM.
 */
int thread_track_write_pending(struct thread_track *t, const struct thread_sink *sink, uint64_t until_ns);

/*
 * thread_track_write() - write an event of the program's
 * The pending events before it are written already.  Zones are opened and closed by it: an end
 * without a beginning is left out and counted.  Returns 0 or -ENOMEM.
 */
int thread_track_write(struct thread_track *t, const struct thread_sink *sink, struct trace_event event);

/* Writes an end for every open zone: the thread begins anew. */
void thread_track_close_zones(struct thread_track *t, const struct thread_sink *sink, uint64_t now_ns);

#endif /* SAMPLER_THREAD_TRACK_H */
