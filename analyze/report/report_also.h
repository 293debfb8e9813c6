/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_also.h - how much there is of all that is neither a sample nor a zone
 *
 * Way of the data:  trace_totals, trace_dictionary -> [report_also] -> recording_also
 */
#ifndef ANALYZE_REPORT_REPORT_ALSO_H
#define ANALYZE_REPORT_REPORT_ALSO_H

#include <stdint.h>

struct trace_dictionary;
struct trace_totals;

/* Numbers of events, and of the different things that they are about. */
struct report_also {
        uint64_t n_messages;
        uint64_t n_frame_marks, n_frame_begins, n_frame_ends;
        uint32_t n_frame_names; /* the main frames, which have none, count as one */
        uint64_t n_plot_values;
        uint32_t n_plots;
        uint64_t n_allocations, n_frees, n_discards;
        uint32_t n_pools; /* with the main one, if it was used */
        uint32_t n_locks;
        uint64_t n_lock_waits, n_lock_obtains;
        uint32_t n_fibers;
        uint64_t n_fiber_enters;
        uint32_t n_devices;
        uint64_t n_device_zones, n_device_spans;
        uint64_t n_zone_texts, n_zone_names, n_zone_values, n_zone_colors;
        uint32_t n_source_texts;
        uint64_t n_source_bytes;
        uint32_t n_code_regions;
        uint64_t n_switches; /* context switches of threads that passed the filter, in and out */
};

/* @totals:  of the whole trace, finished; @dictionary as it is at the trace's end. */
struct report_also report_also_of(const struct trace_totals *totals,
                                  const struct trace_dictionary *dictionary);

#endif /* ANALYZE_REPORT_REPORT_ALSO_H */
