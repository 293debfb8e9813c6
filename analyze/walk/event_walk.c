/* SPDX-License-Identifier: MIT */
#include "analyze/walk/event_walk.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

static int event_walk_add(struct event_walk *w, struct walked_thread *thread, const struct trace_event *event,
                          uint32_t op, struct error *err)
{
        struct ordered_event item = {
                .time_ns = event->time_ns,
                .op = op,
                .thread = thread->id,
                .subject = (uint32_t)event->operand[0],
                .value = { event->operand[1], event->operand[2] },
                .stack = w->stacks[thread->id - 1],
        };

        if (event->op == TRACE_OP_DEVICE_SPAN) {
                item.detail = (uint32_t)event->device_span.location;
                item.value[0] = event->device_span.begin_ticks;
                item.value[1] = event->device_span.length_ticks;
        }
        if (w->request.wants_paths && trace_walk_path(&w->walk, thread, &item.path) < 0)
                return error_set(err, -ENOMEM, "going through the events: out of memory");
        return event_order_add(&w->order, &item, err);
}

/* Only what the thread itself says: it runs on, so it does not wait for the lock any more. */
static int event_walk_give_up(struct event_walk *w, struct walked_thread *thread, uint64_t time_ns,
                              struct error *err)
{
        struct trace_event event = { .time_ns = time_ns };
        uint32_t *lock = &w->waits[thread->id - 1];

        if (*lock == 0)
                return 0;
        event.operand[0] = *lock;
        *lock = 0;
        return event_walk_add(w, thread, &event, EVENT_WALK_GIVE_UP, err);
}

static int follow_wait(struct event_walk *w, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        uint32_t *lock = &w->waits[thread->id - 1];
        int r = 0;

        switch (event->op) {
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
        case TRACE_OP_WAKEUP:
        case TRACE_OP_CALLSTACK:
                return 0;
        default:
                break;
        }
        if (event->op == TRACE_OP_LOCK_OBTAIN && *lock == event->operand[0])
                *lock = 0;
        else
                r = event_walk_give_up(w, thread, event->time_ns, err);
        if (event->op == TRACE_OP_LOCK_WAIT)
                *lock = (uint32_t)event->operand[0];
        return r;
}

static int event_walk_take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                                 struct error *err)
{
        struct event_walk *w = context;
        uint32_t *stack = &w->stacks[thread->id - 1];
        int r = w->request.wants_give_up ? follow_wait(w, thread, event, err) : 0;

        if (r < 0)
                return r;
        if (event->op == TRACE_OP_CALLSTACK) {
                *stack = (uint32_t)event->callstack.stack;
                return 0;
        }
        if ((w->request.ops & EVENT_WALK_OP(event->op)) != 0)
                r = event_walk_add(w, thread, event, (uint32_t)event->op, err);
        *stack = 0;
        return r;
}

static int take_begin(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct event_walk *w = context;

        w->stacks[thread->id - 1] = 0;
        return w->request.wants_give_up ? event_walk_give_up(w, thread, event->time_ns, err) : 0;
}

static int event_walk_take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                                struct error *err)
{
        struct event_walk *w = context;

        return zone->closed ? event_walk_give_up(w, thread, zone->end_ns, err) : 0;
}

static int event_walk_prepare(struct event_walk *w, const struct loaded_trace *trace)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS);

        w->stacks = calloc((size_t)n + 1, sizeof(*w->stacks));
        w->waits = calloc((size_t)n + 1, sizeof(*w->waits));
        return w->stacks && w->waits ? 0 : -ENOMEM;
}

int event_walk_take(struct event_walk *w, struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct event_walk_request *request, struct error *err)
{
        struct trace_sink sink = {
                .context = w,
                .begin_zone = take_begin,
                .zone = request->wants_give_up ? event_walk_take_zone : NULL,
                .event = event_walk_take_event,
                .wants_paths = request->wants_paths,
                .may_skip = true,
        };
        int r;

        *w = (struct event_walk){ .request = *request };
        event_order_init(&w->order, 0, request->take, request->context);
        r = trace_walk_init(&w->walk, trace, filter, &sink);
        if (r == 0)
                r = event_walk_prepare(w, trace);
        if (r < 0)
                return error_set(err, r, "going through the events: out of memory");
        r = loaded_trace_walk(trace, &w->walk, err);
        return r == 0 ? event_order_finish(&w->order, err) : r;
}

void event_walk_deinit(struct event_walk *w)
{
        trace_walk_deinit(&w->walk);
        event_order_deinit(&w->order);
        free(w->stacks);
        free(w->waits);
        w->stacks = w->waits = NULL;
}
