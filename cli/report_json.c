/* SPDX-License-Identifier: MIT */
/*
 * Values are made where they are put in; NULL stands for "out of memory".  What
 * takes a value also takes it over, and hands the NULL on: only the last one looks.
 */
#include "cli/report_json.h"

#include "analyze/report.h"
#include "base/byte_buffer.h"
#include "cli/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

struct object {
        json_t *json;
        bool failed; /* sticky */
};

static struct object object_new(void)
{
        return (struct object){ .json = json_object() };
}

static void put(struct object *object, const char *key, json_t *value)
{
        if (json_object_set_new(object->json, key, value) < 0)
                object->failed = true;
}

/* The finished object, or NULL. */
static json_t *take(struct object *object)
{
        if (!object->failed)
                return object->json;
        json_decref(object->json);
        return NULL;
}

static json_t *string_of(struct report_string string)
{
        struct byte_buffer clean = { .data = NULL };
        json_t *json = NULL;

        for (size_t i = 0; i < string.n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(string.bytes + i, string.n_bytes - i, &character);

                if (length != 0)
                        byte_buffer_add(&clean, string.bytes + i, length);
                else
                        byte_buffer_add(&clean, REPLACEMENT, strlen(REPLACEMENT));
                i += length != 0 ? length : 1;
        }
        if (!clean.failed)
                json = json_stringn(clean.used_bytes != 0 ? (const char *)clean.data : "", clean.used_bytes);
        byte_buffer_deinit(&clean);
        return json;
}

/* An empty string is what the recorder did not know. */
static json_t *string_or_null(struct report_string string)
{
        return string.n_bytes != 0 ? string_of(string) : json_null();
}

/* JSON numbers end where the readers' do, at 2^63 - 1. */
static json_t *number_of(uint64_t number)
{
        return json_integer(number > INT64_MAX ? (json_int_t)INT64_MAX : (json_int_t)number);
}

static json_t *number_or_null(uint64_t number, bool known)
{
        return known ? number_of(number) : json_null();
}

static json_t *share_of(uint64_t part, uint64_t whole)
{
        return json_real(report_share(part, whole));
}

static uint32_t limited(uint32_t n_rows, uint32_t limit)
{
        return limit != 0 && limit < n_rows ? limit : n_rows;
}

static const char *name_of_ending(enum trace_ending ending)
{
        switch (ending) {
        case TRACE_ENDING_OPEN:
        case TRACE_ENDING_WHOLE:
                break;
        case TRACE_ENDING_CUT_OFF:
                return "cut_off";
        case TRACE_ENDING_DAMAGED:
                return "damaged";
        }
        return "whole";
}

static const char *name_of_kind(enum function_kind kind)
{
        switch (kind) {
        case FUNCTION_NAMED:
                break;
        case FUNCTION_NO_SYMBOL:
                return "no_symbol";
        case FUNCTION_STALE_FILE:
                return "stale_file";
        case FUNCTION_NO_MODULE:
                return "no_module";
        case FUNCTION_NO_CALLSTACK:
                return "no_callstack";
        }
        return "named";
}

static const char *name_of_source(enum report_gap_source source)
{
        switch (source) {
        case REPORT_GAP_NOTICE:
                return "notice";
        case REPORT_GAP_LOSS:
                return "loss";
        case REPORT_GAP_ANALYSIS:
                break;
        }
        return "analysis";
}

static json_t *pack_recording(const struct report *report)
{
        const struct report_recording *recording = &report->recording;

        struct object object = object_new();

        put(&object, "command", string_or_null(recording->command));
        put(&object, "hostname", string_or_null(recording->hostname));
        put(&object, "kernel", string_or_null(recording->kernel));
        put(&object, "machine", string_or_null(recording->machine));
        put(&object, "cpus", string_or_null(recording->cpus));
        put(&object, "hyprof_version", string_or_null(recording->hyprof_version));
        put(&object, "exit_status", string_or_null(recording->exit_status));
        put(&object, "sample_event_fallback", string_or_null(recording->fallback));
        put(&object, "start_realtime_ns",
            number_or_null(recording->start_realtime_ns, recording->start_realtime_ns != 0));
        put(&object, "duration_ns", number_of(recording->duration_ns));
        return take(&object);
}

static json_t *pack_counts(const struct report *report)
{
        struct object object = object_new();

        put(&object, "processes", number_of(report->n_processes));
        put(&object, "threads", number_of(report->n_kernel_threads));
        put(&object, "zones", number_of(report->n_zone_events));
        put(&object, "zones_unclosed", number_of(report->n_unclosed));
        put(&object, "messages", number_of(report->also.n_messages));
        put(&object, "plot_values", number_of(report->also.n_plot_values));
        put(&object, "frame_marks", number_of(report->also.n_frame_marks));
        put(&object, "context_switches", number_of(report->also.n_switches));
        return take(&object);
}

