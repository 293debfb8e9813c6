/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_run.h - one recording, reduced to what a comparison needs: sums of functions and zones
 *
 * Way of the data:  loaded_trace, trace_walk -> [diff_run] -> diff_item, diff_comparison
 *
 * A sample counts for the innermost function of its callstack, inlined ones included, with its weight.  A
 * zone counts where it ends, if it did.  Memory: 64 bytes for each function and zone that occurs, and while a
 * trace is read 3 KiB for each zone, of at most DIFF_RUN_ZONES_MAX; further ones are not judged.  Never the
 * events.  Not thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_RUN_H
#define ANALYZE_DIFF_DIFF_RUN_H

#include "analyze/diff/diff_names.h"
#include "analyze/diff/diff_spread.h"
#include "analyze/walk/lost_zones.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;
struct zone_pattern;

#define DIFF_RUN_ZONES_MAX 16384

/* The statistics of a zone's instances while they are counted. */
struct diff_zone_spreads {
        struct diff_spread cpu, wall;
};

struct diff_sum {
        uint64_t n;
        double cpu;     /* functions: weight of the samples; zones: time on a CPU, ns */
        double wall_ns; /* zones: from begin to end */
        double self_ns; /* zones: of wall_ns, without the zones directly inside */
        struct diff_typical typical_cpu,
                typical_wall;              /* zones, after diff_run_finish(): of one, without the slowest */
        struct diff_zone_spreads *spreads; /* heap; until diff_run_finish() */
};

struct diff_run {
        struct diff_sum *sums; /* heap; by key id - 1 */
        size_t capacity;
        uint32_t n_sums, n_spread;
        uint32_t n_unspread; /* zones beyond DIFF_RUN_ZONES_MAX */
        uint64_t n_unnamed;  /* samples and zones left out because there are too many names */
        uint64_t n_units;    /* zones of the unit of work that ended */
        uint64_t n_samples, n_zones;
        struct lost_zones lost; /* its numbers of zones are lower bounds */
        double weight;          /* of the samples */
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

/* The numbers of a key; all 0 if it does not occur, also for 0. */
struct diff_sum diff_run_sum(const struct diff_run *run, uint32_t key);

/*
 * The steps of diff_run_load() for each, and at the end; exported for tests.  @weight: of a zone its time on
 * a CPU. Return 0 or -ENOMEM.
 */
int diff_run_add_sample(struct diff_run *run, uint32_t key, double weight);
int diff_run_add_zone(struct diff_run *run, uint32_t key, double cpu_ns, double wall_ns, double self_ns);
void diff_run_finish(struct diff_run *run);

#endif /* ANALYZE_DIFF_DIFF_RUN_H */
