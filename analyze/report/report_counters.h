/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_counters.h - counters that were read with the samples: instructions per
 * cycle, misses, and totals
 *
 * Way of the data:  report_samples, trace_dictionary (COUNTERS) -> [report_counters] -> cli
 *
 * Events of the mode WITH_LEADER share the samples of their leader, so each
 * function and each zone has a sum of each of them.  The leader's own weight is
 * the first of them.
 */
#ifndef ANALYZE_REPORT_REPORT_COUNTERS_H
#define ANALYZE_REPORT_REPORT_COUNTERS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct report;
struct report_samples;
struct trace_dictionary;

/* More events in a group than this are left out. */
#define REPORT_COUNTERS_MAX 16

/* The terms of ratios, recognised by the event's name without modifiers: "cycles:u" is CYCLES. */
enum report_counter_kind {
        REPORT_COUNTER_OTHER = 0,
        REPORT_COUNTER_CYCLES,
        REPORT_COUNTER_INSTRUCTIONS,
        REPORT_COUNTER_CACHE_MISSES,
        REPORT_COUNTER_BRANCH_MISSES,
};

struct report_counter {
        uint32_t event; /* id of the sample event */
        struct text_view name, unit;
        enum report_counter_kind kind;
};

/* Ratios of one function, zone or the whole; negative = their events are missing, or counted nothing. */
struct report_ratios {
        double instructions_per_cycle;
        double cache_misses, branch_misses; /* in 1000 instructions */
};

/* An event's total: from the table COUNTERS. */
struct report_total {
        struct report_counter counter;
        uint64_t value;       /* as it was counted */
        uint64_t scaled;      /* value * enabled / running; 0 if it never ran */
        double share_of_time; /* running / enabled: below 1 the event shared its counter with others */
        bool has_never_run;
};

struct report_counters {
        struct report_counter counters[REPORT_COUNTERS_MAX];
        uint32_t n_counters; /* 0, or the leader and at least one more */
        uint64_t all[REPORT_COUNTERS_MAX];
        /*
         * Heap; row i of the report's functions or zones has the numbers [i * n_counters,
         * (i + 1) * n_counters).
         */
        uint64_t *functions_self, *functions_total, *zones;
        struct report_total *totals; /* heap */
        uint32_t n_totals;
        struct report_ratios totals_ratios;
};

/*
 * report_counters_fill() - fill report->counters; functions and zones are there already
 * @samples:  of the trace; goes over to other events
 * Returns 0 or -ENOMEM; report_counters_deinit() frees the memory.
 */
int report_counters_fill(struct report *report, const struct trace_dictionary *d,
                         struct report_samples *samples);
void report_counters_deinit(struct report_counters *c);

/* Fills `counters` with the events that share the samples of @leader, and itself; none if it is alone. */
void report_counters_find_group(struct report_counters *c, const struct trace_dictionary *d, uint32_t leader);

/* The ratios of one row of numbers, in the order of `counters`. */
struct report_ratios report_counters_ratios(const struct report_counters *c, const uint64_t *row);

enum report_counter_kind report_counter_kind_of(struct text_view name);

#endif /* ANALYZE_REPORT_REPORT_COUNTERS_H */
