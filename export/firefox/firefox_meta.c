/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_profile.h"

#include "analyze/walk/loaded_trace.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"

#include <string.h>

/*
 * The lowest version that has the needed features: shared tables (60), counters that describe
 * themselves (62, 63), source texts (64).  Readers upgrade older files and refuse newer ones; from 66
 * on Perfetto finds no samples.
 */
#define PROFILE_VERSION 65
#define GECKO_VERSION   24 /* not looked at */

struct marker_field {
        const char *key;
        const char *label;
        const char *format;
};

static void write_fields(struct json_out *j, const struct marker_field *fields)
{
        json_out_key(j, "fields");
        json_out_open(j, '[');
        for (; fields->key; fields++) {
                json_out_open(j, '{');
                json_out_pair_words(j, "key", fields->key);
                json_out_pair_words(j, "label", fields->label);
                json_out_pair_words(j, "format", fields->format);
                json_out_close(j, '}');
        }
        json_out_close(j, ']');
}

static void write_schema(struct json_out *j, const char *name, const char *table_label,
                         const struct marker_field *fields)
{
        json_out_open(j, '{');
        json_out_pair_words(j, "name", name);
        json_out_key(j, "display");
        json_out_open(j, '[');
        json_out_words(j, "marker-chart");
        json_out_words(j, "marker-table");
        json_out_words(j, "timeline-overview");
        json_out_close(j, ']');
        json_out_pair_words(j, "tooltipLabel", "{marker.name}");
        json_out_pair_words(j, "tableLabel", table_label);
        json_out_pair_words(j, "chartLabel", "{marker.name}");
        write_fields(j, fields);
        json_out_close(j, '}');
}

static void write_schemas(struct json_out *j)
{
        static const struct marker_field zone_fields[] = {
                { "called", "Called", "string" },
                { "text", "Text", "string" },
                { "value", "Value", "integer" },
                { "cpu", "On a CPU", "duration" },
                { "source", "Source", "unique-string" },
                { "end", "End", "string" },
                { NULL, NULL, NULL },
        };
        static const struct marker_field message_fields[] = {
                { "text", "Text", "string" },
                { "severity", "Severity", "string" },
                { NULL, NULL, NULL },
        };
        static const struct marker_field device_fields[] = {
                { "device", "Device", "unique-string" },
                { "lane", "Lane", "integer" },
                { "track", "Track", "unique-string" },
                { "key", "Key", "integer" },
                { "key_kind", "Kind of key", "unique-string" },
                { "text", "Text", "unique-string" },
                { "placed", "Clock", "unique-string" },
                { "source", "Source", "unique-string" },
                { NULL, NULL, NULL },
        };
        static const struct marker_field no_fields[] = { { NULL, NULL, NULL } };

        json_out_key(j, "markerSchema");
        json_out_open(j, '[');
        write_schema(j, "Zone", "{marker.data.called} {marker.data.text}", zone_fields);
        write_schema(j, "Message", "{marker.data.text}", message_fields);
        write_schema(j, "Frame", "{marker.name}", no_fields);
        write_schema(j, "Lock", "{marker.name}", no_fields);
        write_schema(j, "Device", "{marker.data.device}", device_fields);
        json_out_close(j, ']');
}

static void write_categories(struct json_out *j)
{
        static const struct {
                const char *name, *color;
        } categories[] = {
#define X(id, name, color) { (name), (color) },
                FIREFOX_CATEGORIES(X)
#undef X
        };

        json_out_key(j, "categories");
        json_out_open(j, '[');
        for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
                json_out_open(j, '{');
                json_out_pair_words(j, "name", categories[i].name);
                json_out_pair_words(j, "color", categories[i].color);
                json_out_key(j, "subcategories");
                json_out_open(j, '[');
                json_out_words(j, "Other");
                json_out_close(j, ']');
                json_out_close(j, '}');
        }
        json_out_close(j, ']');
}

/* The program's name: the first word of the command, without its folder. */
static struct text_view product_of(const struct loaded_trace *trace)
{
        struct text_view name = loaded_trace_meta(trace, "command");
        const char *blank = name.n_bytes > 0 ? memchr(name.bytes, ' ', name.n_bytes) : NULL;
        const char *slash;

