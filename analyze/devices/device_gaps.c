/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_gaps.h"

#include "analyze/devices/device_zones.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int device_gaps_init(struct device_gaps *g, uint32_t n_devices)
{
        *g = (struct device_gaps){ .n_devices = n_devices };
        intern_init(&g->keys, sizeof(struct device_idle_key), DEVICE_GAPS_ROWS_MAX);
        g->lines = calloc((size_t)n_devices + 1, sizeof(*g->lines));
        return g->lines ? 0 : -ENOMEM;
}

void device_gaps_deinit(struct device_gaps *g)
{
        for (uint32_t i = 0; g->lines && i < g->n_devices; i++)
                free(g->lines[i].spans);
        free(g->lines);
        free(g->gaps);
        free(g->rows);
        intern_deinit(&g->keys);
        *g = (struct device_gaps){ .lines = NULL };
}

/* ------------------------------------------------------------------ gaps */

static int compare_numbers(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

static uint64_t length_ns(const struct device_gap *gap)
{
        return gap->end_ns - gap->begin_ns;
}

/* The longest first. */
static int compare_lengths(const void *left, const void *right)
{
        const struct device_gap *a = left, *b = right;
        int r = compare_numbers(length_ns(b), length_ns(a));

        if (r == 0)
                r = compare_numbers(a->begin_ns, b->begin_ns);
        return r != 0 ? r : compare_numbers(a->device, b->device);
}

static void drop_shorter(struct device_gaps *g)
{
        size_t n = g->n_gaps / 2;

        qsort(g->gaps, g->n_gaps, sizeof(*g->gaps), compare_lengths);
        for (size_t i = n; i < g->n_gaps; i++)
                g->dropped_ns += length_ns(&g->gaps[i]);
        g->n_dropped += g->n_gaps - n;
        g->n_gaps = n;
}

static int add_gap(struct device_gaps *g, uint32_t device, uint64_t begin_ns,
                   const struct device_gap_span *next)
{
        if (g->n_gaps == DEVICE_GAPS_MAX)
                drop_shorter(g);
        if (array_reserve(&g->gaps, &g->capacity, g->n_gaps + 1, sizeof(*g->gaps)) < 0)
                return -ENOMEM;
        g->gaps[g->n_gaps] = (struct device_gap){ .begin_ns = begin_ns,
                                                  .end_ns = next->begin_ns,
                                                  .device = device,
                                                  .thread = next->thread,
                                                  .location = next->location };
        g->n_all++;
        g->all_ns += length_ns(&g->gaps[g->n_gaps++]);
        return 0;
}

static int compare_spans(const void *left, const void *right)
{
        const struct device_gap_span *a = left, *b = right;
        int r = compare_numbers(a->begin_ns, b->begin_ns);

        return r != 0 ? r : compare_numbers(b->end_ns, a->end_ns);
}

/* Spans without a gap between them become one. */
static void join(struct device_gap_line *line)
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

/* The gaps before the first @n spans are final. */
static int settle(struct device_gaps *g, uint32_t device, size_t n)
{
        struct device_gap_line *line = &g->lines[device - 1];
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++) {
                if (line->is_settled && line->spans[i].begin_ns > line->settled_ns)
                        r = add_gap(g, device, line->settled_ns, &line->spans[i]);
                if (!line->is_settled || line->spans[i].end_ns > line->settled_ns)
                        line->settled_ns = line->spans[i].end_ns;
                line->is_settled = true;
        }
        line->n_spans -= n;
        if (line->n_spans != 0)
                memmove(line->spans, line->spans + n, line->n_spans * sizeof(*line->spans));
        return r;
}

int device_gaps_add(struct device_gaps *g, const struct device_zone *zone, uint32_t thread)
{
        struct device_gap_line *line = &g->lines[zone->device - 1];

        if (line->n_spans == DEVICE_GAPS_SPANS_MAX) {
                join(line);
                if (line->n_spans > DEVICE_GAPS_SPANS_MAX / 2 &&
                    settle(g, zone->device, line->n_spans / 2) < 0)
                        return -ENOMEM;
        }
        if (line->is_settled && zone->begin_ns < line->settled_ns)
                g->n_late++;
        if (array_reserve(&line->spans, &line->capacity, line->n_spans + 1, sizeof(*line->spans)) < 0)
                return -ENOMEM;
        line->spans[line->n_spans++] = (struct device_gap_span){ .begin_ns = zone->begin_ns,
                                                                 .end_ns = zone->end_ns,
                                                                 .thread = thread,
                                                                 .location = zone->location };
        return 0;
}

