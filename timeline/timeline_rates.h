/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_rates.h - counters of threads as rates, and how many CPUs were busy or wanted
 *
 * Way of the data:  trace_walk (samples), cpu_lanes, timeline_states -> [timeline_rates] -> timeline_index
 *
 * A value of a counter is the count between two samples of a thread, divided by the time that the thread ran
 * in between.  Events whose weight is a time (cpu-clock) are no counters.
 *
 * The load goes into the index only at the end: the mean in each of some ten thousand equal parts of the
 * recording.  So does the CPU time, as sums since the start: the mean between any two of their values is
 * exact, at each zoom.  Where it grows evenly over several parts, it has values at both ends alone.  As long
 * as the trace grows, their lanes are empty, and timeline_rates_view() answers for them.
 */
#ifndef TIMELINE_TIMELINE_RATES_H
#define TIMELINE_TIMELINE_RATES_H

#include "base/intern.h"
#include "timeline/timeline_lane_list.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct timeline_columns;
struct timeline_view;
struct trace_dictionary;
struct trace_event;
struct walked_thread;

#define TIMELINE_LOAD_BINS (UINT32_C(1) << 16) /* at most */

struct timeline_counter {
        uint64_t ran_ns; /* by the thread, at the sample before */
        uint32_t track;
        struct timeline_lane_list lanes; /* one */
};

struct timeline_rates {
        struct timeline_index *index;
        const struct trace_dictionary *dictionary;
        struct intern keys;                /* thread, event */
        struct timeline_counter *counters; /* heap; by id - 1 */
        size_t capacity;
        /* heap; by part of the time: of WANTED, only what RUNNING has not */
        uint64_t *use_ns[TIMELINE_USES];
        unsigned bin_log2; /* a part has 2^this ns */
        uint32_t n_bins;   /* that anything was in */
        uint64_t until_ns; /* while the trace grows: what happened before is known; 0 = it does not grow */
        uint32_t lanes[1 + TIMELINE_USES]; /* then: of the load, of CPU time; id + 1; 0 = none */
};

/* To be deinitialised in any case.  Returns 0 or -ENOMEM. */
int timeline_rates_init(struct timeline_rates *c, struct timeline_index *index,
                        const struct trace_dictionary *dictionary);
void timeline_rates_deinit(struct timeline_rates *c);

/* Takes a sample of any event.  Returns as timeline_index_add_value(). */
int timeline_rates_sample(struct timeline_rates *c, const struct walked_thread *thread,
                          const struct trace_event *event, struct error *err);

/* A CPU was busy, or, for WANTED, a thread was ready to run and not on a CPU. */
void timeline_rates_use(struct timeline_rates *c, enum timeline_use use, uint64_t begin_ns, uint64_t end_ns);

/*
 * timeline_rates_grow() - of a trace that grows: makes the lanes of the load, which is known until @until_ns
 * timeline_rates_view() - as timeline_query_view() of these lanes
 * timeline_rates_count() - how many values such a lane has; 0 = another lane, or not known yet
 * _view(): returns 1; 0 = it is no such lane; -EINVAL, -E2BIG, -ENOMEM.
 */
int timeline_rates_grow(struct timeline_rates *c, uint64_t until_ns, struct error *err);
int timeline_rates_view(const struct timeline_rates *c, const struct timeline_view *view,
                        struct timeline_columns *columns, struct error *err);
uint32_t timeline_rates_count(const struct timeline_rates *c, uint32_t lane);

/*
 * Adds the load and the CPU time until @end_ns, if any CPU is known to have been busy.  Returns as
 * timeline_index_add_value().
 */
int timeline_rates_finish(struct timeline_rates *c, uint64_t end_ns, struct error *err);

#endif /* TIMELINE_TIMELINE_RATES_H */
