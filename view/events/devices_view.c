/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_stats.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/events/device_gaps_view.h"
#include "view/events/device_hosts_view.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#include <stdlib.h>

static const struct trace_device *device_row(const struct event_names *n, uint32_t device)
{
        return trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_DEVICES, device);
}

static const char *clock_words(const struct device_clock *clock)
{
        if (clock->is_placed)
                return clock->has_period ? "known" : "period unknown";
        return clock->has_period ? "never read" : "unknown";
}

static struct view_value placed_of(struct view_document *d, const struct device_clock *clock)
{
        char words[CLOCK_FIT_WORDS_BYTES];

        return view_format(d, "%s", clock_fit_words(&clock->fit, words));
}

/* A time of a device is known if its clock is. */
static struct view_value time_of(const struct event_names *n, const struct device_clock *clock,
                                 const struct device_line *busy, uint64_t time_ns)
{
        return view_known(event_names_since_start(n, time_ns), busy->n_zones != 0 && clock->is_placed);
}

/* A device of an imported file may have no process. */
static struct view_value pid_of(const struct event_names *n, uint32_t device)
{
        uint32_t id = device_row(n, device)->process;
        const struct trace_process *process;

        if (id == 0)
                return view_unknown();
        process = trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_PROCESSES, id);
        return view_number(process->pid);
}

/* clang-format off */
#define DEVICE_COLUMNS(COLUMN)                                                                                \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, id)), "its name")                         \
        COLUMN(COUNT, "count", "zones", view_number(busy->n_zones), NULL)                                \
        COLUMN(DURATION, "busy_ns", "busy", view_number(busy->busy_ns),                                       \
               "the time in at least one zone")                                                               \
        COLUMN(SHARE, "utilization", "%",                                                                     \
               active_ns != 0 ? view_real((double)busy->busy_ns / (double)active_ns) : view_unknown(),        \
               "of the time from its first zone to its last")                                                 \
        COLUMN(DURATION, "idle_ns", "idle", view_known(busy->idle_ns, busy->has_gaps),                        \
               "in no zone, between its first and its last; null if its clock was never read")                \
        COLUMN(COUNT, "gaps", "gaps", view_known(busy->n_gaps, busy->has_gaps), "of which that is the sum")   \
        COLUMN(DURATION, "longest_gap_ns", "longest", view_known(busy->longest_ns, busy->n_gaps != 0), NULL)  \
        COLUMN(TIME, "first_at_ns", "first at", time_of(n, clock, busy, busy->first_ns),                      \
               "null if its clock was never read")                                                            \
        COLUMN(TIME, "last_at_ns", "last at", time_of(n, clock, busy, busy->last_ns), "likewise")             \
        COLUMN(STRING, "placed", "places", placed_of(d, clock), "how exact its times are, in words")          \
        COLUMN(DURATION, "bound_ns", NULL,                                                                    \
               view_known(clock->fit.bound_ns, clock->fit.bound_ns != CLOCK_FIT_NO_BOUND),                    \
               "the largest error of a time between readings of its clock; null = not known")                 \
        COLUMN(STRING, "quality", NULL, view_words(clock_fit_quality(clock->fit.quality)),                           \
               "of the bound", .one_of = "proven|estimated|unknown|unplaced")                                 \
        COLUMN(COUNT, "epochs", NULL, view_number(clock->fit.n_epochs),                                       \
               "how often its counter began: more than one, it was set back or jumped")                       \
        COLUMN(STRING, "clock", "clock", view_words(clock_words(clock)), "what is known of it",               \
               .one_of = "known|period unknown|never read|unknown", .n_columns_max = 16)                      \
        COLUMN(STRING, "clock_name", NULL,                                                                    \
               view_name(trace_dictionary_text(n->trace->dictionary, device_row(n, id)->clock_name)), NULL)   \
        COLUMN(REAL, "period_ns", "ns a tick", view_real(clock->period_ns), "of a tick")                      \
        COLUMN(ID, "id", "id", view_number(id), NULL)                                                         \
        COLUMN(ID, "pid", "pid", pid_of(n, id), NULL)
