/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_waits.h - what threads waited for: by place, by zone and by thread, and who ended it
 *
 * Way of the data:  wait_stats, function_table -> wait_places -> [report_waits] -> cli
 *
 * Times are ns.  A wait's time is that from leaving a CPU until running again,
 * hence with the scheduling delay, which is also told apart.
 */
#ifndef ANALYZE_REPORT_REPORT_WAITS_H
#define ANALYZE_REPORT_REPORT_WAITS_H

#include "analyze/samples/function_table.h"
#include "analyze/waits/wait_stats.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct python_stacks;
struct trace_dictionary;
struct trace_totals;

struct report_wait_frame {
        struct text_view name, module; /* as in struct report_function */
        enum function_kind kind;
};

/* The threads that ended waits, as far as the trace says. */
struct report_waker {
        struct text_view thread; /* name; empty = unknown, or an interrupt */
        /* Where it was: its innermost function outside of the C library, else of the kernel. */
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
        uint32_t frame;          /* the innermost outside of the C library; n_frames if there is
                                      * no such one */
        struct text_view kernel; /* the function of the kernel that it waits in; empty = unknown */
        uint32_t wait;           /* enum trace_wait_state, or TRACE_WAIT_STATE_COUNT: of a newer version */
        const char *wait_words;
        bool has_stack; /* false: no wait of this state and length has one */
        uint32_t line;  /* of a Python function, frames[0]; 0 = none, or unknown */
        bool is_cut;    /* the callers beyond WAIT_PLACES_FRAMES_MAX frames are left out */
        bool is_idle;   /* idle threads: waits without a stack, begun before the recording or never ended */
        /* With a call stack: an estimate that includes waits of the same state and length without one. */
        struct wait_row sum;
        uint64_t seen_ns;                  /* of that, in waits that have the callstack themselves */
        const struct report_waker *wakers; /* borrowed; that with the most time first */
        uint32_t n_wakers;
};

/* If more zones than this are nested, the outer ones are left out. */
#define REPORT_WAIT_NAMES_MAX 64

struct report_wait_zone {
        const struct text_view *names; /* borrowed; of the zones, the outermost first; none: outside */
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
        /* heap; those with a callstack, then others, then those that are idle; most time first */
        struct report_wait_place *places;
        uint32_t n_places;
        struct report_wait_zone *zones; /* heap; most time first */
        uint32_t n_zones;
        struct report_wait_thread *threads; /* heap; most time first; those that waited or were preempted */
        uint32_t n_threads;

        struct wait_row all;
        struct wait_row with_stack; /* of `all` */
        struct wait_row idle;       /* of `all`, without a stack: begun before the recording or never ended */
        struct wait_sum preempted;
        struct wait_sum woken; /* of the waits that ended: those whose waker was recorded */
        bool is_folded;        /* native code counts for the Python function that called it */
        bool has_wakeups;      /* the trace has any: else delays are unknown */

        struct report_wait_frame *frames; /* heap; what places borrow */
        struct report_waker *wakers;      /* heap */
        struct text_view *names;          /* heap; what zones borrow */
};

/* Whether native code counts for the Python function that called it. */
enum report_waits_view {
        REPORT_WAITS_NATIVE,  /* never */
        REPORT_WAITS_AS_MOST, /* if more than half of the waiting, by time, is below Python functions */
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

#endif /* ANALYZE_REPORT_REPORT_WAITS_H */
