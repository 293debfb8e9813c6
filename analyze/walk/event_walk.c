/* SPDX-License-Identifier: MIT */
#include "analyze/walk/event_walk.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct event_walk *w = context;

        return ordered_events_add(&w->events, &w->walk, thread, event, err);
}

static int take_begin(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct event_walk *w = context;

        return ordered_events_begin_zone(&w->events, &w->walk, thread, event->time_ns, err);
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        struct event_walk *w = context;

        return zone->closed ? ordered_events_end_zone(&w->events, &w->walk, thread, zone->end_ns, err) : 0;
}

int event_walk_take(struct event_walk *w, struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct event_walk_request *request, struct error *err)
{
        struct trace_sink sink = {
                .context = w,
                .begin_zone = take_begin,
                .zone = request->wants_give_up ? take_zone : NULL,
                .event = take_event,
                .wants_paths = request->wants_paths,
                .untimed_ops = request->untimed_ops,
                .may_skip = request->untimed_ops == 0,
        };
        int r;

        *w = (struct event_walk){ .walk = { .threads = NULL } };
        ordered_events_init(&w->events, request);
        r = trace_walk_init(&w->walk, trace, filter, &sink);
        if (r == 0)
                r = ordered_events_reserve(&w->events,
                                           trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS));
        if (r < 0)
                return error_set(err, r, "going through the events: out of memory");
        if (request->paths)
                trace_walk_adopt_paths(&w->walk, request->paths);
        r = loaded_trace_walk(trace, &w->walk, err);
        if (r == 0)
                r = ordered_events_finish(&w->events, err);
        if (request->paths) {
                *request->paths = w->walk.paths;
                w->walk.paths = (struct zone_paths){ .states = NULL };
        }
        return r;
}

void event_walk_deinit(struct event_walk *w)
{
        trace_walk_deinit(&w->walk);
        ordered_events_deinit(&w->events);
}