#define LANE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, key->device)), NULL, .n_columns_max = 30) \
        COLUMN(STRING, "name", "lane", device_gaps_view_lane(n, s, id),                                      \
               "its name after those above it: core 1,2 / BRISC; lane 3 without a name")                      \
        COLUMN(ID, "lane", NULL, view_number(key->lane), "as the program numbers them")                       \
        COLUMN(COUNT, "count", "zones", view_number(lane->n_zones), NULL)                                     \
        COLUMN(DURATION, "total_ns", "total", view_number(lane->total_ns), "zones at the same time each")     \
        COLUMN(DURATION, "busy_ns", "busy", view_number(lane->busy_ns), "those once")                         \
        COLUMN(SHARE, "utilization", "%",                                                                     \
               active_ns != 0 ? view_real((double)lane->busy_ns / (double)active_ns) : view_unknown(),        \
               "of the time from the device's first zone to its last")                                        \
        COLUMN(DURATION, "idle_ns", "idle", view_known(lane->idle_ns, lane->has_gaps),                        \
               "in no zone, between the first and the last of the lane; null if the clock was never read")    \
        COLUMN(COUNT, "gaps", "gaps", view_known(lane->n_gaps, lane->has_gaps), "of which that is the sum")   \
        COLUMN(DURATION, "longest_gap_ns", "longest", view_known(lane->longest_ns, lane->n_gaps != 0), NULL)  \
        COLUMN(HANDLE, "idle_zone", NULL, device_gaps_view_handle(lane->host_location), NULL)                \
        COLUMN(STRING, "idle_name", "mostly in", device_gaps_view_zone(n, lane->host_location),              \
               "the zone of threads that has the most of the idle time: see `idle`; null = in no zone",       \
               .n_columns_max = 24)                                                                           \
        COLUMN(TIME, "first_at_ns", "first at", time_of(n, clock, lane, lane->first_ns),                      \
               "null if the clock was never read")                                                            \
        COLUMN(TIME, "last_at_ns", "last at", time_of(n, clock, lane, lane->last_ns), "likewise")             \
        COLUMN(ID, "device_id", "device id", view_number(key->device), NULL)
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "device", "device", view_text(device_gaps_view_device(n, key->device)), NULL, .n_columns_max = 30) \
        COLUMN(HANDLE, "zone", "", view_handle('z', key->location), NULL)                                     \
        COLUMN(STRING, "name", "zone", view_text(event_names_zone(n, key->location)), NULL)                   \
        COLUMN(COUNT, "count", "count", view_number(h->n_values), NULL)                                       \
        COLUMN(DURATION, "total_ns", "total", view_number(h->sum), NULL)                                      \
        COLUMN(DURATION, "mean_ns", "mean", view_number(h->sum / h->n_values), NULL)                          \
        COLUMN(DURATION, "p50_ns", "p50", view_number(histogram_quantile(h, 0.5)), NULL)                      \
        COLUMN(DURATION, "p99_ns", "p99", view_number(histogram_quantile(h, 0.99)), NULL)                     \
        COLUMN(DURATION, "max_ns", "max", view_number(h->largest), NULL)                                      \
        COLUMN(DURATION, "min_ns", "min", view_number(h->smallest), NULL)                                     \
        COLUMN(PLACE, "place", "place",                                                                       \
               view_place(trace_dictionary_text(dictionary, location->file), location->line), NULL,           \
               .n_columns_max = 30)                                                                           \
        COLUMN(ID, "device_id", "device id", view_number(key->device), NULL)
/* clang-format on */

static const struct view_column device_columns[] = { DEVICE_COLUMNS(VIEW_COLUMN) };
static const struct view_column lane_columns[] = { LANE_COLUMNS(VIEW_COLUMN) };
static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part devices_part = ANSWER_TABLE("devices", device_columns, "a device");
static const struct answer_part lanes_part = ANSWER_TABLE("lanes", lane_columns,
                                                          "a lane of a device: a core, a stream");
