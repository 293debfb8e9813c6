/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_tables.h - the tables of a report: functions, lines, counters, gaps, calls, waits,
 * CPUs and threads
 *
 * Way of the data:  trace_totals, trace_dictionary, sample_stats, wait_stats, cpu_lanes, ready_owners,
 *                   name_times -> report_parts -> [report_tables] in report -> views
 *
 * Each table begins with its sources. report_parts.h has the functions that fill tables and free their
 * memory; this header has the functions that views call as well.  Times are ns.
 */
#ifndef ANALYZE_REPORT_REPORT_TABLES_H
#define ANALYZE_REPORT_REPORT_TABLES_H

#include "analyze/path/ready_owners.h"
#include "analyze/samples/function_table.h"
#include "analyze/samples/python_stacks.h"
#include "analyze/samples/unsampled_time.h"
#include "analyze/trace/clock_step.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/waits/interrupt_kind.h"
#include "analyze/waits/wait_stats.h"
#include "base/text_view.h"
#include "format/trace_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

/* ------------------------------------------------------------------ functions */

struct report_function {
        uint32_t label;          /* in the table of functions */
        struct text_view name;   /* empty unless FUNCTION_NAMED, FUNCTION_UNNAMED or FUNCTION_MARK */
        struct text_view module; /* path */
        enum function_kind kind;
        struct sample_sum self, total;
        struct python_parts parts; /* of `self`, where samples.is_folded */
};

/* The hottest first: by self, then by total. */
struct report_functions {
        struct report_function *rows; /* heap, owned */
        uint32_t n_rows;
        uint32_t n_left_out; /* rows that are not kept, after the last */
};

/* ------------------------------------------------------------------ source lines */

/*
 * The source lines of a whole trace, by the samples at them: report_samples, trace_dictionary.
 *
 * A sample is at one line: that of its innermost function, as the trace's SYMBOLS have it; in a report that
 * is folded, the line of Python that called the native code.  These are the lines of `hyprof annotate`.
 * This takes time in proportion to the rows of sample_stats, since it reads no debug information.
 */

/* A line of a function, or the whole of a function without lines. */
struct report_line {
        uint32_t label;        /* the innermost function's */
        uint32_t line;         /* 0 = unknown */
        struct text_view file; /* path; empty = unknown */
        struct sample_sum self;
        struct python_parts parts; /* of `self`, where samples.is_folded */
};

struct report_lines {
        struct report_line *rows; /* heap; the hottest first */
        uint32_t n_rows;
        struct sample_sum unknown; /* of the rows without a line */
};

/* The line that has more than half of the samples of a function; NULL if no line has. */
const struct report_line *report_lines_main(const struct report_lines *l, uint32_t label,
                                            const struct sample_sum *self);

/* ------------------------------------------------------------------ counters */

/*
 * Counters that were read with the samples: instructions per cycle, misses, and totals.  From report_samples
 * and trace_dictionary (COUNTERS).
 *
 * Events of the mode WITH_LEADER share the samples of their leader, so each
 * function and each zone has a sum of each of them.  The leader's own weight is
 * the first of them.
 */

/* More events in a group than this are left out. */
#define REPORT_COUNTERS_MAX 16

/* The terms of ratios, recognised by the event's name without modifiers: "cycles:u" is CYCLES. */
enum report_counter_kind {
        REPORT_COUNTER_OTHER = 0,
        REPORT_COUNTER_CYCLES,
        REPORT_COUNTER_INSTRUCTIONS,
        REPORT_COUNTER_CACHE_MISSES,
        REPORT_COUNTER_BRANCH_MISSES,
};

struct report_counter {
        uint32_t event; /* id of the sample event */
        struct text_view name, unit;
        enum report_counter_kind kind;
};

/* Ratios of one function, zone or the whole; negative = their events are missing, or counted nothing. */
struct report_ratios {
        double instructions_per_cycle;
        double cache_misses, branch_misses; /* in 1000 instructions */
};

/* An event's total: from the table COUNTERS. */
struct report_total {
        struct report_counter counter;
        uint64_t value;       /* as it was counted */
        uint64_t scaled;      /* value * enabled / running; 0 if it never ran */
        double share_of_time; /* running / enabled: below 1 the event shared its counter with others */
        bool has_never_run;
};

struct report_counters {
        struct report_counter counters[REPORT_COUNTERS_MAX];
        uint32_t n_counters; /* 0, or the leader and at least one more */
        uint64_t all[REPORT_COUNTERS_MAX];
        /*
         * Heap; row i of the report's functions or zones has the numbers [i * n_counters,
         * (i + 1) * n_counters).
         */
        uint64_t *functions_self, *functions_total, *zones;
        struct report_total *totals; /* heap */
        uint32_t n_totals;
        struct report_ratios totals_ratios;
};

