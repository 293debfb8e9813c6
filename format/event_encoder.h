/* SPDX-License-Identifier: MIT */
/*
 * format/event_encoder.h - runs of events -> the body of an EVENTS chunk
 *
 * Way of the data:  merge -> [event_encoder] -> trace_writer
 * Specification:    docs/understand/trace-format.md, "Events"
 *
 * A run is a stretch of one thread's stream.  Columns go on across runs, so
 * that many short runs compress as well as one long.  Not thread-safe.
 *
 * A recorder does hardly anything more often than adding the begin and the end of a zone.  So both are
 * inline, and make room for many events at once: they call no function, and have one branch, which asks for
 * room.
 */
#ifndef FORMAT_EVENT_ENCODER_H
#define FORMAT_EVENT_ENCODER_H

#include "base/byte_buffer.h"
#include "format/trace_event.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_encoder {
        struct byte_buffer ops, times; /* one byte of ops an event, so used_bytes is the number of events */
        uint64_t last_ns;              /* of the open run */
        size_t n_events_fit; /* `ops`, `times` and zone_begin's column have room for so many events */

        struct byte_buffer runs; /* the table of runs so far */
        uint32_t n_runs;
        uint32_t run_thread;                    /* of the open run; 0 = none is open */
        size_t run_first_event;                 /* of the open run: events before it */
        uint64_t run_first_ns;                  /* of the open run */
        uint64_t previous_first_ns;             /* of the previous run: a run has the difference to it */
        uint64_t chunk_first_ns, chunk_last_ns; /* of all events */
        /* The operands of all ops, one after the other: those of ZONE_BEGIN, which is the first op, first. */
        struct byte_buffer operands[TRACE_OPERANDS_TOTAL];
        uint64_t previous[TRACE_OPERANDS_TOTAL]; /* for delta columns */
        uint8_t first_operand[TRACE_OP_COUNT];   /* of each op, in the two arrays */
};

void event_encoder_init(struct event_encoder *e);
void event_encoder_deinit(struct event_encoder *e);

/* Opens a run of @thread (an id of the table THREADS); a run without events leaves no trace. */
void event_encoder_begin_run(struct event_encoder *e, uint32_t thread);

/* Private: makes room, and starts the run with its first event.  False if memory ran out, now or before. */
bool event_encoder_make_room(struct event_encoder *e, uint64_t time_ns);
/* Private: any event, inline for none. */
void event_encoder_add_any(struct event_encoder *e, const struct trace_event *event);

/* Private: adds the op and the time, which every event has.  Returns false if memory ran out. */
static inline bool event_encoder_put(struct event_encoder *e, uint8_t op, uint64_t time_ns)
{
        if (__builtin_expect(e->ops.used_bytes == e->n_events_fit, 0) && !event_encoder_make_room(e, time_ns))
                return false;
        assert(time_ns >= e->last_ns);
        e->ops.data[e->ops.used_bytes++] = op;
        byte_buffer_put_varint(&e->times, time_ns - e->last_ns);
        e->last_ns = time_ns;
        return true;
}

/* ZONE_BEGIN and ZONE_END, as by event_encoder_add(). */
static inline void event_encoder_begin_zone(struct event_encoder *e, uint64_t time_ns, uint64_t location)
{
        if (event_encoder_put(e, TRACE_OP_ZONE_BEGIN, time_ns))
                byte_buffer_put_varint(&e->operands[0], location);
}

static inline void event_encoder_end_zone(struct event_encoder *e, uint64_t time_ns)
{
        (void)event_encoder_put(e, TRACE_OP_ZONE_END, time_ns);
}

/* ZONE_TEXT of the innermost zone, likewise: the most frequent event in many imported files. */
void event_encoder_text_zone(struct event_encoder *e, uint64_t time_ns, const char *text, size_t n_bytes);

/*
 * event_encoder_add() - add an event to the open run
 * Its time is at least that of the event before in the run.  A text is copied; it has at most
 * TRACE_TEXT_BYTES_MAX. A caller that adds long texts checks event_encoder_count_bytes() after each, since a
 * body has a limit.
 */
static inline void event_encoder_add(struct event_encoder *e, const struct trace_event *event)
{
        if (event->op == TRACE_OP_ZONE_BEGIN)
                event_encoder_begin_zone(e, event->time_ns, event->zone_begin.location);
        else if (event->op == TRACE_OP_ZONE_END)
                event_encoder_end_zone(e, event->time_ns);
        else
                event_encoder_add_any(e, event);
}

void event_encoder_end_run(struct event_encoder *e);

/* The approximate length of the body as it would be now. */
size_t event_encoder_count_bytes(const struct event_encoder *e);

/* Whether any event so far is a THREAD_NAME. */
static inline bool event_encoder_has_names(const struct event_encoder *e)
{
        return e->operands[e->first_operand[TRACE_OP_THREAD_NAME]].used_bytes > 0;
}

/*
 * event_encoder_take() - append the body of everything so far to @body and start anew
 * @ret_first_ns, @ret_last_ns:  the time range of the chunk
 * @ret_n_events:  0 if there was nothing; @body is untouched then
 * No run is open.  Returns 0 or -ENOMEM (also when memory ran out in an earlier add; the events are lost).
 */
int event_encoder_take(struct event_encoder *e, struct byte_buffer *body, uint64_t *ret_first_ns,
                       uint64_t *ret_last_ns, uint32_t *ret_n_events);

#endif /* FORMAT_EVENT_ENCODER_H */
