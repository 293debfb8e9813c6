/* SPDX-License-Identifier: MIT */
#include "export/perf_data/perf_data_parts.h"

#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"

#include <string.h>

/* A section: where it begins, and how long it is. */
#define SECTION_BYTES 16
#define ID_BYTES      8
#define NAME_ALIGN    64 /* of strings, as perf writes them */
#define STRING_MAX    4095

/* A trace without sample events gets an event that never happens. */
static const struct trace_sample_event no_event = {
        .type = PERF_DATA_TYPE_SOFTWARE,
        .config = PERF_DATA_CONFIG_DUMMY,
        .mode = TRACE_SAMPLE_MODE_PERIOD,
};

static uint32_t count_events(const struct loaded_trace *trace)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS);

        return n > 0 ? n : 1;
}

/* @id: 1 .. count_events(), the number of the event in the file. */
static const struct trace_sample_event *event_of(const struct loaded_trace *trace, uint32_t id)
{
        if (trace_dictionary_count(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS) == 0)
                return &no_event;
        return trace_dictionary_row(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, id);
}

static void put_zeros(struct byte_buffer *b, size_t n_bytes)
{
        uint8_t *at = byte_buffer_reserve(b, n_bytes);

        if (!at)
                return;
        memset(at, 0, n_bytes);
        b->used_bytes += n_bytes;
}

static void put_section(struct byte_buffer *b, uint64_t offset, uint64_t n_bytes)
{
        byte_buffer_add_u64(b, offset);
        byte_buffer_add_u64(b, n_bytes);
}

/*
 * Writes a struct perf_event_attr.  The first one also stands for records that are not samples: mappings,
 * names, forks and context switches.
 */
static void put_attr(struct byte_buffer *b, const struct trace_sample_event *row, bool is_first)
{
        uint64_t flags = PERF_DATA_FLAG_SAMPLE_ID_ALL | PERF_DATA_FLAG_USE_CLOCK |
                         PERF_DATA_FLAG_EXCLUDE_GUEST;
        bool is_frequency = row->mode == TRACE_SAMPLE_MODE_FREQUENCY_HZ;

        if (is_first)
                flags |= PERF_DATA_FLAG_MMAP | PERF_DATA_FLAG_MMAP2 | PERF_DATA_FLAG_COMM |
                         PERF_DATA_FLAG_TASK | PERF_DATA_FLAG_CONTEXT_SWITCH;
        if (is_frequency)
                flags |= PERF_DATA_FLAG_FREQUENCY;
        byte_buffer_add_u32(b, row->type);
        byte_buffer_add_u32(b, PERF_DATA_ATTR_BYTES);
        byte_buffer_add_u64(b, row->config);
        byte_buffer_add_u64(b, row->rate != 0 ? row->rate : 1);
        byte_buffer_add_u64(b, PERF_DATA_SAMPLE_TYPE);
        byte_buffer_add_u64(b, 0); /* nothing is read with a sample */
        byte_buffer_add_u64(b, flags);
        put_zeros(b, 44); /* wake-up, breakpoint, branches, registers */
        byte_buffer_add_u32(b, PERF_DATA_CLOCK_MONOTONIC_RAW);
        put_zeros(b, 16); /* registers, auxiliary buffer, depth of stacks */
}

uint64_t perf_data_head_bytes(const struct loaded_trace *trace)
{
        return PERF_DATA_HEADER_BYTES +
               (uint64_t)count_events(trace) * (ID_BYTES + PERF_DATA_ATTR_BYTES + SECTION_BYTES);
}

void perf_data_head_put(struct byte_buffer *b, const struct loaded_trace *trace, uint64_t data_bytes)
{
        uint32_t n_events = count_events(trace);
        uint64_t attrs_offset = PERF_DATA_HEADER_BYTES + (uint64_t)n_events * ID_BYTES;
        uint64_t features = UINT64_C(1) << PERF_DATA_HOSTNAME | UINT64_C(1) << PERF_DATA_OS_RELEASE |
                            UINT64_C(1) << PERF_DATA_VERSION | UINT64_C(1) << PERF_DATA_ARCH |
                            UINT64_C(1) << PERF_DATA_CPUS | UINT64_C(1) << PERF_DATA_COMMAND |
                            UINT64_C(1) << PERF_DATA_EVENTS;

        byte_buffer_add_u64(b, PERF_DATA_MAGIC);
        byte_buffer_add_u64(b, PERF_DATA_HEADER_BYTES);
        byte_buffer_add_u64(b, PERF_DATA_ATTR_BYTES + SECTION_BYTES);
        put_section(b, attrs_offset, (uint64_t)n_events * (PERF_DATA_ATTR_BYTES + SECTION_BYTES));
        put_section(b, perf_data_head_bytes(trace), data_bytes);
        put_section(b, 0, 0);
        byte_buffer_add_u64(b, features);
        put_zeros(b, 24);
        for (uint32_t i = 1; i <= n_events; i++)
                byte_buffer_add_u64(b, i);
        for (uint32_t i = 1; i <= n_events; i++) {
                put_attr(b, event_of(trace, i), i == 1);
                put_section(b, PERF_DATA_HEADER_BYTES + (uint64_t)(i - 1) * ID_BYTES, ID_BYTES);
        }
}

