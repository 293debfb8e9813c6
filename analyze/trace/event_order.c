/* SPDX-License-Identifier: MIT */
#include "analyze/trace/event_order.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void event_order_init(struct event_order *o, uint32_t n_max, event_order_take *take, void *context)
{
        *o = (struct event_order){ .take = take,
                                   .context = context,
                                   .n_max = n_max != 0 ? n_max : EVENT_ORDER_EVENTS_MAX };
}

void event_order_deinit(struct event_order *o)
{
        free(o->events);
        o->events = NULL;
}

static int compare(const void *left, const void *right)
{
        const struct ordered_event *a = left, *b = right;

        if (a->time_ns != b->time_ns)
                return a->time_ns < b->time_ns ? -1 : 1;
        return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static void sort(struct event_order *o)
{
        if (o->is_mixed)
                qsort(o->events, o->n_events, sizeof(*o->events), compare);
        o->is_mixed = false;
}

static int hand_out(struct event_order *o, size_t n, struct error *err)
{
        int r = 0;

        sort(o);
        for (size_t i = 0; i < n && r == 0; i++) {
                const struct ordered_event *event = &o->events[i];

                if (event->time_ns < o->handed_ns)
                        o->n_late++;
                else
                        o->handed_ns = event->time_ns;
                r = o->take(o->context, event, err);
        }
        o->n_events -= n;
        if (o->n_events != 0)
                memmove(o->events, o->events + n, o->n_events * sizeof(*o->events));
        return r;
}

int event_order_add(struct event_order *o, const struct ordered_event *event, struct error *err)
{
        int r = 0;

        if (o->n_events == o->n_max)
                r = hand_out(o, o->n_events - o->n_events / 2, err);
        if (r == 0 && array_reserve(&o->events, &o->capacity, o->n_events + 1, sizeof(*o->events)) < 0)
                r = error_set(err, -ENOMEM, "putting events in order: out of memory");
        if (r < 0)
                return r;
        if (o->n_events != 0 && event->time_ns < o->events[o->n_events - 1].time_ns)
                o->is_mixed = true;
        o->events[o->n_events] = *event;
        o->events[o->n_events++].sequence = o->n_added++;
        return 0;
}

int event_order_finish(struct event_order *o, struct error *err)
{
        return o->n_events != 0 ? hand_out(o, o->n_events, err) : 0;
}

int event_order_hand_out(struct event_order *o, uint64_t until_ns, struct error *err)
{
        size_t n = 0;

        sort(o);
        while (n < o->n_events && o->events[n].time_ns < until_ns)
                n++;
        return n != 0 ? hand_out(o, n, err) : 0;
}