        if (blank && blank > name.bytes)
                name.n_bytes = (size_t)(blank - name.bytes);
        slash = name.n_bytes > 0 ? memrchr(name.bytes, '/', name.n_bytes) : NULL;
        if (slash) {
                name.n_bytes -= (size_t)(slash + 1 - name.bytes);
                name.bytes = slash + 1;
        }
        if (name.n_bytes == 0)
                return (struct text_view){ .bytes = "hyprof", .n_bytes = 6 };
        return name;
}

static void write_system(struct firefox_profile *p)
{
        struct text_view kernel = loaded_trace_meta(p->trace, "kernel");
        struct text_view machine = loaded_trace_meta(p->trace, "machine");
        struct byte_buffer words = { .data = NULL };

        byte_buffer_add(&words, kernel.bytes, kernel.n_bytes);
        byte_buffer_add(&words, " ", 1);
        byte_buffer_add(&words, machine.bytes, machine.n_bytes);
        json_out_pair_string(&p->json, "oscpu", (const char *)words.data,
                             words.failed ? 0 : words.used_bytes);
        byte_buffer_deinit(&words);
}

static void write_units(struct json_out *j)
{
        json_out_key(j, "sampleUnits");
        json_out_open(j, '{');
        json_out_pair_words(j, "time", "ms");
        json_out_pair_words(j, "eventDelay", "ms");
        json_out_pair_words(j, "threadCPUDelta", "µs");
        json_out_close(j, '}');
        json_out_key(j, "extensions");
        json_out_open(j, '{');
        json_out_pair_number(j, "length", 0);
        for (size_t i = 0; i < 3; i++) {
                static const char *const keys[] = { "baseURL", "id", "name" };

                json_out_key(j, keys[i]);
                json_out_open(j, '[');
                json_out_close(j, ']');
        }
        json_out_close(j, '}');
}

static void write_times(struct firefox_profile *p)
{
        struct json_out *j = &p->json;
        uint64_t start_ns = loaded_trace_meta_number(p->trace, "start_realtime_ns");

        json_out_key(j, "interval");
        json_out_decimal(j, export_event_interval_ns(p->trace->dictionary, p->options->event),
                         FIREFOX_DIGITS_OF_MS);
        json_out_key(j, "startTime");
        json_out_decimal(j, start_ns, FIREFOX_DIGITS_OF_MS);
        json_out_pair_number(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", p->trace->start_ns);
}

static void write_flags(struct json_out *j)
{
        json_out_pair_number(j, "processType", 0);
        json_out_pair_number(j, "stackwalk", 1);
        json_out_key(j, "debug");
        json_out_bool(j, false);
        json_out_pair_number(j, "version", GECKO_VERSION);
        json_out_pair_number(j, "preprocessedProfileVersion", PROFILE_VERSION);
        json_out_key(j, "symbolicated");
        json_out_bool(j, true);
        json_out_key(j, "usesOnlyOneStackType");
        json_out_bool(j, true);
        json_out_key(j, "sourceCodeIsNotOnSearchfox");
        json_out_bool(j, true);
        json_out_key(j, "keepProfileThreadOrder");
        json_out_bool(j, true);
        json_out_pair_words(j, "importedFrom", "hyprof " HYPROF_VERSION);
}

void firefox_meta_write(struct firefox_profile *p, const struct firefox_threads *threads)
{
        struct text_view product = product_of(p->trace);
        struct json_out *j = &p->json;

        json_out_key(j, "meta");
        json_out_open(j, '{');
        write_times(p);
        json_out_pair_string(j, "product", product.bytes, product.n_bytes);
        write_flags(j);
        write_system(p);
        write_categories(j);
        write_units(j);
        write_schemas(j);
        json_out_key(j, "initialSelectedThreads");
        json_out_open(j, '[');
        json_out_number(j, firefox_threads_busiest(threads, p));
        json_out_close(j, ']');
        json_out_close(j, '}');
        json_out_line(j);
}
