/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/wait_scale.h - for how many waits one with a callstack stands
 *
 * Way of the data:  wait_stats -> [wait_scale] -> report_waits, kernel_calls
 *
 * The recorder limits the rate of callstacks of waits, so that only few of many short waits have one.  These
 * few are a sample of all waits of the same state and of about the same length.
 * Not thread-safe.
 */
#ifndef ANALYZE_STATS_WAIT_SCALE_H
#define ANALYZE_STATS_WAIT_SCALE_H

#include "analyze/waits/wait_stats.h"
#include "format/trace_spec.h"

#include <stdbool.h>
#include <stdint.h>

/* A single wait with a callstack is not a sample. */
#define WAIT_SCALE_MIN 2

/* Waits of one state and of about one length: all, and those with a callstack. */
struct wait_class {
        double all_ns, with_stack_ns;
        double n_all, n_with_stack;
};

/* Zero-initialised is empty. */
struct wait_scale {
        struct wait_class classes[TRACE_WAIT_STATE_COUNT + 1][WAIT_LENGTHS];
        bool knows_states; /* the recording states why threads left their CPUs */
};

static inline void wait_scale_add(struct wait_scale *s, const struct wait_key *key, uint64_t n, uint64_t ns)
{
        struct wait_class *class = &s->classes[key->wait][key->length];

        class->all_ns += (double)ns;
        class->n_all += (double)n;
        class->with_stack_ns += key->stack != 0 ? (double)ns : 0;
        class->n_with_stack += key->stack != 0 ? (double)n : 0;
        s->knows_states |= key->wait != TRACE_WAIT_UNKNOWN && key->wait != TRACE_WAIT_PREEMPTED;
}

/*
 * Whether these are waits of threads that slept before the recording began: only of those is the reason
 * unknown.  After all rows.
 */
static inline bool wait_scale_is_from_before(const struct wait_scale *s, const struct wait_key *key)
{
        return s->knows_states && key->stack == 0 && key->wait == TRACE_WAIT_UNKNOWN;
}

/* Whether waits with a callstack stand for others of this key. */
static inline bool wait_scale_is_known(const struct wait_scale *s, const struct wait_key *key)
{
        const struct wait_class *class = &s->classes[key->wait][key->length];

        return class->n_with_stack >= WAIT_SCALE_MIN && class->with_stack_ns > 0;
}

/* The time of all waits for which a time of waits with a callstack stands. */
static inline double wait_scale_ns(const struct wait_scale *s, const struct wait_key *key, uint64_t ns)
{
        const struct wait_class *class = &s->classes[key->wait][key->length];

        return (double)ns * (wait_scale_is_known(s, key) ? class->all_ns / class->with_stack_ns : 1);
}

/* The number of all waits for which a number of waits with a callstack stands. */
static inline double wait_scale_count(const struct wait_scale *s, const struct wait_key *key, uint64_t n)
{
        const struct wait_class *class = &s->classes[key->wait][key->length];

        return (double)n * (wait_scale_is_known(s, key) ? class->n_all / class->n_with_stack : 1);
}

#endif /* ANALYZE_STATS_WAIT_SCALE_H */
