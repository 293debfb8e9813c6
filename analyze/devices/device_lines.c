/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_lines.h"

#include "analyze/devices/device_zones.h"
#include "analyze/devices/host_times.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int device_lines_init(struct device_lines *l, uint32_t n_lines)
{
        *l = (struct device_lines){ .lines = NULL };
        intern_init(&l->keys, sizeof(struct device_idle_key), DEVICE_LINES_ROWS_MAX);
        return array_reach(&l->lines, &l->lines_capacity, &l->n_lines, n_lines, sizeof(*l->lines));
}

void device_lines_deinit(struct device_lines *l)
{
        for (uint32_t i = 0; i < l->n_lines; i++)
                free(l->lines[i].spans);
        free(l->lines);
        free(l->gaps);
        free(l->rows);
        intern_deinit(&l->keys);
        *l = (struct device_lines){ .lines = NULL };
}

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "looking at idle devices: out of memory");
}

/* ------------------------------------------------------------------ gaps */

static uint64_t length_ns(const struct device_gap *gap)
{
        return gap->end_ns - gap->begin_ns;
}

/* The longest first. */
static int compare_lengths(const void *left, const void *right)
{
        const struct device_gap *a = left, *b = right;
        int r = order_numbers(length_ns(b), length_ns(a));

        if (r == 0)
                r = order_numbers(a->begin_ns, b->begin_ns);
        return r != 0 ? r : order_numbers(a->line, b->line);
}

static void drop_shorter(struct device_lines *l)
{
        size_t n = l->n_gaps / 2;

        qsort(l->gaps, l->n_gaps, sizeof(*l->gaps), compare_lengths);
        for (size_t i = n; i < l->n_gaps; i++)
                l->dropped_ns += length_ns(&l->gaps[i]);
        l->n_dropped += l->n_gaps - n;
        l->n_gaps = n;
}

static int add_gap(struct device_lines *l, uint32_t number, const struct device_line_span *next)
{
        struct device_line *line = &l->lines[number - 1];
        uint64_t gap_ns = next->begin_ns - line->settled_ns;

        if (l->n_gaps == DEVICE_LINES_GAPS_MAX)
                drop_shorter(l);
        if (array_reserve(&l->gaps, &l->capacity, l->n_gaps + 1, sizeof(*l->gaps)) < 0)
                return -ENOMEM;
        l->gaps[l->n_gaps++] = (struct device_gap){ .begin_ns = line->settled_ns,
                                                    .end_ns = next->begin_ns,
                                                    .line = number,
                                                    .thread = next->thread,
                                                    .location = next->location };
        l->n_all++;
        l->all_ns += gap_ns;
        line->n_gaps++;
        line->idle_ns += gap_ns;
        if (gap_ns > line->longest_ns)
                line->longest_ns = gap_ns;
        return 0;
}

static int compare_spans(const void *left, const void *right)
{
        const struct device_line_span *a = left, *b = right;
        int r = order_numbers(a->begin_ns, b->begin_ns);

        return r != 0 ? r : order_numbers(b->end_ns, a->end_ns);
}

/* Spans without a gap between them become one. */
static void join(struct device_line *line)
{
        size_t n = 0;

        if (line->n_spans == 0)
                return;
        qsort(line->spans, line->n_spans, sizeof(*line->spans), compare_spans);
        for (size_t i = 0; i < line->n_spans; i++) {
                if (n == 0 || line->spans[i].begin_ns > line->spans[n - 1].end_ns)
                        line->spans[n++] = line->spans[i];
                else if (line->spans[i].end_ns > line->spans[n - 1].end_ns)
                        line->spans[n - 1].end_ns = line->spans[i].end_ns;
        }
        line->n_spans = n;
}

/* The first @n spans, which do not overlap, are final. */
static int settle(struct device_lines *l, uint32_t number, size_t n)
{
        struct device_line *line = &l->lines[number - 1];
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++) {
                const struct device_line_span *span = &line->spans[i];

                if (line->is_settled && line->has_gaps && span->begin_ns > line->settled_ns)
                        r = add_gap(l, number, span);
                line->busy_ns += span->end_ns - span->begin_ns;
                line->settled_ns = span->end_ns;
                line->is_settled = true;
        }
        line->n_spans -= n;
        if (line->n_spans != 0)
                memmove(line->spans, line->spans + n, line->n_spans * sizeof(*line->spans));
        return r;
}

static void add_zone(struct device_line *line, const struct device_zone *zone, bool has_gaps)
{
        if (line->n_zones == 0 || zone->begin_ns < line->first_ns)
                line->first_ns = zone->begin_ns;
        if (line->n_zones == 0 || zone->end_ns > line->last_ns)
                line->last_ns = zone->end_ns;
        line->n_zones++;
        line->total_ns += zone->end_ns - zone->begin_ns;
        line->has_gaps = has_gaps;
}

