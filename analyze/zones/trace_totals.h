/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/trace_totals.h - one pass over a trace's events, with all sums
 *
 * Way of the data:  trace_walk -> [trace_totals] -> report
 *
 * Its memory grows with the number of threads, locations, strings and distinct samples and waits, never with
 * that of events.
 * Not thread-safe.
 */
#ifndef ANALYZE_ZONES_TRACE_TOTALS_H
#define ANALYZE_ZONES_TRACE_TOTALS_H

#include "analyze/trace/id_set.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/waits/cpu_lanes.h"
#include "analyze/waits/ready_times.h"
#include "analyze/waits/wait_stats.h"
#include "analyze/walk/name_times.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "analyze/zones/zone_groups.h"
#include "analyze/zones/zone_instances.h"
#include "analyze/zones/zone_ranks.h"
#include "format/trace_spec.h"

#include <stddef.h>
#include <stdint.h>

struct loaded_trace;
struct trace_dictionary;
struct trace_filter;

struct trace_totals {
        struct trace_walk
                walk; /* this object is its sink; it has the threads, the counts of events and their range */
        struct zone_stats zones;
        struct sample_stats samples;
        /* samples by `state`; the last one: states of newer versions */
        uint64_t n_stacks[TRACE_STACK_STATE_COUNT + 1];
        struct id_set frame_names, plot_names, pool_names; /* strings that events named */
        struct id_set locks, devices;                      /* rows of their tables */
        uint64_t n_switches;                               /* that passed; without switches of fibers */
        /* From here to `shorter_than_ns`: options, which the caller sets before trace_totals_start(). */
        bool wants_waits;   /* fill `waits` */
        bool wants_cpus;    /* fill `cpus` */
        bool wants_ready;   /* fill `ready` */
        uint32_t n_slowest; /* fill `instances`, with this many of the slowest; needs a filter for zones */
        enum zone_group_key group_by; /* fill `groups`; needs n_slowest */
        bool has_durations;           /* instances and groups only of closed zones of these durations: */
        uint64_t longer_than_ns, shorter_than_ns; /* at least the former, less than the latter */
        struct wait_stats waits;
        struct cpu_lanes cpus;
        struct ready_times ready; /* tagged with the thread */
        struct zone_instances instances;
        struct zone_groups groups;
        struct zone_ranks ranks; /* filled with `instances`; compared when the walk is over */
        struct name_times names; /* of threads that had several; always filled */
};

void trace_totals_init(struct trace_totals *t);
void trace_totals_deinit(struct trace_totals *t);

/*
 * trace_totals_start() - prepare `walk` to add up the part of a trace that @filter wants; then call
 * loaded_trace_walk()
 * Borrows both; @filter may be NULL.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int trace_totals_start(struct trace_totals *t, const struct loaded_trace *trace,
                       const struct trace_filter *filter);

/*
 * The same for a complete dictionary; then call trace_walk_chunk() and trace_walk_finish().  For tests.
 */
int trace_totals_start_plain(struct trace_totals *t, const struct trace_dictionary *dictionary);

/*
 * After the walk: whether a thread lived in the part that the filter wants; without a filter, also a thread
 * without events.
 */
bool trace_totals_wants_thread(const struct trace_totals *t, uint32_t thread);

/*
 * After the walk: closes open zones and waits at its end, or at @end_ns if that is later.
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int trace_totals_finish(struct trace_totals *t, uint64_t end_ns);

#endif /* ANALYZE_ZONES_TRACE_TOTALS_H */
