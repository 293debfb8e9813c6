/* SPDX-License-Identifier: MIT */
/*
 * format/event_decoder.h - the body of an EVENTS chunk -> runs of events
 *
 * Way of the data:  trace_reader -> [event_decoder] -> analyze, trace_dump
 * Specification:    docs/understand/trace-format.md, "Events"
 *
 *      event_decoder_init(&d, ...);
 *      while ((r = event_decoder_next_run(&d, &run, err)) == 1)
 *              while ((r = event_decoder_next(&d, &event, err)) == 1)
 *                      ...
 *
 * The decoder checks every id of an event against the dictionary.  Allocates nothing;
 * borrows the body and the dictionary.  Not thread-safe.
 */
#ifndef FORMAT_EVENT_DECODER_H
#define FORMAT_EVENT_DECODER_H

#include "base/bytes.h"
#include "format/trace_event.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;

struct event_run {
        uint32_t thread; /* id in the table THREADS */
        uint32_t n_events;
};

/* The begin or end of a zone, as nearly all events are, closely packed. */
struct packed_event {
        uint64_t time_ns;
        uint32_t op;    /* enum trace_op */
        uint32_t value; /* of a ZONE_BEGIN: the location; of a ZONE_END: 0; of others: see event_batch */
};

struct event_decoder {
        const struct trace_dictionary *dictionary;
        uint32_t n_locations; /* of it */
        struct byte_reader runs;
        uint64_t n_runs_left;
        uint32_t n_events_left; /* of the run */
        uint64_t run_first_ns;  /* of the run: the first time of the next run is written as a difference */
        uint64_t now_ns;        /* time of the event before in this run */
        uint64_t n_unknown_ops; /* events of a newer version that were skipped */
        struct byte_reader ops, times;
        struct byte_reader operands[TRACE_OP_COUNT][TRACE_OPERANDS_MAX];
        uint64_t previous[TRACE_OP_COUNT][TRACE_OPERANDS_MAX];
};

/*
 * event_decoder_init() - read the tables of runs and columns of a body
 * Returns 0 or -EBADMSG.
 */
int event_decoder_init(struct event_decoder *d, const struct trace_dictionary *dictionary,
                       const uint8_t *body, size_t body_bytes, struct error *err);

/* The next run; the rest of the previous one is skipped.  Returns 1, 0 at the end, -EBADMSG. */
int event_decoder_next_run(struct event_decoder *d, struct event_run *ret_run, struct error *err);

/* The next event of the run.  Returns 1, 0 at the end of the run, -EBADMSG. */
int event_decoder_next(struct event_decoder *d, struct trace_event *ret_event, struct error *err);

/*
 * event_decoder_next_zones() - the next begins and ends of zones of the run, up to the first other event
 * Returns how many, at most @n_max; 0 if the next event needs event_decoder_next().
 */
uint32_t event_decoder_next_zones(struct event_decoder *d, struct packed_event *events, uint32_t n_max);

#endif /* FORMAT_EVENT_DECODER_H */
