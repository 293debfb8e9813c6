/* SPDX-License-Identifier: MIT */
#include "import/otlp/otlp_protobuf.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/json_put.h"
#include "import/file/protobuf_pull.h"
#include "import/otlp/otlp_spans.h"
#include "import/perfetto/pftrace_packets.h"
#include "import/rows/import_rows.h"

#include <inttypes.h>
#include <string.h>

#define LENGTH_BYTES 4
#define TRACE_BYTES  16
#define SPAN_BYTES   8

/* Numbers of fields in opentelemetry/proto. */
enum request_field { RESOURCE_SPANS = 1 };
enum resource_spans_field { RESOURCE = 1, SCOPE_SPANS = 2, RESOURCE_SCHEMA = 3, OLD_SCOPE_SPANS = 1000 };
enum resource_field { RESOURCE_ATTRIBUTE = 1 };
enum scope_spans_field { SCOPE_SPAN = 2 };
enum span_field {
        SPAN_TRACE = 1,
        SPAN_ID = 2,
        SPAN_PARENT = 4,
        SPAN_NAME = 5,
        SPAN_KIND = 6,
        SPAN_BEGIN = 7,
        SPAN_END = 8,
        SPAN_ATTRIBUTE = 9,
        SPAN_EVENT = 11,
        SPAN_LINK = 13,
        SPAN_STATUS = 15
};
enum event_field { EVENT_TIME = 1, EVENT_NAME = 2, EVENT_ATTRIBUTE = 3 };
enum link_field { LINK_TRACE = 1, LINK_SPAN = 2 };
enum status_field { STATUS_MESSAGE = 2, STATUS_CODE = 3 };
enum pair_field { PAIR_KEY = 1, PAIR_VALUE = 2 };
enum value_field {
        VALUE_STRING = 1,
        VALUE_BOOL = 2,
        VALUE_INT = 3,
        VALUE_DOUBLE = 4,
        VALUE_LIST = 5,
        VALUE_MAP = 6,
        VALUE_BYTES = 7
};

struct reader {
        struct otlp_spans *spans; /* borrowed */
        struct byte_buffer links;
        uint64_t at; /* byte of the file where the resource is */
};

static void malformed(struct reader *r, const char *why)
{
        import_rows_malformed(r->spans->rows, r->at, why);
}

/* ------------------------------------------------------------------ values */

static uint64_t read_id(struct text_view bytes, size_t at)
{
        struct byte_reader reader = byte_reader_of(bytes.bytes + at, sizeof(uint64_t));

        return __builtin_bswap64(bytes_u64(&reader));
}

static void read_trace_id(struct text_view bytes, uint64_t trace[2])
{
        trace[0] = bytes.n_bytes == TRACE_BYTES ? read_id(bytes, 0) : 0;
        trace[1] = bytes.n_bytes == TRACE_BYTES ? read_id(bytes, sizeof(uint64_t)) : 0;
}

static uint64_t read_span_id(struct text_view bytes)
{
        return bytes.n_bytes == SPAN_BYTES ? read_id(bytes, 0) : 0;
}

/* NOLINTBEGIN(misc-no-recursion): at most OTLP_TEXT_DEPTH deep */

static void put_value(struct byte_buffer *b, struct text_view value, unsigned depth);

static void put_pair(struct byte_buffer *b, struct text_view pair, unsigned depth)
{
        struct text_view key = { "", 0 }, value = { NULL, 0 };
        struct byte_reader reader = protobuf_pull_of(pair);
        struct protobuf_field field;

        while (protobuf_pull_next(&reader, &field) == 1) {
                if (field.number == PAIR_KEY)
                        key = field.bytes;
                else if (field.number == PAIR_VALUE)
                        value = field.bytes;
        }
        json_put_string(b, key, OTLP_TEXT_BYTES_MAX);
        byte_buffer_add_u8(b, ':');
        put_value(b, value, depth);
}

