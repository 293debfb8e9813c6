/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/ordered_events.h - the events of some ops that a walk reports, in the order of time
 *
 * Way of the data:  trace_walk (a sink of the caller's) -> [ordered_events] -> event_order -> event_walk,
 *                   timeline
 *
 * The sink hands over all events, but the beginnings and ends of zones only if `wants_give_up`: a thread that
 * begins or ends a zone does not wait for a lock any more.  The first operand of an event is `subject`, the
 * next two are `value`.  A DEVICE_SPAN needs no order, as it has its own times, and would make all events
 * larger: it goes to `take_span` as it comes, and values and moments of devices to `take_mark`.  Memory: a
 * few bytes a thread, and that of event_order.
 */
#ifndef ANALYZE_WALK_ORDERED_EVENTS_H
#define ANALYZE_WALK_ORDERED_EVENTS_H

#include "analyze/trace/event_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_event;
struct trace_walk;
struct walked_thread;
struct zone_paths;

/* In place of an op: the thread goes on without the lock for which it waited. */
#define EVENT_WALK_GIVE_UP UINT32_C(1000)

#define EVENT_WALK_OP(op) (UINT64_C(1) << (op))

/* The operands of a DEVICE_SPAN, and what it was handed over in. */
struct ordered_span {
        uint64_t said_ns; /* when it was handed over */
        uint64_t begin_ticks, length_ticks;
        uint64_t key;              /* 0 without a space = none */
        uint32_t space, text;      /* strings: what kind of number the key is; its arguments; 0 = none */
        uint32_t device, location; /* ids */
        uint32_t lane;             /* numbers beyond UINT32_MAX count as that one */
        uint32_t thread, path;     /* path: of zones; 0 = none, or wants_paths is off */
};

/* A DEVICE_VALUE or DEVICE_INSTANT likewise. */
struct ordered_mark {
        uint64_t said_ns, ticks;
        uint64_t bits; /* of a value, of the kind `kind`: enum trace_value_kind */
        double value;  /* the same as a number */
        uint64_t key;  /* of an instant, as of a span */
        uint32_t device, lane, thread;
        uint32_t plot;                  /* id; 0 = an instant */
        uint32_t location, space, text; /* of an instant */
        uint32_t kind;
};

/* Return 0 or -errno, which ends the walk. */
typedef int ordered_events_take_span(void *context, const struct ordered_span *span, struct error *err);
typedef int ordered_events_take_mark(void *context, const struct ordered_mark *mark, struct error *err);

struct event_walk_request {
        uint64_t ops; /* EVENT_WALK_OP() of those that are wanted */
        event_order_take *take;
        ordered_events_take_span *take_span; /* if DEVICE_SPAN is in `ops` */
        ordered_events_take_mark *take_mark; /* if DEVICE_VALUE or DEVICE_INSTANT is; NULL = not wanted */
        void *context;
        uint64_t untimed_ops; /* of `ops`: come from the whole trace, whatever time the filter wants */
        bool wants_paths;
        /* if not NULL: paths have the numbers of these, of another walk with the same filter; borrowed */
        struct zone_paths *paths;
        bool wants_give_up; /* needs LOCK_WAIT and LOCK_OBTAIN in `ops` */
};

struct ordered_events {
        struct event_order order;
        struct event_walk_request request;
        /* heap; by thread id - 1: stack of the last CALLSTACK, for the next event; 0 = none */
        uint32_t *stacks;
        uint32_t *waits; /* heap; by thread id - 1: the lock for which it waits */
        size_t stacks_capacity, waits_capacity;
        uint32_t n_threads;
};

void ordered_events_init(struct ordered_events *o, const struct event_walk_request *request);
void ordered_events_deinit(struct ordered_events *o);

/* Makes room for the threads 1 .. @n_threads.  Returns 0 or -ENOMEM. */
int ordered_events_reserve(struct ordered_events *o, uint32_t n_threads);

/*
 * Take the beginning, or the end, of a zone.  Return 0, -ENOMEM, or the result of `take`, as
 * ordered_events_add() does.
 */
int ordered_events_begin_zone(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                              uint64_t time_ns, struct error *err);
int ordered_events_end_zone(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                            uint64_t time_ns, struct error *err);

/* Takes any other event, of any op.  @walk: for paths. */
int ordered_events_add(struct ordered_events *o, struct trace_walk *walk, struct walked_thread *thread,
                       const struct trace_event *event, struct error *err);
int ordered_events_finish(struct ordered_events *o, struct error *err);

/* While the trace grows: as event_order_hand_out(). */
int ordered_events_hand_out(struct ordered_events *o, uint64_t until_ns, struct error *err);

#endif /* ANALYZE_WALK_ORDERED_EVENTS_H */
