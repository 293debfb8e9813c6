/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_pairs.h"

#include "base/array.h"
#include "base/error.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LANES 64

void trace_event_pairs_init(struct trace_event_pairs *pairs, struct import_rows *rows)
{
        *pairs = (struct trace_event_pairs){ .rows = rows };
}

void trace_event_pairs_deinit(struct trace_event_pairs *pairs)
{
        free(pairs->events);
        free(pairs->begins);
        free(pairs->lanes);
}

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "no memory for spans that are open");
}

/* ------------------------------------------------------------------ the table of lanes */

static size_t home_of(const struct trace_event_pairs *pairs, uint64_t lane)
{
        return (size_t)((lane * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (pairs->lanes_capacity - 1);
}

/* The place of a lane, or the empty one where it belongs.  There is always one. */
static struct open_lane *place_of(const struct trace_event_pairs *pairs, uint64_t lane)
{
        size_t at = home_of(pairs, lane);

        while (pairs->lanes[at].top && pairs->lanes[at].lane != lane)
                at = (at + 1) & (pairs->lanes_capacity - 1);
        return &pairs->lanes[at];
}

static int reserve_lane(struct trace_event_pairs *pairs)
{
        struct open_lane *old = pairs->lanes;
        size_t n_old = pairs->lanes_capacity, n = n_old ? 2 * n_old : FIRST_LANES;

        if (2 * (pairs->n_lanes + 1) <= n_old)
                return 0;
        pairs->lanes = calloc(n, sizeof(*pairs->lanes));
        if (!pairs->lanes) {
                pairs->lanes = old;
                return -ENOMEM;
        }
        pairs->lanes_capacity = n;
        for (size_t i = 0; i < n_old; i++)
                if (old[i].top)
                        *place_of(pairs, old[i].lane) = old[i];
        free(old);
        return 0;
}

/* Moves up what was put behind the place, so that no search ends too early. */
static void remove_lane(struct trace_event_pairs *pairs, const struct open_lane *lane)
{
        size_t mask = pairs->lanes_capacity - 1, hole = (size_t)(lane - pairs->lanes), at = hole;

        pairs->n_lanes--;
        for (;;) {
                at = (at + 1) & mask;
                if (!pairs->lanes[at].top)
                        break;
                if (((at - home_of(pairs, pairs->lanes[at].lane)) & mask) < ((at - hole) & mask))
                        continue;
                pairs->lanes[hole] = pairs->lanes[at];
                hole = at;
        }
        pairs->lanes[hole].top = 0;
}

/* ------------------------------------------------------------------ matching */

static int open_begin(struct trace_event_pairs *pairs, const struct pair_event *event)
{
        uint32_t id = pairs->first_free;
        struct open_lane *lane;

        if (reserve_lane(pairs) < 0)
                return -ENOMEM;
        if (id) {
                pairs->first_free = pairs->begins[id - 1].below;
        } else {
                if (pairs->n_begins == UINT32_MAX ||
                    array_reserve(&pairs->begins, &pairs->begins_capacity, (size_t)pairs->n_begins + 1,
                                  sizeof(*pairs->begins)) < 0)
                        return -ENOMEM;
                id = ++pairs->n_begins;
        }
        lane = place_of(pairs, event->lane);
        pairs->n_lanes += lane->top == 0;
        pairs->begins[id - 1] = (struct open_begin){ .event = *event, .below = lane->top };
        *lane = (struct open_lane){ .lane = event->lane, .top = id };
        return 0;
}

static int close_begin(struct trace_event_pairs *pairs, const struct pair_event *event, struct error *err)
{
        struct open_lane *lane = pairs->lanes_capacity ? place_of(pairs, event->lane) : NULL;
        uint32_t id = lane ? lane->top : 0;
        const struct pair_event *begin;
        struct import_span span;

        if (!id) {
                pairs->n_ends_alone++;
                return 0;
        }
        begin = &pairs->begins[id - 1].event;
        pairs->n_other_names += event->name != 0 && event->name != begin->name;
        span = (struct import_span){
                .track = begin->track,
                .name = begin->name,
                .begin = begin->time,
                /* An event that came too late to be sorted. */
                .end = event->time > begin->time ? event->time : begin->time,
                .text = begin->text ? begin->text : event->text,
        };
        lane->top = pairs->begins[id - 1].below;
        if (!lane->top)
                remove_lane(pairs, lane);
        pairs->begins[id - 1].below = pairs->first_free;
        pairs->first_free = id;
        return import_rows_span(pairs->rows, &span, err);
}

static int compare_events(const void *a, const void *b)
{
        const struct pair_event *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

/* Matches the @n oldest events and forgets them. */
static int match(struct trace_event_pairs *pairs, size_t n, struct error *err)
{
        if (pairs->is_unsorted)
                qsort(pairs->events, pairs->n_events, sizeof(*pairs->events), compare_events);
        pairs->is_unsorted = false;
        for (size_t i = 0; i < n; i++) {
                const struct pair_event *event = &pairs->events[i];
                int r = event->is_end ? close_begin(pairs, event, err) : open_begin(pairs, event);

                if (r < 0)
                        return r == -ENOMEM ? no_memory(err) : r;
        }
        pairs->n_events -= n;
        if (pairs->n_events > 0)
                memmove(pairs->events, pairs->events + n, pairs->n_events * sizeof(*pairs->events));
        return 0;
}

int trace_event_pairs_add(struct trace_event_pairs *pairs, const struct pair_event *event, struct error *err)
{
        if (pairs->n_events == TRACE_EVENT_PAIRS_WINDOW) {
                int r = match(pairs, TRACE_EVENT_PAIRS_WINDOW / 2, err);

                if (r < 0)
                        return r;
        }
        if (array_reserve(&pairs->events, &pairs->events_capacity, pairs->n_events + 1,
                          sizeof(*pairs->events)) < 0)
                return no_memory(err);
        pairs->is_unsorted |= pairs->n_events > 0 && event->time < pairs->events[pairs->n_events - 1].time;
        pairs->events[pairs->n_events] = *event;
        pairs->events[pairs->n_events++].order = pairs->n_added++;
        return 0;
}

int trace_event_pairs_finish(struct trace_event_pairs *pairs, struct error *err)
{
        int r = match(pairs, pairs->n_events, err);

        for (size_t i = 0; r == 0 && i < pairs->lanes_capacity; i++) {
                for (uint32_t id = pairs->lanes[i].top; r == 0 && id; id = pairs->begins[id - 1].below) {
                        const struct pair_event *begin = &pairs->begins[id - 1].event;
                        struct import_instant instant = { .track = begin->track,
                                                          .name = begin->name,
                                                          .text = begin->text,
                                                          .time = begin->time };

                        pairs->n_begins_alone++;
                        r = import_rows_instant(pairs->rows, &instant, err);
                }
        }
        return r;
}