/* Fills `counters` with @leader and the events that share its samples; with none if the leader is alone. */
void report_counters_find_group(struct report_counters *c, const struct trace_dictionary *d, uint32_t leader);

/* The ratios of one row of numbers, in the order of `counters`. */
struct report_ratios report_counters_ratios(const struct report_counters *c, const uint64_t *row);

enum report_counter_kind report_counter_kind_of(struct text_view name);

/* ------------------------------------------------------------------ counts */

/* From the sums of trace_totals, and the numbers of rows of trace_dictionary at the end of the trace. */

/* Numbers of events, and of the locks, plots and so on that they are about. */
struct report_also {
        uint64_t n_messages;
        uint64_t n_frame_marks, n_frame_begins, n_frame_ends;
        uint32_t n_frame_names; /* the main frames, which have no name, count as one */
        uint64_t n_plot_values;
        uint32_t n_plots;
        uint64_t n_allocations, n_frees, n_discards;
        uint32_t n_pools; /* the main pool included, if it was used */
        uint32_t n_locks;
        uint64_t n_lock_waits, n_lock_obtains;
        uint32_t n_fibers;
        uint64_t n_fiber_enters;
        uint32_t n_devices;
        uint64_t n_device_zones, n_device_spans, n_device_values, n_device_instants;
        uint64_t n_zone_texts, n_zone_names, n_zone_values, n_zone_colors, n_zone_keys;
        uint64_t n_flow_events;
        uint32_t n_source_texts;
        uint64_t n_source_bytes;
        uint32_t n_code_regions;
        uint64_t n_switches; /* context switches of threads that passed the filter, in and out */
};

/* Samples whose recorder stated how far their callstack goes; of all events, each sample once. */
struct report_callstacks {
        uint64_t n_samples;
        uint64_t n_complete; /* joined, stitched and approximate ones included */
        uint64_t n_stitched, n_approximate;
        uint64_t n_frame_pointers;
        uint64_t n_truncated;                           /* of every state from TRACE_STACK_TRUNCATED on */
        uint64_t by_state[TRACE_STACK_STATE_COUNT + 1]; /* the last: states of a newer version */
};

/* ------------------------------------------------------------------ missing data */

/*
 * Missing data of a trace, and the reasons.  Three sources: the limits that the recorder knew from the start
 * (notices), losses on the way (added up by reason), and the findings of the analysis.
 */

enum report_gap_source { REPORT_GAP_NOTICE, REPORT_GAP_LOSS, REPORT_GAP_ANALYSIS };

struct report_gap {
        enum report_gap_source source;
        const char *code;   /* static: stable name for scripts */
        const char *words;  /* for people, without a full stop; static, or of struct report_gaps */
        const char *advice; /* static: "try: ...", in which TRACE and MODULE stand for paths; NULL = none */
        struct text_view detail; /* reason and remedy, or the module that it is about; may be empty */
        uint64_t count;          /* how many; 0 = nothing to count */
        double share;            /* of the shown samples; 0 = no share is known */
        bool is_share_said;      /* `words` state the share already, perhaps of another whole */
};

struct report_gaps {
        struct report_gap *rows; /* heap; the order in which to show them */
        uint32_t n_rows;
        size_t capacity;
        char unsampled[UNSAMPLED_TIME_WORDS_BYTES], truncated[UNSAMPLED_TIME_WORDS_BYTES];
        char python[UNSAMPLED_TIME_WORDS_BYTES];
        char step[CLOCK_STEP_WORDS_BYTES];
};

void report_gaps_deinit(struct report_gaps *g);

/*
 * report_gaps_add_recorded() - add the recorder's limits and losses: time without samples first
 * @g:          is not copied afterwards: rows point into it
 * @unsampled:  NULL = the caller judges that itself
 * Returns 0 or -ENOMEM.
 */
int report_gaps_add_recorded(struct report_gaps *g, const struct trace_dictionary *d,
                             const struct unsampled_time *unsampled);

/* ------------------------------------------------------------------ system calls */

/*
 * System calls: how often, how long, and who called.  From trace_dictionary (SYSCALLS), sample_stats and
 * kernel_calls.
 *
 * Numbers, times, bytes and errors are exact sums of the whole recording, even if there is a filter.
 * Callers and zones are those of sampled calls: each sample represents the calls of its kind since the
 * one before.
 */