static const struct answer_part zones_part = ANSWER_TABLE("zones", zone_columns,
                                                          "a zone on a device, by total time");
const struct answer_schema devices_view_schema = {
        .name = "hyprof.devices/1",
        .command = "hyprof report --devices --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &devices_part, &lanes_part,
                                                      &zones_part, &device_hosts_part, &device_keys_part,
                                                      &device_gaps_part, &device_idle_part,
                                                      &device_lane_gaps_part, &device_lane_idle_part, NULL },
};

static void put_device(struct event_names *n, struct view_table *t, const struct device_stats *s, uint32_t id)
{
        const struct device_clock *clock = &s->zones.clocks.clocks[id - 1];
        const struct device_line *busy = &s->devices.lines[id - 1];
        uint64_t active_ns = busy->last_ns - busy->first_ns;
        struct view_document *d = n->document;

        DEVICE_COLUMNS(VIEW_CELL)
}

/* The input of the comparison. */
struct device_order {
        const struct device_stats *stats;
};

static int compare_rows(const void *left, const void *right, void *context)
{
        const uint32_t *a = left, *b = right;
        const struct device_order *order = context;
        const struct device_stats *s = order->stats;
        uint64_t x = s->rows[*a - 1].sum, y = s->rows[*b - 1].sum;

        if (x != y)
                return x > y ? -1 : 1;
        return *a < *b ? -1 : *a > *b;
}

