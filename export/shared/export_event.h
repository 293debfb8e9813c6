/* SPDX-License-Identifier: MIT */
/*
 * export/shared/export_event.h - whose samples are written, where a file has those of one event; and the
 * callstack that a program gave for an event
 *
 * Way of the data:  loaded_trace -> [export_event] -> export_options.event -> export_*
 */
#ifndef EXPORT_SHARED_EXPORT_EVENT_H
#define EXPORT_SHARED_EXPORT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;
struct trace_filter;

/*
 * export_event_choose() - the event that the filter names, else the one with the most samples
 * @ret_event:  0 = the trace has no samples
 * Walks through the trace only if it has samples of several events that do not come together.
 * Returns 0, or what loaded_trace_walk() returns.
 */
int export_event_choose(struct loaded_trace *trace, const struct trace_filter *filter, uint32_t *ret_event,
                        struct error *err);

/* Whether the weights of an event are nanoseconds. */
bool export_event_is_time(const struct trace_dictionary *d, uint32_t event);

/*
 * Nanoseconds between two samples, as far as they are known; else a millisecond, as most recordings have it.
 */
uint64_t export_event_interval_ns(const struct trace_dictionary *d, uint32_t event);

/* The weight with which a sample counts, by the same rule as in sample_stats. */
uint64_t export_event_weight(const struct trace_dictionary *d, uint32_t event, uint64_t weight);

/* The callstack that a program gave for its next event, by an event CALLSTACK; zero-initialised: empty. */
struct event_callstack {
        uint64_t time_ns;
        uint32_t thread;
        uint32_t stack;
};

/* Returns the stack of the present event of @thread, and forgets it.  0 = the event has none. */
static inline uint32_t event_callstack_take(struct event_callstack *c, uint32_t thread, uint64_t time_ns)
{
        uint32_t stack = c->thread == thread && c->time_ns == time_ns ? c->stack : 0;

        c->thread = 0;
        return stack;
}

#endif /* EXPORT_SHARED_EXPORT_EVENT_H */
