/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/plot_stats.h - values that a program plotted -> smallest, largest, mean, and their course
 *
 * Way of the data:  event_walk -> [plot_stats] -> plots_view
 *
 * Values are doubles: whole numbers beyond 2^53 are rounded.  The mean is of the
 * values, however long each stood.  The course is the mean of the values in each of PLOT_STATS_BINS equal
 * parts of the wanted time.  Memory: about 1.2 KiB a plot, of which there are PLOT_STATS_PLOTS_MAX.
 */
#ifndef ANALYZE_STATS_PLOT_STATS_H
#define ANALYZE_STATS_PLOT_STATS_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct ordered_event;
struct trace_filter;

#define PLOT_STATS_PLOTS_MAX (UINT32_C(1) << 14)
#define PLOT_STATS_BINS      60

struct plot_row {
        uint64_t n_values;
        uint64_t n_not_finite; /* of n_values; the numbers below do not include them */
        double first, last, min, max, mean;
        uint64_t first_ns, last_ns;
        double means[PLOT_STATS_BINS]; /* of each part of the time, if there are any */
        uint32_t counts[PLOT_STATS_BINS];
};

struct plot_stats {
        struct intern names;   /* uint32_t: strings */
        struct plot_row *rows; /* heap; by id - 1 */
        size_t capacity;
        uint64_t from_ns, to_ns; /* of the course */
        uint64_t n_lost;         /* values of plots beyond the limit */
        uint64_t n_late;         /* see event_order */
};

void plot_stats_init(struct plot_stats *s, uint64_t from_ns, uint64_t to_ns);
void plot_stats_deinit(struct plot_stats *s);

/* Events of the ops PLOT_I64 and PLOT_F64 in the order of time.  Returns 0 or -ENOMEM. */
int plot_stats_add(struct plot_stats *s, const struct ordered_event *event);

/*
 * The height of each part of the course, 0 .. 1; negative before the first value.  A part without values has
 * the height of the part before.
 */
void plot_stats_course(const struct plot_row *row, double ret_heights[PLOT_STATS_BINS]);

/*
 * For a whole trace; to be deinitialised in any case.  Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int plot_stats_take(struct plot_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    struct error *err);

#endif /* ANALYZE_STATS_PLOT_STATS_H */
