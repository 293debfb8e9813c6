/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_rows.h - the last seconds of a trace as lists: functions, zones, threads, waits
 *
 * Way of the data:  live_stats, live_names -> [live_rows] -> `hyprof top`, the live screen
 *
 * Each call makes its list anew, the largest first.  Texts are foreign bytes, borrowed from the dictionary
 * and the names until either grows or is renewed.  Not thread-safe.
 */
#ifndef ANALYZE_LIVE_LIVE_ROWS_H
#define ANALYZE_LIVE_LIVE_ROWS_H

#include "analyze/live/live_labels.h"
#include "analyze/samples/python_stacks.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_names;
struct live_shown;
struct live_stats;

struct live_function_row {
        struct live_label label;
        double self, total; /* shares of all samples, 0 .. 1 */
        uint64_t n_samples; /* of which it was the innermost function */
};

struct live_zone_row {
        uint32_t location;
        struct text_view name, file;
        uint32_t line;
        uint64_t n;
        double per_second;
        uint64_t sum_ns, self_ns, mean_ns, p50_ns, p99_ns, largest_ns;
};

enum live_thread_state {
        LIVE_THREAD_UNKNOWN, /* the trace has no context switches, or none of this thread yet */
        LIVE_THREAD_RUNNING,
        LIVE_THREAD_READY, /* woken or preempted, waits for a CPU */
        LIVE_THREAD_WAITING,
        LIVE_THREAD_ENDED,
};

/* Who ended a wait, or the most of several. */
struct live_end_row {
        uint32_t kind;              /* enum live_end_kind of live_ends.h; 0 = none was recorded */
        struct text_view name;      /* of a thread; empty = unknown, or none */
        struct live_label function; /* in which it was then; empty = not recorded */
};

struct live_thread_row {
        uint32_t thread, tid, pid;
        struct text_view name;
        enum live_thread_state state;
        uint32_t wait_state;          /* enum trace_wait_state, if it waits */
        uint32_t cpu;                 /* TRACE_WALK_NO_CPU = not known */
        uint64_t since_ns;            /* how long it has been in this state, if it waits or is ready */
        double on_cpu;                /* share of the window; negative = not known */
        struct live_label where;      /* if it waits */
        struct live_end_row ended_by; /* its last wait */
        struct text_view zone;        /* the name of the innermost zone that is open; empty = none */
};

struct live_wait_row {
        struct live_label where; /* the function of the program, else of the kernel */
        /* the kernel's function, which shows the reason for the wait; may be empty */
        struct live_label kernel;
        uint32_t state; /* enum trace_wait_state */
        uint64_t n, sum_ns, mean_ns, largest_ns;
        struct live_end_row ended_by; /* the most of their time */
};

/* The source of all lists. */
struct live_rows {
        const struct live_stats *stats;
        const struct live_names *names; /* NULL = only the names of the trace */
        const struct live_shown *shown; /* made from these names; NULL = show the names as they are */
        bool all;                       /* of all time, else of the window */
        bool shows_native;              /* never fold native functions into Python functions */
};

/* Lists on the heap, the caller's to free; NULL if they are empty.  Return how many rows, or -ENOMEM. */
int live_rows_functions(const struct live_rows *of, struct live_function_row **ret_rows);
int live_rows_zones(const struct live_rows *of, struct live_zone_row **ret_rows);
int live_rows_threads(const struct live_rows *of, struct live_thread_row **ret_rows);
int live_rows_waits(const struct live_rows *of, struct live_wait_row **ret_rows);

/* How many CPUs the threads had, as a mean of the window; negative = not known. */
double live_rows_load(const struct live_rows *of);

/*
 * Counts the durations of the zones of one place by powers of two.
 * @ret_counts:  64 numbers; the bucket i is from 2^i to 2^(i+1) - 1 ns
 */
void live_rows_histogram(const struct live_rows *of, uint32_t location, uint64_t ret_counts[64]);

/*
 * Whether native code counts for Python functions in the last seconds of a trace.  Made for each list: the
 * dictionary grows, and the window moves.
 */
struct live_folds {
        struct python_stacks python;
        const struct python_stacks *folds; /* NULL = call stacks are as they are */
};

/*
 * live_folds_init() - decide by the rule of python_stacks.h, from the samples of the window, whether to fold
 * @of_waits: fold also if the rule holds for the waits with a call stack
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int live_folds_init(struct live_folds *f, const struct live_rows *of, bool of_waits);
void live_folds_deinit(struct live_folds *f);

#endif /* ANALYZE_LIVE_LIVE_ROWS_H */
