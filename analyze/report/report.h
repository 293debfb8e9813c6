/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report.h - the content of a trace, as tables ready to be shown
 *
 * Way of the data:  trace_reader -> trace_totals, function_table, label_tree -> [report] ->
 *                   view
 *
 * Everything that views show is here, sorted: they compute only their own wording.  Strings are borrowed from
 * the trace, which the report keeps open; they are bytes that the profiled program may have chosen, without
 * NUL and of any encoding.
 *
 * Times are CLOCK_MONOTONIC_RAW ns, durations ns, shares 0 .. 1.
 * Not thread-safe.
 */
#ifndef ANALYZE_REPORT_REPORT_H
#define ANALYZE_REPORT_REPORT_H

#include "analyze/report/report_samples.h"
#include "analyze/report/report_tables.h"
#include "analyze/samples/function_table.h"
#include "analyze/samples/unsampled_time.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/lost_zones.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/zones/trace_totals.h"
#include "analyze/zones/zone_cost.h"
#include "base/error.h"
#include "base/text_view.h"
#include "format/trace_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the table META; empty where the recorder did not state it. */
struct report_recording {
        struct text_view command, hostname, kernel, machine, cpus, hyprof_version, environment;
        struct text_view exit_status; /* "0", "3", "signal 9" */
        struct text_view fallback;    /* why the recorder took another sample event than the usual one */
        struct text_view unwind;      /* how callstacks were made: "auto", "dwarf", "fp" */
        struct text_view scope;       /* whose events: "cgroup", "cpus", "threads" */
        /* the chosen part of the recording, in words; belongs to the caller of report_load() */
        struct text_view filter;
        uint64_t stack_copy_bytes;  /* of each sample; 0 = none, or not stated */
        uint64_t n_descriptors;     /* of events and BPF programs; 0 = not stated */
        uint64_t pinned_bytes;      /* of the rings in the kernel, of all CPUs; 0 = not stated */
        uint64_t recorder_cpu_ns;   /* the recorder's own processor time; 0 = not stated */
        uint64_t start_realtime_ns; /* since 1970; 0 = unknown */
        uint64_t duration_ns;       /* of the recording, or from the first to the last event */
        struct trace_range range;   /* what of it is looked at */
        bool has_kernel_addresses;  /* a frame has an address of the kernel's code */
        /* the length of that part; equals duration_ns for the whole recording */
        uint64_t range_ns;
};

struct report_event {
        uint32_t event; /* id of the sample event; row `event` - 1 of the report's */
        struct text_view name, unit;
        uint64_t rate;
        uint32_t mode;      /* enum trace_sample_mode */
        uint32_t leader;    /* WITH_LEADER: the id of the event with whose samples it was read; else 0 */
        bool is_tracepoint; /* all its samples have the same functions of the kernel */
        struct sample_sum sum;
};

struct report_zone {
        uint32_t location;
        struct text_view name, function, file;
        uint32_t line;       /* 0 = unknown */
        uint64_t n_closed;   /* the mean, the extremes and the quantiles are those of closed zones */
        uint64_t n_unclosed; /* never ended: the known part of their time is in total, self and on-CPU */
        uint64_t total_ns;   /* recursion counts once; summed over threads */
        uint64_t self_ns;
        uint64_t on_cpu_ns, waiting_ns; /* of total_ns; see `on_cpu_known` */
        bool is_cpu_unknown;            /* of these zones, as some are of imported threads */
        /* The mean without the cost of sampling; 0 = the cost is unknown, or too small to matter. */
        uint64_t mean_without_samples_ns;
        uint64_t min_ns, mean_ns, max_ns;
        uint64_t p50_ns, p90_ns, p99_ns, p999_ns; /* within 1 % */
        /* taken while the zone was open on the sample's thread, also in zones inside it */
        struct sample_sum samples;
        struct report_functions functions; /* of these samples; only of the first zones */
        bool has_functions;
};

struct report_thread {
        uint32_t thread; /* in THREADS */
        uint32_t pid;
        uint32_t tid;              /* 0 for a fiber */
        bool is_fiber;             /* a fiber runs on threads, whose on-CPU time includes its own */
        struct text_view name;     /* empty = unknown */
        struct text_view works_on; /* the file, of a compiler's process; empty = nothing is known */
        uint64_t first_ns, last_ns;
        uint64_t on_cpu_ns;  /* see `on_cpu_known` */
        bool is_cpu_unknown; /* an imported thread */
        uint64_t n_zones;
        uint64_t n_samples; /* of all sample events; values read with a sample of another event
                             * do not count */
};

