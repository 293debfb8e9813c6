/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff_run.h - one recording, reduced to what a comparison needs: sums of functions and zones by slices of time
 *
 * Way of the data:  loaded_trace, trace_walk -> [diff_run] -> diff_pair, diff_sets
 *
 * A sample counts for the innermost function of its callstack, inlined ones included, with its weight.  A zone counts
 * where it ends, if it did.  The recording is cut into DIFF_SLICES slices of equal length; what comes together in
 * time stays together.  Memory: 1.3 KiB for each function and zone that occurs, at most DIFF_RUN_SLICED_MAX of them;
 * further ones have sums only and are not judged.  Never the events.  Not thread-safe.
 */
#ifndef ANALYZE_DIFF_RUN_H
#define ANALYZE_DIFF_RUN_H

#include "analyze/diff_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;
struct zone_pattern;

#define DIFF_SLICES         64
#define DIFF_RUN_SLICED_MAX 16384

/* By slice of time. */
struct diff_slices {
        double cpu[DIFF_SLICES];     /* functions: weight of the samples; zones: time on a CPU, ns */
        double wall_ns[DIFF_SLICES]; /* zones: from begin to end */
        double n[DIFF_SLICES];       /* samples; zones that ended */
};

struct diff_sum {
        uint64_t n;
        double cpu, wall_ns;
        double self_ns;                   /* zones: of wall_ns, without the zones directly inside */
        double cpu_squares, wall_squares; /* zones: sums of squares, of each zone */
        struct diff_slices *slices;       /* heap; NULL = it does not occur, or there are too many */
};

struct diff_run {
        struct diff_sum *sums; /* heap; by key id - 1 */
        size_t capacity;
        uint32_t n_sums, n_sliced;
        uint32_t n_unsliced;       /* that have sums only */
        uint64_t n_unnamed;        /* samples and zones left out because there are too many names */
        double units[DIFF_SLICES]; /* zones of the unit of work that ended */
        uint64_t n_units;
        uint64_t n_samples, n_zones;
        double weight; /* of the samples */
        uint64_t duration_ns;
        uint32_t event;    /* whose samples; 0 = none */
        bool weight_is_ns; /* of the samples */
        bool has_switches; /* `cpu` of zones is known */
};

struct diff_run_request {
        const struct trace_filter *filter; /* NULL = everything */
        const char *event; /* whose samples; NULL = the event with the most.  Without it: no samples */
        const struct zone_pattern *unit; /* zones that are the unit of work; NULL = the run is */
};

/*
 * diff_run_load() - read the events
 * @names:  grows; shared by all runs that are compared
 * @run:    to be deinitialised in any case
 * Returns 0 or what loaded_trace_walk() returns.
 */
int diff_run_load(struct diff_run *run, struct diff_names *names, struct loaded_trace *trace,
                  const struct diff_run_request *request, struct error *err);
void diff_run_deinit(struct diff_run *run);

/* Forgets the slices: for who has several runs and looks at these as wholes. */
void diff_run_drop_slices(struct diff_run *run);

/* Of a key; all 0 if it does not occur, also for 0. */
struct diff_sum diff_run_sum(const struct diff_run *run, uint32_t key);

/* What diff_run_load() does with each; exported for tests.  @weight: of a zone its time on a CPU.  Return 0 or -ENOMEM. */
int diff_run_add_sample(struct diff_run *run, uint32_t key, uint32_t slice, double weight);
int diff_run_add_zone(struct diff_run *run, uint32_t key, uint32_t slice, double cpu_ns, double wall_ns,
                      double self_ns);

#endif /* ANALYZE_DIFF_RUN_H */
