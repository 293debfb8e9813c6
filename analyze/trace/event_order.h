/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/event_order.h - events of several threads in the order of time
 *
 * Way of the data:  trace_walk -> [event_order] -> lock_stats, memory_stats, frame_stats, device_zones
 *
 * A trace reports its threads alternately, a few milliseconds from each other.  Frees of memory that another
 * thread allocated, and waits for locks that another thread holds, need one order.  Keeps
 * EVENT_ORDER_EVENTS_MAX events, and hands out the older half when it is full: events that come after later
 * ones were handed out are counted, and handed out late.  Where the trace grows, event_order_hand_out() does
 * not wait until it is full.  Not thread-safe.
 */
#ifndef ANALYZE_TRACE_EVENT_ORDER_H
#define ANALYZE_TRACE_EVENT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define EVENT_ORDER_EVENTS_MAX (UINT32_C(1) << 18)

struct ordered_event {
        uint64_t time_ns;
        uint64_t sequence; /* set by event_order_add(): equal times stay in the order of arrival */
        uint64_t value[2];
        uint32_t op;      /* enum trace_op, or a number that sender and receiver agree on */
        uint32_t thread;  /* in THREADS */
        uint32_t subject; /* lock, pool, name, device */
        uint32_t path;    /* zone path that was open; 0 = none */
        uint32_t stack;   /* of the event; 0 = none */
};

/* Returns 0 or -errno, which ends the walk. */
typedef int event_order_take(void *context, const struct ordered_event *event, struct error *err);

struct event_order {
        event_order_take *take;
        void *context;
        struct ordered_event *events; /* heap */
        size_t n_events, capacity;
        uint32_t n_max;
        bool is_mixed; /* the events are not in order by themselves */
        uint64_t n_added;
        uint64_t handed_ns; /* the latest time that was handed out */
        uint64_t n_late;    /* handed out after a later one */
};

/* @n_max: 0 = EVENT_ORDER_EVENTS_MAX; tests use less. */
void event_order_init(struct event_order *o, uint32_t n_max, event_order_take *take, void *context);
void event_order_deinit(struct event_order *o);

/* Returns 0, -ENOMEM, what `take` returned. */
int event_order_add(struct event_order *o, const struct ordered_event *event, struct error *err);
int event_order_finish(struct event_order *o, struct error *err);

/* Hands out what is older than @until_ns: no event before that is to come.  Returns as event_order_add(). */
int event_order_hand_out(struct event_order *o, uint64_t until_ns, struct error *err);

#endif /* ANALYZE_TRACE_EVENT_ORDER_H */