int device_lines_add(struct device_lines *l, uint32_t number, const struct device_zone *zone, uint32_t thread,
                     bool has_gaps)
{
        struct device_line_span span = { .begin_ns = zone->begin_ns,
                                         .end_ns = zone->end_ns,
                                         .thread = thread,
                                         .location = zone->location };
        struct device_line *line;

        if (array_reach(&l->lines, &l->lines_capacity, &l->n_lines, number, sizeof(*l->lines)) < 0)
                return -ENOMEM;
        line = &l->lines[number - 1];
        add_zone(line, zone, has_gaps);
        if (line->n_spans == DEVICE_LINES_SPANS_MAX) {
                join(line);
                if (line->n_spans > DEVICE_LINES_SPANS_MAX / 2 && settle(l, number, line->n_spans / 2) < 0)
                        return -ENOMEM;
        }
        if (line->is_settled && span.begin_ns < line->settled_ns) {
                l->n_late += has_gaps;
                span.begin_ns = line->settled_ns;
        }
        if (span.end_ns < span.begin_ns)
                return 0;
        if (array_reserve(&line->spans, &line->capacity, line->n_spans + 1, sizeof(*line->spans)) < 0)
                return -ENOMEM;
        line->spans[line->n_spans++] = span;
        return 0;
}

/* ------------------------------------------------------------------ what threads did in them */

/* The objects, of which the gaps are numbered in a row. */
struct gap_sets {
        struct device_lines *const *items;
};

/* Returns 0 or -ENOMEM. */
static int add_idle(struct device_lines *l, uint32_t line, uint32_t location, uint64_t idle_ns,
                    uint64_t n_gaps)
{
        struct device_idle_key key = { .line = line, .location = location };
        uint32_t id = 0;
        int r = intern_add_row(&l->keys, &key, &l->rows, &l->rows_capacity, sizeof(*l->rows), &id);

        if (r == -EOVERFLOW) {
                l->n_lost += n_gaps;
                return 0;
        }
        if (r < 0)
                return r;
        if (r == 1)
                l->n_rows = id;
        l->rows[id - 1].idle_ns += idle_ns;
        l->rows[id - 1].n_gaps += n_gaps;
        return 0;
}

static int take_part(void *context, uint32_t owner, uint32_t location, uint64_t ns)
{
        const struct gap_sets *sets = context;
        struct device_lines *const *l = sets->items;
        struct device_gap *gap;

        for (; owner >= (*l)->n_gaps; l++)
                owner -= (uint32_t)(*l)->n_gaps;
        gap = &(*l)->gaps[owner];
        if (ns > gap->host_ns) {
                gap->host_ns = ns;
                gap->host_location = location;
        }
        return add_idle(*l, gap->line, location, ns, 0);
}

/* After the pass: sums over all gaps. */
static int finish_rows(struct device_lines *l)
{
        for (size_t i = 0; i < l->n_gaps; i++)
                if (add_idle(l, l->gaps[i].line, l->gaps[i].host_location, 0, 1) < 0)
                        return -ENOMEM;
        for (uint32_t id = 1; id <= l->n_rows; id++) {
                const struct device_idle_key *key = intern_get(&l->keys, id, NULL);
                struct device_line *line = &l->lines[key->line - 1];

                if (l->rows[id - 1].idle_ns > line->host_ns) {
                        line->host_ns = l->rows[id - 1].idle_ns;
                        line->host_location = key->location;
                }
        }
        if (l->n_gaps != 0)
                qsort(l->gaps, l->n_gaps, sizeof(*l->gaps), compare_lengths);
        return 0;
}

static int add_times(const struct device_lines *l, struct host_times *times, uint32_t first)
{
        int r = 0;

        for (uint32_t i = 0; i < l->n_gaps && r == 0; i++)
                r = host_times_add(times, &(struct host_time){ .begin_ns = l->gaps[i].begin_ns,
                                                               .end_ns = l->gaps[i].end_ns,
                                                               .thread = l->gaps[i].thread,
                                                               .owner = first + i });
        return r;
}

static int settle_all(struct device_lines *l)
{
        int r = 0;

        for (uint32_t line = 1; line <= l->n_lines && r == 0; line++) {
                join(&l->lines[line - 1]);
                r = settle(l, line, l->lines[line - 1].n_spans);
        }
        return r;
}

int device_lines_finish(struct device_lines *const *sets, size_t n_sets, struct loaded_trace *trace,
                        struct error *err)
{
        struct gap_sets all = { .items = sets };
        struct host_times times = { .items = NULL };
        uint32_t first = 0;
        int r = 0;

        for (size_t i = 0; i < n_sets && r == 0; i++) {
                r = settle_all(sets[i]);
                if (r == 0)
                        r = add_times(sets[i], &times, first);
                first += (uint32_t)sets[i]->n_gaps;
        }
        r = r == 0 ? host_times_take(&times, trace, take_part, &all, err) : no_memory(err);
        host_times_deinit(&times);
        for (size_t i = 0; i < n_sets && r == 0; i++)
                if (finish_rows(sets[i]) < 0)
                        r = no_memory(err);
        return r;
}
