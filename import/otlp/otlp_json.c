/* SPDX-License-Identifier: MIT */
#include "import/otlp/otlp_json.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/json_put.h"
#include "import/file/json_rows.h"
#include "import/otlp/otlp_spans.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct reader {
        struct otlp_spans *spans; /* borrowed */
        struct json_rows rows;
        struct json_shape shape; /* of the span before */
        struct byte_buffer name, message, text, links;
        uint64_t n_metrics, n_logs, n_other;
};

/* The members of a span, a resource and so on.  Those that are not there have text.bytes NULL. */
enum member {
        TRACE_ID,
        SPAN_ID,
        PARENT_ID,
        NAME,
        KIND,
        BEGIN,
        END,
        ATTRIBUTES,
        EVENTS,
        LINKS,
        STATUS,
        TIME,
        N_MEMBERS,
};

static const char *const member_names[N_MEMBERS] = {
        "traceId",         "spanId",     "parentSpanId", "name",  "kind",   "startTimeUnixNano",
        "endTimeUnixNano", "attributes", "events",       "links", "status", "timeUnixNano",
};

/* Where the value of a key goes; of others behind them. */
static uint16_t find_place(const void *context, struct text_view key)
{
        unsigned i = 0;

        (void)context;
        while (i < N_MEMBERS && !text_view_is(key, member_names[i]))
                i++;
        return (uint16_t)(i * sizeof(struct json_value));
}

static int read_members(struct json_value object, struct json_value *ret_members)
{
        struct json_pull p = json_pull_inside(object);
        struct json_value value;
        struct text_view key;
        int r;

        memset(ret_members, 0, (N_MEMBERS + 1) * sizeof(*ret_members));
        while ((r = json_pull_member(&p, &key, &value)) == 1)
                memcpy((char *)ret_members + find_place(NULL, key), &value, sizeof(value));
        return r;
}

/* ------------------------------------------------------------------ values */

/* 16 bytes as 32 digits; of ids of spans the last eight.  False: it is no such number. */
static bool read_hex(struct text_view text, size_t n_digits, uint64_t *ret)
{
        uint64_t number = 0;

        if (text.n_bytes != n_digits)
                return false;
        for (size_t i = 0; i < n_digits; i++) {
                char c = text.bytes[i];
                unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                        : 16;

                if (digit == 16)
                        return false;
                number = number << 4 | digit;
        }
        *ret = number;
        return true;
}

static bool read_trace_id(struct json_value value, uint64_t trace[2])
{
        struct text_view text = value.text;

        return value.kind == JSON_STRING && text.n_bytes == 32 &&
               read_hex((struct text_view){ text.bytes, 16 }, 16, &trace[0]) &&
               read_hex((struct text_view){ text.bytes + 16, 16 }, 16, &trace[1]);
}

/* A number, or one in quotes; 0 if it is none. */
static uint64_t read_number(struct json_value value)
{
        uint64_t number;

        return value.text.bytes && (value.kind == JSON_NUMBER || value.kind == JSON_STRING) &&
                               json_pull_unsigned(value.text, &number)
                       ? number
                       : 0;
}

static int read_string(struct json_value value, struct byte_buffer *room, struct text_view *ret,
                       struct error *err)
{
        *ret = (struct text_view){ NULL, 0 };
        if (value.kind != JSON_STRING || !value.text.bytes)
                return 0;
        return json_pull_string(value.text, room, ret) < 0 ? error_set(err, -ENOMEM, "no memory for a text")
                                                           : 0;
}

/* NOLINTBEGIN(misc-no-recursion): at most OTLP_TEXT_DEPTH deep */

static void put_value(struct byte_buffer *b, struct json_value value, unsigned depth);

/* The elements of "values": of a list values, of a map pairs. */
static void put_values(struct byte_buffer *b, struct json_value container, bool is_map, unsigned depth)
{
        struct json_value values, element, key;
        struct json_pull p = { NULL, NULL };
        bool is_first = true;

        if (container.kind == JSON_OBJECT && json_pull_find(container, "values", &values) == 1)
                p = json_pull_inside(values);
        byte_buffer_add_u8(b, is_map ? '{' : '[');
        while (p.at && b->used_bytes <= OTLP_TEXT_BYTES_MAX && json_pull_next(&p, &element) == 1) {
                if (!is_first)
                        byte_buffer_add_u8(b, ',');
                is_first = false;
                if (is_map) {
                        bool has_key = json_pull_find(element, "key", &key) == 1 && key.kind == JSON_STRING;

                        json_put_escaped(b, has_key ? key.text : (struct text_view){ "", 0 },
                                         OTLP_TEXT_BYTES_MAX);
                        byte_buffer_add_u8(b, ':');
                        if (json_pull_find(element, "value", &element) != 1)
                                element = (struct json_value){ .kind = JSON_WORD };
                }
                put_value(b, element, depth);
        }
        byte_buffer_add_u8(b, is_map ? '}' : ']');
}

