/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_stats.h"

#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

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

/* The thread that said the key of a zone brings it, else the one that reports it. */
static int add_to_lines(struct device_stats *s, const struct device_zone *zone)
{
        const struct device_lane_key key = { .device = zone->device, .lane = zone->lane };
        bool is_placed = s->zones.clocks.clocks[zone->device - 1].is_placed;
        const struct device_key_zone *host;
        uint32_t thread, lane;
        int r = device_hosts_add(&s->hosts, zone, is_placed, &host);

        if (r < 0)
                return r;
        thread = host ? host->thread : zone->thread;
        if (device_lines_add(&s->devices, zone->device, zone, thread, is_placed) < 0)
                return -ENOMEM;
        r = intern_add(&s->lane_keys, &key, sizeof(key), &lane);
        if (r == -EOVERFLOW) {
                s->n_without_lane++;
                return 0;
        }
        return r < 0 ? r : device_lines_add(&s->lanes, lane, zone, thread, is_placed);
}

static int take_event(void *context, const struct device_zone *zone, struct error *err)
{
        struct device_stats *s = context;
        int r = add_row(s, zone);

        if (r == 0)
                r = add_to_lines(s, zone);
        return r < 0 ? error_set(err, r, "adding up devices: out of memory") : 0;
}

int device_stats_take(struct device_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err)
{
        struct device_lines *const lines[] = { &s->devices, &s->lanes };
        int r;

        *s = (struct device_stats){ .n_devices = trace_dictionary_count(trace->dictionary,
                                                                        TRACE_TABLE_DEVICES) };
        intern_init(&s->keys, sizeof(struct device_row_key), DEVICE_STATS_ROWS_MAX);
        intern_init(&s->lane_keys, sizeof(struct device_lane_key), DEVICE_STATS_LANES_MAX);
        if (device_zones_init(&s->zones, trace->dictionary, take_event, s) < 0 ||
            lane_names_init(&s->names, trace->dictionary) < 0 ||
            device_lines_init(&s->devices, s->n_devices) < 0 || device_lines_init(&s->lanes, 0) < 0)
                return error_set(err, -ENOMEM, "adding up devices: out of memory");
        r = device_hosts_take(&s->hosts, trace, err);
        if (r == 0)
                r = device_zones_take(&s->zones, trace, filter, err);
        if (r == 0 && device_hosts_finish(&s->hosts) < 0)
                r = error_set(err, -ENOMEM, "adding up devices: out of memory");
        return r == 0 ? device_lines_finish(lines, 2, trace, err) : r;
}

void device_stats_deinit(struct device_stats *s)
{
        for (uint32_t i = 0; i < s->n_rows; i++)
                histogram_deinit(&s->rows[i]);
        free(s->rows);
        intern_deinit(&s->keys);
        intern_deinit(&s->lane_keys);
        lane_names_deinit(&s->names);
        device_hosts_deinit(&s->hosts);
        device_lines_deinit(&s->devices);
        device_lines_deinit(&s->lanes);
        device_zones_deinit(&s->zones);
        *s = (struct device_stats){ .rows = NULL };
}