/* A list or a map: its only field is repeated. */
static void put_values(struct byte_buffer *b, struct text_view values, bool is_map, unsigned depth)
{
        struct byte_reader reader = protobuf_pull_of(values);
        struct protobuf_field field;
        bool is_first = true;

        byte_buffer_add_u8(b, is_map ? '{' : '[');
        while (b->used_bytes <= OTLP_TEXT_BYTES_MAX && protobuf_pull_next(&reader, &field) == 1) {
                if (!is_first)
                        byte_buffer_add_u8(b, ',');
                is_first = false;
                if (is_map)
                        put_pair(b, field.bytes, depth);
                else
                        put_value(b, field.bytes, depth);
        }
        byte_buffer_add_u8(b, is_map ? '}' : ']');
}

static void put_value(struct byte_buffer *b, struct text_view value, unsigned depth)
{
        struct byte_reader reader = protobuf_pull_of(value);
        struct protobuf_field field;

        if (depth > OTLP_TEXT_DEPTH || protobuf_pull_next(&reader, &field) != 1) {
                byte_buffer_add(b, "null", 4);
                return;
        }
        switch (field.number) {
        case VALUE_STRING:
                json_put_string(b, field.bytes, OTLP_TEXT_BYTES_MAX);
                break;
        case VALUE_BYTES:
                byte_buffer_add(b, "{\"base64\":\"", 11);
                json_put_base64(b, field.bytes, OTLP_TEXT_BYTES_MAX);
                byte_buffer_add(b, "\"}", 2);
                break;
        case VALUE_BOOL:
                byte_buffer_add_format(b, "%s", field.value ? "true" : "false");
                break;
        case VALUE_INT:
                byte_buffer_add_format(b, "%" PRId64, (int64_t)field.value);
                break;
        case VALUE_DOUBLE:
                json_put_double(b, field.value);
                break;
        case VALUE_LIST:
        case VALUE_MAP:
                put_values(b, field.bytes, field.number == VALUE_MAP, depth + 1);
                break;
        default:
                byte_buffer_add(b, "null", 4);
                break;
        }
}

/* NOLINTEND(misc-no-recursion) */

/* @facts: NULL = it is of an event. */
static void take_attribute(struct reader *r, struct text_view pair, struct otlp_facts *facts)
{
        struct text_view key = { "", 0 }, value = { NULL, 0 };
        struct byte_reader reader = protobuf_pull_of(pair), inside;
        struct protobuf_field field;
        size_t before;

        while (protobuf_pull_next(&reader, &field) == 1) {
                if (field.number == PAIR_KEY)
                        key = field.bytes;
                else if (field.number == PAIR_VALUE)
                        value = field.bytes;
        }
        inside = protobuf_pull_of(value);
        if (protobuf_pull_next(&inside, &field) == 1) {
                if (field.number == VALUE_STRING)
                        otlp_spans_note(facts, key, field.bytes);
                else if (field.number == VALUE_INT)
                        otlp_spans_note_number(facts, key, (int64_t)field.value);
        }
        if (facts == &r->spans->resource || !otlp_spans_begin_attribute(r->spans, key, false, &before))
                return;
        put_value(&r->spans->attributes, value, 0);
        otlp_spans_end_attribute(r->spans, before);
}

/* ------------------------------------------------------------------ spans */

static void add_link(struct reader *r, struct text_view link)
{
        struct byte_reader reader = protobuf_pull_of(link);
        uint64_t trace[2] = { 0, 0 }, id = 0;
        struct protobuf_field field;

        while (protobuf_pull_next(&reader, &field) == 1) {
                if (field.number == LINK_TRACE)
                        read_trace_id(field.bytes, trace);
                else if (field.number == LINK_SPAN)
                        id = read_span_id(field.bytes);
        }
        if (id != 0)
                otlp_spans_add_link(r->spans, &r->links, trace, id);
}

static int take_event(struct reader *r, struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct text_view name = { NULL, 0 };
        struct protobuf_field field;
        uint64_t time_ns = 0;
        int more;

        import_rows_count_row(r->spans->rows);
        otlp_spans_begin_event(r->spans);
        while ((more = protobuf_pull_next(&reader, &field)) == 1) {
                if (field.number == EVENT_TIME)
                        time_ns = field.value;
                else if (field.number == EVENT_NAME)
                        name = field.bytes;
                else if (field.number == EVENT_ATTRIBUTE)
                        take_attribute(r, field.bytes, NULL);
        }
        if (more < 0 || time_ns == 0) {
                malformed(r, more < 0 ? "an event that is broken" : "an event without a time");
                return 0;
        }
        return otlp_spans_put_event(r->spans, time_ns, name, err);
}

