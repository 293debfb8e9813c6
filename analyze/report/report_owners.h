/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_owners.h - who had the CPU while threads were ready to run, by thread and by CPU
 *
 * Way of the data:  ready_owners, wait_stats -> [report_owners] -> threads_view, off_cpu_view
 */
#ifndef ANALYZE_REPORT_REPORT_OWNERS_H
#define ANALYZE_REPORT_REPORT_OWNERS_H

#include "analyze/waits/ready_owners.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_totals;

struct report_owner {
        uint32_t subject;           /* thread, or number of the CPU */
        enum ready_owner_kind kind; /* STOPPED: by thread alone */
        uint32_t owner;             /* thread of OWN and PROGRAM; 0 = none */
        double ns;
        double share; /* of all time of the subject that is here */
};

struct report_owners {
        struct report_owner *by_thread, *by_cpu; /* heap; the longest first */
        size_t n_by_thread, n_by_cpu;
};

/*
 * report_owners_fill() - walk through the trace once more, if any thread was ready to run
 * @totals:  finished, with `wants_ready`; stops are there with `wants_waits`
 * Returns as loaded_trace_walk().
 */
int report_owners_fill(struct report_owners *o, struct loaded_trace *trace, struct trace_totals *totals,
                       struct error *err);
void report_owners_deinit(struct report_owners *o);

#endif /* ANALYZE_REPORT_REPORT_OWNERS_H */
