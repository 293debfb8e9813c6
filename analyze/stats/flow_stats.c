/* SPDX-License-Identifier: MIT */
#include "analyze/stats/flow_stats.h"

#include "base/error.h"
#include "base/order.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct flow_stats *s, const struct flow_point *from, const struct flow_point *to, bool is_part)
{
        const struct flow_row_key key = { .from = flow_links_zone(&s->links, from),
                                          .to = flow_links_zone(&s->links, to),
                                          .is_part = is_part };
        uint64_t duration_ns = to->time_ns - from->time_ns;
        struct flow_row *row;
        uint32_t id;
        int r = intern_add_row(&s->keys, &key, &s->rows, &s->capacity, sizeof(*s->rows), &id);

        if (r == -EOVERFLOW) {
                s->n_lost++;
                return 0;
        }
        if (r < 0)
                return r;
        row = &s->rows[id - 1];
        row->id = id;
        if (row->durations_ns.n_values == 0 || duration_ns > row->durations_ns.largest) {
                row->longest_from = *from;
                row->longest_to = *to;
        }
        row->n_to_threads += from->thread != to->thread;
        row->n_to_processes += from->process != to->process;
        return histogram_add(&row->durations_ns, duration_ns);
}

static int take_link(void *context, const struct flow_links *links, const struct flow_link *link,
                     struct error *err)
{
        struct flow_stats *s = context;
        bool is_end = link->to.phase == TRACE_FLOW_END;
        int r = 0;

        if (!is_end || link->from.phase != TRACE_FLOW_BEGIN)
                r = add(s, &link->from, &link->to, true);
        if (r == 0 && is_end && (flow_links_wants(links, &link->begin) || flow_links_wants(links, &link->to)))
                r = add(s, &link->begin, &link->to, false);
        return r < 0 ? error_set(err, r, "adding up flows: out of memory") : 0;
}

static int compare(const void *left, const void *right, void *context)
{
        const struct flow_row *a = left, *b = right;
        const struct flow_stats *s = context;
        int r = order_numbers(flow_stats_key(s, a)->is_part, flow_stats_key(s, b)->is_part);

        if (r == 0)
                r = order_numbers(b->durations_ns.n_values, a->durations_ns.n_values);
        return r != 0 ? r : order_numbers(a->id, b->id);
}

int flow_stats_take(struct flow_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    struct error *err)
{
        int r;

        *s = (struct flow_stats){ .rows = NULL };
        intern_init(&s->keys, sizeof(struct flow_row_key), FLOW_STATS_ROWS_MAX);
        r = flow_links_take(&s->links, trace, filter, take_link, s, err);
        if (s->keys.n_items != 0)
                qsort_r(s->rows, s->keys.n_items, sizeof(*s->rows), compare, s);
        return r;
}

void flow_stats_deinit(struct flow_stats *s)
{
        for (uint32_t i = 0; i < s->keys.n_items; i++)
                histogram_deinit(&s->rows[i].durations_ns);
        free(s->rows);
        intern_deinit(&s->keys);
        flow_links_deinit(&s->links);
        *s = (struct flow_stats){ .rows = NULL };
}