static void take_status(struct text_view message, struct otlp_span *span)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;

        while (protobuf_pull_next(&reader, &field) == 1) {
                if (field.number == STATUS_MESSAGE)
                        span->message = field.bytes;
                else if (field.number == STATUS_CODE)
                        span->status = field.value;
        }
}

static void take_field(struct reader *r, const struct protobuf_field *field, struct otlp_span *span)
{
        switch (field->number) {
        case SPAN_TRACE:
                read_trace_id(field->bytes, span->trace);
                break;
        case SPAN_ID:
                span->id = read_span_id(field->bytes);
                break;
        case SPAN_PARENT:
                span->parent = read_span_id(field->bytes);
                break;
        case SPAN_NAME:
                span->name = field->bytes;
                break;
        case SPAN_KIND:
                span->kind = field->value;
                break;
        case SPAN_BEGIN:
                span->begin_ns = field->value;
                break;
        case SPAN_END:
                span->end_ns = field->value;
                break;
        case SPAN_ATTRIBUTE:
                take_attribute(r, field->bytes, &r->spans->span);
                break;
        case SPAN_LINK:
                add_link(r, field->bytes);
                break;
        case SPAN_STATUS:
                take_status(field->bytes, span);
                break;
        default:
                break;
        }
}

static int take_span(struct reader *r, struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct otlp_span span = { .links = &r->links };
        struct protobuf_field field;
        const char *why = NULL;
        int e;

        import_rows_count_row(r->spans->rows);
        otlp_spans_begin_span(r->spans);
        byte_buffer_clear(&r->links);
        while ((e = protobuf_pull_next(&reader, &field)) == 1)
                take_field(r, &field, &span);
        if (e < 0)
                why = "a span that is broken";
        else
                e = otlp_spans_put(r->spans, &span, &why, err);
        if (e == -EBADMSG && why) {
                malformed(r, why);
                return 0;
        }
        reader = protobuf_pull_of(message);
        while (e == 0 && protobuf_pull_next(&reader, &field) == 1)
                if (field.number == SPAN_EVENT)
                        e = take_event(r, field.bytes, err);
        return e;
}

static int take_scope(struct reader *r, struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int e = 0, more = 0;

        while (e == 0 && (more = protobuf_pull_next(&reader, &field)) == 1)
                if (field.number == SCOPE_SPAN && field.wire == PROTOBUF_BYTES)
                        e = take_span(r, field.bytes, err);
        if (more < 0)
                malformed(r, "a list of spans that is broken");
        return e;
}

/* The resource may come after its spans. */
static int take_resource(struct reader *r, struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message), inside;
        struct protobuf_field field, attribute;
        int e = 0, more = 0;

        otlp_spans_begin_resource(r->spans);
        while (protobuf_pull_next(&reader, &field) == 1) {
                inside = protobuf_pull_of(field.bytes);
                while (field.number == RESOURCE && protobuf_pull_next(&inside, &attribute) == 1)
                        if (attribute.number == RESOURCE_ATTRIBUTE)
                                take_attribute(r, attribute.bytes, &r->spans->resource);
        }
        reader = protobuf_pull_of(message);
        while (e == 0 && (more = protobuf_pull_next(&reader, &field)) == 1)
                if (field.number == SCOPE_SPANS || field.number == OLD_SCOPE_SPANS)
                        e = take_scope(r, field.bytes, err);
        if (more < 0)
                malformed(r, "spans of a resource that are broken");
        return e;
}

/* ------------------------------------------------------------------ the file */

int otlp_protobuf_read(struct import_source *source, struct otlp_spans *spans, struct error *err)
{
        struct reader r = { .spans = spans };
        struct pftrace_packets packets;
        struct text_view message;
        int e;

        /* A repeated field of a large message, the first one: as Perfetto's packets are. */
        pftrace_packets_init(&packets, source);
        while ((e = pftrace_packets_next(&packets, &message, err)) == 1) {
                r.at = packets.offset;
                e = take_resource(&r, message, err);
                if (e < 0)
                        break;
        }
        if (packets.n_long)
                import_rows_left_out(spans->rows, "spans of a resource longer than 64 MiB", packets.n_long);
        if (packets.n_other)
                import_rows_left_out(spans->rows, "field of another kind", packets.n_other);
        if (e == 0 && packets.is_cut)
                import_rows_cut(spans->rows, packets.offset);
        pftrace_packets_deinit(&packets);
        byte_buffer_deinit(&r.links);
        return e;
}

