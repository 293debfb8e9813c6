/* SPDX-License-Identifier: MIT */
#include "sampler/thread_track.h"

#include "base/array.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "sampler/loss_counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void thread_track_deinit(struct thread_track *t)
{
        free(t->zones);
        free(t->pending);
        *t = (struct thread_track){ .tid = 0 };
}

int thread_track_add_pending(struct thread_track *t, const struct pending_event *event)
{
        size_t at = t->n_pending;
        int r = array_reserve(&t->pending, &t->pending_capacity, t->n_pending + 1, sizeof(*t->pending));

        if (r < 0)
                return r;
        /* Rings are read in the order of time, so it nearly always belongs at the end. */
        while (at > 0 && t->pending[at - 1].event.time_ns > event->event.time_ns)
                at--;
        memmove(t->pending + at + 1, t->pending + at, (t->n_pending - at) * sizeof(*t->pending));
        t->pending[at] = *event;
        t->n_pending++;
        return 0;
}

/* The zone path of the innermost open zone; what is not looked up yet is, from the outermost inwards. */
static int path_of(struct thread_track *t, const struct thread_sink *sink, uint64_t *ret_path)
{
        size_t known = t->n_zones;
        uint32_t path;

        while (known > 0 && t->zones[known - 1].path == 0)
                known--;
        path = known > 0 ? t->zones[known - 1].path : 0;
        for (size_t i = known; i < t->n_zones; i++) {
                struct trace_zone_path row = { .parent = path, .location = t->zones[i].location };
                int r = trace_dictionary_add(sink->dictionary, TRACE_TABLE_ZONE_PATHS, &row, &path);

                if (r == -EOVERFLOW) {
                        loss_counter_add(sink->losses, TRACE_LOSS_PATH_TABLE_FULL, 1);
                        break;
                }
                if (r < 0)
                        return r;
                t->zones[i].path = path;
        }
        *ret_path = path;
        return 0;
}

/* Every event goes out here: a stream never steps back in time. */
static void put(struct thread_track *t, const struct thread_sink *sink, struct trace_event *event)
{
        if (event->time_ns < t->last_ns) {
                event->time_ns = t->last_ns;
                loss_counter_add(sink->losses, TRACE_LOSS_CLOCK_CORRECTED, 1);
        }
        t->last_ns = event->time_ns;
        event_encoder_add(sink->encoder, event);
}

void thread_track_close_zones(struct thread_track *t, const struct thread_sink *sink, uint64_t now_ns)
{
        struct trace_event end = { .op = TRACE_OP_ZONE_END,
                                   .time_ns = now_ns < t->last_ns ? t->last_ns : now_ns };

        t->n_too_deep = 0;
        for (; t->n_zones > 0; t->n_zones--)
                put(t, sink, &end);
}

int thread_track_write_pending(struct thread_track *t, const struct thread_sink *sink, uint64_t until_ns)
{
        size_t n = 0;
        int r = 0;

        while (r == 0 && n < t->n_pending && t->pending[n].event.time_ns <= until_ns) {
                struct trace_event event = t->pending[n].event;

                if (t->pending[n].closes_zones)
                        thread_track_close_zones(t, sink, event.time_ns);
                if (event.op == TRACE_OP_SAMPLE)
                        r = path_of(t, sink, &event.sample.path);
                if (r == 0)
                        put(t, sink, &event);
                t->exited = t->exited || event.op == TRACE_OP_THREAD_EXIT;
                n++;
        }
        if (n == 0) /* the usual case before a zone, and there may be no array yet */
                return 0;
        t->n_pending -= n;
        memmove(t->pending, t->pending + n, t->n_pending * sizeof(*t->pending));
        return r;
}

static int open_zone(struct thread_track *t, const struct thread_sink *sink, struct trace_event *event)
{
        int r;

        if (t->n_zones >= THREAD_TRACK_ZONES_MAX) {
                t->n_too_deep++;
                loss_counter_add(sink->losses, TRACE_LOSS_ZONE_TOO_DEEP, 1);
                return 0;
        }
        r = array_reserve(&t->zones, &t->zones_capacity, t->n_zones + 1, sizeof(*t->zones));
        if (r < 0)
                return r;
        t->zones[t->n_zones++] = (struct open_zone){ .location = (uint32_t)event->zone_begin.location };
        put(t, sink, event);
        return 0;
}

static void close_zone(struct thread_track *t, const struct thread_sink *sink, struct trace_event *event)
{
        if (t->n_too_deep > 0) {
                t->n_too_deep--;
        } else if (t->n_zones == 0) {
                loss_counter_add(sink->losses, TRACE_LOSS_ZONE_UNBALANCED, 1);
        } else {
                t->n_zones--;
                put(t, sink, event);
        }
}

int thread_track_write(struct thread_track *t, const struct thread_sink *sink, struct trace_event event)
{
        if (event.op == TRACE_OP_ZONE_BEGIN)
                return open_zone(t, sink, &event);
        if (event.op == TRACE_OP_ZONE_END)
                close_zone(t, sink, &event);
        else
                put(t, sink, &event);
        return 0;
}
