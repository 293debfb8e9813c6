/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_syscalls.h - system calls: how often, how long, and who called
 *
 * Way of the data:  trace_dictionary (SYSCALLS), sample_stats, kernel_calls -> [report_syscalls] ->
 *                   syscalls_view
 *
 * Numbers, times, bytes and errors are exact sums of the whole recording, whatever a filter leaves.
 * Callers and zones are those of sampled calls: each sample represents the calls of its kind since the
 * one before.  Times are ns.  Not thread-safe.
 */
#ifndef ANALYZE_REPORT_REPORT_SYSCALLS_H
#define ANALYZE_REPORT_REPORT_SYSCALLS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct report;

struct report_syscall {
        struct text_view name; /* "write" */
        uint64_t n_calls, n_errors;
        uint64_t time_ns; /* from entry to return, with waiting */
        uint64_t longest_ns;
        uint64_t n_bytes;   /* 0 = it transfers no data */
        uint32_t n_threads; /* that called it; those that were not told apart count as one */
        uint64_t n_samples;
        uint64_t sampled_calls; /* that the samples stand for */
        uint32_t caller;        /* function label: who called most often; 0 = not known */
        uint64_t caller_calls;  /* of `sampled_calls` */
};

/* Sampled calls of one kind that came from one place. */
struct report_syscall_place {
        uint32_t syscall; /* in `rows` */
        /* Of `callers`: function label, 0 = not known.  Of `zones`: location, 0 = in no zone. */
        uint32_t place;
        uint64_t n_samples;
        uint64_t sampled_calls;
};

struct report_syscall_thread {
        uint32_t syscall; /* in `rows` */
        uint32_t thread;  /* in THREADS; 0 = several */
        uint64_t n_calls, n_errors, time_ns, n_bytes;
};

struct report_syscalls {
        bool is_recorded; /* with `hyprof record --syscalls` */
        bool lacks_end;   /* the recording did not come to its end, when the numbers are written */
        /* heap, owned; each by what weighs most: time, sampled calls, sampled calls, time */
        struct report_syscall *rows;
        struct report_syscall_place *callers, *zones;
        struct report_syscall_thread *threads;
        uint32_t n_rows, n_callers, n_zones, n_threads;
        uint64_t n_calls, n_errors, time_ns, n_samples;
        uint64_t threads_ns; /* from each thread's first event to its last: what `time_ns` is a part of */
        bool has_zones;      /* some of the samples were taken in zones */
};

/* @report: with samples, zones and threads.  Returns 0, -ENOMEM or -EOVERFLOW. */
int report_syscalls_fill(struct report_syscalls *s, const struct report *report);
void report_syscalls_deinit(struct report_syscalls *s);

/* How many calls of its kind a place made, as the samples tell. */
uint64_t report_syscalls_estimate(const struct report_syscall *row, uint64_t sampled_calls);

#endif /* ANALYZE_REPORT_REPORT_SYSCALLS_H */