struct report {
        const char *path;              /* of the trace; the caller's of report_load() */
        struct loaded_trace trace;     /* the strings are its */
        struct trace_reader *reader;   /* the trace's */
        struct trace_filter filter;    /* the chosen part */
        struct trace_totals totals;    /* what the rest is made of */
        struct report_samples samples; /* for callers that need more: the functions of the frames */
        struct report_recording recording;
        enum trace_ending ending;
        const char *ending_words; /* the fault at the end; "" if there is none */
        struct report_gaps gaps;  /* missing data, and the reasons */

        struct report_event *events; /* heap; all sample events of the trace */
        uint32_t n_events;
        const struct report_event *event; /* the event whose samples are shown; NULL = the trace has none */

        struct report_functions functions;
        struct report_lines lines; /* filled if wanted, and if the samples are folded */
        struct report_zone *zones; /* heap; the largest total first */
        uint32_t n_zones;
        struct report_thread *threads; /* heap; the busiest first; only threads with events; also fibers */
        uint32_t n_threads;
        uint32_t n_kernel_threads; /* of them: those that are no fibers */

        uint32_t n_processes;
        uint64_t n_zone_events; /* zones begun */
        uint64_t n_unclosed;
        struct lost_zones lost;
        struct unsampled_time unsampled; /* of `event` */
        struct report_also also;
        struct report_callstacks callstacks;
        struct report_counters counters;
        struct report_waits waits;        /* filled if wanted, as are `cpus` */
        struct kernel_calls kernel_calls; /* filled with `waits` */
        struct report_cpus cpus;
        struct report_owners owners;     /* the same */
        struct report_syscalls syscalls; /* the same */
        struct report_renamed renamed;
        struct zone_cost cost; /* of `totals.instances` */
        /*
         * The time that fibers waited: on no thread, or while their thread did not run.  The trace does not
         * show which of the two, or in which function. 0 without context switches.
         */
        uint64_t suspended_ns;
        bool on_cpu_known;      /* the trace has context switches */
        uint64_t clock_step_ns; /* times of programs are multiples of it; 0 = as good as exact */
};

struct report_options {
        const char *event;           /* whose samples are shown; NULL = the event with the most samples */
        uint32_t n_zones_inside;     /* for how many zones their functions are listed; 0 = all */
        uint32_t n_functions_inside; /* how many functions for each; 0 = all */
        bool wants_waits, wants_cpus, wants_syscalls, wants_lines;
        bool wants_ready;  /* find who had the CPU while threads were ready to run: one more pass */
        bool shows_native; /* never fold native functions into the Python functions that called them */
        /*
         * A function that the user asks for; NULL = none.  If folding would hide it, nothing is folded.
         */
        const char *function;
        bool (*is_native)(const struct report_samples *samples, const char *function);
        uint32_t n_slowest; /* not 0: examine the zones that the filter names one by one: totals.instances */
        enum zone_group_key group_by; /* with n_slowest: and in groups, totals.groups */
        uint64_t longer_than_ns,
                shorter_than_ns; /* with n_slowest: only closed zones that last so long; 0 = all */
        const struct trace_filter_request *filter; /* the chosen part; NULL = everything */
        struct text_view filter_words;             /* the same for people; outlives the report */
};

/*
 * report_load() - read a trace to its end
 * @path:     "-" for standard input; stays the caller's, and outlives the report
 * @options:  NULL for defaults: everything
 * If a trace is cut off or damaged, the report has everything up to that point; `ending` and the gaps state
 * it.
 * Returns 0, what trace_reader_open() returns, -ENOENT if there is no such sample event, -EIO and
 * others of read(2), -ENOMEM.
 */
int report_load(const char *path, const struct report_options *options, struct report **ret_report,
                struct error *err);
void report_free(struct report *report);

/* How many of @n_rows are shown; a limit of 0 means no limit. */
static inline uint32_t report_limited(uint32_t n_rows, uint32_t limit)
{
        return limit != 0 && limit < n_rows ? limit : n_rows;
}

#endif /* ANALYZE_REPORT_REPORT_H */