static int take_message(struct reader *r, struct text_view message, struct error *err)
{
        struct byte_reader reader = protobuf_pull_of(message);
        struct protobuf_field field;
        int e = 0, more = 0;

        while (e == 0 && (more = protobuf_pull_next(&reader, &field)) == 1)
                if (field.number == RESOURCE_SPANS && field.wire == PROTOBUF_BYTES)
                        e = take_resource(r, field.bytes, err);
        if (more < 0)
                malformed(r, "a message that is broken");
        return e;
}

int otlp_protobuf_read_framed(struct import_source *source, struct otlp_spans *spans, struct error *err)
{
        struct reader r = { .spans = spans };
        struct text_view bytes;
        uint64_t end = 0; /* of the last message */
        int e;

        while ((e = import_source_next_exact(source, LENGTH_BYTES, &bytes, err)) == 1) {
                struct byte_reader reader = byte_reader_of(bytes.bytes, bytes.n_bytes);
                uint32_t n_bytes = __builtin_bswap32(bytes_u32(&reader));

                r.at = end;
                e = n_bytes > IMPORT_LINE_BYTES_MAX ? 0
                                                    : import_source_next_exact(source, n_bytes, &bytes, err);
                if (e == 1)
                        e = take_message(&r, bytes, err);
                else if (e == 0)
                        break;
                if (e < 0)
                        break;
                end = import_source_offset(source);
        }
        if (e == 0 && import_source_offset(source) != end)
                import_rows_cut(spans->rows, end);
        byte_buffer_deinit(&r.links);
        return e;
}

/* ------------------------------------------------------------------ recognising */

/* Enters the first field @number of a message, which may be cut off in it; passes over others before it. */
static bool enter(struct byte_reader *r, uint32_t number)
{
        while (r->left > 0) {
                uint64_t tag = bytes_varint(r), n_bytes;

                if (r->short_read || (tag & 7) != PROTOBUF_BYTES)
                        return false;
                n_bytes = bytes_varint(r);
                if (r->short_read)
                        return false;
                if (tag >> 3 == number) {
                        *r = byte_reader_of(r->at, n_bytes < r->left ? (size_t)n_bytes : r->left);
                        return true;
                }
                if (n_bytes > r->left)
                        return false;
                (void)bytes_take(r, (size_t)n_bytes);
        }
        return false;
}

/* A span with the ids of its trace and itself, which have the lengths that they have nowhere else. */
static bool is_request(struct byte_reader r)
{
        struct byte_reader first = r;

        if (bytes_u8(&first) != (RESOURCE_SPANS << 3 | PROTOBUF_BYTES))
                return false;
        if (!enter(&r, RESOURCE_SPANS) || !enter(&r, SCOPE_SPANS) || !enter(&r, SCOPE_SPAN))
                return false;
        return bytes_u8(&r) == (SPAN_TRACE << 3 | PROTOBUF_BYTES) && bytes_u8(&r) == TRACE_BYTES &&
               bytes_take(&r, TRACE_BYTES) && bytes_u8(&r) == (SPAN_ID << 3 | PROTOBUF_BYTES) &&
               bytes_u8(&r) == SPAN_BYTES && !r.short_read;
}

bool otlp_protobuf_recognise(struct text_view head)
{
        return is_request(byte_reader_of(head.bytes, head.n_bytes));
}

bool otlp_protobuf_recognise_framed(struct text_view head)
{
        struct byte_reader r = byte_reader_of(head.bytes, head.n_bytes);
        uint32_t n_bytes = __builtin_bswap32(bytes_u32(&r));

        if (r.short_read || n_bytes == 0 || n_bytes > IMPORT_LINE_BYTES_MAX)
                return false;
        return is_request(byte_reader_of(r.at, n_bytes < r.left ? n_bytes : r.left));
}
