/* SPDX-License-Identifier: MIT */
#include "analyze/walk/ordered_events.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ordered_events_init(struct ordered_events *o, const struct event_walk_request *request)
{
        *o = (struct ordered_events){ .request = *request };
        event_order_init(&o->order, 0, request->take, request->context);
}

void ordered_events_deinit(struct ordered_events *o)
{
        event_order_deinit(&o->order);
        free(o->stacks);
        free(o->waits);
        *o = (struct ordered_events){ .stacks = NULL };
}

int ordered_events_reserve(struct ordered_events *o, uint32_t n_threads)
{
        size_t n_more = n_threads - o->n_threads;

        if (n_threads <= o->n_threads && o->stacks)
                return 0;
        if (array_reserve(&o->stacks, &o->stacks_capacity, (size_t)n_threads + 1, sizeof(*o->stacks)) < 0 ||
            array_reserve(&o->waits, &o->waits_capacity, (size_t)n_threads + 1, sizeof(*o->waits)) < 0)
                return -ENOMEM;
        memset(o->stacks + o->n_threads, 0, n_more * sizeof(*o->stacks));
        memset(o->waits + o->n_threads, 0, n_more * sizeof(*o->waits));
        o->n_threads = n_threads;
        return 0;
}

static int add_ordered(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                       const struct trace_event *event, uint32_t op, struct error *err)
{
        struct ordered_event item = {
                .time_ns = event->time_ns,
                .op = op,
                .thread = thread->id,
                .subject = (uint32_t)event->operand[0],
                .value = { event->operand[1], event->operand[2] },
                .stack = o->stacks[thread->id - 1],
        };

        if (o->request.wants_paths && trace_walk_path(walk, thread, &item.path) < 0)
                return error_set(err, -ENOMEM, "going through the events: out of memory");
        return event_order_add(&o->order, &item, err);
}

static int hand_span(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                     const struct trace_event *event, struct error *err)
{
        uint64_t lane = event->device_span.lane;
        struct ordered_span span = {
                .said_ns = event->time_ns,
                .begin_ticks = event->device_span.begin_ticks,
                .length_ticks = event->device_span.length_ticks,
                .key = event->device_span.key,
                .space = (uint32_t)event->device_span.space,
                .text = (uint32_t)event->device_span.text,
                .device = (uint32_t)event->device_span.device,
                .location = (uint32_t)event->device_span.location,
                .lane = lane < UINT32_MAX ? (uint32_t)lane : UINT32_MAX,
                .thread = thread->id,
        };

        if (o->request.wants_paths && trace_walk_path(walk, thread, &span.path) < 0)
                return error_set(err, -ENOMEM, "going through the events: out of memory");
        return o->request.take_span(o->request.context, &span, err);
}

static uint32_t lane_of(uint64_t lane)
{
        return lane < UINT32_MAX ? (uint32_t)lane : UINT32_MAX;
}

static int hand_mark(struct ordered_events *o, const struct walked_thread *thread,
                     const struct trace_event *event, struct error *err)
{
        struct ordered_mark mark = { .said_ns = event->time_ns, .thread = thread->id };

        if (event->op == TRACE_OP_DEVICE_VALUE) {
                mark.ticks = event->device_value.ticks;
                mark.bits = event->device_value.bits;
                mark.value = trace_event_device_value(event);
                mark.kind = (uint32_t)event->device_value.kind;
                mark.device = (uint32_t)event->device_value.device;
                mark.lane = lane_of(event->device_value.lane);
                mark.plot = (uint32_t)event->device_value.plot;
        } else {
                mark.ticks = event->device_instant.ticks;
                mark.key = event->device_instant.key;
                mark.device = (uint32_t)event->device_instant.device;
                mark.lane = lane_of(event->device_instant.lane);
                mark.location = (uint32_t)event->device_instant.location;
                mark.space = (uint32_t)event->device_instant.space;
                mark.text = (uint32_t)event->device_instant.text;
        }
        return o->request.take_mark(o->request.context, &mark, err);
}

/* Only events of the thread itself count: it runs on, so it does not wait for the lock any more. */
static int give_up(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                   uint64_t time_ns, struct error *err)
{
        struct trace_event event = { .time_ns = time_ns };
        uint32_t *lock = &o->waits[thread->id - 1];

        if (*lock == 0)
                return 0;
        event.operand[0] = *lock;
        *lock = 0;
        return add_ordered(o, walk, thread, &event, EVENT_WALK_GIVE_UP, err);
}

static int follow_lock_wait(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                            const struct trace_event *event, struct error *err)
{
        uint32_t *lock = &o->waits[thread->id - 1];
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
                r = give_up(o, walk, thread, event->time_ns, err);
        if (event->op == TRACE_OP_LOCK_WAIT)
                *lock = (uint32_t)event->operand[0];
        return r;
}

int ordered_events_begin_zone(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                              uint64_t time_ns, struct error *err)
{
        o->stacks[thread->id - 1] = 0;
        return o->request.wants_give_up ? give_up(o, walk, thread, time_ns, err) : 0;
}

int ordered_events_end_zone(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                            uint64_t time_ns, struct error *err)
{
        return give_up(o, walk, thread, time_ns, err);
}

int ordered_events_add(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                       const struct trace_event *event, struct error *err)
{
        uint32_t *stack = &o->stacks[thread->id - 1];
        int r = o->request.wants_give_up ? follow_lock_wait(o, walk, thread, event, err) : 0;

        if (r < 0)
                return r;
        if (event->op == TRACE_OP_CALLSTACK) {
                *stack = (uint32_t)event->callstack.stack;
                return 0;
        }
        if (event->op == TRACE_OP_DEVICE_SPAN && o->request.take_span)
                r = hand_span(o, walk, thread, event, err);
        else if (event->op == TRACE_OP_DEVICE_VALUE || event->op == TRACE_OP_DEVICE_INSTANT)
                r = o->request.take_mark ? hand_mark(o, thread, event, err) : 0;
        else if ((o->request.ops & EVENT_WALK_OP(event->op)) != 0)
                r = add_ordered(o, walk, thread, event, (uint32_t)event->op, err);
        *stack = 0;
        return r;
}

int ordered_events_finish(struct ordered_events *o, struct error *err)
{
        return event_order_finish(&o->order, err);
}

int ordered_events_hand_out(struct ordered_events *o, uint64_t until_ns, struct error *err)
{
        return event_order_hand_out(&o->order, until_ns, err);
}
