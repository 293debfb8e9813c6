/* SPDX-License-Identifier: MIT */
#include "view/events/device_gaps_view.h"

#include "analyze/devices/device_stats.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/order.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/event_names.h"

#include <stdlib.h>

struct text_view device_gaps_view_device(const struct event_names *n, uint32_t device)
{
        const struct trace_device *row = trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_DEVICES,
                                                              device);

        return trace_dictionary_text(n->trace->dictionary, row->name);
}

static const struct device_lane_key *key_of(const struct device_stats *s, uint32_t id)
{
        return intern_get(&s->lane_keys, id, NULL);
}

struct view_value device_gaps_view_lane(const struct event_names *n, const struct device_stats *s,
                                        uint32_t id)
{
        const struct device_lane_key *key = key_of(s, id);
        struct byte_buffer path = { .data = NULL };
        struct view_value value;

        lane_names_put_path(&s->names, &path, key->device, key->lane);
        n->document->failed |= path.failed;
        value = view_format(n->document, "%.*s", (int)path.used_bytes, (const char *)path.data);
        byte_buffer_deinit(&path);
        return value;
}

struct view_value device_gaps_view_zone(const struct event_names *n, uint32_t location)
{
        return location != 0 ? view_text(event_names_zone(n, location)) : view_unknown();
}

struct view_value device_gaps_view_handle(uint32_t location)
{
        return location != 0 ? view_handle('z', location) : view_unknown();
}

/* clang-format off */
#define ANY_GAP_COLUMNS(COLUMN)                                                                               \
        COLUMN(TIME, "at_ns", "at", view_number(event_names_since_start(n, gap->begin_ns)), NULL)             \
        COLUMN(DURATION, "idle_ns", "idle", view_number(gap->end_ns - gap->begin_ns),                         \
               "until the next zone begins there")                                                            \
        COLUMN(HANDLE, "zone", "", device_gaps_view_handle(gap->host_location), NULL)                         \
        COLUMN(STRING, "name", "meanwhile in", device_gaps_view_zone(n, gap->host_location),                  \
               "the innermost zone in which the thread was the longest; null = in no zone")                   \
        COLUMN(DURATION, "host_ns", "for", view_number(gap->host_ns), "how long it was there")                \
        COLUMN(STRING, "thread", "thread", event_names_thread(n, gap->thread),                                \
               "which brings the next zone: by its key, else it reported it", .n_columns_max = 20)            \
        COLUMN(STRING, "next", "next", view_text(event_names_zone(n, gap->location)),                         \
               "the zone of the device that ends it", .n_columns_max = 30)
#define GAP_COLUMNS(COLUMN)                                                                                   \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, gap->line)), NULL,            \
               .n_columns_max = 30)                                                                           \
        ANY_GAP_COLUMNS(COLUMN)                                                                               \
        COLUMN(ID, "device_id", "device id", view_number(gap->line), NULL)
#define LANE_GAP_COLUMNS(COLUMN)                                                                              \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, key->device)), NULL,          \
               .n_columns_max = 30)                                                                           \
        COLUMN(STRING, "lane_name", "lane", device_gaps_view_lane(n, s, gap->line), NULL)                     \
        ANY_GAP_COLUMNS(COLUMN)                                                                               \
        COLUMN(ID, "lane", NULL, view_number(key->lane), "as the program numbers them")                       \
        COLUMN(ID, "device_id", "device id", view_number(key->device), NULL)
#define ANY_IDLE_COLUMNS(COLUMN)                                                                              \
        COLUMN(HANDLE, "zone", "", device_gaps_view_handle(idle->location), NULL)                             \
        COLUMN(STRING, "name", "meanwhile in", device_gaps_view_zone(n, idle->location),                      \
               "a zone, the innermost one, of the thread that brings the next work; null = in no zone")       \
        COLUMN(DURATION, "idle_ns", "idle", view_number(row->idle_ns), "the time of gaps in that zone")
#define IDLE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, idle->line)), NULL,           \
               .n_columns_max = 30)                                                                           \
        ANY_IDLE_COLUMNS(COLUMN)                                                                              \
        COLUMN(SHARE, "share", "%",                                                                           \
               g->all_ns != 0 ? view_real((double)row->idle_ns / (double)g->all_ns) : view_unknown(),         \
               "of the gaps of all devices")                                                                  \
        COLUMN(COUNT, "gaps", "gaps", view_number(row->n_gaps), "in which the thread was there the longest")  \
        COLUMN(ID, "device_id", "device id", view_number(idle->line), NULL)