/* The form that JSON has of bytes, which says so in a trace as well. */
static void put_bytes(struct byte_buffer *b, struct text_view base64)
{
        byte_buffer_add(b, "{\"base64\":", 10);
        json_put_escaped(b, base64, OTLP_TEXT_BYTES_MAX);
        byte_buffer_add_u8(b, '}');
}

static void put_number(struct byte_buffer *b, struct text_view number)
{
        json_put_number(b, number.n_bytes < OTLP_TEXT_BYTES_MAX ? number : (struct text_view){ "", 0 });
}

/* Adds a number, with or without quotes.  A number that does not fit 64 bits is copied as it is written. */
static void put_integer(struct byte_buffer *b, struct json_value value)
{
        struct text_view text = value.text;
        int64_t number;
        uint64_t plain;

        if (text.n_bytes < OTLP_TEXT_BYTES_MAX && text.n_bytes > 0 && text.bytes[0] != '0' &&
            json_pull_unsigned(text, &plain) && plain <= INT64_MAX)
                byte_buffer_add(b, text.bytes, text.n_bytes);
        else if (json_pull_decimal(text, 0, &number))
                byte_buffer_add_format(b, "%" PRId64, number);
        else if (value.kind == JSON_STRING)
                json_put_escaped(b, text, OTLP_TEXT_BYTES_MAX);
        else
                put_number(b, text);
}

/* {"stringValue":"x"} as "x". */
static void put_value(struct byte_buffer *b, struct json_value value, unsigned depth)
{
        struct json_pull p = json_pull_inside(value);
        struct json_value inner = { .kind = JSON_WORD };
        struct text_view key = { "", 0 };

        if (depth > OTLP_TEXT_DEPTH || value.kind != JSON_OBJECT || json_pull_member(&p, &key, &inner) != 1)
                inner = (struct json_value){ .kind = JSON_WORD, .text = { "", 0 } };
        if (text_view_is(key, "arrayValue") || text_view_is(key, "kvlistValue"))
                put_values(b, inner, key.bytes[0] == 'k', depth + 1);
        else if (text_view_is(key, "intValue"))
                put_integer(b, inner);
        else if (text_view_is(key, "bytesValue") && inner.kind == JSON_STRING)
                put_bytes(b, inner.text);
        else if (text_view_is(key, "doubleValue") || inner.kind == JSON_NUMBER)
                put_number(b, inner.text);
        else if (inner.kind == JSON_STRING)
                json_put_escaped(b, inner.text, OTLP_TEXT_BYTES_MAX);
        else if (text_view_is(inner.text, "true") || text_view_is(inner.text, "false"))
                byte_buffer_add(b, inner.text.bytes, inner.text.n_bytes);
        else
                byte_buffer_add(b, "null", 4);
}

/* NOLINTEND(misc-no-recursion) */

static int note(struct reader *r, struct otlp_facts *facts, struct text_view key, struct json_value value,
                struct error *err)
{
        struct json_pull p = json_pull_inside(value);
        struct text_view kind, text;
        struct json_value inner;
        int64_t number;
        int e;

        if (!facts || value.kind != JSON_OBJECT || json_pull_member(&p, &kind, &inner) != 1)
                return 0;
        if (text_view_is(kind, "intValue") && json_pull_decimal(inner.text, 0, &number)) {
                otlp_spans_note_number(facts, key, number);
                return 0;
        }
        e = read_string(inner, &r->text, &text, err);
        if (e == 0 && inner.kind == JSON_STRING)
                otlp_spans_note(facts, key, text);
        return e;
}

/* Key and value of an attribute, in one pass; of one of them twice the last counts. */
static bool read_pair(struct json_value pair, struct json_value *ret_key, struct json_value *ret_value)
{
        struct json_pull p = json_pull_inside(pair);
        bool has_key = false, has_value = false;
        struct json_value member;
        struct text_view name;
        int r;

        while ((r = json_pull_member(&p, &name, &member)) == 1)
                if (text_view_is(name, "key")) {
                        *ret_key = member;
                        has_key = member.kind == JSON_STRING;
                } else if (text_view_is(name, "value")) {
                        *ret_value = member;
                        has_value = true;
                }
        return r == 0 && has_key && has_value;
}

/* @facts: NULL = they are of an event. */
static int take_attributes(struct reader *r, struct json_value attributes, struct otlp_facts *facts,
                           struct error *err)
{
        struct json_pull p = json_pull_inside(attributes);
        struct json_value element, key, value;
        int e = 0;