struct counted {
        const char *name;
        uint64_t count;
};

/* One kind of what else was recorded; left out if there is none of it. */
static void put_counts(struct object *object, const char *kind, const struct counted *counts, size_t n_counts)
{
        struct object inner;
        bool any = false;

        for (size_t i = 0; i < n_counts; i++)
                any = any || counts[i].count != 0;
        if (!any)
                return;
        inner = object_new();
        for (size_t i = 0; i < n_counts; i++)
                put(&inner, counts[i].name, number_of(counts[i].count));
        put(object, kind, take(&inner));
}

#define PUT_COUNTS(object, kind, ...)                                         \
        put_counts((object), (kind), (const struct counted[]){ __VA_ARGS__ }, \
                   sizeof((const struct counted[]){ __VA_ARGS__ }) / sizeof(struct counted))

static json_t *pack_also(const struct report_also *also)
{
        struct object object = object_new();

        PUT_COUNTS(&object, "messages", { "count", also->n_messages });
        PUT_COUNTS(&object, "frames", { "marks", also->n_frame_marks }, { "begins", also->n_frame_begins },
                   { "ends", also->n_frame_ends }, { "names", also->n_frame_names });
        PUT_COUNTS(&object, "plots", { "values", also->n_plot_values }, { "names", also->n_plots });
        PUT_COUNTS(&object, "memory", { "allocations", also->n_allocations }, { "frees", also->n_frees },
                   { "discards", also->n_discards }, { "pools", also->n_pools });
        PUT_COUNTS(&object, "locks", { "count", also->n_locks }, { "waits", also->n_lock_waits },
                   { "obtains", also->n_lock_obtains });
        PUT_COUNTS(&object, "fibers", { "count", also->n_fibers }, { "enters", also->n_fiber_enters });
        PUT_COUNTS(&object, "devices", { "count", also->n_devices }, { "zones", also->n_device_zones },
                   { "spans", also->n_device_spans });
        PUT_COUNTS(&object, "in_zones", { "texts", also->n_zone_texts }, { "names", also->n_zone_names },
                   { "values", also->n_zone_values }, { "colors", also->n_zone_colors });
        PUT_COUNTS(&object, "source_texts", { "count", also->n_source_texts },
                   { "bytes", also->n_source_bytes });
        PUT_COUNTS(&object, "code_regions", { "count", also->n_code_regions });
        return take(&object);
}

static json_t *pack_events(const struct report *report)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];
                struct object object = object_new();

                put(&object, "name", string_of(event->name));
                put(&object, "unit", string_or_null(event->unit));
                put(&object, "mode",
                    json_string(event->mode == TRACE_SAMPLE_MODE_PERIOD ? "period" : "frequency_hz"));
                put(&object, "rate", number_of(event->rate));
                put(&object, "samples", number_of(event->sum.n_samples));
                put(&object, "weight", number_of(event->sum.weight));
                put(&object, "shown", json_boolean(event == report->event));
                if (json_array_append_new(list, take(&object)) < 0)
                        goto fail;
        }
        return list;
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_gaps(const struct report *report)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < report->gaps.n_rows; i++) {
                const struct report_gap *gap = &report->gaps.rows[i];
                struct object object = object_new();

                put(&object, "source", json_string(name_of_source(gap->source)));
                put(&object, "code", json_string(gap->code));
                put(&object, "words", json_string(gap->words));
                put(&object, "detail", string_or_null(gap->detail));
                put(&object, "count", number_or_null(gap->count, gap->count != 0));
                put(&object, "share", gap->share > 0 ? json_real(gap->share) : json_null());
                if (json_array_append_new(list, take(&object)) < 0)
                        goto fail;
        }
        return list;
fail:
        json_decref(list);
        return NULL;
}

/* A list and how many rows it lacks.  Takes over @rows. */
static json_t *pack_list(json_t *rows, uint64_t n_left_out)
{
        struct object object = object_new();

        put(&object, "rows", rows);
        put(&object, "left_out", number_of(n_left_out));
        return take(&object);
}

