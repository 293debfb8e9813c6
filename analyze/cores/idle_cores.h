/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/idle_cores.h - why cores did not run the program
 *
 * Way of the data:  past_sweep, wait_roots, idle_gaps, throttled_times -> [idle_cores] -> idle_steps,
 *                   idle_view
 *
 * At 20,000 moments while the question is open (past_sweep.h): so many CPUs are free as do not run a
 * recorded thread.  Some of them are not idle, since another program has them: where the trace has the idle
 * times of CPUs, by these (idle_gaps.h); else as many as there are threads that could run.  Threads that
 * could run and did not although a CPU was idle are a cause, and so is the quota.  The rest is divided among
 * the threads that wait, by the roots of their waits; where none waits, the program has too few threads.
 * Threads whose wait never ended in the recording have no say, unless there are no others.
 */
#ifndef ANALYZE_CORES_IDLE_CORES_H
#define ANALYZE_CORES_IDLE_CORES_H

#include "analyze/cores/idle_gaps.h"
#include "analyze/cores/idle_steps.h"
#include "analyze/cores/past_sweep.h"
#include "analyze/cores/wait_roots.h"
#include "analyze/trace/throttled_times.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

#define IDLE_CORES_ROWS_MAX (UINT32_C(1) << 18)

/* Compared as bytes. */
struct idle_key {
        uint32_t cause; /* enum idle_cause */
        uint32_t group; /* of path_names: who ran, or waited; 0 = none */
        uint32_t own;   /* label: its function; 0 = not known */
        uint32_t by;    /* of PROGRAM, string: its name; else 0 */
        uint32_t span;  /* private, of READY and OTHERS: the span of throttled time + 1 */
};

struct idle_row {
        double cores;     /* added up over moments */
        double n_waiting; /* threads, likewise: their mean is n_waiting / n_moments */
        uint64_t n_moments;
        uint64_t n_alone; /* moments at which one thread ran */
        uint32_t thread;  /* of the group: one that ran, or waited, at the first of them; 0 = unknown */
};

struct idle_cores_request {
        const struct trace_filter *filter; /* borrowed */
        bool shows_native;                 /* code below Python functions stands for itself */
        uint32_t n_steps;                  /* at most, of the time; 0 = steps are not wanted */
        uint32_t n_moments;                /* as in past_sweep.h */
        bool is_bounded;                   /* likewise */
};

struct idle_cores {
        struct past_sweep sweep;
        struct wait_roots roots;
        struct idle_gaps gaps;
        struct throttled_times throttled;
        struct idle_steps steps;
        double *unowned;       /* heap; by span of throttled time: cores, added up over moments */
        struct intern keys;    /* struct idle_key */
        struct idle_row *rows; /* heap; of the key with id i at i - 1 */
        size_t rows_capacity;
        uint32_t *order; /* heap; ids of rows, the most cores first */
        uint32_t n_rows;
        uint32_t *votes; /* heap, scratch: by root, threads that wait for it at the present moment */
        size_t votes_capacity;
        uint32_t n_votes;
        uint32_t n_cpus;
        uint64_t open_ns;
        uint64_t n_moments;
        double cores;        /* idle ones, added up over moments */
        double others;       /* those that other programs had, as far as that is known, likewise */
        uint64_t n_left_out; /* moments whose row had no room */
        bool has_switches;
        struct idle_cores_request request;
};

/*
 * idle_cores_take() - go through the trace
 * Returns 0 or as past_sweep_run(); to be deinitialised in any case.
 */
int idle_cores_take(struct idle_cores *c, struct loaded_trace *trace,
                    const struct idle_cores_request *request, struct error *err);
void idle_cores_deinit(struct idle_cores *c);

static inline const struct idle_key *idle_cores_key(const struct idle_cores *c, uint32_t row)
{
        return intern_get(&c->keys, row, NULL);
}

/* The part of the cores' time, while it was open. */
static inline double idle_cores_share(const struct idle_cores *c, double cores)
{
        double all = (double)c->n_moments * c->n_cpus;

        return all > 0 ? cores / all : 0;
}

/* The same in seconds of one core. */
static inline double idle_cores_seconds(const struct idle_cores *c, double cores)
{
        return c->n_moments != 0 ? cores / (double)c->n_moments * (double)c->open_ns / 1e9 : 0;
}

#endif /* ANALYZE_CORES_IDLE_CORES_H */