        if (attributes.kind != JSON_ARRAY || !attributes.text.bytes)
                return 0;
        while (e == 0 && json_pull_next(&p, &element) == 1) {
                size_t before;

                if (element.kind != JSON_OBJECT || !read_pair(element, &key, &value))
                        continue;
                e = note(r, facts, key.text, value, err);
                if (facts == &r->spans->resource ||
                    !otlp_spans_begin_attribute(r->spans, key.text, true, &before))
                        continue;
                put_value(&r->spans->attributes, value, 0);
                otlp_spans_end_attribute(r->spans, before);
        }
        return e;
}

/* ------------------------------------------------------------------ spans */

static void malformed(struct reader *r, const char *why)
{
        import_rows_malformed(r->spans->rows, json_rows_line(&r->rows), why);
}

static void take_links(struct reader *r, struct json_value links)
{
        struct json_value members[N_MEMBERS + 1], element;
        struct json_pull p = json_pull_inside(links);

        byte_buffer_clear(&r->links);
        if (links.kind != JSON_ARRAY || !links.text.bytes)
                return;
        while (json_pull_next(&p, &element) == 1) {
                uint64_t trace[2], id;

                if (element.kind != JSON_OBJECT || read_members(element, members) < 0 ||
                    !read_trace_id(members[TRACE_ID], trace) || !read_hex(members[SPAN_ID].text, 16, &id))
                        continue;
                otlp_spans_add_link(r->spans, &r->links, trace, id);
        }
}

static int take_events(struct reader *r, struct json_value events, struct error *err)
{
        struct json_value members[N_MEMBERS + 1], element;
        struct json_pull p = json_pull_inside(events);
        struct text_view name;
        int e = 0;

        if (events.kind != JSON_ARRAY || !events.text.bytes)
                return 0;
        while (e == 0 && json_pull_next(&p, &element) == 1) {
                import_rows_count_row(r->spans->rows);
                if (element.kind != JSON_OBJECT || read_members(element, members) < 0 ||
                    read_number(members[TIME]) == 0) {
                        malformed(r, "an event without a time");
                        continue;
                }
                otlp_spans_begin_event(r->spans);
                e = take_attributes(r, members[ATTRIBUTES], NULL, err);
                if (e == 0)
                        e = read_string(members[NAME], &r->name, &name, err);
                if (e == 0)
                        e = otlp_spans_put_event(r->spans, read_number(members[TIME]), name, err);
        }
        return e;
}

static int take_status(struct reader *r, struct json_value status, struct otlp_span *span, struct error *err)
{
        struct json_value code, message;

        if (status.kind != JSON_OBJECT || !status.text.bytes)
                return 0;
        if (json_pull_find(status, "code", &code) == 1)
                span->status = code.kind == JSON_STRING && text_view_is(code.text, "STATUS_CODE_ERROR")
                                       ? 2
                                       : read_number(code);
        return json_pull_find(status, "message", &message) == 1
                       ? read_string(message, &r->message, &span->message, err)
                       : 0;
}

static int take_span(struct reader *r, const struct json_value *members, struct error *err)
{
        struct otlp_span span = { .links = &r->links };
        const char *why = NULL;
        int e;

        otlp_spans_begin_span(r->spans);
        (void)read_trace_id(members[TRACE_ID], span.trace);
        (void)read_hex(members[SPAN_ID].text, 16, &span.id);
        (void)read_hex(members[PARENT_ID].text, 16, &span.parent);
        span.begin_ns = read_number(members[BEGIN]);
        span.end_ns = read_number(members[END]);
        span.kind = read_number(members[KIND]);
        take_links(r, members[LINKS]);
        e = take_attributes(r, members[ATTRIBUTES], &r->spans->span, err);
        if (e == 0)
                e = read_string(members[NAME], &r->name, &span.name, err);
        if (e == 0)
                e = take_status(r, members[STATUS], &span, err);
        if (e == 0)
                e = otlp_spans_put(r->spans, &span, &why, err);
        if (e == -EBADMSG && why) {
                malformed(r, why);
                return 0;
        }
        return e < 0 ? e : take_events(r, members[EVENTS], err);
}

/*
 * The next span of a list, read in one pass; one that cannot be is passed over by its brackets.
 * Returns 1, 0 at the end, -EBADMSG.
 */