/* ------------------------------------------------------------------ what threads did in them */

/* Gaps of one device that one thread ended, which do not overlap; and the one that it is at. */
struct gap_queue {
        size_t next, end;  /* indices of gaps */
        uint64_t known_ns; /* of the gap `next`: in zones */
        struct {
                uint32_t location;
                uint64_t ns;
        } zones[DEVICE_GAPS_ZONES_MAX]; /* of that gap */
        uint32_t n_zones;
};

struct gap_thread {
        struct gap_queue *queues; /* a part of gap_walk.queues */
        uint32_t n_queues;
        uint32_t location; /* the innermost zone; 0 = none */
        uint64_t since_ns;
};

struct gap_walk {
        struct device_gaps *gaps;
        struct gap_queue *queues;   /* heap */
        struct gap_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
};

/* The gaps of one queue are neighbours. */
static int compare_queues(const void *left, const void *right)
{
        const struct device_gap *a = left, *b = right;
        int r = compare_numbers(a->thread, b->thread);

        if (r == 0)
                r = compare_numbers(a->device, b->device);
        return r != 0 ? r : compare_numbers(a->begin_ns, b->begin_ns);
}

/* Returns 0 or -ENOMEM. */
static int add_idle(struct device_gaps *g, uint32_t device, uint32_t location, uint64_t idle_ns,
                    uint64_t n_gaps)
{
        struct device_idle_key key = { .device = device, .location = location };
        uint32_t id = 0;
        int r = intern_add_row(&g->keys, &key, &g->rows, &g->rows_capacity, sizeof(*g->rows), &id);

        if (r == -EOVERFLOW) {
                g->n_lost += n_gaps;
                return 0;
        }
        if (r < 0)
                return r;
        if (r == 1)
                g->n_rows = id;
        g->rows[id - 1].idle_ns += idle_ns;
        g->rows[id - 1].n_gaps += n_gaps;
        return 0;
}

static int add_zone(struct device_gaps *g, struct gap_queue *q, uint32_t location, uint64_t ns)
{
        uint32_t i = 0;

        q->known_ns += ns;
        while (i < q->n_zones && q->zones[i].location != location)
                i++;
        if (i == q->n_zones && q->n_zones < DEVICE_GAPS_ZONES_MAX) {
                q->zones[i].location = location;
                q->zones[i].ns = 0;
                q->n_zones++;
        }
        if (i < q->n_zones)
                q->zones[i].ns += ns;
        return add_idle(g, g->gaps[q->next].device, location, ns, 0);
}

static int end_gap(struct device_gaps *g, struct gap_queue *q)
{
        struct device_gap *gap = &g->gaps[q->next++];
        uint64_t outside_ns = length_ns(gap) - q->known_ns;
        int r;

        gap->host_ns = outside_ns;
        for (uint32_t i = 0; i < q->n_zones; i++)
                if (q->zones[i].ns >= gap->host_ns) {
                        gap->host_ns = q->zones[i].ns;
                        gap->host_location = q->zones[i].location;
                }
        q->known_ns = 0;
        q->n_zones = 0;
        r = outside_ns != 0 ? add_idle(g, gap->device, 0, outside_ns, 0) : 0;
        return r == 0 ? add_idle(g, gap->device, gap->host_location, 0, 1) : r;
}

/* The thread was in the zone @location, or in none, from @begin_ns to @end_ns. */
static int pass(struct device_gaps *g, struct gap_queue *q, uint32_t location, uint64_t begin_ns,
                uint64_t end_ns)
{
        int r = 0;

        while (r == 0 && q->next < q->end && g->gaps[q->next].begin_ns < end_ns) {
                const struct device_gap *gap = &g->gaps[q->next];
                uint64_t from_ns = gap->begin_ns > begin_ns ? gap->begin_ns : begin_ns;
                uint64_t to_ns = gap->end_ns < end_ns ? gap->end_ns : end_ns;

                if (location != 0 && from_ns < to_ns)
                        r = add_zone(g, q, location, to_ns - from_ns);
                if (r < 0 || gap->end_ns > end_ns)
                        break;
                r = end_gap(g, q);
        }
        return r;
}

