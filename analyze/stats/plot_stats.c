/* SPDX-License-Identifier: MIT */
#include "analyze/stats/plot_stats.h"

#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void plot_stats_init(struct plot_stats *s, uint64_t from_ns, uint64_t to_ns)
{
        *s = (struct plot_stats){ .from_ns = from_ns, .to_ns = to_ns };
        intern_init(&s->names, sizeof(uint32_t), PLOT_STATS_PLOTS_MAX);
}

void plot_stats_deinit(struct plot_stats *s)
{
        intern_deinit(&s->names);
        free(s->rows);
        s->rows = NULL;
}

static double value_of(const struct ordered_event *event)
{
        double value;
        int64_t whole;

        if (event->op == TRACE_OP_PLOT_F64) {
                memcpy(&value, &event->value[0], sizeof(value));
                return value;
        }
        memcpy(&whole, &event->value[0], sizeof(whole));
        return (double)whole;
}

static uint32_t bin_of(const struct plot_stats *s, uint64_t time_ns)
{
        double share;

        if (time_ns <= s->from_ns || s->to_ns <= s->from_ns)
                return 0;
        share = (double)(time_ns - s->from_ns) / (double)(s->to_ns - s->from_ns);
        return share < 1 ? (uint32_t)(share * PLOT_STATS_BINS) : PLOT_STATS_BINS - 1;
}

static void add_value(const struct plot_stats *s, struct plot_row *row, double value, uint64_t time_ns)
{
        uint32_t bin = bin_of(s, time_ns);
        double n = (double)(row->n_values - row->n_not_finite);

        if (n <= 1) {
                row->first = row->min = row->max = value;
                row->first_ns = time_ns;
        }
        row->last = value;
        row->last_ns = time_ns;
        row->min = value < row->min ? value : row->min;
        row->max = value > row->max ? value : row->max;
        /* Neither the sum nor the difference of huge values may become infinite. */
        row->mean += value / n - row->mean / n;
        if (row->counts[bin] == UINT32_MAX)
                return;
        n = ++row->counts[bin];
        row->means[bin] += value / n - row->means[bin] / n;
}

int plot_stats_add(struct plot_stats *s, const struct ordered_event *event)
{
        double value = value_of(event);
        struct plot_row *row;
        uint32_t id;
        int r = intern_add(&s->names, &event->subject, sizeof(event->subject), &id);

        if (r == -EOVERFLOW) {
                s->n_lost++;
                return 0;
        }
        if (r == 1) {
                r = array_reserve(&s->rows, &s->capacity, id, sizeof(*s->rows));
                if (r == 0)
                        s->rows[id - 1] = (struct plot_row){ .n_values = 0 };
        }
        if (r < 0)
                return r;
        row = &s->rows[id - 1];
        row->n_values++;
        if (isfinite(value))
                add_value(s, row, value, event->time_ns);
        else
                row->n_not_finite++;
        return 0;
}

void plot_stats_course(const struct plot_row *row, double ret_heights[PLOT_STATS_BINS])
{
        double height = -1, range = row->max / 2 - row->min / 2;

        for (uint32_t i = 0; i < PLOT_STATS_BINS; i++) {
                if (row->counts[i] != 0)
                        height = range > 0 ? (row->means[i] / 2 - row->min / 2) / range : 0;
                ret_heights[i] = height > 1 ? 1 : height;
        }
}

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        int r = plot_stats_add(context, event);

        return r < 0 ? error_set(err, r, "adding up plots: out of memory") : 0;
}

int plot_stats_take(struct plot_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    struct error *err)
{
        struct event_walk_request request = {
                .ops = EVENT_WALK_OP(TRACE_OP_PLOT_I64) | EVENT_WALK_OP(TRACE_OP_PLOT_F64),
                .take = take_event,
                .context = s,
        };
        uint64_t from_ns = trace->start_ns, to_ns = trace->end_ns;
        struct event_walk walk;
        int r;

        if (filter && filter->from_ns > from_ns)
                from_ns = filter->from_ns;
        if (filter && filter->to_ns < to_ns)
                to_ns = filter->to_ns;
        plot_stats_init(s, from_ns, to_ns);
        r = event_walk_take(&walk, trace, filter, &request, err);
        s->n_late = walk.events.order.n_late;
        event_walk_deinit(&walk);
        return r;
}
