/* SPDX-License-Identifier: MIT */
/*
 * format/event_batch.h - many events of a chunk at once, closely packed
 *
 * Way of the data:  trace_reader -> event_decoder -> [event_batch] -> trace_walk
 *
 * Zones take 16 bytes each; of all other events there is the whole event beside.
 *
 *      event_batch_open(&b, ...);
 *      while ((r = event_batch_next(&b, n, err)) == 1)
 *              b.runs[0 .. n_runs), b.events[0 .. n_events), b.others[0 .. n_others)
 *
 * Several may be filled by several threads at once, each by one; the dictionary is only read.  Bounded by
 * what the caller asks for.
 */
#ifndef FORMAT_EVENT_BATCH_H
#define FORMAT_EVENT_BATCH_H

#include "base/error.h"
#include "format/event_decoder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many that they stay in the processor's cache. */
#define EVENT_BATCH_EVENTS 4096

struct event_batch {
        struct event_decoder decoder;
        /* heap; those that the events belong to, one after the other, with their numbers here */
        struct event_run *runs;
        struct packed_event *events; /* heap; `value` of others than zones: where the event is in `others` */
        struct trace_event *others;  /* heap; texts are borrowed from the body */
        size_t n_runs, runs_capacity;
        size_t n_events, events_capacity;
        size_t n_others, others_capacity;
        uint32_t thread;    /* of the decoder's run */
        struct error fault; /* why the chunk ended after the events so far; code 0 = no error */
        int ready;          /* the return value of event_batch_next() for the events that are left */
        bool is_ready;
};

/* Zero-initialised is valid for event_batch_open() and event_batch_deinit(). */
void event_batch_deinit(struct event_batch *b);

/*
 * event_batch_open() - begin with the body of an EVENTS or STATES chunk, which is borrowed, as is the
 * dictionary
 * Errors in the body are reported by event_batch_next().
 */
void event_batch_open(struct event_batch *b, const struct trace_dictionary *dictionary, const uint8_t *body,
                      size_t body_bytes);

/*
 * event_batch_next() - the next events
 * @n_max:  of them; of those that are no zones an eighth of it
 * Returns 1, 0 at the end, -EBADMSG (after all events before the fault), -ENOMEM.
 */
int event_batch_next(struct event_batch *b, uint32_t n_max, struct error *err);

/* Does the work of the next event_batch_next(), which then does none. */
void event_batch_prepare(struct event_batch *b, uint32_t n_max);

#endif /* FORMAT_EVENT_BATCH_H */
