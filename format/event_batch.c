/* SPDX-License-Identifier: MIT */
#include "format/event_batch.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define RUNS_SHARE   8 /* room for one run and one non-zone event per so many events */
#define OTHERS_SHARE 8

void event_batch_deinit(struct event_batch *b)
{
        free(b->runs);
        free(b->events);
        free(b->others);
        *b = (struct event_batch){ .runs = NULL };
}

void event_batch_open(struct event_batch *b, const struct trace_dictionary *dictionary, const uint8_t *body,
                      size_t body_bytes)
{
        b->n_runs = b->n_events = b->n_others = 0;
        b->thread = 0;
        b->fault = ERROR_NONE;
        b->is_ready = false;
        (void)event_decoder_init(&b->decoder, dictionary, body, body_bytes, &b->fault);
}

static int add_run(struct event_batch *b)
{
        int r = array_reserve(&b->runs, &b->runs_capacity, b->n_runs + 1, sizeof(*b->runs));

        if (r == 0)
                b->runs[b->n_runs++] = (struct event_run){ .thread = b->thread };
        return r;
}

/*
 * Adds one event that event_decoder_next_zones() cannot read.  Returns 1, 0 at the end of the run,
 * -EBADMSG, -ENOMEM.
 */
static int add_next(struct event_batch *b)
{
        struct trace_event *event;
        struct packed_event *packed = &b->events[b->n_events];
        int r = array_reserve(&b->others, &b->others_capacity, b->n_others + 1, sizeof(*b->others));

        if (r < 0)
                return r;
        event = &b->others[b->n_others];
        r = event_decoder_next(&b->decoder, event, &b->fault);
        if (r != 1)
                return r;
        *packed = (struct packed_event){ .time_ns = event->time_ns, .op = (uint32_t)event->op };
        if (packed->op == TRACE_OP_ZONE_BEGIN)
                packed->value = (uint32_t)event->zone_begin.location;
        else if (packed->op != TRACE_OP_ZONE_END)
                packed->value = (uint32_t)b->n_others++;
        b->n_events++;
        return 1;
}

/* Adds events of the decoder's present run.  Returns 1 if there may be more of them, 0, -EBADMSG, -ENOMEM. */
static int fill_run(struct event_batch *b, uint32_t n_max)
{
        size_t n_before = b->n_events;
        int r = 1;

        while (r == 1 && b->n_events < n_max && b->n_others < n_max / OTHERS_SHARE + 1) {
                uint32_t n = event_decoder_next_zones(&b->decoder, b->events + b->n_events,
                                                      n_max - (uint32_t)b->n_events);

                b->n_events += n;
                if (n == 0)
                        r = add_next(b);
        }
        b->runs[b->n_runs - 1].n_events = (uint32_t)(b->n_events - n_before);
        return r;
}

/* Returns 1 if there is more, 0, -EBADMSG, -ENOMEM. */
static int fill(struct event_batch *b, uint32_t n_max)
{
        struct event_run run;
        int r;

        b->n_runs = b->n_events = b->n_others = 0;
        if (n_max > b->decoder.ops.left)
                n_max = (uint32_t)b->decoder.ops.left + 1;
        r = array_reserve(&b->events, &b->events_capacity, n_max, sizeof(*b->events));
        if (r == 0 && b->decoder.n_events_left != 0)
                r = add_run(b);
        if (r == 0 && b->decoder.n_events_left != 0)
                r = fill_run(b, n_max);
        while (r == 0 && b->n_runs < n_max / RUNS_SHARE + 1) {
                r = event_decoder_next_run(&b->decoder, &run, &b->fault);
                if (r != 1)
                        return r;
                b->thread = run.thread;
                r = add_run(b);
                if (r == 0)
                        r = fill_run(b, n_max);
        }
        return r < 0 ? r : 1;
}

static int next(struct event_batch *b, uint32_t n_max)
{
        int r;

        if (b->fault.code != 0)
                return b->fault.code;
        r = fill(b, n_max);
        if (r == -ENOMEM)
                return error_set(&b->fault, r, "out of memory");
        /* At the end of the chunk, or at a fault, events may have been read before. */
        return b->n_events != 0 ? 1 : r;
}

void event_batch_prepare(struct event_batch *b, uint32_t n_max)
{
        b->ready = next(b, n_max);
        b->is_ready = true;
}

int event_batch_next(struct event_batch *b, uint32_t n_max, struct error *err)
{
        if (!b->is_ready)
                b->ready = next(b, n_max);
        b->is_ready = false;
        return b->ready < 0 ? error_set(err, b->ready, "%s", b->fault.text) : b->ready;
}
