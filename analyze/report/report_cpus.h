/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_cpus.h - what each CPU did for the recorded threads
 *
 * Way of the data:  cpu_lanes, trace_dictionary -> [report_cpus] -> cli
 */
#ifndef ANALYZE_REPORT_REPORT_CPUS_H
#define ANALYZE_REPORT_REPORT_CPUS_H

#include "base/text_view.h"

#include <stdint.h>

struct trace_dictionary;
struct trace_totals;

struct report_cpu_thread {
        uint32_t thread; /* in THREADS */
        uint32_t pid, tid;
        struct text_view name; /* empty = unknown */
        uint64_t busy_ns;
        uint64_t n_switches; /* times that it came onto the CPU */
};

struct report_cpu {
        uint64_t cpu;
        uint64_t busy_ns;
        uint64_t n_switches;
        const struct report_cpu_thread *threads; /* borrowed from `threads` below; the busiest first */
        uint32_t n_threads;
};

struct report_cpus {
        struct report_cpu *rows; /* heap; by number */
        uint32_t n_rows;
        struct report_cpu_thread *threads; /* heap */
};

/* @totals: of the whole trace, with `wants_cpus`, after trace_totals_finish().  Returns 0 or -ENOMEM. */
int report_cpus_fill(struct report_cpus *c, const struct trace_totals *totals,
                     const struct trace_dictionary *d);
void report_cpus_deinit(struct report_cpus *c);

#endif /* ANALYZE_REPORT_REPORT_CPUS_H */
