/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_run.h - one recording, reduced to what a comparison needs: sums of functions and zones
 *
 * Way of the data:  loaded_trace, trace_walk -> [diff_run] -> diff_item, diff_comparison
 *
 * A sample counts for the innermost function of its callstack, inlined ones included, with its weight.  A
 * zone counts when it ends, if it ends.  Memory: 176 bytes for each function, zone, wait and system call,
 * twice where there are Python functions, and while a trace is read 3 KiB for each zone, of at most
 * DIFF_RUN_ZONES_MAX; further ones are not judged.  Events are not kept.  Not thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_RUN_H
#define ANALYZE_DIFF_DIFF_RUN_H

#include "analyze/diff/diff_names.h"
#include "analyze/samples/python_stacks.h"
#include "analyze/samples/unsampled_time.h"
#include "analyze/walk/lost_zones.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;
struct zone_pattern;

#define DIFF_RUN_ZONES_MAX 16384

/*
 * Equally long parts of a recording: a function's samples in each of them show whether it runs all the
 * time.
 */
#define DIFF_RUN_BLOCKS 16

#define DIFF_RUN_PARTS (UINT32_C(1) << 20)

#define DIFF_SPREAD_OCTAVES     64
#define DIFF_SPREAD_ONE_LEFT_OF 1000 /* of so many instances, the slowest is left out */

/*
 * The times of a zone's instances by their magnitude, so that the slowest few can be left out.
 *
 * If an interrupt or a switch falls into an instance of 10 ns, the instance lasts as long as a hundred
 * thousand others: a mean with it does not describe the program.  So the slowest of each thousand, and at
 * least one, do not count.
 *
 * The counts are by power of two; zero-initialised is empty.
 */
struct diff_spread {
        uint64_t n[DIFF_SPREAD_OCTAVES];
        double sum[DIFF_SPREAD_OCTAVES], squares[DIFF_SPREAD_OCTAVES];
};

struct diff_typical {
        double mean; /* without the slowest; 0 if there is no instance */
        /* of the mean, relative to the mean's square, by counts alone; HUGE_VAL if unknown */
        double variance;
};

/* The statistics of a zone's instances while they are counted. */
struct diff_zone_spreads {
        struct diff_spread cpu, wall;
};

/* Sums of the waits at one place, each until its thread could run again. */
struct diff_wait {
        double n, ns;
        double n_seen;       /* of `n`, those with a call stack, which stand for the others */
        double by_others_ns; /* of `ns`, waits that a recorded thread or the end of a child ended */
        double outside_ns;   /* of `ns`, waits that are neither sleeps nor for a disk to write */
        double squares;      /* the sum of their times' squares, in ns */
        double blocks[DIFF_RUN_BLOCKS]; /* ns, by the part of the recording in which they ended */
};

struct diff_sum {
        uint64_t n;
        /* Functions: samples in each part of the recording; waits: DIFF_RUN_PARTS-ths of its time. */
        uint32_t blocks[DIFF_RUN_BLOCKS];
        /* Functions: weight of the samples; zones: time on a CPU, ns; waits: their time; calls: how many. */
        double cpu;
        /*
         * Functions: the name of a caller; if one caller has over half of the weight, it is that one.  Calls:
         * the caller of over half of the sampled calls; 0 = there is none.
         */
        uint32_t caller;
        double caller_lead; /* for diff_run_add_caller() */
        double added;       /* functions: the part of `cpu` for samples that were lost */
        double wall_ns;     /* zones, calls: from begin to end */
        /* Zones: wall_ns without the zones directly inside; waits: their time without by_others_ns. */
        double self_ns;
        double squares, outside_ns, n_seen; /* of waits */
        double delay_ns;                    /* of kernels: until they began, where that is known */
        uint64_t n_delays;
        /* zones, after diff_run_finish(): of one instance, without the slowest */
        struct diff_typical typical_cpu, typical_wall;
        struct diff_zone_spreads *spreads; /* heap; until diff_run_finish() */
};

