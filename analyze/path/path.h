/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path.h - who delayed the instances of a zone, or the whole run
 *
 * Way of the data:  loaded_trace -> past -> path_walk -> path_sums -> [path] -> path_view
 *
 * One pass forward, and one before it where instances are chosen by their durations.  Where the code shows
 * that some of it only spins, the pass is made again with that known; so it is for the question what would
 * be if functions took less time, which the first pass learns about.  The path of an instance
 * is walked a moment after it has ended, when the past is complete there; then the past before the oldest
 * open instance is dropped.  docs/use/path.md says how each number is computed.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PATH_H
#define ANALYZE_PATH_PATH_H

#include "analyze/devices/device_works.h"
#include "analyze/devices/lane_names.h"
#include "analyze/path/past.h"
#include "analyze/path/path_chains.h"
#include "analyze/path/path_names.h"
#include "analyze/path/path_spins.h"
#include "analyze/path/path_sums.h"
#include "analyze/path/path_walk.h"
#include "analyze/path/shown_segments.h"
#include "analyze/path/what_if.h"
#include "analyze/trace/zone_pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

/* Fewer instances are not ranked: their path may be a coincidence. */
#define PATH_INSTANCES_MIN 8
struct path_instance;

struct path_request {
        const char *zone;        /* pattern; NULL = the whole recording */
        double slowest;          /* the share of instances that is examined; 0 = all */
        uint64_t slower_than_ns; /* shorter instances are left out */
        uint64_t instance;       /* the one with this number alone; 0 = all */
        uint64_t at_ns; /* CLOCK_MONOTONIC_RAW; if `has_at`: the one that is open then, of each thread */
        uint32_t event; /* whose samples show functions; 0 = chosen */
        bool has_at, is_strict;
        uint64_t past_bytes_max; /* of what is kept of the past; 0 = PAST_BYTES_MAX */
        bool shows_native;       /* code below Python functions stands for itself */
        bool reads_code;         /* finds out by the code what spins; the caller has one thread then */
        struct what_if_request what_if;
        /* Further work on each segment, in the order of path_walk; NULL = none. */
        int (*take)(void *context, const struct path_instance *instance, const struct path_segment *segment);
        void *context;
};

/* A zone on a thread; its number counts from 1, in the order in which instances end. */
struct path_instance {
        uint64_t begin_ns, end_ns;
        uint64_t walked_ns; /* the path before this time is walked already */
        uint64_t number;
        uint32_t thread;
        struct path_draft draft;
};

enum path_confidence { PATH_CONFIDENCE_LOW, PATH_CONFIDENCE_MEDIUM, PATH_CONFIDENCE_HIGH };

struct path {
        const struct loaded_trace *trace; /* borrowed */
        struct path_request request;
        struct past past;
        struct path_names names;
        struct path_spins spins; /* of `reads_code` */
        struct device_works works;
        struct lane_names lanes; /* of its devices */
        struct path_walk walk;
        struct path_sums sums;
        struct path_chains chains;
        struct what_if what_if; /* of the request; is_on if there is one */
        /* heap; rows of `sums` by time, the longest first; without empty ones and what other programs took */
        uint32_t *order;
        uint32_t n_rows;
        uint64_t n_instances, n_examined, n_unclosed;
        uint64_t total_ns;    /* of the examined ones */
        uint64_t segments_ns; /* of their segments: the same */
        uint64_t n_segments;
        uint64_t threshold_ns; /* shorter ones are not among the slowest */
        double ns_per_weight;  /* of samples on all paths */
        double machine_share;  /* of the time: could run and did not, but for own threads and the quota */
        /* of the time on CPUs on all paths, what the samples of a clock do not stand for; 0 = not known */
        double unsampled_share;
        double lost_share; /* of the context switches of a whole recording; 0 = not known */
        enum path_confidence confidence;
        struct path_instance shown;     /* the slowest, or the one asked for; number 0 = none */
        struct shown_segments segments; /* of it */
        bool has_switches, has_wakeups, is_python;
        bool is_range; /* of a whole run, only a range of time was asked for */
};

/*
 * path_init() - walk through the trace
 * @filter:   which instances are examined, by their threads and times; the path goes over all threads
 * @request:  copied; what it points to is borrowed
 *
 * With `has_at` only what is around that time is read, from a tenth of a second before it on, or a second if
 * the trace has locks; and where no instance began since then, the whole trace.
 * Returns 0; -ENOENT with words if no instance is closed or the number is too large, -ESRCH with words if a
 * function of `what_if` is not there; else as loaded_trace_walk().  To be deinitialised in any case.
 */
int path_init(struct path *p, struct loaded_trace *trace, const struct trace_filter *filter,
              const struct path_request *request, struct error *err);
void path_deinit(struct path *p);

/* Private, after path_pass.c: sorts the rows, names the waits, judges.  Returns 0, -ENOMEM or -EOVERFLOW. */
int path_finish(struct path *p);

/* A row's part of the time without what other programs took. */
double path_row_share(const struct path *p, uint32_t row);

/* The part of all time that rows of a kind have. */
double path_kind_share(const struct path *p, enum path_row_kind kind);

/* The same of the time without what other programs took. */
double path_kind_rest_share(const struct path *p, enum path_row_kind kind);

/*
 * Where programs that were not recorded had the CPUs for more of the path, the answer is less certain,
 * and with most of it hardly is one; measured beside busy loops, with programs whose threads do not
 * delay each other. See docs/use/path.md.
 */
#define PATH_OTHERS_MANY 0.2
#define PATH_OTHERS_MOST 0.4

/* Fewer samples of the first row make the answer less certain, and with the fewest it hardly is one. */
#define PATH_SAMPLES_FEW    30
#define PATH_SAMPLES_FEWEST 8

/*
 * The same where threads ran without samples: the machine is an emulated one that was stopped, or the clock
 * came late.  Neither what ran then is seen, nor that the thread waited for the machine below.
 */
#define PATH_UNSAMPLED_MANY 0.3
#define PATH_UNSAMPLED_MOST 0.6
#define PATH_UNSAMPLED_NS   100000000 /* of less time on CPUs too few samples are due to say so */

/* Likewise where context switches were lost: when threads ran, and who woke them, is guessed there. */
#define PATH_LOST_MANY 0.01
#define PATH_LOST_MOST 0.1

/* More of the path without a known cause makes the answer less certain; see docs/use/path.md. */
#define PATH_UNKNOWN_MANY 0.2

/* The part of the time without what other programs took of which the cause is not known. */
double path_unknown_share(const struct path *p);

/* The group of other threads that ran most in the time of a row; group 0 = nothing is known. */
struct path_meanwhile {
        uint32_t group, label;
        double share; /* of that time */
};

struct path_meanwhile path_row_meanwhile(const struct path *p, uint32_t row);

/* Half the width of the 95 % interval of that share; 0 = not known. */
double path_row_doubt(const struct path *p, uint32_t row);

/* Whether one instance was asked for, by its number or time. */
static inline bool path_is_of_one(const struct path *p)
{
        return p->request.instance != 0 || p->request.has_at;
}

static inline uint64_t path_instance_ns(const struct path_instance *i)
{
        return i->end_ns - i->begin_ns;
}

#endif /* ANALYZE_PATH_PATH_H */
