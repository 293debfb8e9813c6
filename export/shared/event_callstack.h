/* SPDX-License-Identifier: MIT */
/*
 * export/shared/event_callstack.h - the callstack that a program gave for its next event
 *
 * Way of the data:  trace_walk -> [event_callstack] -> export_perfetto, export_pprof
 */
#ifndef EXPORT_SHARED_EVENT_CALLSTACK_H
#define EXPORT_SHARED_EVENT_CALLSTACK_H

#include <stdint.h>

/* For an event CALLSTACK; zero-initialised means empty. */
struct event_callstack {
        uint64_t time_ns;
        uint32_t thread;
        uint32_t stack;
};

/* The stack of the present event of @thread, and forgets it.  0 = it has none. */
static inline uint32_t event_callstack_take(struct event_callstack *c, uint32_t thread, uint64_t time_ns)
{
        uint32_t stack = c->thread == thread && c->time_ns == time_ns ? c->stack : 0;

        c->thread = 0;
        return stack;
}

#endif /* EXPORT_SHARED_EVENT_CALLSTACK_H */
