/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace_totals.h - one pass over a trace's events: everything that is added up
 *
 * Way of the data:  trace_reader -> event_decoder -> [trace_totals] -> report
 *
 * The chunks are given in the order of the file.  What is kept grows with the
 * number of threads, locations, strings and distinct samples and waits, never
 * with that of events.
 * Not thread-safe.
 */
#ifndef ANALYZE_TRACE_TOTALS_H
#define ANALYZE_TRACE_TOTALS_H

#include "analyze/cpu_lanes.h"
#include "analyze/id_set.h"
#include "analyze/sample_stats.h"
#include "analyze/thread_timeline.h"
#include "analyze/wait_stats.h"
#include "analyze/zone_stats.h"
#include "format/trace_spec.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;
struct trace_item;

struct trace_totals {
        struct thread_timeline *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        size_t threads_capacity;
        struct zone_stats zones;
        struct sample_stats samples;
        uint64_t n_events[TRACE_OP_COUNT];                 /* of each op */
        uint64_t n_stacks[TRACE_STACK_STATE_COUNT + 1];    /* samples by `state`; last: of a newer version */
        struct id_set frame_names, plot_names, pool_names; /* strings that events named */
        uint64_t n_switches;        /* of the kernel's threads: a fiber's are none of the kernel */
        uint64_t n_unknown_ops;     /* events of a newer version of the format, left out */
        uint64_t first_ns, last_ns; /* of all events; valid after trace_totals_finish() if `any` */
        bool any;                   /* there was an event */
        bool wants_waits;           /* set by the caller before the first chunk: fill `waits` */
        bool wants_cpus;            /* the same for `cpus` */
        struct wait_stats waits;
        struct cpu_lanes cpus;
};

void trace_totals_init(struct trace_totals *t);
void trace_totals_deinit(struct trace_totals *t);

/*
 * trace_totals_add_chunk() - take in the events of a chunk of the kind EVENTS
 * @dictionary:  of the trace, as it is after the chunks before
 * Returns 0, -EBADMSG for a malformed body (events before the fault are counted), -ENOMEM, -EOVERFLOW.
 */
int trace_totals_add_chunk(struct trace_totals *t, const struct trace_dictionary *dictionary,
                           const struct trace_item *item, struct error *err);

/*
 * trace_totals_finish() - no more chunks: closes what is open
 * @end_ns:  when the recording ended, if that is known to be after the last event; else 0
 * Returns 0 or -ENOMEM.
 */
int trace_totals_finish(struct trace_totals *t, uint64_t end_ns);

#endif /* ANALYZE_TRACE_TOTALS_H */
