/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/idle_gaps.h - which part of the time without recorded threads CPUs were idle
 *
 * Way of the data:  trace_walk, event_order, META cpu_idle -> [idle_gaps] -> idle_cores
 *
 * `record --idle` says of each gap between two recorded threads on a CPU for how long the CPU was idle; other
 * programs had it for the rest.  When within the gap is not known, so the idle time is spread over it.  One
 * pass through the trace; the gaps of all CPUs are added up in IDLE_GAPS_STEPS equal steps of the time.
 * Memory: 320 KB, 24 bytes a CPU, and that of event_order.  Not thread-safe.
 */
#ifndef ANALYZE_CORES_IDLE_GAPS_H
#define ANALYZE_CORES_IDLE_GAPS_H

#include "analyze/trace/event_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

#define IDLE_GAPS_STEPS 20000
/* CPUs with larger numbers are left out. */
#define IDLE_GAPS_CPUS_MAX 4096

struct idle_gap {
        double gap_ns, idle_ns; /* of all CPUs, within a step */
};

struct idle_gap_cpu {
        uint64_t free_ns; /* since when no recorded thread has it */
        uint32_t n_threads;
};

struct idle_gaps {
        struct event_order order;
        struct idle_gap *steps;    /* heap; NULL = the trace does not say */
        struct idle_gap_cpu *cpus; /* heap; by number */
        uint32_t n_cpus;
        uint64_t begin_ns, end_ns;
        double step_ns;
};

/*
 * idle_gaps_read() - go through a trace, if it says for how long CPUs were idle
 * @filter:  of which the range of time counts
 * @n_cpus:  of the machine
 * @is_bounded:  as in past_sweep.h
 * Returns 0 or as loaded_trace_walk(); to be deinitialised in any case.
 */
int idle_gaps_read(struct idle_gaps *g, struct loaded_trace *trace, const struct trace_filter *filter,
                   uint32_t n_cpus, bool is_bounded, struct error *err);
void idle_gaps_deinit(struct idle_gaps *g);

static inline bool idle_gaps_are_known(const struct idle_gaps *g)
{
        return g->steps != NULL;
}

/* The part of the CPUs without a recorded thread that is idle, about @time_ns; 1 if it is not known. */
double idle_gaps_share(const struct idle_gaps *g, uint64_t time_ns);

#endif /* ANALYZE_CORES_IDLE_GAPS_H */
