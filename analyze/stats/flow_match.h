/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/flow_match.h - where the work that a thread takes over comes from
 *
 * Way of the data:  event_walk (FLOW) -> [flow_match] -> flow_links, timeline_flows, path_flows
 *
 * Takes events FLOW in the order of time and finds the one before each in its flow, by the rule of the trace
 * format: a STEP or END belongs to the flow of its own process, else to the one that another process of its
 * recording began last.  Memory: 136 bytes for each flow that is not over, FLOW_MATCH_OPEN_MAX of them:
 * beyond that the oldest is given up, and counted.  Constant time an event.  Not thread-safe.
 */
#ifndef ANALYZE_STATS_FLOW_MATCH_H
#define ANALYZE_STATS_FLOW_MATCH_H

#include <stddef.h>
#include <stdint.h>

struct ordered_event;
struct trace_dictionary;

#define FLOW_MATCH_OPEN_MAX (UINT32_C(1) << 18)

struct flow_point;

/* Takes the begin of a flow that is not over. */
typedef void flow_match_take_open(void *context, const struct flow_point *begin);

/* An event FLOW. */
struct flow_point {
        uint64_t time_ns, id;
        uint32_t space; /* string; 0 = not said */
        uint32_t thread, process, recording;
        uint32_t phase; /* enum trace_flow_phase */
        uint32_t place; /* the caller's: what it knows about the zone */
};

/* Work went from one to the other. */
struct flow_link {
        struct flow_point begin; /* of the flow */
        struct flow_point from, to;
        uint64_t number; /* of the flow: how many had begun with it */
};

struct flow_match {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct open_flow *flows;                   /* heap; private, as the rest of these */
        size_t capacity;
        uint32_t n_flows, first_free;
        uint32_t *own, *shared; /* heap; slots: flows + 1 by number and process, by number alone */
        uint32_t oldest, newest;
        uint32_t n_open, n_open_max; /* open_max: FLOW_MATCH_OPEN_MAX; tests use less */
        uint64_t n_begun, n_ended;
        uint64_t n_begun_again; /* BEGIN of a flow of its process that was not over: that one never ends */
        uint64_t n_given_up;    /* not over, and too many came after them */
        flow_match_take_open *forget; /* the caller's: takes those of the two before; NULL = nothing does */
        void *context;
        uint64_t n_steps_of_none, n_ends_of_none;
};

void flow_match_init(struct flow_match *m, const struct trace_dictionary *dictionary);
void flow_match_deinit(struct flow_match *m);

/* Fills in the process and recording of the point's thread. */
void flow_match_find_owner(const struct flow_match *m, struct flow_point *point);

/* The point of an event of the op FLOW; its place is the path. */
struct flow_point flow_match_point(const struct flow_match *m, const struct ordered_event *event);

/*
 * flow_match_add() - the next event, in the order of time
 * Returns 1 with the link that ends at it; 0: it begins a flow, belongs to none, or has no known phase;
 * -ENOMEM.
 */
int flow_match_add(struct flow_match *m, const struct flow_point *point, struct flow_link *ret_link);

/* Calls @take for each flow that is not over, the oldest first. */
void flow_match_each_open(const struct flow_match *m, flow_match_take_open *take, void *context);

#endif /* ANALYZE_STATS_FLOW_MATCH_H */
