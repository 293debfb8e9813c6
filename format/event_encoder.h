/* SPDX-License-Identifier: MIT */
/*
 * format/event_encoder.h - runs of events -> the body of an EVENTS chunk
 *
 * Way of the data:  merge -> [event_encoder] -> trace_writer
 * Specification:    docs/trace-format.md, "Events"
 *
 * A run is a stretch of one thread's stream.  Columns go on across runs, so
 * that many short runs compress as well as one long.  Not thread-safe.
 */
#ifndef FORMAT_EVENT_ENCODER_H
#define FORMAT_EVENT_ENCODER_H

#include "base/byte_buffer.h"
#include "format/trace_event.h"

#include <stdint.h>

struct event_encoder {
        struct byte_buffer runs; /* the table of runs so far */
        uint32_t n_runs;
        uint32_t n_events;                 /* of all runs */
        uint32_t run_thread, run_n_events; /* of the open run; thread 0 = none is open */
        uint64_t run_first_ns, last_ns;    /* of the open run */
        uint64_t previous_first_ns;        /* of the run before: first times are written as differences */
        uint64_t chunk_first_ns, chunk_last_ns; /* of all events */
        struct byte_buffer ops, times;
        struct byte_buffer operands[TRACE_OP_COUNT][TRACE_OPERANDS_MAX];
        uint64_t previous[TRACE_OP_COUNT][TRACE_OPERANDS_MAX]; /* for delta columns */
};

void event_encoder_init(struct event_encoder *e);
void event_encoder_deinit(struct event_encoder *e);

/* Opens a run of @thread (an id of the table THREADS); a run without events leaves no trace. */
void event_encoder_begin_run(struct event_encoder *e, uint32_t thread);

/* Adds an event to the open run.  Its time is at least that of the event before in the run. */
void event_encoder_add(struct event_encoder *e, const struct trace_event *event);

void event_encoder_end_run(struct event_encoder *e);

/* Bytes that the body would have now, nearly. */
size_t event_encoder_count_bytes(const struct event_encoder *e);

/*
 * event_encoder_take() - append the body of everything so far to @body and start anew
 * @ret_first_ns, @ret_last_ns:  the time range of the chunk
 * @ret_n_events:  0 if there was nothing; @body is untouched then
 * No run is open.  Returns 0 or -ENOMEM (also when memory ran out in an earlier add; the events are lost).
 */
int event_encoder_take(struct event_encoder *e, struct byte_buffer *body, uint64_t *ret_first_ns,
                       uint64_t *ret_last_ns, uint32_t *ret_n_events);

#endif /* FORMAT_EVENT_ENCODER_H */