#define LANE_IDLE_COLUMNS(COLUMN)                                                                             \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, key->device)), NULL,          \
               .n_columns_max = 30)                                                                           \
        COLUMN(STRING, "lane_name", "lane", device_gaps_view_lane(n, s, idle->line), NULL)                    \
        ANY_IDLE_COLUMNS(COLUMN)                                                                              \
        COLUMN(SHARE, "share", "%", view_real((double)row->idle_ns / (double)line->idle_ns),                  \
               "of the gaps of the lane")                                                                     \
        COLUMN(COUNT, "gaps", "gaps", view_number(row->n_gaps), "in which the thread was there the longest")  \
        COLUMN(ID, "lane", NULL, view_number(key->lane), "as the program numbers them")                       \
        COLUMN(ID, "device_id", "device id", view_number(key->device), NULL)
/* clang-format on */

static const struct view_column gap_columns[] = { GAP_COLUMNS(VIEW_COLUMN) };
static const struct view_column idle_columns[] = { IDLE_COLUMNS(VIEW_COLUMN) };
static const struct view_column lane_gap_columns[] = { LANE_GAP_COLUMNS(VIEW_COLUMN) };
static const struct view_column lane_idle_columns[] = { LANE_IDLE_COLUMNS(VIEW_COLUMN) };
const struct answer_part device_gaps_part = ANSWER_TABLE(
        "gaps", gap_columns, "a time between two zones of a device in which it had none, the longest first",
        .may_be_absent = true);
const struct answer_part device_idle_part = ANSWER_TABLE(
        "idle", idle_columns, "a zone of a thread in which it was while a device was idle, by that time",
        .may_be_absent = true);
const struct answer_part device_lane_gaps_part = ANSWER_TABLE(
        "lane_gaps", lane_gap_columns, "the same of a lane, of devices with several ones, the longest first",
        .may_be_absent = true);
const struct answer_part device_lane_idle_part = ANSWER_TABLE(
        "lane_idle", lane_idle_columns,
        "a zone of a thread in which it was while a lane was idle, by lane and that time",
        .may_be_absent = true);

/* ------------------------------------------------------------------ the order of rows */

/* Indices of rows, or of gaps. */
struct shown {
        const struct device_stats *stats;
        const struct device_lines *gaps;
        uint32_t *n_lanes; /* heap; by device - 1; NULL = of devices all are shown */
        uint32_t *rows;    /* heap */
        size_t n;
};

static const struct device_idle_key *idle_of(const struct device_lines *g, uint32_t i)
{
        return intern_get(&g->keys, i + 1, NULL);
}

static int compare_idle(const void *left, const void *right, void *context)
{
        const struct shown *shown = context;
        const struct device_lines *g = shown->gaps;
        const uint32_t *a = left, *b = right;
        int r = 0;

        if (shown->n_lanes) {
                const struct device_lane_key *x = key_of(shown->stats, idle_of(g, *a)->line);
                const struct device_lane_key *y = key_of(shown->stats, idle_of(g, *b)->line);

                r = order_numbers(x->device, y->device);
                if (r == 0)
                        r = order_numbers(x->lane, y->lane);
        }
        if (r == 0)
                r = order_numbers(g->rows[*b].idle_ns, g->rows[*a].idle_ns);
        return r != 0 ? r : order_numbers(*a, *b);
}

static void show(struct shown *shown, uint32_t line, uint32_t i)
{
        if (!shown->n_lanes || shown->n_lanes[key_of(shown->stats, line)->device - 1] > 1)
                shown->rows[shown->n++] = i;
}

static void choose_gaps(struct shown *shown)
{
        shown->n = 0;
        for (uint32_t i = 0; i < shown->gaps->n_gaps; i++)
                show(shown, shown->gaps->gaps[i].line, i);
}

static void choose_idle(struct shown *shown)
{
        shown->n = 0;
        for (uint32_t i = 0; i < shown->gaps->n_rows; i++)
                show(shown, idle_of(shown->gaps, i)->line, i);
        if (shown->n != 0)
                qsort_r(shown->rows, shown->n, sizeof(*shown->rows), compare_idle, shown);
}

/* ------------------------------------------------------------------ tables */

static void put_gap(struct event_names *n, struct view_table *t, const struct shown *shown, uint32_t i)
{
        const struct device_gap *gap = &shown->gaps->gaps[i];
        struct view_document *d = n->document;

        GAP_COLUMNS(VIEW_CELL)
}

static void put_lane_gap(struct event_names *n, struct view_table *t, const struct shown *shown, uint32_t i)
{
        const struct device_gap *gap = &shown->gaps->gaps[i];
        const struct device_stats *s = shown->stats;
        const struct device_lane_key *key = key_of(s, gap->line);
        struct view_document *d = n->document;

        LANE_GAP_COLUMNS(VIEW_CELL)
}

