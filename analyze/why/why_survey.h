/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_survey.h - the first pass of `why`: how long the instances last, and which data can explain
 * it
 *
 * Way of the data:  trace_walk -> [why_survey] -> why
 *
 * Memory: what why_durations needs, and a few bytes a thread.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_SURVEY_H
#define ANALYZE_WHY_WHY_SURVEY_H

#include "analyze/samples/unsampled_time.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/walk/lost_zones.h"
#include "analyze/why/why_durations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_dictionary;
struct trace_filter;
struct zone_pattern;

struct why_survey_thread {
        struct why_spending spending;
        uint32_t depth; /* of the instance, if there is one */
        bool is_open;
};

struct why_survey {
        const struct trace_dictionary *dictionary;
        struct why_survey_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        struct why_durations durations;
        struct lost_zones lost;
        struct unsampled_time unsampled; /* judged by `why` */
        uint64_t n_unclosed;             /* instances without an end, which are left out */
        uint64_t n_wakeups;              /* that passed the filter */
        uint64_t n_switches;             /* of the whole trace; 0 = it is unknown who ran when */
        struct sample_sum *samples;      /* heap; by sample event - 1: of the whole trace */
        uint64_t *n_inside;              /* heap; the same, inside of instances */
        uint32_t n_events;
        uint32_t *lock_names; /* heap; strings by lock id - 1: its last name; 0 = named by its location */
        uint32_t n_locks;
};

/*
 * Walks through the trace once.  Returns 0 or what loaded_trace_walk() returns; to be
 * deinitialised in any case.
 */
int why_survey_take(struct why_survey *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct zone_pattern *pattern, struct error *err);
void why_survey_deinit(struct why_survey *s);

/*
 * The event whose samples show where time went: one that measures time if there is any, else the most
 * frequent one; 0 = none.
 */
uint32_t why_survey_choose_event(const struct why_survey *s);

#endif /* ANALYZE_WHY_WHY_SURVEY_H */
