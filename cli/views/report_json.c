/* SPDX-License-Identifier: MIT */
#include "cli/views/report_json.h"

#include "analyze/report/report.h"
#include "cli/views/counters_json.h"
#include "cli/views/report_object.h"
#include "cli/views/waits_json.h"
#include "view/answers/gap_advice.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

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

        struct report_object object = report_object_begin();

        report_object_put(&object, "command", report_object_string_or_null(recording->command));
        report_object_put(&object, "filter", report_object_string_or_null(recording->filter));
        report_object_put(&object, "hostname", report_object_string_or_null(recording->hostname));
        report_object_put(&object, "kernel", report_object_string_or_null(recording->kernel));
        report_object_put(&object, "machine", report_object_string_or_null(recording->machine));
        report_object_put(&object, "cpus", report_object_string_or_null(recording->cpus));
        report_object_put(&object, "hyprof_version", report_object_string_or_null(recording->hyprof_version));
        report_object_put(&object, "exit_status", report_object_string_or_null(recording->exit_status));
        report_object_put(&object, "sample_event_fallback",
                          report_object_string_or_null(recording->fallback));
        report_object_put(&object, "start_realtime_ns",
                          report_object_number_or_null(recording->start_realtime_ns,
                                                       recording->start_realtime_ns != 0));
        report_object_put(&object, "unwind", report_object_string_or_null(recording->unwind));
        report_object_put(&object, "scope", report_object_string_or_null(recording->scope));
        report_object_put(
                &object, "stack_copy_bytes",
                report_object_number_or_null(recording->stack_copy_bytes, recording->stack_copy_bytes != 0));
        report_object_put(
                &object, "descriptors",
                report_object_number_or_null(recording->n_descriptors, recording->n_descriptors != 0));
        report_object_put(
                &object, "recorder_cpu_ns",
                report_object_number_or_null(recording->recorder_cpu_ns, recording->recorder_cpu_ns != 0));
        report_object_put(&object, "duration_ns", report_object_number(recording->duration_ns));
        report_object_put(&object, "range_from_ns",
                          report_object_number_or_null(recording->range.from_ns, recording->range.is_part));
        report_object_put(&object, "range_ns",
                          report_object_number_or_null(recording->range_ns, recording->range.is_part));
        return report_object_take(&object);
}

static json_t *pack_counts(const struct report *report)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "processes", report_object_number(report->n_processes));
        report_object_put(&object, "threads", report_object_number(report->n_kernel_threads));
        report_object_put(&object, "zones", report_object_number(report->n_zone_events));
        report_object_put(&object, "zones_unclosed", report_object_number(report->n_unclosed));
        report_object_put(&object, "zones_lost", report_object_number(report->lost.n_lost));
        report_object_put(&object, "messages", report_object_number(report->also.n_messages));
        report_object_put(&object, "plot_values", report_object_number(report->also.n_plot_values));
        report_object_put(&object, "frame_marks", report_object_number(report->also.n_frame_marks));
        report_object_put(&object, "context_switches", report_object_number(report->also.n_switches));
        return report_object_take(&object);
}

struct counted {
        const char *name;
        uint64_t count;
};

/* One kind of what else was recorded; left out if there is none of it. */
static void put_counts(struct report_object *object, const char *kind, const struct counted *counts,
                       size_t n_counts)
{
        struct report_object inner;
        bool any = false;

        for (size_t i = 0; i < n_counts; i++)
                any = any || counts[i].count != 0;
        if (!any)
                return;
        inner = report_object_begin();
        for (size_t i = 0; i < n_counts; i++)
                report_object_put(&inner, counts[i].name, report_object_number(counts[i].count));
        report_object_put(object, kind, report_object_take(&inner));
}

#define PUT_COUNTS(object, kind, ...)                                         \
        put_counts((object), (kind), (const struct counted[]){ __VA_ARGS__ }, \
                   sizeof((const struct counted[]){ __VA_ARGS__ }) / sizeof(struct counted))

static json_t *pack_also(const struct report_also *also)
{
        struct report_object object = report_object_begin();

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
        return report_object_take(&object);
}

static const char *name_of_mode(uint32_t mode)
{
        switch (mode) {
        case TRACE_SAMPLE_MODE_PERIOD:
                return "period";
        case TRACE_SAMPLE_MODE_WITH_LEADER:
                return "with_leader";
        case TRACE_SAMPLE_MODE_COUNTED:
                return "counted";
        default:
                return "frequency_hz";
        }
}