static void put_idle(struct event_names *n, struct view_table *t, const struct shown *shown, uint32_t i)
{
        const struct device_lines *g = shown->gaps;
        const struct device_idle_key *idle = idle_of(g, i);
        const struct device_idle_row *row = &g->rows[i];
        struct view_document *d = n->document;

        IDLE_COLUMNS(VIEW_CELL)
}

static void put_lane_idle(struct event_names *n, struct view_table *t, const struct shown *shown, uint32_t i)
{
        const struct device_lines *g = shown->gaps;
        const struct device_idle_key *idle = idle_of(g, i);
        const struct device_idle_row *row = &g->rows[i];
        const struct device_line *line = &g->lines[idle->line - 1];
        const struct device_stats *s = shown->stats;
        const struct device_lane_key *key = key_of(s, idle->line);
        struct view_document *d = n->document;

        LANE_IDLE_COLUMNS(VIEW_CELL)
}

static void add_rows(struct event_names *n, struct view_table *t, const struct shown *shown,
                     void (*put)(struct event_names *, struct view_table *, const struct shown *, uint32_t))
{
        size_t n_shown = event_names_limit(n, t, shown->n);

        for (size_t i = 0; i < n_shown; i++)
                put(n, t, shown, shown->rows[i]);
}

static void add_devices(struct event_names *n, struct shown *shown)
{
        struct view_document *d = n->document;
        struct view_table *t = view_document_add_part(d, &device_gaps_part, "Idle devices, the longest gaps");

        view_table_set_about(d, t, "meanwhile: where the thread was the longest that brings the next zone");
        choose_gaps(shown);
        add_rows(n, t, shown, put_gap);
        t = view_document_add_part(d, &device_idle_part, "Idle devices, by zones of threads");
        view_table_set_about(d, t,
                             "the innermost zones of the threads that brought the next work; %% of the gaps "
                             "of all devices");
        choose_idle(shown);
        add_rows(n, t, shown, put_idle);
}

static void add_lanes(struct event_names *n, struct shown *shown)
{
        struct view_document *d = n->document;
        struct view_table *t;

        choose_gaps(shown);
        if (shown->n == 0)
                return;
        t = view_document_add_part(d, &device_lane_gaps_part, "Idle lanes, the longest gaps");
        view_table_set_about(d, t, "other lanes of the device may have been busy");
        add_rows(n, t, shown, put_lane_gap);
        t = view_document_add_part(d, &device_lane_idle_part, "Idle lanes, by zones of threads");
        view_table_set_about(d, t, "%% of the gaps of the lane");
        choose_idle(shown);
        add_rows(n, t, shown, put_lane_idle);
}

void device_gaps_view_add(struct event_names *n, const struct device_stats *s)
{
        const struct device_lines *g = &s->devices, *l = &s->lanes;
        struct shown devices = { .stats = s, .gaps = g }, lanes = { .stats = s, .gaps = l };
        uint32_t *n_lanes = calloc((size_t)s->n_devices + 1, sizeof(*n_lanes));

        devices.rows = calloc(g->n_gaps + g->n_rows + 1, sizeof(*devices.rows));
        lanes.rows = calloc(l->n_gaps + l->n_rows + 1, sizeof(*lanes.rows));
        lanes.n_lanes = n_lanes;
        for (uint32_t id = 1; n_lanes && id <= l->n_lines; id++)
                n_lanes[key_of(s, id)->device - 1]++;
        if (!n_lanes || !devices.rows || !lanes.rows) {
                n->document->failed = true;
        } else {
                if (g->n_gaps != 0)
                        add_devices(n, &devices);
                add_lanes(n, &lanes);
        }
        free(n_lanes);
        free(devices.rows);
        free(lanes.rows);
}

void device_gaps_view_warn(struct event_names *n, const struct device_stats *s)
{
        event_names_warn(n, s->devices.n_late, "zones came too late to be seen in the gaps of their device");
        event_names_warn(n, s->devices.n_dropped, "short gaps of devices beyond the limit, in no row");
        event_names_warn(n, s->devices.n_lost, "gaps of devices beyond the limit of zones, in no row");
        event_names_warn(n, s->lanes.n_late, "zones came too late to be seen in the gaps of their lane");
        event_names_warn(n, s->lanes.n_dropped, "short gaps of lanes beyond the limit, in no row");
        event_names_warn(n, s->lanes.n_lost, "gaps of lanes beyond the limit of zones, in no row");
}
