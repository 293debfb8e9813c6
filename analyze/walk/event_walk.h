/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/event_walk.h - the events of some ops, of all threads in the order of time, with
 * their zones and callstacks
 *
 * Way of the data:  trace_walk -> [event_walk] -> event_order -> lock_stats, memory_stats, frame_stats,
 *                   plot_stats, device_zones
 *
 * The first operand of an event is `subject`, the next two are `value`; for a DEVICE_SPAN the
 * location is `detail`, and the values are its beginning and its length.  Memory: a few bytes a
 * thread, and that of event_order.
 */
#ifndef ANALYZE_WALK_EVENT_WALK_H
#define ANALYZE_WALK_EVENT_WALK_H

#include "analyze/trace/event_order.h"
#include "analyze/walk/trace_walk.h"

#include <stdbool.h>
#include <stdint.h>

/* In place of an op: the thread goes on without the lock that it waited for. */
#define EVENT_WALK_GIVE_UP UINT32_C(1000)

#define EVENT_WALK_OP(op) (UINT64_C(1) << (op))

struct event_walk_request {
        uint64_t ops; /* EVENT_WALK_OP() of those that are wanted */
        event_order_take *take;
        void *context;
        bool wants_paths;
        bool wants_give_up; /* needs LOCK_WAIT and LOCK_OBTAIN in `ops` */
};

struct event_walk {
        struct trace_walk walk;
        struct event_order order;
        struct event_walk_request request;
        uint32_t *stacks; /* heap; by thread id - 1: of a CALLSTACK whose event is to come; 0 = none */
        uint32_t *waits;  /* heap; likewise: the lock that it waits for */
};

/*
 * event_walk_take() - go through the trace
 * Returns 0, -ENOMEM, what loaded_trace_walk() and `take` return.  The object is to be deinitialised in any
 * case; until then its `walk.paths` name the paths of the events.
 */
int event_walk_take(struct event_walk *w, struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct event_walk_request *request, struct error *err);
void event_walk_deinit(struct event_walk *w);

#endif /* ANALYZE_WALK_EVENT_WALK_H */
