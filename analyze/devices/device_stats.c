/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_stats.h"

#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ busy time */

static int compare(const void *left, const void *right)
{
        const struct busy_span *a = left, *b = right;

        return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Overlapping ones become one. */
static void join(struct busy_time *b)
{
        size_t n = 0;

        if (b->n_spans == 0)
                return;
        qsort(b->spans, b->n_spans, sizeof(*b->spans), compare);
        for (size_t i = 0; i < b->n_spans; i++) {
                if (n == 0 || b->spans[i].begin_ns > b->spans[n - 1].end_ns)
                        b->spans[n++] = b->spans[i];
                else if (b->spans[i].end_ns > b->spans[n - 1].end_ns)
                        b->spans[n - 1].end_ns = b->spans[i].end_ns;
        }
        b->n_spans = n;
}

static void settle(struct busy_time *b, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                b->busy_ns += b->spans[i].end_ns - b->spans[i].begin_ns;
                b->settled_ns = b->spans[i].end_ns;
        }
        b->n_spans -= n;
        if (b->n_spans != 0)
                memmove(b->spans, b->spans + n, b->n_spans * sizeof(*b->spans));
}

int busy_time_add(struct busy_time *b, uint64_t begin_ns, uint64_t end_ns)
{
        if (!b->any || begin_ns < b->first_ns)
                b->first_ns = begin_ns;
        if (!b->any || end_ns > b->last_ns)
                b->last_ns = end_ns;
        b->any = true;
        if (begin_ns < b->settled_ns)
                begin_ns = b->settled_ns;
        if (end_ns <= begin_ns)
                return 0;
        if (b->n_spans == DEVICE_STATS_SPANS_MAX) {
                join(b);
                if (b->n_spans > DEVICE_STATS_SPANS_MAX / 2)
                        settle(b, b->n_spans / 2);
                if (begin_ns < b->settled_ns)
                        begin_ns = b->settled_ns;
                if (end_ns <= begin_ns)
                        return 0;
        }
        if (array_reserve(&b->spans, &b->capacity, b->n_spans + 1, sizeof(*b->spans)) < 0)
                return -ENOMEM;
        b->spans[b->n_spans++] = (struct busy_span){ .begin_ns = begin_ns, .end_ns = end_ns };
        return 0;
}

void busy_time_finish(struct busy_time *b)
{
        join(b);
        settle(b, b->n_spans);
}

void busy_time_deinit(struct busy_time *b)
{
        free(b->spans);
        *b = (struct busy_time){ .spans = NULL };
}

/* ------------------------------------------------------------------ zones */

static int add_row(struct device_stats *s, const struct device_zone *zone)
{
        struct device_row_key key = { .device = zone->device, .location = zone->location };
        uint32_t id;
        int r = intern_add(&s->keys, &key, sizeof(key), &id);

        if (r == -EOVERFLOW) {
                s->n_lost++;
                return 0;
        }
        if (r == 1) {
                r = array_reserve(&s->rows, &s->rows_capacity, id, sizeof(*s->rows));
                if (r == 0) {
                        s->rows[id - 1] = (struct histogram){ .n_values = 0 };
                        s->n_rows = id;
                }
        }
        return r < 0 ? r : histogram_add(&s->rows[id - 1], zone->end_ns - zone->begin_ns);
}

static int add_to_lane(struct device_stats *s, const struct device_zone *zone)
{
        const struct device_lane_key key = { .device = zone->device, .lane = zone->lane };
        struct device_lane_sum *lane;
        uint32_t id;
        int r = intern_add_row(&s->lane_keys, &key, &s->lanes, &s->lanes_capacity, sizeof(*s->lanes), &id);

        if (r == -EOVERFLOW) {
                s->n_without_lane++;
                return 0;
        }
        if (r < 0)
                return r;
        if (id > s->n_lanes)
                s->n_lanes = id;
        lane = &s->lanes[id - 1];
        lane->n_zones++;
        lane->total_ns += zone->end_ns - zone->begin_ns;
        return busy_time_add(&lane->busy, zone->begin_ns, zone->end_ns);
}

/* The thread that said the key of a zone brings it, else the one that reports it. */
static int add_to_hosts(struct device_stats *s, const struct device_zone *zone)
{
        bool is_placed = s->zones.clocks.clocks[zone->device - 1].is_placed;
        const struct device_key_zone *host;
        int r = device_hosts_add(&s->hosts, zone, is_placed, &host);

        if (r < 0 || !is_placed)
                return r;
        return device_gaps_add(&s->gaps, zone, host ? host->thread : zone->thread);
}

static int take_event(void *context, const struct device_zone *zone, struct error *err)
{
        struct device_stats *s = context;
        int r = add_row(s, zone);

        if (r == 0)
                r = add_to_lane(s, zone);
        if (r == 0)
                r = busy_time_add(&s->busy[zone->device - 1], zone->begin_ns, zone->end_ns);
        if (r == 0)
                r = add_to_hosts(s, zone);
        return r < 0 ? error_set(err, r, "adding up devices: out of memory") : 0;
}

int device_stats_take(struct device_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err)
{
        int r;

        *s = (struct device_stats){ .n_devices = trace_dictionary_count(trace->dictionary,
                                                                        TRACE_TABLE_DEVICES) };
        intern_init(&s->keys, sizeof(struct device_row_key), DEVICE_STATS_ROWS_MAX);
        intern_init(&s->lane_keys, sizeof(struct device_lane_key), DEVICE_STATS_LANES_MAX);
        s->busy = calloc((size_t)s->n_devices + 1, sizeof(*s->busy));
        if (device_zones_init(&s->zones, trace->dictionary, take_event, s) < 0 ||
            lane_names_init(&s->names, trace->dictionary) < 0 || !s->busy ||
            device_gaps_init(&s->gaps, s->n_devices) < 0)
                return error_set(err, -ENOMEM, "adding up devices: out of memory");
        r = device_hosts_take(&s->hosts, trace, err);
        if (r == 0)
                r = device_zones_take(&s->zones, trace, filter, err);
        if (r == 0 && device_hosts_finish(&s->hosts) < 0)
                r = error_set(err, -ENOMEM, "adding up devices: out of memory");
        if (r == 0)
                r = device_gaps_finish(&s->gaps, trace, err);
        for (uint32_t i = 0; i < s->n_devices; i++)
                busy_time_finish(&s->busy[i]);
        for (uint32_t i = 0; i < s->n_lanes; i++)
                busy_time_finish(&s->lanes[i].busy);
        return r;
}

void device_stats_deinit(struct device_stats *s)
{
        for (uint32_t i = 0; i < s->n_rows; i++)
                histogram_deinit(&s->rows[i]);
        for (uint32_t i = 0; s->busy && i < s->n_devices; i++)
                busy_time_deinit(&s->busy[i]);
        for (uint32_t i = 0; i < s->n_lanes; i++)
                busy_time_deinit(&s->lanes[i].busy);
        free(s->rows);
        free(s->busy);
        free(s->lanes);
        intern_deinit(&s->keys);
        intern_deinit(&s->lane_keys);
        lane_names_deinit(&s->names);
        device_hosts_deinit(&s->hosts);
        device_gaps_deinit(&s->gaps);
        device_zones_deinit(&s->zones);
        *s = (struct device_stats){ .rows = NULL };
}
