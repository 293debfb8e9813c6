/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/trace_filter.h - which part of a trace a command reads
 *
 * Way of the data:  command line (filter_options) -> [trace_filter] -> trace_walk
 *
 * Names are looked up once, in a trace whose tables are all known (loaded_trace), so that an event costs a
 * look into an array.
 *
 *      time     a zone counts, as a whole, if it begins in the range; an event, if its time is in the range
 *      process, thread   the thread in whose stream the event is
 *      cpu      that of a sample, switch or wake-up; for any other event, the last known CPU of the thread
 *      zone     zones that fit, and everything inside of them: zone_pattern
 *      module   samples and waits whose innermost frame with code is in it; nothing else
 *      event    samples of that event; nothing else
 */
#ifndef ANALYZE_WALK_TRACE_FILTER_H
#define ANALYZE_WALK_TRACE_FILTER_H

#include "analyze/trace/zone_pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;
struct trace_event;

/* NULL or 0: no such condition.  Lists have commas; names are globs.  Strings are borrowed. */
struct trace_filter_request {
        uint64_t from_ns, to_ns; /* since the start of the recording; valid if has_* */
        bool has_from, has_to;
        const char *process; /* PIDs, or names of their first threads */
        const char *thread;  /* TIDs, names, handles "t3" */
        const char *cpu;     /* numbers and ranges: "0-3,7" */
        const char *zone;    /* a pattern; "frame@main": on these threads, see trace_filter_split_zone() */
        const char *module;  /* paths or their last parts */
        const char *event;   /* one name, as recorded */
        /* not a condition: > 0 = a file with names that the trace does not have yet: live_names_file */
        int names_fd;
};

struct trace_filter {
        uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC_RAW; everything: 0 and UINT64_MAX */
        bool *threads;           /* heap; by thread id - 1; NULL = all */
        bool *modules;           /* heap; by module id - 1; NULL = all */
        /* heap; by stack id - 1, whether its innermost frame is in a wanted module; NULL = all */
        bool *stacks;
        bool *cpus; /* heap; NULL = all */
        uint32_t n_threads, n_modules, n_stacks, n_cpus;
        struct zone_pattern zone;
        bool has_zone;
        uint32_t event;                      /* sample event; 0 = all */
        bool is_empty;                       /* everything passes */
        struct trace_filter_request request; /* the request */
};

/*
 * trace_filter_init() - look up the names in the request
 * Reads the names of threads if they are needed, and takes in those of functions.
 * Returns 0; -EINVAL with words for a pattern that makes no sense; -ENOENT with words, and near matches, if
 * no thread, zone, module or event of the trace fits; -ENOMEM.  The filter is to be deinitialised in any
 * case.
 */
int trace_filter_init(struct trace_filter *f, const struct trace_filter_request *asked,
                      struct loaded_trace *trace, struct error *err);
void trace_filter_deinit(struct trace_filter *f);

/*
 * trace_filter_split_zone() - "frame@main" is the zone frame on threads named main
 * Unless a zone of the trace is called that as a whole.
 * @ret_zone:    heap; what is before the "@"; NULL = there is no such part
 * @ret_thread:  what comes after it, as a request's `thread`; borrowed from @words
 * Returns 0 or -ENOMEM.
 */
int trace_filter_split_zone(const struct trace_dictionary *d, const char *words, char **ret_zone,
                            const char **ret_thread);

/* The range of time that the filter wants; ns since the start of the recording, within its length. */
struct trace_range {
        uint64_t from_ns, to_ns;
        bool is_part; /* false: all of it */
};

struct trace_range trace_filter_range(const struct trace_filter *f, const struct loaded_trace *trace);

/* Returns -ENOENT, with the names of the events that the trace has. */
int trace_filter_no_event(const struct trace_dictionary *d, const char *wanted, struct error *err);

/* Adds to the error about a missing zone that another recorder had the zones of a program, if so. */
void trace_filter_add_who_has_zones(const struct trace_dictionary *d, struct error *err);

/*
 * filter_miss_explain() - why nothing of a trace passed a filter, after loaded_trace_walk() found nothing
 * Goes through the trace once more and finds which events each condition alone would pass.
 * Returns -ENOENT with words that name the condition and what there is instead; or why
 * the trace cannot be read.
 */
int filter_miss_explain(struct loaded_trace *trace, const struct trace_filter *filter, struct error *err);

static inline bool trace_filter_wants_time(const struct trace_filter *f, uint64_t time_ns)
{
        return time_ns >= f->from_ns && time_ns < f->to_ns;
}

static inline bool trace_filter_wants_thread(const struct trace_filter *f, uint32_t thread)
{
        return !f->threads || f->threads[thread - 1];
}

static inline bool trace_filter_wants_cpu(const struct trace_filter *f, uint64_t cpu)
{
        return !f->cpus || (cpu < f->n_cpus && f->cpus[cpu]);
}

/* @stack: of a sample or wait; 0 = none, which passes only without a wanted module. */
static inline bool trace_filter_wants_stack(const struct trace_filter *f, uint64_t stack)
{
        return !f->stacks || (stack != 0 && f->stacks[stack - 1]);
}

#endif /* ANALYZE_WALK_TRACE_FILTER_H */