static json_t *pack_functions(const struct report_functions *functions, uint64_t whole, uint32_t limit)
{
        uint32_t n_rows = limited(functions->n_rows, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_function *function = &functions->rows[i];
                struct object object = object_new();

                put(&object, "function", string_or_null(function->name));
                put(&object, "module", string_or_null(function->module));
                put(&object, "kind", json_string(name_of_kind(function->kind)));
                put(&object, "self_samples", number_of(function->self.n_samples));
                put(&object, "self_weight", number_of(function->self.weight));
                put(&object, "self_share", share_of(function->self.weight, whole));
                put(&object, "total_samples", number_of(function->total.n_samples));
                put(&object, "total_weight", number_of(function->total.weight));
                put(&object, "total_share", share_of(function->total.weight, whole));
                if (json_array_append_new(list, take(&object)) < 0)
                        goto fail;
        }
        return pack_list(list, (uint64_t)functions->n_rows - n_rows + functions->n_left_out);
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_durations(const struct report_zone *zone)
{
        if (zone->n_closed == 0)
                return json_null();
        struct object object = object_new();

        put(&object, "min_ns", number_of(zone->min_ns));
        put(&object, "mean_ns", number_of(zone->mean_ns));
        put(&object, "p50_ns", number_of(zone->p50_ns));
        put(&object, "p90_ns", number_of(zone->p90_ns));
        put(&object, "p99_ns", number_of(zone->p99_ns));
        put(&object, "p999_ns", number_of(zone->p999_ns));
        put(&object, "max_ns", number_of(zone->max_ns));
        return take(&object);
}

static json_t *pack_zone(const struct report *report, const struct report_zone *zone, uint32_t limit)
{
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        bool on_cpu_known = report->on_cpu_known && zone->total_ns != 0;

        struct object object = object_new();

        put(&object, "name", string_of(zone->name));
        put(&object, "function", string_or_null(zone->function));
        put(&object, "file", string_or_null(zone->file));
        put(&object, "line", number_or_null(zone->line, zone->line != 0));
        put(&object, "count", number_of(zone->n_closed));
        put(&object, "unclosed", number_of(zone->n_unclosed));
        put(&object, "total_ns", number_of(zone->total_ns));
        put(&object, "self_ns", number_of(zone->self_ns));
        put(&object, "on_cpu_ns", number_or_null(zone->on_cpu_ns, report->on_cpu_known));
        put(&object, "on_cpu_share", on_cpu_known ? share_of(zone->on_cpu_ns, zone->total_ns) : json_null());
        put(&object, "durations", pack_durations(zone));
        put(&object, "samples", number_of(zone->samples.n_samples));
        put(&object, "weight", number_of(zone->samples.weight));
        put(&object, "share", share_of(zone->samples.weight, whole));
        put(&object, "functions",
            zone->has_functions ? pack_functions(&zone->functions, zone->samples.weight, limit)
                                : json_null());
        return take(&object);
}

static json_t *pack_zones(const struct report *report, uint32_t limit)
{
        uint32_t n_rows = limited(report->n_zones, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++)
                if (json_array_append_new(list, pack_zone(report, &report->zones[i], limit)) < 0)
                        goto fail;
        return pack_list(list, (uint64_t)report->n_zones - n_rows);
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_threads(const struct report *report, uint32_t limit)
{
        uint32_t n_rows = limited(report->n_threads, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_thread *thread = &report->threads[i];
                struct object object = object_new();

                put(&object, "pid", number_of(thread->pid));
                put(&object, "tid", number_or_null(thread->tid, !thread->is_fiber));
                put(&object, "kind", json_string(thread->is_fiber ? "fiber" : "thread"));
                put(&object, "name", string_or_null(thread->name));
                put(&object, "first_raw_ns", number_of(thread->first_ns));
                put(&object, "last_raw_ns", number_of(thread->last_ns));
                put(&object, "on_cpu_ns", number_or_null(thread->on_cpu_ns, report->on_cpu_known));
                put(&object, "samples", number_of(thread->n_samples));
                put(&object, "zones", number_of(thread->n_zones));
                if (json_array_append_new(list, take(&object)) < 0)
                        goto fail;
        }
        return pack_list(list, (uint64_t)report->n_threads - n_rows);
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_trace(const struct report *report)
{
        struct report_string words = {
                .bytes = report->ending_words,
                .n_bytes = strlen(report->ending_words),
        };
        struct object object = object_new();

        put(&object, "ending", json_string(name_of_ending(report->ending)));
        put(&object, "ending_words", string_or_null(words));
        return take(&object);
}

int report_json_print(const struct report *report, uint32_t limit, FILE *out)
{
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        struct object object = object_new();
        json_t *root;

        put(&object, "schema", json_string(REPORT_JSON_SCHEMA));
        put(&object, "trace", pack_trace(report));
        put(&object, "recording", pack_recording(report));
        put(&object, "counts", pack_counts(report));
        put(&object, "also_recorded", pack_also(&report->also));
        put(&object, "sample_events", pack_events(report));
        put(&object, "missing", pack_gaps(report));
        put(&object, "functions", pack_functions(&report->functions, whole, limit));
        put(&object, "zones", pack_zones(report, limit));
        put(&object, "threads", pack_threads(report, limit));
        root = take(&object);
        if (!root)
                return -ENOMEM;
        /* A failed write is left in the stream, where the caller sees it. */
        (void)json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        (void)fputc('\n', out);
        json_decref(root);
        return 0;
}
