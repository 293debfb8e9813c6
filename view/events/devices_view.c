/* SPDX-License-Identifier: MIT */
#include "analyze/stats/device_stats.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/text/text_number.h"

#include <stdlib.h>

static const struct view_column device_columns[] = {
        { .key = "device", .title = "device", .type = VIEW_STRING },
        { .key = "count", .title = "zones", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "busy_ns", .title = "busy", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "utilization", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "first_at_ns", .title = "first at", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "last_at_ns", .title = "last at", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "clock", .title = "clock", .type = VIEW_STRING, .n_columns_max = 16 },
        { .key = "period_ns", .title = "ns a tick", .type = VIEW_REAL, .n_columns_max = 12 },
        { .key = "id", .title = "id", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct view_column zone_columns[] = {
        { .key = "device", .title = "device", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "zone", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "zone", .type = VIEW_STRING },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "p50_ns", .title = "p50", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "p99_ns", .title = "p99", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "min_ns", .title = "min", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "place", .title = "place", .type = VIEW_PLACE, .n_columns_max = 30 },
        { .key = "device_id", .title = "device id", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct trace_device *device_row(const struct event_names *n, uint32_t device)
{
        return trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_DEVICES, device);
}

static struct text_view device_name(const struct event_names *n, uint32_t device)
{
        return trace_dictionary_text(n->trace->dictionary, device_row(n, device)->name);
}

static const char *clock_words(const struct device_clock *clock)
{
        if (clock->is_placed)
                return clock->has_period ? "known" : "period unknown";
        return clock->has_period ? "never read" : "unknown";
}

static uint64_t count_zones(const struct device_stats *s, uint32_t device)
{
        uint64_t n = 0;

        for (uint32_t i = 1; i <= s->n_rows; i++) {
                const struct device_row_key *key = intern_get(&s->keys, i, NULL);

                if (key->device == device)
                        n += s->rows[i - 1].n_values;
        }
        return n;
}

static void put_device(struct event_names *n, struct view_table *t, const struct device_stats *s, uint32_t id)
{
        const struct device_clock *clock = &s->zones.clocks.clocks[id - 1];
        const struct busy_time *busy = &s->busy[id - 1];
        const struct trace_process *process = trace_dictionary_row(
                n->trace->dictionary, TRACE_TABLE_PROCESSES, device_row(n, id)->process);
        struct view_document *d = n->document;
        uint64_t active_ns = busy->last_ns - busy->first_ns;

        view_table_put_string(d, t, device_name(n, id));
        view_table_put_number(d, t, count_zones(s, id));
        view_table_put_number(d, t, busy->busy_ns);
        if (active_ns != 0)
                view_table_put_real(d, t, (double)busy->busy_ns / (double)active_ns);
        else
                view_table_put_unknown(d, t);
        if (busy->any && clock->is_placed) {
                event_names_put_time(n, t, busy->first_ns);
                event_names_put_time(n, t, busy->last_ns);
        } else {
                view_table_put_unknown(d, t);
                view_table_put_unknown(d, t);
        }
        view_table_put_words(d, t, clock_words(clock));
        view_table_put_real(d, t, clock->period_ns);
        view_table_put_number(d, t, id);
        view_table_put_number(d, t, process->pid);
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

static void put_zone(struct event_names *n, struct view_table *t, const struct device_stats *s, uint32_t id)
{
        const struct device_row_key *key = intern_get(&s->keys, id, NULL);
        const struct trace_dictionary *dictionary = n->trace->dictionary;
        const struct trace_location *location = trace_dictionary_row(dictionary, TRACE_TABLE_LOCATIONS,
                                                                     key->location);
        const struct histogram *h = &s->rows[id - 1];
        struct view_document *d = n->document;

        view_table_put_string(d, t, device_name(n, key->device));
        view_table_put_handle(d, t, 'z', key->location);
        view_table_put_string(d, t, event_names_zone(n, key->location));
        view_table_put_number(d, t, h->n_values);
        view_table_put_number(d, t, h->sum);
        view_table_put_number(d, t, h->sum / h->n_values);
        view_table_put_number(d, t, histogram_quantile(h, 0.5));
        view_table_put_number(d, t, histogram_quantile(h, 0.99));
        view_table_put_number(d, t, h->largest);
        view_table_put_number(d, t, h->smallest);
        view_table_put_place(d, t, trace_dictionary_text(dictionary, location->file), location->line);
        view_table_put_number(d, t, key->device);
}

static void add_zones(struct event_names *n, const struct device_stats *s)
{
        struct view_table *t = view_document_add_table(n->document, "zones",
                                                       "Zones on devices, by total time", zone_columns,
                                                       sizeof(zone_columns) / sizeof(zone_columns[0]));
        uint32_t *ids = calloc((size_t)s->n_rows + 1, sizeof(*ids));
        struct device_order order = { .stats = s };
        size_t n_shown;

        if (!ids) {
                n->document->failed = true;
                return;
        }
        for (uint32_t i = 0; i < s->n_rows; i++)
                ids[i] = i + 1;
        if (s->n_rows != 0)
                qsort_r(ids, s->n_rows, sizeof(*ids), compare_rows, &order);
        n_shown = event_names_limit(n, t, s->n_rows);
        for (size_t i = 0; i < n_shown; i++)
                put_zone(n, t, s, ids[i]);
        free(ids);
}

static void add_warnings(struct event_names *n, const struct device_stats *s)
{
        const struct device_zones *z = &s->zones;
        uint64_t n_readings = 0, n_unplaced = 0;

        for (uint32_t i = 0; i < s->n_devices; i++) {
                n_readings += z->clocks.clocks[i].n_left_out;
                n_unplaced += s->busy[i].any && !z->clocks.clocks[i].is_placed;
        }
        event_names_warn(n, z->n_never, "zones that were never executed, as the device reports");
        event_names_warn(n, z->n_untimed, "zones without times, left out");
        event_names_warn(n, z->n_backwards, "zones that ended before they began, left out");
        event_names_warn(n, z->n_alone, "ends and times that belong to no zone");
        event_names_warn(n, z->n_lost + s->n_lost, "zones beyond the limit, left out");
        event_names_warn(n, n_readings, "readings of devices' clocks that go backwards, left out");
        event_names_warn(n, n_unplaced, "devices whose clock was never read: their busy times are unknown");
}

static struct answer_words make_answer(const struct event_names *n, const struct device_stats *s)
{
        struct answer_words a = { .used_bytes = 0 };
        uint32_t busiest = 1;

        for (uint32_t i = 2; i <= s->n_devices; i++)
                if (s->busy[i - 1].busy_ns > s->busy[busiest - 1].busy_ns)
                        busiest = i;
        if (s->n_devices == 0) {
                answer_words_add(
                        &a, "%s",
                        family_words_none(n->trace->dictionary, "devices", "the program reported no devices")
                                .text);
        } else if (s->n_rows == 0) {
                answer_words_add(&a, "%s",
                                 n->options->is_filtered ? "no zone of a device passes the filters"
                                                         : "nothing ran on the devices");
        } else {
                answer_words_add_name(&a, device_name(n, busiest));
                answer_words_add(&a, " was busy for %s",
                                 text_number_duration(s->busy[busiest - 1].busy_ns).text);
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
        t = view_document_add_table(d, "devices", "Devices", device_columns,
                                    sizeof(device_columns) / sizeof(device_columns[0]));
        view_table_set_about(
                d, t,
                "busy: in any zone, those at the same time once; %% of the time from a device's first zone to its last");
        n_shown = event_names_limit(&n, t, s->n_devices);
        for (uint32_t i = 1; i <= n_shown; i++)
                put_device(&n, t, s, i);
        add_zones(&n, s);
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}

const struct answer_schema devices_view_schema = {
        .name = "hyprof.devices/1",
        .command = "hyprof report --devices --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
