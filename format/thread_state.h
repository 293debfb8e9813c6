/* SPDX-License-Identifier: MIT */
/*
 * format/thread_state.h - what a reader has to know of a thread to begin in the middle of a trace
 *
 * Way of the data:  thread_track -> [thread_state] -> event_encoder -> body of a STATES chunk
 * Specification:    docs/understand/trace-format.md, "States"
 *
 * Not the same as stream_states: that makes events for a trace that begins there, which everybody counts;
 * this one makes events that set a reader's state and are not counted, since all of the trace is there.
 */
#ifndef FORMAT_THREAD_STATE_H
#define FORMAT_THREAD_STATE_H

#include "format/trace_event.h"

#include <stddef.h>
#include <stdint.h>

struct event_encoder;

struct thread_state {
        uint64_t time_ns;               /* of its last event */
        uint32_t thread;                /* row of THREADS */
        uint32_t name;                  /* string; 0 = none was given */
        struct trace_event last_switch; /* an op of 0 = there was none */
        struct trace_event last_sample; /* the same */
        const uint32_t *zones;          /* borrowed: locations of the open ones, the outermost first */
        size_t n_zones;
        uint32_t closed_zone; /* location of any zone that is over; 0 = none was there, or one is open */
};

/* Adds the run of the thread; no run is open, nor is one afterwards. */
void thread_state_encode(const struct thread_state *s, struct event_encoder *encoder);

#endif /* FORMAT_THREAD_STATE_H */