/* ---- facts --------------------------------------------------------------------------------------------- */

static void put_string(struct byte_buffer *b, const char *text, size_t n_bytes)
{
        size_t padded;

        if (n_bytes > STRING_MAX)
                n_bytes = STRING_MAX;
        padded = (n_bytes / NAME_ALIGN + 1) * NAME_ALIGN;
        byte_buffer_add_u32(b, (uint32_t)padded);
        byte_buffer_add(b, text, n_bytes);
        put_zeros(b, padded - n_bytes);
}

static void put_meta(struct byte_buffer *b, const struct loaded_trace *trace, const char *key)
{
        struct text_view value = loaded_trace_meta(trace, key);

        put_string(b, value.bytes, value.n_bytes);
}

/* "Linux 6.1.0": perf wants the part after the system's name. */
static void put_release(struct byte_buffer *b, const struct loaded_trace *trace)
{
        struct text_view value = loaded_trace_meta(trace, "kernel");
        const char *blank = value.n_bytes ? memchr(value.bytes, ' ', value.n_bytes) : NULL;

        if (blank) {
                value.n_bytes -= (size_t)(blank + 1 - value.bytes);
                value.bytes = blank + 1;
        }
        put_string(b, value.bytes, value.n_bytes);
}

static void put_cpus(struct byte_buffer *b, const struct loaded_trace *trace)
{
        uint64_t n_cpus = loaded_trace_meta_number(trace, "cpus");

        if (n_cpus == 0 || n_cpus > UINT32_MAX)
                n_cpus = 1;
        byte_buffer_add_u32(b, (uint32_t)n_cpus);
        byte_buffer_add_u32(b, (uint32_t)n_cpus);
}

static void put_events(struct byte_buffer *b, const struct loaded_trace *trace)
{
        uint32_t n_events = count_events(trace);

        byte_buffer_add_u32(b, n_events);
        byte_buffer_add_u32(b, PERF_DATA_ATTR_BYTES);
        for (uint32_t i = 1; i <= n_events; i++) {
                const struct trace_sample_event *row = event_of(trace, i);
                size_t n_bytes;
                const char *name = trace_dictionary_string(trace->dictionary, row->name, &n_bytes);

                put_attr(b, row, i == 1);
                byte_buffer_add_u32(b, 1);
                put_string(b, n_bytes ? name : "dummy", n_bytes ? n_bytes : 5);
                byte_buffer_add_u64(b, i);
        }
}

static void put_feature(struct byte_buffer *b, const struct loaded_trace *trace,
                        enum perf_data_feature feature)
{
        switch (feature) {
        case PERF_DATA_HOSTNAME:
                put_meta(b, trace, "hostname");
                break;
        case PERF_DATA_OS_RELEASE:
                put_release(b, trace);
                break;
        case PERF_DATA_VERSION:
                put_meta(b, trace, "hyprof_version");
                break;
        case PERF_DATA_ARCH:
                put_meta(b, trace, "machine");
                break;
        case PERF_DATA_CPUS:
                put_cpus(b, trace);
                break;
        case PERF_DATA_COMMAND:
                byte_buffer_add_u32(b, 1);
                put_meta(b, trace, "command");
                break;
        case PERF_DATA_EVENTS:
                put_events(b, trace);
                break;
        default:
                break;
        }
}

static void set_u64(struct byte_buffer *b, size_t at, uint64_t number)
{
        for (size_t i = 0; i < 8; i++)
                b->data[at + i] = (uint8_t)(number >> (8 * i));
}

void perf_data_head_put_features(struct byte_buffer *b, const struct loaded_trace *trace, uint64_t offset)
{
        static const enum perf_data_feature features[] = {
                PERF_DATA_HOSTNAME, PERF_DATA_OS_RELEASE, PERF_DATA_VERSION, PERF_DATA_ARCH,
                PERF_DATA_CPUS,     PERF_DATA_COMMAND,    PERF_DATA_EVENTS,
        };
        size_t n_features = sizeof(features) / sizeof(features[0]);
        size_t begin = b->used_bytes;

        put_zeros(b, n_features * SECTION_BYTES);
        for (size_t i = 0; i < n_features; i++) {
                size_t at = b->used_bytes;

                put_feature(b, trace, features[i]);
                if (b->failed)
                        return;
                set_u64(b, begin + i * SECTION_BYTES, offset + (at - begin));
                set_u64(b, begin + i * SECTION_BYTES + 8, b->used_bytes - at);
        }
}
