/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_op_events.h"

#include "analyze/devices/device_ops.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "format/tt_run_key.h"

#include <errno.h>
#include <stdlib.h>

struct lane_key {
        uint32_t device, number;
};

static uint32_t find_space(const struct trace_dictionary *d)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_STRINGS);

        for (uint32_t id = 1; id <= n; id++)
                if (text_view_is(trace_dictionary_text(d, id), TT_RUN_KEY_KIND))
                        return id;
        return 0;
}

int device_op_events_init(struct device_op_events *e, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_TRACKS);

        *e = (struct device_op_events){ .dictionary = dictionary, .space = find_space(dictionary) };
        intern_init(&e->lane_keys, sizeof(struct lane_key), 0);
        e->ops = device_ops_new();
        if (!e->ops)
                return -ENOMEM;
        for (uint32_t id = 1; e->space != 0 && id <= n; id++) {
                const struct trace_track *row = trace_dictionary_row(dictionary, TRACE_TABLE_TRACKS, id);
                struct lane_key key = { .device = row->device, .number = row->number };
                uint32_t lane;

                if (intern_add_row(&e->lane_keys, &key, &e->lanes, &e->lanes_capacity, sizeof(*e->lanes),
                                   &lane) < 0)
                        return -ENOMEM;
                if (e->lanes[lane - 1].track == 0)
                        e->lanes[lane - 1].track = id;
        }
        return 0;
}

void device_op_events_deinit(struct device_op_events *e)
{
        device_ops_free(e->ops);
        intern_deinit(&e->lane_keys);
        free(e->lanes);
        *e = (struct device_op_events){ .dictionary = NULL };
}

/* NULL if no row names the lane. */
static struct device_op_lane *find_lane(const struct device_op_events *e, uint64_t device, uint64_t number)
{
        struct lane_key key = { .device = (uint32_t)device, .number = (uint32_t)number };
        uint32_t id = number <= UINT32_MAX ? intern_find(&e->lane_keys, &key, sizeof(key)) : 0;

        return id != 0 ? &e->lanes[id - 1] : NULL;
}

static int add_span(struct device_op_events *e, const struct trace_event *event)
{
        struct device_op_lane *lane = find_lane(e, event->device_span.device, event->device_span.lane);
        struct device_op_zone zone = { .chip = event->device_span.device,
                                       .key = event->device_span.key,
                                       .begin = event->device_span.begin_ticks };
        const struct trace_location *location;
        const struct trace_track *track;

        if (!lane || event->device_span.space != e->space || event->device_span.location == 0 ||
            __builtin_add_overflow(zone.begin, event->device_span.length_ticks, &zone.end))
                return 0;
        track = trace_dictionary_row(e->dictionary, TRACE_TABLE_TRACKS, lane->track);
        location = trace_dictionary_row(e->dictionary, TRACE_TABLE_LOCATIONS,
                                        (uint32_t)event->device_span.location);
        zone.core = track->parent;
        zone.processor = trace_dictionary_text(e->dictionary, track->name);
        zone.name = trace_dictionary_text(e->dictionary, location->name);
        if (zone.name.n_bytes > 3 && memcmp(zone.name.bytes + zone.name.n_bytes - 3, "-FW", 3) == 0) {
                lane->begin = zone.begin;
                lane->end = zone.end;
                lane->key = zone.key;
        }
        return device_ops_add_zone(e->ops, &zone);
}

static int add_value(struct device_op_events *e, const struct trace_event *event)
{
        const struct device_op_lane *lane = find_lane(e, event->device_value.device,
                                                      event->device_value.lane);
        const struct trace_track *track;
        const struct trace_plot *plot;

        if (!lane || event->device_value.kind != TRACE_VALUE_UNSIGNED || event->device_value.plot == 0 ||
            event->device_value.ticks < lane->begin || event->device_value.ticks > lane->end)
                return 0;
        track = trace_dictionary_row(e->dictionary, TRACE_TABLE_TRACKS, lane->track);
        plot = trace_dictionary_row(e->dictionary, TRACE_TABLE_PLOTS, (uint32_t)event->device_value.plot);
        return device_ops_add_sum(e->ops, event->device_value.device, lane->key,
                                  trace_dictionary_text(e->dictionary, track->name),
                                  trace_dictionary_text(e->dictionary, plot->name), event->device_value.bits);
}

int device_op_events_add(struct device_op_events *e, const struct trace_event *event)
{
        if (e->space == 0)
                return 0;
        if (event->op == TRACE_OP_DEVICE_SPAN)
                return add_span(e, event);
        return event->op == TRACE_OP_DEVICE_VALUE ? add_value(e, event) : 0;
}
