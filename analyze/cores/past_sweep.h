/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/past_sweep.h - what all threads were, moment by moment, in the order of time
 *
 * Way of the data:  loaded_trace -> trace_walk -> past -> [past_sweep] -> wall_shares, idle_cores
 *
 * One pass forward.  The events of the threads go into the past, and where all of a stretch of time is
 * there, some 100 ms later, the sweep goes through it: how many threads ran, and how many could run, changes
 * only between two calls of `elapse`.
 *
 * The question is *open* while a thread that the filter chooses lives; with a zone, while such a thread is in
 * an instance of it, whose beginning is in the trace.  Times outside of the filter's range are not handed
 * out.  With a zone, or with Python functions, a first pass adds up their times.
 *
 * Memory: that of the past, and 32 bytes for each change within a stretch.  Time: that of a sort.
 * Not thread-safe.
 */
#ifndef ANALYZE_CORES_PAST_SWEEP_H
#define ANALYZE_CORES_PAST_SWEEP_H

#include "analyze/path/past.h"
#include "analyze/path/path_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct past_sweep_private;
struct trace_filter;

/* Moments that are looked at, one at a chance place in each of as many equal parts of the open time. */
#define PAST_SWEEP_MOMENTS 20000
/* A stretch is at least as long; so far before and after a moment the past is there. */
#define PAST_SWEEP_NEAR_NS UINT64_C(100000000)

/* Functions that are NULL are not called.  They return 0 or -errno, which ends the sweep. */
struct past_sweep_request {
        const struct trace_filter *filter; /* borrowed */
        void *context;
        /* From @begin_ns to @end_ns nothing changed. */
        int (*elapse)(void *context, uint64_t begin_ns, uint64_t end_ns);
        int (*sample)(void *context, uint32_t thread, const struct past_sample *sample);
        /* A moment at which something is open. */
        int (*moment)(void *context, uint64_t time_ns);
        /* A wait is over; it is in the past. */
        int (*wait_over)(void *context, uint32_t thread, uint64_t out_ns);
        bool shows_native;  /* code below Python functions stands for itself */
        uint32_t n_moments; /* at most; 0 = PAST_SWEEP_MOMENTS */
        bool is_bounded;    /* nothing long after the filter's range is read: past_bound_sink() */
};

struct past_sweep {
        struct past_sweep_request request;
        struct past past;
        struct path_names names;
        /* At the moment that is handed out; threads, not fibers. */
        uint32_t n_running, n_ready, n_open;
        uint32_t *live; /* heap; ids of the threads that were born and have not ended, ascending */
        uint32_t n_live;
        bool is_python;
        bool has_wakeups;
        uint64_t begin_ns, end_ns;          /* the range of time; end: of what is there */
        uint64_t open_ns;                   /* so far */
        double moment_ns;                   /* from one moment to the next, on average */
        struct past_sweep_private *private; /* heap */
};

/*
 * past_sweep_run() - go through the trace
 * To be deinitialised in any case.  Returns 0, what loaded_trace_walk() and the functions return.
 */
int past_sweep_run(struct past_sweep *s, struct loaded_trace *trace, const struct past_sweep_request *request,
                   struct error *err);
void past_sweep_deinit(struct past_sweep *s);

/* Whether the question is open on a thread, at the moment that is handed out. */
bool past_sweep_is_open(const struct past_sweep *s, uint32_t thread);

/* The first of these threads; 0 = there is none. */
uint32_t past_sweep_first_open(const struct past_sweep *s);

#endif /* ANALYZE_CORES_PAST_SWEEP_H */