struct report_syscall {
        struct text_view name; /* "write" */
        uint64_t n_calls, n_errors;
        uint64_t time_ns; /* from entry to return, with waiting */
        uint64_t longest_ns;
        uint64_t n_bytes;   /* 0 = it transfers no data */
        uint32_t n_threads; /* that called it; all threads for which there was no room count as one */
        uint64_t n_samples;
        uint64_t sampled_calls; /* that the samples stand for */
        uint32_t caller;        /* function label: the most frequent caller; 0 = not known */
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
        /* the recording did not come to its end, at which the recorder writes the numbers */
        bool lacks_end;
        /* heap, owned; the largest first: by time, sampled calls, sampled calls, time */
        struct report_syscall *rows;
        struct report_syscall_place *callers, *zones;
        struct report_syscall_thread *threads;
        uint32_t n_rows, n_callers, n_zones, n_threads;
        uint64_t n_calls, n_errors, time_ns, n_samples;
        uint64_t threads_ns; /* the sum over threads from first event to last: `time_ns` is a part of it */
        bool has_zones;      /* some of the samples were taken in zones */
};

/* Estimates from samples how many calls of a kind a place made. */
uint64_t report_syscalls_estimate(const struct report_syscall *row, uint64_t sampled_calls);

/* ------------------------------------------------------------------ calls into the kernel */

/*
 * The calls into the kernel that programs make, and their callers: wait_stats, sample_stats, call_finder.
 *
 * An innermost function like finish_task_switch() does not say why a program is in the kernel.
 */

/* The call with the most weight, and its caller with the most weight. */
struct kernel_call {
        struct text_view call;   /* empty = page faults, if `weight` is not 0 */
        struct text_view caller; /* empty = unknown, or no caller has more than half of the weight */
        /*
         * Path of the module whose functions together have most of the weight.  Empty = unknown, or `caller`
         * is known.
         */
        struct text_view module;
        uint64_t weight; /* 0 = no call is known */
};

struct waited_calls {
        uint64_t total_ns;
        uint64_t delay_ns; /* of that, from being woken until running */
        uint64_t n_waits, n_with_stack;
        bool leaves_open; /* waits that never ended belong to idle threads, and are left out */
        /* Waits with a call stack stand for those without one of the same state and length. */
        struct kernel_call top;
};

struct kernel_calls {
        /*
         * Weights of the report's event in samples.  For a tracepoint, all samples count here: by the system
         * call, or by the function that the program called.
         */
        uint64_t kernel_weight; /* in the kernel, for a call, a page fault or an interrupt */
        struct kernel_call sampled;

        struct waited_calls waits; /* all waits, except those that lasted to the end without a call stack */
        /* Waits that ended otherwise than by a child's end or by a thread of the recording. */
        struct waited_calls causes;
        /* No thread ran for at least `idle_ns` of `whole_ns`; 0 = less than half of it, or unknown. */
        uint64_t idle_ns, whole_ns;
};

/* ------------------------------------------------------------------ waits */

/*
 * The waits of threads: by place, by zone and by thread, and who ended them.  From wait_stats,
 * function_table and wait_places.
 *
 * A wait lasts from leaving a CPU until running again, so its time includes the scheduling delay, which has
 * sums of its own as well.
 */

struct report_wait_frame {
        struct text_view name, module; /* as in struct report_function */
        enum function_kind kind;
};

/* The threads and interrupts that ended waits, as far as the trace shows. */
struct report_waker {
        struct text_view thread; /* name; empty = unknown, or an interrupt */
        /* SENDER: the thread sent a packet to this machine; UNKNOWN: of a thread, or not known */
        enum interrupt_kind interrupt;
        /*
         * The waker's innermost function outside of the C library, else of the kernel; the call that sent the
         * packet; the function of an interrupt whose kind is not known.
         */
        struct report_wait_frame function;
        bool has_function;
        uint32_t process;      /* in PROCESSES; 0 = not recorded, or an interrupt */
        uint32_t tid;          /* 0 = several, or unknown */
        struct wait_sum ended; /* as that of the place */
};