/* From @time_ns on the thread is in another zone. */
static int enter(struct gap_walk *w, uint32_t thread, uint64_t time_ns, uint32_t location, struct error *err)
{
        struct gap_thread *t = thread <= w->n_threads ? &w->threads[thread - 1] : NULL;

        if (!t)
                return 0;
        for (uint32_t i = 0; i < t->n_queues; i++)
                if (pass(w->gaps, &t->queues[i], t->location, t->since_ns, time_ns) < 0)
                        return error_set(err, -ENOMEM, "looking at idle devices: out of memory");
        t->location = location;
        t->since_ns = time_ns;
        return 0;
}

static int take_begin(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        return enter(context, thread->id, event->time_ns, (uint32_t)event->zone_begin.location, err);
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        uint32_t around = zone->depth != 0 ? thread->timeline.open[zone->depth - 1].location : 0;

        return enter(context, thread->id, zone->end_ns, around, err);
}

/* @w has room for a queue for each gap.  The gaps are sorted by queue. */
static void make_queues(struct gap_walk *w)
{
        const struct device_gaps *g = w->gaps;
        struct gap_queue *q = w->queues;

        for (size_t i = 0; i < g->n_gaps; i++) {
                const struct device_gap *gap = &g->gaps[i];
                struct gap_thread *t = &w->threads[gap->thread - 1];

                if (i != 0 && gap[-1].thread == gap->thread && gap[-1].device == gap->device) {
                        q[-1].end++;
                        continue;
                }
                *q = (struct gap_queue){ .next = i, .end = i + 1 };
                if (t->n_queues++ == 0)
                        t->queues = q;
                q++;
        }
}

static size_t count_queues(const struct device_gaps *g)
{
        size_t n = 0;

        for (size_t i = 0; i < g->n_gaps; i++)
                n += i == 0 || g->gaps[i - 1].thread != g->gaps[i].thread ||
                     g->gaps[i - 1].device != g->gaps[i].device;
        return n;
}

/* Gaps that no event of their thread followed end as well. */
static int end_all(struct gap_walk *w)
{
        for (uint32_t i = 0; i < w->n_threads; i++)
                for (uint32_t k = 0; k < w->threads[i].n_queues; k++)
                        if (pass(w->gaps, &w->threads[i].queues[k], 0, w->threads[i].since_ns, UINT64_MAX) <
                            0)
                                return -ENOMEM;
        return 0;
}

static int follow_threads(struct device_gaps *g, struct loaded_trace *trace, struct error *err)
{
        struct gap_walk w = { .gaps = g,
                              .n_threads = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS) };
        const struct trace_sink sink = { .context = &w, .begin_zone = take_begin, .zone = take_zone };
        struct trace_walk walk;
        int r;

        qsort(g->gaps, g->n_gaps, sizeof(*g->gaps), compare_queues);
        w.queues = calloc(count_queues(g) + 1, sizeof(*w.queues));
        w.threads = calloc((size_t)w.n_threads + 1, sizeof(*w.threads));
        r = trace_walk_init(&walk, trace, NULL, &sink);
        if (r < 0 || !w.queues || !w.threads) {
                r = error_set(err, -ENOMEM, "looking at idle devices: out of memory");
        } else {
                make_queues(&w);
                r = loaded_trace_walk(trace, &walk, err);
                if (r == 0 && end_all(&w) < 0)
                        r = error_set(err, -ENOMEM, "looking at idle devices: out of memory");
        }
        trace_walk_deinit(&walk);
        free(w.queues);
        free(w.threads);
        return r;
}

int device_gaps_finish(struct device_gaps *g, struct loaded_trace *trace, struct error *err)
{
        int r = 0;

        for (uint32_t device = 1; device <= g->n_devices; device++) {
                struct device_gap_line *line = &g->lines[device - 1];

                join(line);
                if (settle(g, device, line->n_spans) < 0)
                        return error_set(err, -ENOMEM, "looking at idle devices: out of memory");
        }
        if (g->n_gaps != 0)
                r = follow_threads(g, trace, err);
        if (g->n_gaps != 0)
                qsort(g->gaps, g->n_gaps, sizeof(*g->gaps), compare_lengths);
        return r;
}
