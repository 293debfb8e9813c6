/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_builder.h - the events of a trace -> the tracks and lanes of an index
 *
 * Way of the data:  trace_walk -> [timeline_builder] -> timeline_index
 *
 * A whole trace in one go:
 *
 *      timeline_builder_build(&index, trace, &options, err)
 *
 * or chunk by chunk, for a trace that still grows.  Between two chunks the index answers questions about
 * zones, waits and so on that are over, and timeline_builder_open_spans() about all that is not.  Events of
 * things that several threads have in common come in the order of time, as far as timeline_builder_grow()
 * says that no earlier ones are to come.  timeline_growth.c has all of that:
 *
 *      timeline_builder_init(&b, &index, dictionary, err)
 *      timeline_builder_add(&b, item, err), timeline_builder_grow(&b, &known, err) ...
 *      timeline_builder_finish(&b, end_ns, err)
 *
 * One walk.  Memory: that of the walk, of the index, and some hundred bytes a thread; each buffer that puts
 * events of several threads in order has a bound (event_order).  Not thread-safe.
 */
#ifndef TIMELINE_TIMELINE_BUILDER_H
#define TIMELINE_TIMELINE_BUILDER_H

#include "analyze/walk/trace_walk.h"
#include "base/byte_buffer.h"
#include "timeline/timeline_ghosts.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_rates.h"
#include "timeline/timeline_shared.h"
#include "timeline/timeline_states.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct loaded_trace;

/* State of each thread while the index grows. */
struct timeline_thread {
        uint32_t track; /* id + 1; 0 = none yet */
        struct timeline_lane_list zones;
        struct timeline_lane_list samples; /* by event */
        struct timeline_lane_list messages;
        struct timeline_lane_list texts; /* of zones, by their depth */
};

/* By about as much at most, zones of devices come later than other events of their time. */
#define TIMELINE_DEVICES_LATE_NS UINT64_C(1000000000)

/* While the trace grows: no events before these times are to come.  CLOCK_MONOTONIC_RAW. */
struct timeline_known {
        uint64_t shared_ns;  /* of CPUs, locks, plots, frames, memory */
        uint64_t devices_ns; /* zones, values and moments of devices */
};

struct timeline_build_options {
        /*
         * Called now and then with 0 .. 1, the part that is done; may be NULL.  Any result but 0 stops the
         * builder: -ECANCELED.
         */
        int (*progress)(void *context, double part);
        void *context;
        uint32_t calls_per_progress; /* zones and events between two calls; 0 = 65536 */
};

struct timeline_builder {
        struct timeline_index *index;
        const struct trace_dictionary *dictionary;
        struct timeline_build_options options;
        struct trace_walk walk;
        struct timeline_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        size_t threads_capacity;
        struct timeline_states states;
        struct timeline_shared shared;
        struct timeline_ghosts ghosts;
        struct timeline_rates rates;
        struct timeline_known known; /* while the trace grows */
        struct byte_buffer text;     /* of one zone */
        uint32_t n_until_progress;
        bool has_devices; /* the trace may have devices: keys of zones lead to their work */
        bool has_locks;   /* the trace may have locks: each zone may show that a wait was given up */
};

/*
 * timeline_builder_build() - the index of a whole trace
 * @index:  empty, of this trace's time
 * Returns 0, -ECANCELED, what loaded_trace_walk() and timeline_index_add_span() return.
 */
int timeline_builder_build(struct timeline_index *index, struct loaded_trace *trace,
                           const struct timeline_build_options *options, struct error *err);

/* To be deinitialised in any case.  Returns 0 or -ENOMEM. */
int timeline_builder_init(struct timeline_builder *b, struct timeline_index *index,
                          const struct trace_dictionary *dictionary, struct error *err);
void timeline_builder_deinit(struct timeline_builder *b);

/* The next chunk of events; the tables before it are in the dictionary.  Returns as trace_walk_chunk(). */
int timeline_builder_add(struct timeline_builder *b, const struct trace_item *item, struct error *err);

/*
 * timeline_builder_grow() - take what is known by now of things that several threads have in common
 * Between two calls no time goes backwards.  Returns as timeline_index_add_span().
 */
int timeline_builder_grow(struct timeline_builder *b, const struct timeline_known *known, struct error *err);

/* Makes the lanes of what is not over.  Returns 0, -ENOMEM. */
int timeline_builder_add_open_lanes(struct timeline_builder *b, struct error *err);

/*
 * timeline_builder_open_spans() - what is not over on a lane: zone, function, states, thread on a CPU, holder
 * @now_ns: up to there a thread's own events are known
 * @spans:  one after the other; in CLOCK_MONOTONIC_RAW; they end where they are known to be open, a function
 *          where its thread was last seen in it
 * Returns how many.
 */
uint32_t timeline_builder_open_spans(const struct timeline_builder *b, uint32_t lane, uint64_t now_ns,
                                     struct timeline_raw_span spans[2]);

/* Up to where a track is known, at most @now_ns; since the start of the recording. */
uint64_t timeline_builder_known_ns(const struct timeline_builder *b, uint32_t track, uint64_t now_ns);

/* Nothing more comes: what is open ends at @end_ns. */
int timeline_builder_finish(struct timeline_builder *b, uint64_t end_ns, struct error *err);

/*
 * Private, for timeline_growth.c: makes room for the threads that the dictionary has by now; the track of a
 * thread.  Return 0 and its id; -EOVERFLOW if there are too many tracks, which is counted; -ENOMEM.
 */
int timeline_builder_reserve(struct timeline_builder *b);
int timeline_builder_thread_track(struct timeline_builder *b, uint32_t id, struct error *err);

#endif /* TIMELINE_TIMELINE_BUILDER_H */
