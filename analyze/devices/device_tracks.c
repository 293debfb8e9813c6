/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_tracks.h"

#include "analyze/trace/event_order.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/ordered_events.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
        const struct device_zone *x = a, *y = b;

        if (x->begin_ns != y->begin_ns)
                return x->begin_ns < y->begin_ns ? -1 : 1;
        if (x->end_ns != y->end_ns)
                return x->end_ns > y->end_ns ? -1 : 1;
        if (x->depth != y->depth)
                return x->depth < y->depth ? -1 : 1;
        if (x->said_ns != y->said_ns)
                return x->said_ns < y->said_ns ? -1 : 1;
        if (x->lane != y->lane)
                return x->lane < y->lane ? -1 : 1;
        return (x->location > y->location) - (x->location < y->location);
}

static int hand_zone(struct device_tracks *t, struct device_zone *zone, struct error *err)
{
        struct device_place place;
        int r = device_lanes_place(&t->lanes, zone, &place);

        if (r < 0)
                return error_set(err, r, "no memory for the lanes of devices");
        if (r == 0)
                return 0;
        t->n_handed++;
        return t->take(t->context, zone, &place, err);
}

/* The first @n in order. */
static int hand_out(struct device_tracks *t, size_t n, struct error *err)
{
        int r = 0;

        if (t->n_kept > 1)
                qsort(t->kept, t->n_kept, sizeof(*t->kept), compare);
        for (size_t i = 0; i < n && r == 0; i++)
                r = hand_zone(t, &t->kept[i], err);
        t->n_kept -= n;
        if (t->n_kept > 0)
                memmove(t->kept, t->kept + n, t->n_kept * sizeof(*t->kept));
        return r;
}

static int take_zone(void *context, const struct device_zone *zone, struct error *err)
{
        struct device_tracks *t = context;

        if (!t->zones.clocks.clocks[zone->device - 1].is_placed) {
                t->n_unplaced++;
                return 0;
        }
        t->kept[t->n_kept++] = *zone;
        return t->n_kept == DEVICE_TRACKS_ZONES_MAX ? hand_out(t, DEVICE_TRACKS_ZONES_MAX / 2, err) : 0;
}

static int begin(struct device_tracks *t)
{
        t->kept = malloc(DEVICE_TRACKS_ZONES_MAX * sizeof(*t->kept));
        if (device_zones_init(&t->zones, t->dictionary, take_zone, t) < 0 ||
            lane_names_init(&t->names, t->dictionary) < 0 || !t->kept)
                return -ENOMEM;
        return 0;
}

/* Reads the rows that are new since the last call. */
static int read_rows(struct device_tracks *t)
{
        const struct device_tracks_rows old = t->rows;
        int r = 0;

        t->rows = (struct device_tracks_rows){
                .n_devices = trace_dictionary_count(t->dictionary, TRACE_TABLE_DEVICES),
                .n_clocks = trace_dictionary_count(t->dictionary, TRACE_TABLE_DEVICE_CLOCKS),
                .n_tracks = trace_dictionary_count(t->dictionary, TRACE_TABLE_TRACKS)
        };
        if (t->rows.n_devices == 0)
                return 0;
        if (!t->kept)
                return begin(t);
        if (t->rows.n_devices != old.n_devices || t->rows.n_clocks != old.n_clocks) {
                device_clocks_deinit(&t->zones.clocks);
                r = device_clocks_init(&t->zones.clocks, t->dictionary);
        }
        if (r == 0 && t->rows.n_tracks != old.n_tracks) {
                lane_names_deinit(&t->names);
                r = lane_names_init(&t->names, t->dictionary);
        }
        return r;
}

int device_tracks_init(struct device_tracks *t, const struct trace_dictionary *dictionary,
                       device_tracks_take_zone *take, void *context)
{
        *t = (struct device_tracks){ .dictionary = dictionary, .take = take, .context = context };
        device_lanes_init(&t->lanes);
        return read_rows(t);
}

int device_tracks_add(struct device_tracks *t, const struct ordered_event *event, struct error *err)
{
        return t->kept && event->subject <= t->zones.clocks.n_clocks ? device_zones_add(&t->zones, event, err)
                                                                     : 0;
}

int device_tracks_add_span(struct device_tracks *t, const struct ordered_span *span, struct error *err)
{
        return t->kept && span->device <= t->zones.clocks.n_clocks
                       ? device_zones_add_span(&t->zones, span, err)
                       : 0;
}

int device_tracks_grow(struct device_tracks *t, uint64_t until_ns, struct error *err)
{
        size_t n = 0;

        if (read_rows(t) < 0)
                return error_set(err, -ENOMEM, "no memory for the zones of devices");
        for (size_t i = 0; i < t->n_kept; i++)
                n += t->kept[i].begin_ns < until_ns;
        return n != 0 ? hand_out(t, n, err) : 0;
}

int device_tracks_finish(struct device_tracks *t, struct error *err)
{
        if (!t->kept)
                return 0;
        device_zones_finish(&t->zones);
        return hand_out(t, t->n_kept, err);
}

static int take_mark(void *context, const struct device_mark *mark, struct error *err)
{
        struct device_tracks *t = context;

        if (!t->zones.clocks.clocks[mark->said.device - 1].is_placed) {
                t->n_unplaced_marks++;
                return 0;
        }
        t->n_marks++;
        return t->take_mark(t->context, mark, err);
}

int device_tracks_take(struct device_tracks *t, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err)
{
        int r;

        if (!t->kept)
                return 0;
        if (t->take_mark) {
                t->zones.take_mark = take_mark;
                t->zones.mark_context = t;
        }
        r = device_zones_take(&t->zones, trace, filter, err);
        return r == 0 ? hand_out(t, t->n_kept, err) : r;
}

void device_tracks_deinit(struct device_tracks *t)
{
        device_zones_deinit(&t->zones);
        lane_names_deinit(&t->names);
        device_lanes_deinit(&t->lanes);
        free(t->kept);
        *t = (struct device_tracks){ .kept = NULL };
}

uint64_t device_tracks_left_out(const struct device_tracks *t)
{
        return t->n_unplaced + t->lanes.n_left_out + t->zones.n_never + t->zones.n_untimed +
               t->zones.n_backwards + t->zones.n_lost;
}
