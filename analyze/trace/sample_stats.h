/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/sample_stats.h - sums of equal samples
 *
 * Way of the data:  event_decoder -> trace_totals -> [sample_stats] -> label_tree -> report
 *
 * Samples of one event, with the same callstack, in the same zone path, are one
 * row.  Names play no part: they may stand at the end of the trace.
 *
 * A sample without weight (of a silent counter) weighs 1, unless it is a counter that was read with the
 * sample of another event: then 0 is the count.  Not thread-safe.
 */
#ifndef ANALYZE_TRACE_SAMPLE_STATS_H
#define ANALYZE_TRACE_SAMPLE_STATS_H

#include "base/intern.h"
#include "base/saturating.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_event;

/* Shares are of weights, because with a sampling frequency, samples stand for different amounts. */
struct sample_sum {
        uint64_t n_samples;
        uint64_t weight; /* in the unit of the sample event */
};

/* Ids of the trace's tables; a row's members are compared as bytes. */
struct sample_key {
        uint32_t event;
        uint32_t path;  /* 0 = outside of every zone */
        uint32_t stack; /* 0 = no callstack was recorded */
};

struct sample_stats {
        struct intern keys;      /* struct sample_key */
        struct sample_sum *sums; /* heap; of the key with id i at i - 1 */
        size_t capacity;
};

void sample_stats_init(struct sample_stats *s);
void sample_stats_deinit(struct sample_stats *s);

/*
 * Counts an event of the op SAMPLE.  @with_leader: its event is of the mode WITH_LEADER.
 * Constant time, amortised.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int sample_stats_add(struct sample_stats *s, const struct trace_event *sample, bool with_leader);

static inline uint32_t sample_stats_count(const struct sample_stats *s)
{
        return s->keys.n_items;
}

/* Row @index, 0 .. count - 1; borrowed until the next add. */
const struct sample_key *sample_stats_key(const struct sample_stats *s, uint32_t index);

static inline void sample_sum_add(struct sample_sum *sum, const struct sample_sum *more)
{
        sum->n_samples += more->n_samples;
        sum->weight = saturating_add(sum->weight, more->weight);
}

#endif /* ANALYZE_TRACE_SAMPLE_STATS_H */