static int next_span(struct reader *r, struct json_pull *p, struct json_value *ret_members)
{
        struct json_pull before;
        struct json_value value;
        int more;

        do {
                while (p->at != p->end && strchr(" \t\r\n,", *p->at))
                        p->at++;
                before = *p;
                if (p->at != p->end && *p->at == '{') {
                        p->at++;
                        r->shape.places_bytes = (N_MEMBERS + 1) * sizeof(*ret_members);
                        if (json_pull_open_object(p, &r->shape, find_place, ret_members) == 0) {
                                import_rows_count_row(r->spans->rows);
                                return 1;
                        }
                        *p = before;
                }
                more = json_pull_next(p, &value);
                if (more != 0) {
                        import_rows_count_row(r->spans->rows);
                        malformed(r, more < 0 ? "a list of spans that is broken" : "no object");
                }
        } while (more == 1);
        return more;
}

static int take_scope(struct reader *r, struct json_value scope, struct error *err)
{
        struct json_value members[N_MEMBERS + 1], spans;
        struct json_pull p;
        int e = 0;

        if (scope.kind != JSON_OBJECT || json_pull_find(scope, "spans", &spans) != 1 ||
            spans.kind != JSON_ARRAY)
                return 0;
        p = json_pull_inside(spans);
        while (e == 0 && next_span(r, &p, members) == 1)
                e = take_span(r, members, err);
        return e;
}

static int take_scopes(struct reader *r, struct json_value scopes, struct error *err)
{
        struct json_pull p = json_pull_inside(scopes);
        struct json_value scope;
        int e = 0;

        if (scopes.kind != JSON_ARRAY)
                return 0;
        while (e == 0 && json_pull_next(&p, &scope) == 1)
                e = take_scope(r, scope, err);
        return e;
}

static int take_resource(struct reader *r, struct json_value value, struct error *err)
{
        struct json_value resource = { .kind = JSON_WORD }, scopes = { .kind = JSON_WORD }, member;
        struct json_pull p = json_pull_inside(value);
        struct text_view key;
        int e = 0;

        otlp_spans_begin_resource(r->spans);
        if (value.kind != JSON_OBJECT) {
                malformed(r, "no object");
                return 0;
        }
        while (json_pull_member(&p, &key, &member) == 1)
                if (text_view_is(key, "resource"))
                        resource = member;
                else if (text_view_is(key, "scopeSpans") || text_view_is(key, "instrumentationLibrarySpans"))
                        scopes = member;
        if (resource.kind == JSON_OBJECT && json_pull_find(resource, "attributes", &member) == 1)
                e = take_attributes(r, member, &r->spans->resource, err);
        return e < 0 ? e : take_scopes(r, scopes, err);
}

static int take_row(struct reader *r, const struct json_row *row, struct error *err)
{
        if (row->bad) {
                import_rows_count_row(r->spans->rows);
                malformed(r, row->bad);
                return 0;
        }
        if (row->is_element && text_view_is(row->member, "resourceSpans"))
                return take_resource(r, row->value, err);
        if (text_view_is(row->member, "resourceMetrics"))
                r->n_metrics++;
        else if (text_view_is(row->member, "resourceLogs"))
                r->n_logs++;
        else
                r->n_other++;
        return 0;
}

/* ------------------------------------------------------------------ the file */

int otlp_json_read(struct import_source *source, struct otlp_spans *spans, struct error *err)
{
        struct reader r = { .spans = spans };
        struct json_row row;
        int e;

        json_rows_init(&r.rows, source);
        while ((e = json_rows_next(&r.rows, &row, err)) == 1) {
                e = take_row(&r, &row, err);
                if (e < 0)
                        break;
        }
        if (r.n_metrics)
                import_rows_left_out(spans->rows, "metrics of a resource", r.n_metrics);
        if (r.n_logs)
                import_rows_left_out(spans->rows, "logs of a resource", r.n_logs);
        if (r.n_other)
                import_rows_left_out(spans->rows, "member of another kind", r.n_other);
        if (e == 0 && r.rows.is_cut)
                import_rows_cut(spans->rows, json_rows_line(&r.rows));
        json_rows_deinit(&r.rows);
        byte_buffer_deinit(&r.name);
        byte_buffer_deinit(&r.message);
        byte_buffer_deinit(&r.text);
        byte_buffer_deinit(&r.links);
        return e;
}

bool otlp_json_recognise(struct text_view head)
{
        static const char *const words[] = { "resourceSpans", "resourceLogs", "resourceMetrics" };
        struct json_pull p;
        struct text_view key;
        size_t i = 0;

        while (i < head.n_bytes && strchr(" \t\r\n", head.bytes[i]))
                i++;
        if (i == head.n_bytes || head.bytes[i] != '{')
                return false;
        /* The object is mostly longer than the head: only its first key is read. */
        p = json_pull_text((struct text_view){ head.bytes + i + 1, head.n_bytes - i - 1 });
        if (json_pull_key(&p, &key) != 1)
                return false;
        for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (text_view_is(key, words[i]))
                        return true;
        return false;
}