static json_t *pack_callstacks(const struct report_callstacks *c)
{
        static const char *const names[TRACE_STACK_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = #name,
                TRACE_STACK_STATES(X)
#undef X
                        [TRACE_STACK_STATE_COUNT] = "OTHER",
        };
        struct report_object states, object;

        if (c->n_samples == 0)
                return json_null();
        states = report_object_begin();
        for (uint32_t i = 0; i <= TRACE_STACK_STATE_COUNT; i++)
                if (c->by_state[i] != 0)
                        report_object_put(&states, names[i], report_object_number(c->by_state[i]));
        object = report_object_begin();
        report_object_put(&object, "samples", report_object_number(c->n_samples));
        report_object_put(&object, "complete", report_object_number(c->n_complete));
        report_object_put(&object, "complete_share", report_object_share(c->n_complete, c->n_samples));
        report_object_put(&object, "truncated", report_object_number(c->n_truncated));
        report_object_put(&object, "truncated_share", report_object_share(c->n_truncated, c->n_samples));
        report_object_put(&object, "states", report_object_take(&states));
        return report_object_take(&object);
}

static json_t *pack_events(const struct report *report)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];
                struct report_object object = report_object_begin();

                report_object_put(&object, "name", report_object_string(event->name));
                report_object_put(&object, "unit", report_object_string_or_null(event->unit));
                report_object_put(&object, "mode", json_string(name_of_mode(event->mode)));
                report_object_put(&object, "leader",
                                  event->leader != 0
                                          ? report_object_string(report->events[event->leader - 1].name)
                                          : json_null());
                report_object_put(&object, "rate", report_object_number(event->rate));
                report_object_put(&object, "samples", report_object_number(event->sum.n_samples));
                report_object_put(&object, "weight", report_object_number(event->sum.weight));
                report_object_put(&object, "shown", json_boolean(event == report->event));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
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
                struct report_object object = report_object_begin();

                report_object_put(&object, "source", json_string(name_of_source(gap->source)));
                report_object_put(&object, "code", json_string(gap->code));
                report_object_put(&object, "words", json_string(gap->words));
                report_object_put(&object, "detail", report_object_string_or_null(gap->detail));
                report_object_put(&object, "advice",
                                  gap->advice ? json_string(gap_advice_of(report, gap).text) : json_null());
                report_object_put(&object, "count",
                                  report_object_number_or_null(gap->count, gap->count != 0));
                report_object_put(&object, "share", gap->share > 0 ? json_real(gap->share) : json_null());
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        return list;
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_functions(const struct report_functions *functions, uint64_t whole, uint32_t limit)
{
        uint32_t n_rows = report_limited(functions->n_rows, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_function *function = &functions->rows[i];
                struct report_object object = report_object_begin();

                report_object_put(&object, "function", report_object_string_or_null(function->name));
                report_object_put(&object, "module", report_object_string_or_null(function->module));
                report_object_put(&object, "kind", report_object_kind(function->kind));
                report_object_put(&object, "self_samples", report_object_number(function->self.n_samples));
                report_object_put(&object, "self_weight", report_object_number(function->self.weight));
                report_object_put(&object, "self_share", report_object_share(function->self.weight, whole));
                report_object_put(&object, "total_samples", report_object_number(function->total.n_samples));
                report_object_put(&object, "total_weight", report_object_number(function->total.weight));
                report_object_put(&object, "total_share", report_object_share(function->total.weight, whole));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        return report_object_list(list, (uint64_t)functions->n_rows - n_rows + functions->n_left_out);
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_durations(const struct report_zone *zone)
{
        if (zone->n_closed == 0)
                return json_null();
        struct report_object object = report_object_begin();

        report_object_put(&object, "min_ns", report_object_number(zone->min_ns));
        report_object_put(&object, "mean_ns", report_object_number(zone->mean_ns));
        report_object_put(&object, "p50_ns", report_object_number(zone->p50_ns));
        report_object_put(&object, "p90_ns", report_object_number(zone->p90_ns));
        report_object_put(&object, "p99_ns", report_object_number(zone->p99_ns));
        report_object_put(&object, "p999_ns", report_object_number(zone->p999_ns));
        report_object_put(&object, "max_ns", report_object_number(zone->max_ns));
        return report_object_take(&object);
}

static json_t *pack_zone(const struct report *report, const struct report_zone *zone, uint32_t limit)
{
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        bool on_cpu_known = report->on_cpu_known && zone->total_ns != 0;

        struct report_object object = report_object_begin();

        report_object_put(&object, "name", report_object_string(zone->name));
        report_object_put(&object, "function", report_object_string_or_null(zone->function));
        report_object_put(&object, "file", report_object_string_or_null(zone->file));
        report_object_put(&object, "line", report_object_number_or_null(zone->line, zone->line != 0));
        report_object_put(&object, "count", report_object_number(zone->n_closed));
        report_object_put(&object, "unclosed", report_object_number(zone->n_unclosed));
        report_object_put(&object, "total_ns", report_object_number(zone->total_ns));
        report_object_put(&object, "self_ns", report_object_number(zone->self_ns));
        report_object_put(&object, "on_cpu_ns",
                          report_object_number_or_null(zone->on_cpu_ns, report->on_cpu_known));
        report_object_put(&object, "on_cpu_share",
                          on_cpu_known ? report_object_share(zone->on_cpu_ns, zone->total_ns) : json_null());
        report_object_put(&object, "durations", pack_durations(zone));
        report_object_put(&object, "samples", report_object_number(zone->samples.n_samples));
        report_object_put(&object, "weight", report_object_number(zone->samples.weight));
        report_object_put(&object, "share", report_object_share(zone->samples.weight, whole));
        report_object_put(&object, "functions",
                          zone->has_functions ? pack_functions(&zone->functions, zone->samples.weight, limit)
                                              : json_null());
        return report_object_take(&object);
}

static json_t *pack_zones(const struct report *report, uint32_t limit)
{
        uint32_t n_rows = report_limited(report->n_zones, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++)
                if (json_array_append_new(list, pack_zone(report, &report->zones[i], limit)) < 0)
                        goto fail;
        return report_object_list(list, (uint64_t)report->n_zones - n_rows);
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_threads(const struct report *report, uint32_t limit)
{
        uint32_t n_rows = report_limited(report->n_threads, limit);
        json_t *list = json_array();

        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_thread *thread = &report->threads[i];
                struct report_object object = report_object_begin();

                report_object_put(&object, "pid", report_object_number(thread->pid));
                report_object_put(&object, "tid",
                                  report_object_number_or_null(thread->tid, !thread->is_fiber));
                report_object_put(&object, "kind", json_string(thread->is_fiber ? "fiber" : "thread"));
                report_object_put(&object, "name", report_object_string_or_null(thread->name));
                report_object_put(&object, "first_raw_ns", report_object_number(thread->first_ns));
                report_object_put(&object, "last_raw_ns", report_object_number(thread->last_ns));
                report_object_put(&object, "on_cpu_ns",
                                  report_object_number_or_null(thread->on_cpu_ns, report->on_cpu_known));
                report_object_put(&object, "samples", report_object_number(thread->n_samples));
                report_object_put(&object, "zones", report_object_number(thread->n_zones));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        return report_object_list(list, (uint64_t)report->n_threads - n_rows);
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
        struct report_object object = report_object_begin();

        report_object_put(&object, "ending", json_string(name_of_ending(report->ending)));
        report_object_put(&object, "ending_words", report_object_string_or_null(words));
        return report_object_take(&object);
}

int report_json_print(const struct report *report, const struct report_json_options *options, FILE *out)
{
        uint32_t limit = options->limit;
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        struct report_object object = report_object_begin();
        json_t *root;

        report_object_put(&object, "schema", json_string(REPORT_JSON_SCHEMA));
        report_object_put(&object, "trace", pack_trace(report));
        report_object_put(&object, "recording", pack_recording(report));
        report_object_put(&object, "counts", pack_counts(report));
        report_object_put(&object, "also_recorded", pack_also(&report->also));
        report_object_put(&object, "sample_events", pack_events(report));
        report_object_put(&object, "missing", pack_gaps(report));
        report_object_put(&object, "functions", pack_functions(&report->functions, whole, limit));
        report_object_put(&object, "zones", pack_zones(report, limit));
        report_object_put(&object, "threads", pack_threads(report, limit));
        report_object_put(&object, "callstacks", pack_callstacks(&report->callstacks));
        report_object_put(&object, "counters", counters_json_pack(report, limit));
        report_object_put(&object, "totals", counters_json_pack_totals(report));
        if (options->wants_waits)
                report_object_put(&object, "waits", waits_json_pack(report, limit));
        if (options->wants_cpus)
                report_object_put(&object, "cpus", waits_json_pack_cpus(report, limit));
        root = report_object_take(&object);
        if (!root)
                return -ENOMEM;
        /* A failed write is left in the stream, where the caller sees it. */
        (void)json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        (void)fputc('\n', out);
        json_decref(root);
        return 0;
}