/* Waits with the same functions on their callstack, in the same state. */
struct report_wait_place {
        const struct report_wait_frame *frames; /* borrowed; of the program, innermost first */
        uint32_t n_frames;
        uint32_t frame;          /* the innermost one outside of the C library; n_frames if there is none */
        struct text_view kernel; /* the function of the kernel in which it waits; empty = unknown */
        uint32_t wait;           /* enum trace_wait_state, or TRACE_WAIT_STATE_COUNT: of a newer version */
        const char *wait_words;
        bool has_stack; /* false: no wait of this state and length has a call stack */
        uint32_t line;  /* of a Python function, frames[0]; 0 = none, or unknown */
        bool is_cut;    /* the callers beyond WAIT_PLACES_FRAMES_MAX frames are left out */
        bool is_idle;   /* idle threads: waits without a stack, begun before the recording or never ended */
        /* With a call stack: an estimate that includes waits of the same state and length without one. */
        struct wait_row sum;
        uint64_t seen_ns;                  /* the part of that in waits that have the callstack themselves */
        const struct report_waker *wakers; /* borrowed; that with the most time first */
        uint32_t n_wakers;
};

/* If more zones than this are nested, the outer ones are left out. */
#define REPORT_WAIT_NAMES_MAX 64

struct report_wait_zone {
        /* borrowed; of the zones, the outermost first; none: outside of zones */
        const struct text_view *names;
        uint32_t n_names;
        bool is_cut; /* there are zones around the first */
        struct wait_row sum;
};

struct report_wait_thread {
        uint32_t thread; /* in THREADS */
        uint32_t pid, tid;
        struct text_view name; /* empty = unknown */
        struct wait_row sum;
        struct wait_sum preempted; /* ready to run, and another thread ran */
};

struct report_waits {
        /* heap; places with a callstack, then others, then idle threads; most time first */
        struct report_wait_place *places;
        uint32_t n_places;
        struct report_wait_zone *zones; /* heap; most time first */
        uint32_t n_zones;
        struct report_wait_thread *threads; /* heap; most time first; threads that waited or were preempted */
        uint32_t n_threads;

        struct wait_row all;
        struct wait_row with_stack; /* of `all` */
        struct wait_row idle;       /* of `all`, without a stack: begun before the recording or never ended */
        struct wait_sum preempted;
        struct wait_sum woken; /* of the waits that ended: those whose waker was recorded */
        bool is_folded;        /* native code counts for the Python function that called it */
        bool has_wakeups;      /* the trace has wake-ups; without them, delays are unknown */

        struct report_wait_frame *frames; /* heap; what places borrow */
        struct report_waker *wakers;      /* heap */
        struct text_view *names;          /* heap; what zones borrow */
};

/* ------------------------------------------------------------------ CPUs and their owners */

/* The time of each CPU for the recorded threads: cpu_lanes, trace_dictionary. */

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

/* Who had the CPU while threads were ready to run, by thread and by CPU: ready_owners, wait_stats. */
struct report_owner {
        uint32_t subject;           /* thread, or number of the CPU */
        enum ready_owner_kind kind; /* STOPPED: by thread alone */
        uint32_t owner;             /* thread of OWN and PROGRAM; 0 = none */
        double ns;
        double share; /* of all the subject's time in this table */
};

struct report_owners {
        struct report_owner *by_thread, *by_cpu; /* heap; the longest first */
        size_t n_by_thread, n_by_cpu;
        double weight;   /* of so many times one was examined */
        uint64_t n_lost; /* stretches of a CPU that were dropped: of these the owner is not known */
        bool is_cut;     /* the same of what was beyond READY_OWNER_STEPS_MAX */
};

/* ------------------------------------------------------------------ names of threads */

/* Threads that had several names, and what they did under each: name_times. */

struct report_renamed_row {
        uint32_t thread;
        struct text_view name;
        bool is_more;       /* several more names, together */
        uint64_t on_cpu_ns; /* see the report's `on_cpu_known` */
        double share;       /* of the thread's time on CPUs, or of its samples if that time is unknown */
        uint64_t n_samples;
        uint64_t first_ns, last_ns; /* when it got the name, and lost it, within the range of time */
};

/* Rows of a thread are together, in the order of `first_ns`, and threads as in the report. */
struct report_renamed {
        struct report_renamed_row *rows; /* heap */
        size_t n_rows;
};

/* ------------------------------------------------------------------ shares and order */

/* @part as a share of @whole; 0 if @whole is 0. */
static inline double report_share(uint64_t part, uint64_t whole)
{
        return whole != 0 ? (double)part / (double)whole : 0.0;
}

/* Whether it is a Python function for which the native code below it counts. */
static inline bool report_function_has_parts(const struct report_function *f)
{
        return python_parts_below(&f->parts) != 0;
}

/* For sorting: negative, 0 or positive as @a is smaller, equal or larger. */
static inline int report_compare(uint64_t a, uint64_t b)
{
        return (a > b) - (a < b);
}

#endif /* ANALYZE_REPORT_REPORT_TABLES_H */