static int compare_lanes(const void *left, const void *right, void *context)
{
        const uint32_t *a = left, *b = right;
        const struct device_order *order = context;
        const struct device_lane_key *x = intern_get(&order->stats->lane_keys, *a, NULL);
        const struct device_lane_key *y = intern_get(&order->stats->lane_keys, *b, NULL);

        if (x->device != y->device)
                return x->device < y->device ? -1 : 1;
        return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static void put_lane(struct event_names *n, struct view_table *t, const struct device_stats *s, uint32_t id)
{
        const struct device_lane_key *key = intern_get(&s->lane_keys, id, NULL);
        const struct device_clock *clock = &s->zones.clocks.clocks[key->device - 1];
        const struct device_line *device = &s->devices.lines[key->device - 1];
        const struct device_line *lane = &s->lanes.lines[id - 1];
        uint64_t active_ns = device->last_ns - device->first_ns;
        struct view_document *d = n->document;

        LANE_COLUMNS(VIEW_CELL)
}

static void put_zone(struct event_names *n, struct view_table *t, const struct device_stats *s, uint32_t id)
{
        const struct device_row_key *key = intern_get(&s->keys, id, NULL);
        const struct trace_dictionary *dictionary = n->trace->dictionary;
        const struct trace_location *location = trace_dictionary_row(dictionary, TRACE_TABLE_LOCATIONS,
                                                                     key->location);
        const struct histogram *h = &s->rows[id - 1];
        struct view_document *d = n->document;

        ZONE_COLUMNS(VIEW_CELL)
}

/* The rows with the ids 1 .. @n_rows, in an order. */
static void add_rows(struct event_names *n, struct view_table *t, const struct device_stats *s,
                     uint32_t n_rows, int (*compare)(const void *, const void *, void *),
                     void (*put)(struct event_names *, struct view_table *, const struct device_stats *,
                                 uint32_t))
{
        uint32_t *ids = calloc((size_t)n_rows + 1, sizeof(*ids));
        struct device_order order = { .stats = s };
        size_t n_shown;

        if (!ids) {
                n->document->failed = true;
                return;
        }
        for (uint32_t i = 0; i < n_rows; i++)
                ids[i] = i + 1;
        if (n_rows != 0)
                qsort_r(ids, n_rows, sizeof(*ids), compare, &order);
        n_shown = event_names_limit(n, t, n_rows);
        for (size_t i = 0; i < n_shown; i++)
                put(n, t, s, ids[i]);
        free(ids);
}

static void add_lanes(struct event_names *n, const struct device_stats *s)
{
        struct view_table *t = view_document_add_part(n->document, &lanes_part, "Lanes of devices");

        view_table_set_about(n->document, t,
                             "%% of the time from the first zone of the device to its last, on any lane");
        add_rows(n, t, s, s->lanes.n_lines, compare_lanes, put_lane);
}

static void add_zones(struct event_names *n, const struct device_stats *s)
{
        struct view_table *t = view_document_add_part(n->document, &zones_part,
                                                      "Zones on devices, by total time");

        add_rows(n, t, s, s->n_rows, compare_rows, put_zone);
}

static void add_warnings(struct event_names *n, const struct device_stats *s)
{
        const struct device_zones *z = &s->zones;
        uint64_t n_readings = 0, n_unplaced = 0, n_late = 0, n_jumps = 0, n_disagree = 0;

        for (uint32_t i = 0; i < s->n_devices; i++) {
                const struct device_clock *clock = &z->clocks.clocks[i];

                n_readings += clock->n_left_out;
                n_unplaced += s->devices.lines[i].n_zones != 0 && !clock->is_placed;
                n_late += clock->fit.n_late;
                n_jumps += clock->fit.n_epochs > 1 ? clock->fit.n_epochs - 1 : 0;
                n_disagree += clock->fit.period_disagrees;
        }
        event_names_warn(n, z->n_never, "zones that were never executed, as the device reports");
        event_names_warn(n, z->n_untimed, "zones without times, left out");
        event_names_warn(n, z->n_backwards, "zones that ended before they began, left out");
        event_names_warn(n, z->n_alone, "ends and times that belong to no zone");
        event_names_warn(n, z->n_lost + s->n_lost, "zones beyond the limit, left out");
        event_names_warn(n, s->n_without_lane, "zones beyond the limit of lanes, in no row of a lane");
        event_names_warn(n, n_readings, "readings of devices' clocks that make no sense, left out");
        event_names_warn(n, n_late, "readings of devices' clocks that were late, left out");
        event_names_warn(n, n_jumps, "times that the clock of a device was set or jumped");
        event_names_warn(n, n_disagree, "devices whose clock does not have the period that was stated");
        event_names_warn(n, n_unplaced, "devices whose clock was never read: their busy times are unknown");
        device_hosts_view_warn(n, s);
        device_gaps_view_warn(n, s);
}

static struct answer_words make_answer(const struct event_names *n, const struct device_stats *s)
{
        struct answer_words a = { .used_bytes = 0 };
        uint32_t busiest = 1;

        for (uint32_t i = 2; i <= s->n_devices; i++)
                if (s->devices.lines[i - 1].busy_ns > s->devices.lines[busiest - 1].busy_ns)
                        busiest = i;
        if (s->n_devices == 0) {
                answer_words_add(
                        &a, "%s",
                        family_words_none(n->trace->dictionary, "devices", "the program reported no devices")
                                .text);
        } else if (s->n_rows == 0) {
                answer_words_add(&a, "nothing ran on the devices");
        } else {
                answer_words_add_name(&a, device_gaps_view_device(n, busiest));
                answer_words_add(&a, " was busy for %s",
                                 text_number_duration(s->devices.lines[busiest - 1].busy_ns).text);
                answer_words_add_most(&a, s->n_devices, "devices");
        }
        return a;
}

void devices_view_fill(struct view_document *d, const struct device_stats *s, struct loaded_trace *trace,
                       const struct event_view_options *options)
{
        struct answer_words answer;
        struct event_names n;
        struct view_table *t;
        size_t n_shown;

        event_names_init(&n, d, trace, NULL, options);
        answer = make_answer(&n, s);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_DEVICES, s->zones.n_late);
        add_warnings(&n, s);
        t = view_document_add_part(d, &devices_part, "Devices");
        view_table_set_about(
                d, t,
                "busy: in any zone, those at the same time once; %% of the time from a device's first zone to its last");
        n_shown = event_names_limit(&n, t, s->n_devices);
        for (uint32_t i = 1; i <= n_shown; i++)
                put_device(&n, t, s, i);
        add_lanes(&n, s);
        add_zones(&n, s);
        device_hosts_view_add(&n, s);
        device_gaps_view_add(&n, s);
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}
