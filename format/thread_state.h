/* SPDX-License-Identifier: MIT */
/*
 * format/thread_state.h - the state of a thread that a reader needs to begin in the middle of a trace
 *
 * Way of the data:  thread_track -> [thread_state] -> event_encoder -> body of a STATES chunk
 * Specification:    docs/understand/trace-format.md, "States"
 *
 * Not the same as stream_states, which makes events for a trace that begins there, and readers count those
 * events.  This one makes events that only set a reader's state: readers do not count them, since the trace
 * has all earlier events.
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
        uint32_t closed_zone; /* location of any zone that is over; 0 = there is none, or a zone is open */
};

/* Adds the run of the thread; @encoder has no open run, before and after the call. */
void thread_state_encode(const struct thread_state *s, struct event_encoder *encoder);

#endif /* FORMAT_THREAD_STATE_H */
