/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_parts.h - the functions that fill the tables of a report; for the files of this
 * folder
 *
 * Way of the data:  trace_totals, trace_dictionary, report_samples -> [report_parts] -> report_tables
 *
 * report.c fills each part once; its functions are in the file of their name.  Those that own memory are
 * deinitialised with the report, also after a failure.  Not thread-safe.
 */
#ifndef ANALYZE_REPORT_REPORT_PARTS_H
#define ANALYZE_REPORT_REPORT_PARTS_H

#include "analyze/trace/sample_stats.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct kernel_calls;
struct loaded_trace;
struct python_stacks;
struct report;
struct report_counters;
struct report_cpus;
struct report_lines;
struct report_owners;
struct report_renamed;
struct report_samples;
struct report_syscalls;
struct report_waits;
struct trace_dictionary;
struct trace_totals;

/* ------------------------------------------------------------------ source lines */

/* @report: has its event and samples.  Returns 0, -ENOMEM, -EOVERFLOW; to be deinitialised. */
int report_lines_fill(struct report_lines *l, const struct report *report);
void report_lines_deinit(struct report_lines *l);

/* ------------------------------------------------------------------ counters */

/*
 * report_counters_fill() - fill report->counters, after functions and zones
 * @samples:  of the trace; the call selects other events in it
 * Returns 0 or -ENOMEM; report_counters_deinit() frees the memory.
 */
int report_counters_fill(struct report *report, const struct trace_dictionary *d,
                         struct report_samples *samples);
void report_counters_deinit(struct report_counters *c);

/* ------------------------------------------------------------------ CPUs and threads */

/* @totals: of the whole trace, with `wants_cpus`, after trace_totals_finish().  Returns 0 or -ENOMEM. */
int report_cpus_fill(struct report_cpus *c, const struct trace_totals *totals,
                     const struct trace_dictionary *d);
void report_cpus_deinit(struct report_cpus *c);

/*
 * report_owners_fill() - walk through the trace once more, if any thread was ready to run
 * @totals:  finished, with `wants_ready`; stopped time is known only with `wants_waits`
 * Returns as loaded_trace_walk().
 */
int report_owners_fill(struct report_owners *o, struct loaded_trace *trace, struct trace_totals *totals,
                       struct error *err);
void report_owners_deinit(struct report_owners *o);

/*
 * report_renamed_fill() - find the threads of the report that did something under at least two names
 * A name under which a thread did less than 1 % is left out: before a thread takes its own name, it has that
 * of its creator.  Returns 0 or -ENOMEM.
 */
int report_renamed_fill(struct report_renamed *n, const struct report *report);
void report_renamed_deinit(struct report_renamed *n);

/* ------------------------------------------------------------------ waits and calls */

/* Whether native code counts for the Python function that called it. */
enum report_waits_view {
        REPORT_WAITS_NATIVE,  /* never */
        REPORT_WAITS_AS_MOST, /* if more than half of the waited time is below Python functions */
        REPORT_WAITS_PYTHON
};

/*
 * @totals: of the whole trace, finished, with `wants_waits`
 * @python: of the trace
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int report_waits_fill(struct report_waits *w, const struct trace_totals *totals,
                      const struct trace_dictionary *d, const struct python_stacks *python,
                      enum report_waits_view view);
void report_waits_deinit(struct report_waits *w);

/* @report: with samples, threads and waits.  Returns 0, -ENOMEM, -EOVERFLOW. */
int kernel_calls_fill(struct kernel_calls *k, const struct report *report);

/* "write" of "sys_write", which is the frame of a counted system call; empty = no such function. */
struct text_view kernel_calls_counted_call(const struct report *report, uint32_t label);

/*
 * Returns the label of the program's function that entered the kernel at the call stack @stack: the innermost
 * named function outside of the C library, else that of the C library; 0 = not known.
 */
uint32_t kernel_calls_caller(const struct report *report, uint32_t stack);

/* @report: with samples, zones and threads.  Returns 0, -ENOMEM or -EOVERFLOW. */
int report_syscalls_fill(struct report_syscalls *s, const struct report *report);
void report_syscalls_deinit(struct report_syscalls *s);

/* ------------------------------------------------------------------ missing data */

/*
 * report_gaps_find() - fill report->gaps from all other parts of the report
 * @totals:  of the same trace, finished
 * Returns 0 or -ENOMEM.
 */
int report_gaps_find(struct report *report, const struct trace_totals *totals);

#endif /* ANALYZE_REPORT_REPORT_PARTS_H */
