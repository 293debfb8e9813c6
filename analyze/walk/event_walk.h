/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/event_walk.h - the events of some ops, of all threads in the order of time, with
 * their zones and callstacks
 *
 * Way of the data:  trace_walk -> [event_walk], ordered_events -> lock_stats, memory_stats, frame_stats,
 *                   plot_stats, device_zones
 *
 * See ordered_events.h for what an event has.  Memory: a few bytes a thread, and that of event_order.
 */
#ifndef ANALYZE_WALK_EVENT_WALK_H
#define ANALYZE_WALK_EVENT_WALK_H

#include "analyze/walk/ordered_events.h"
#include "analyze/walk/trace_walk.h"

#include <stdbool.h>
#include <stdint.h>

struct event_walk {
        struct trace_walk walk;
        struct ordered_events events;
};

/*
 * event_walk_take() - go through the trace
 * Returns 0, -ENOMEM, what loaded_trace_walk() and `take` return.  The object is to be deinitialised in any
 * case; until then `walk.paths` has the paths of the events.
 */
int event_walk_take(struct event_walk *w, struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct event_walk_request *request, struct error *err);
void event_walk_deinit(struct event_walk *w);

#endif /* ANALYZE_WALK_EVENT_WALK_H */
