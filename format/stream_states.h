/* SPDX-License-Identifier: MIT */
/*
 * format/stream_states.h - the state of every thread at an instant, for a trace that begins in the middle
 *
 * Way of the data:  events that are thrown away -> [stream_states] -> events that a trace begins with
 *
 * Keeps what later events need of events that no reader will see: the names and groups of living threads,
 * their open zones, the fibers that they run, whether they have a CPU or what they wait for, and the names of
 * locks.
 *
 * Owns everything in it.  Not thread-safe.
 */
#ifndef FORMAT_STREAM_STATES_H
#define FORMAT_STREAM_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_encoder;
struct stream_state;
struct trace_event;

struct stream_states {
        struct stream_state **threads; /* heap, owned: by the id in THREADS - 1; NULL = nothing is known */
        size_t threads_capacity;
        bool *ended; /* heap, owned, likewise: its THREAD_EXIT was there */
        size_t ended_capacity;
        uint32_t *lock_names; /* heap, owned: strings by the id in LOCKS - 1; 0 = none was given */
        size_t locks_capacity;
};

/* Zero-initialised is the beginning: nothing is open. */
void stream_states_deinit(struct stream_states *s);

/* @ret: overwritten, to be freed by stream_states_deinit().  Returns 0 or -ENOMEM. */
int stream_states_copy(const struct stream_states *s, struct stream_states *ret);

/*
 * stream_states_apply() - takes in an event of @thread, an id of THREADS; events of a thread come in order
 * Returns 0 or -ENOMEM.
 */
int stream_states_apply(struct stream_states *s, uint32_t thread, const struct trace_event *event);

/*
 * stream_states_encode() - adds events at @time_ns from which a reader learns these states
 * @encoder:  has no open run, before and after the call
 * Returns how many zones are open.
 */
uint64_t stream_states_encode(const struct stream_states *s, uint64_t time_ns, struct event_encoder *encoder);

#endif /* FORMAT_STREAM_STATES_H */