struct diff_run {
        struct diff_sum *sums; /* heap; by key id - 1 */
        size_t capacity;
        uint32_t n_sums, n_spread;
        uint32_t n_unspread;      /* zones beyond DIFF_RUN_ZONES_MAX */
        uint32_t event;           /* whose samples; 0 = none */
        uint64_t n_unnamed;       /* samples and zones left out because there are too many names */
        uint64_t n_unnamed_calls; /* waits and system calls, likewise */
        uint64_t n_units;         /* zones of the unit of work that ended */
        uint64_t n_samples, n_zones;
        uint64_t blocks[DIFF_RUN_BLOCKS]; /* samples in each part; all 0 = not counted */
        struct lost_zones lost;           /* its numbers of zones are lower bounds */
        struct unsampled_time unsampled;
        double weight; /* of the samples, with an addition for lost samples of their threads */
        double added;  /* the part of that for lost ones */
        uint64_t duration_ns;
        double device_ns; /* of all kernels; those at the same time count each */
        uint64_t n_kernels;
        double waited_ns;   /* by all threads that are not idle */
        bool has_waits;     /* with their places */
        bool has_calls;     /* the system calls were counted */
        bool lost_calls;    /* not all of them */
        bool weight_is_ns;  /* of the samples */
        bool has_switches;  /* `cpu` of zones is known */
        bool lost_switches; /* so many were lost that `cpu` of zones is only roughly known */
        bool lost_waits;    /* so many switches were lost that waits are not compared */
        bool is_cut;        /* the trace stops before the recording's end: the cost of the run is unknown */
        /* heap; sums in which native code counts for its Python callers; NULL = no Python functions */
        struct diff_run *folded;
        struct python_parts parts; /* of the samples, where `folded` is known */
        bool is_folded;            /* the sums of functions are those of `folded` */
};

struct diff_run_request {
        const struct trace_filter *filter; /* NULL = everything */
        /* whose samples count; NULL = the event with the most; if the trace lacks it, none do */
        const char *event;
        const struct zone_pattern *unit; /* zones that are the unit of work; NULL = the run is the unit */
        bool shows_native;               /* never fold native functions into Python functions */
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

/* Lets native code count for the Python functions that called it; needs `folded`.  0 or -ENOMEM. */
int diff_run_fold(struct diff_run *run, const struct diff_names *names);

/* The same for waits and system calls: Python functions are the callers. */
int diff_run_fold_calls(struct diff_run *run, const struct diff_names *names);

/* Adds the samples of one function to those of another.  Returns 0 or -ENOMEM. */
int diff_run_move(struct diff_run *run, uint32_t from, uint32_t to);

/*
 * Whether the context switches give the run's time on CPUs.  A switch that the kernel did not report may hide
 * much of the time, which the samples show.
 */
bool diff_run_has_time(const struct diff_run *run);

/* The time of all threads that are not idle, on CPUs and waiting. */
double diff_run_threads_ns(const struct diff_run *run);

/*
 * The steps of diff_run_load(): one for each kind of item, and the last one; exported for tests.  @added: the
 * part of @weight for lost samples.  Return 0 or -ENOMEM.
 */
int diff_run_add_sample(struct diff_run *run, uint32_t key, double weight, double added);
/* Counts a sample that was added in the part @block of the recording; key 0 = a function without a key. */
void diff_run_add_block(struct diff_run *run, uint32_t key, uint32_t block);
/* Adds the caller of the function of a sample that was added, a string of diff_names; 0 = none. */
void diff_run_add_caller(struct diff_run *run, uint32_t key, uint32_t caller, double weight);
/* Add waits with a call stack, or system calls, once or several times for a key. */
int diff_run_add_wait(struct diff_run *run, uint32_t key, const struct diff_wait *wait);
int diff_run_add_calls(struct diff_run *run, uint32_t key, uint64_t n, double ns);
int diff_run_add_zone(struct diff_run *run, uint32_t key, double cpu_ns, double wall_ns, double self_ns);
/* Adds how long the last zone that was added waited before it began. */
void diff_run_add_delay(struct diff_run *run, uint32_t key, double ns);
void diff_run_finish(struct diff_run *run);

/* Counts an instance of @ns, not negative. */
void diff_spread_add(struct diff_spread *s, double ns);

/* Describes all instances but the slowest, which are known to a power of two only. */
struct diff_typical diff_spread_typical(const struct diff_spread *s);

#endif /* ANALYZE_DIFF_DIFF_RUN_H */
