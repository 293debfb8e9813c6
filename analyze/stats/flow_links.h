/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/flow_links.h - the steps of all flows of a trace, in the order of time
 *
 * Way of the data:  event_walk, flow_match -> [flow_links] -> flow_stats, exports
 *
 * Flows are followed through the whole trace, whatever a filter wants: a link passes if one of its ends does.
 * Memory: that of event_order and flow_match, and the zone paths.
 */
#ifndef ANALYZE_STATS_FLOW_LINKS_H
#define ANALYZE_STATS_FLOW_LINKS_H

#include "analyze/stats/flow_match.h"
#include "analyze/trace/zone_paths.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

struct flow_links {
        struct flow_match match;
        struct zone_paths paths;           /* of places, when the walk is over */
        const struct zone_paths *naming;   /* borrowed: the same at any time */
        const struct trace_filter *filter; /* borrowed; NULL = everything */
        uint64_t n_begun, n_ended;         /* of those that pass: by their BEGIN, by their END */
        uint64_t n_links;                  /* that pass */
        uint64_t n_steps_of_none, n_ends_of_none;
        uint64_t n_late; /* see event_order */
        uint64_t n_open; /* were not over: at the end, when they began again, or when they were given up */
};

/* Returns 0, or -errno after error_set(), which ends the walk. */
typedef int flow_links_take_link(void *context, const struct flow_links *links, const struct flow_link *link,
                                 struct error *err);

/*
 * flow_links_take() - go through the trace
 * @take:  gets each link that passes; NULL = they are only counted
 * Returns 0, -ENOMEM, what loaded_trace_walk() and @take return; to be deinitialised in any case.
 */
int flow_links_take(struct flow_links *l, struct loaded_trace *trace, const struct trace_filter *filter,
                    flow_links_take_link *take, void *context, struct error *err);
void flow_links_deinit(struct flow_links *l);

/* Whether the filter wants an event: by its thread, time and zones. */
bool flow_links_wants(const struct flow_links *l, const struct flow_point *point);

/* Both ends, and where the flow began: then it is whole in a file that has what the filter wants. */
static inline bool flow_links_wants_whole(const struct flow_links *l, const struct flow_link *link)
{
        return flow_links_wants(l, &link->begin) && flow_links_wants(l, &link->from) &&
               flow_links_wants(l, &link->to);
}

/* The innermost zone of a place: its location; 0 = outside of zones. */
static inline uint32_t flow_links_zone(const struct flow_links *l, const struct flow_point *point)
{
        return zone_paths_location(l->naming, point->place);
}

#endif /* ANALYZE_STATS_FLOW_LINKS_H */
