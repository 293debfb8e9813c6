/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/flow_stats.h - how long work was on its way from zone to zone
 *
 * Way of the data:  flow_links -> [flow_stats] -> flows_view
 *
 * A row is of two places in the source: where flows began and where they were over; or where work was handed
 * on and where it was taken over next, for flows with steps between.  Memory: a histogram a row, of which
 * there are FLOW_STATS_ROWS_MAX.
 */
#ifndef ANALYZE_STATS_FLOW_STATS_H
#define ANALYZE_STATS_FLOW_STATS_H

#include "analyze/stats/flow_links.h"
#include "analyze/trace/histogram.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_STATS_ROWS_MAX (UINT32_C(1) << 14)

/* Compared as bytes. */
struct flow_row_key {
        uint32_t from, to; /* locations; 0 = outside of zones */
        uint32_t is_part;  /* 1: a step on the way; 0: from begin to end */
};

struct flow_row {
        uint32_t id; /* of its key */
        struct histogram durations_ns;
        uint64_t n_to_threads;   /* the other end is another thread's */
        uint64_t n_to_processes; /* and another process's */
        struct flow_point longest_from, longest_to;
};

struct flow_stats {
        struct flow_links links;
        struct intern keys;    /* struct flow_row_key */
        struct flow_row *rows; /* heap; whole flows first, then those with most */
        size_t capacity;
        uint64_t n_lost; /* beyond the limit of rows */
};

/*
 * flow_stats_take() - for a whole trace
 * @filter:  as of flow_links_take()
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.  To be deinitialised in any case.
 */
int flow_stats_take(struct flow_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    struct error *err);
void flow_stats_deinit(struct flow_stats *s);

static inline const struct flow_row_key *flow_stats_key(const struct flow_stats *s,
                                                        const struct flow_row *row)
{
        return intern_get(&s->keys, row->id, NULL);
}

#endif /* ANALYZE_STATS_FLOW_STATS_H */
