/* SPDX-License-Identifier: MIT */
/*
 * format/event_batch.h - many events of a chunk at once, closely packed
 *
 * Way of the data:  trace_reader -> event_decoder -> [event_batch] -> trace_walk
 *
 * Begins and ends of zones take 16 bytes each; all other events are kept whole in `others`.
 *
 *      event_batch_open(&b, ...);
 *      while ((r = event_batch_next(&b, n, err)) == 1)
 *              b.runs[0 .. n_runs), b.events[0 .. n_events), b.others[0 .. n_others)
 *
 * Several threads may fill one batch each at once; they only read the dictionary.  Memory: bounded by the
 * number of events for which the caller asks.
 */
#ifndef FORMAT_EVENT_BATCH_H
#define FORMAT_EVENT_BATCH_H

#include "base/error.h"
#include "format/event_decoder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For event_batch_next(): so many events stay in the processor's cache. */
#define EVENT_BATCH_EVENTS 4096

struct event_batch {
        struct event_decoder decoder;
        /* heap; the runs of the events, one after the other; `n_events` counts those in this batch */
        struct event_run *runs;
        struct packed_event *events; /* heap; `value` of other events than zones: the index in `others` */
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
 * @n_max:  at most so many events, and an eighth as many that are no zones
 * Returns 1, 0 at the end, -EBADMSG (after all events before the fault), -ENOMEM.
 */
int event_batch_next(struct event_batch *b, uint32_t n_max, struct error *err);

/* Does the work of the next event_batch_next(), which then does none. */
void event_batch_prepare(struct event_batch *b, uint32_t n_max);

#endif /* FORMAT_EVENT_BATCH_H */
