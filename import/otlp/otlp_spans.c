/* SPDX-License-Identifier: MIT */
#include "import/otlp/otlp_spans.h"

#include "base/content_hash.h"
#include "base/error.h"
#include "import/file/json_put.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_ERROR 2

static struct text_view text_in(const struct byte_buffer *b)
{
        return (struct text_view){ (const char *)b->data, b->used_bytes };
}

int otlp_spans_init(struct otlp_spans *s, struct import_rows *rows, struct error *err)
{
        const struct import_clock clock = { .kind = IMPORT_CLOCK_REALTIME, .name = { "Unix time", 9 } };

        *s = (struct otlp_spans){ .rows = rows };
        return import_rows_clock(rows, &clock, &s->clock, err);
}

static void deinit_facts(struct otlp_facts *f)
{
        byte_buffer_deinit(&f->service);
        byte_buffer_deinit(&f->instance);
        byte_buffer_deinit(&f->thread_name);
}

void otlp_spans_deinit(struct otlp_spans *s)
{
        deinit_facts(&s->resource);
        deinit_facts(&s->span);
        byte_buffer_deinit(&s->attributes);
        byte_buffer_deinit(&s->text);
}

static void clear_facts(struct otlp_facts *f)
{
        byte_buffer_clear(&f->service);
        byte_buffer_clear(&f->instance);
        byte_buffer_clear(&f->thread_name);
        f->who = 0;
        f->has_pid = f->has_tid = false;
}

void otlp_spans_begin_resource(struct otlp_spans *s)
{
        clear_facts(&s->resource);
        byte_buffer_clear(&s->attributes);
        s->process = 0;
        s->has_thread = false;
}

void otlp_spans_begin_span(struct otlp_spans *s)
{
        clear_facts(&s->span);
        byte_buffer_clear(&s->attributes);
}

void otlp_spans_begin_event(struct otlp_spans *s)
{
        byte_buffer_clear(&s->attributes);
}

/* ------------------------------------------------------------------ attributes */

/* Services differ in these, and so do hosts, whose processes may have the same numbers. */
static void note_who(struct otlp_facts *facts, struct text_view key, struct text_view text)
{
        static const char *const keys[] = { "service.name", "service.instance.id", "host.name",
                                            "host.id",      "container.id",        "k8s.pod.uid" };

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
                if (text_view_is(key, keys[i]))
                        facts->who += content_hash((uint64_t[]){ i, content_hash(text.bytes, text.n_bytes) },
                                                   16);
}

void otlp_spans_note(struct otlp_facts *facts, struct text_view key, struct text_view text)
{
        struct byte_buffer *to = NULL;

        if (!facts)
                return;
        note_who(facts, key, text);
        if (text_view_is(key, "service.name"))
                to = &facts->service;
        else if (text_view_is(key, "service.instance.id"))
                to = &facts->instance;
        else if (text_view_is(key, "thread.name"))
                to = &facts->thread_name;
        if (!to)
                return;
        byte_buffer_clear(to);
        byte_buffer_add(to, text.bytes, text.n_bytes);
}

void otlp_spans_note_number(struct otlp_facts *facts, struct text_view key, int64_t number)
{
        if (!facts || number < 0)
                return;
        if (text_view_is(key, "process.pid")) {
                facts->pid = (uint64_t)number;
                facts->has_pid = true;
        } else if (text_view_is(key, "thread.id")) {
                facts->tid = (uint64_t)number;
                facts->has_tid = true;
        }
}

bool otlp_spans_begin_attribute(struct otlp_spans *s, struct text_view key, bool is_escaped,
                                size_t *ret_before)
{
        struct byte_buffer *b = &s->attributes;

        *ret_before = b->used_bytes;
        if (b->used_bytes > OTLP_TEXT_BYTES_MAX) {
                s->n_beyond++;
                return false;
        }
        byte_buffer_add_u8(b, b->used_bytes == 0 ? '{' : ',');
        if (is_escaped)
                json_put_escaped(b, key, OTLP_TEXT_BYTES_MAX);
        else
                json_put_string(b, key, OTLP_TEXT_BYTES_MAX);
        byte_buffer_add_u8(b, ':');
        return true;
}

void otlp_spans_end_attribute(struct otlp_spans *s, size_t before)
{
        if (s->attributes.used_bytes <= OTLP_TEXT_BYTES_MAX)
                return;
        s->attributes.used_bytes = before;
        s->n_beyond++;
}

void otlp_spans_add_link(struct otlp_spans *s, struct byte_buffer *links, const uint64_t trace[2],
                         uint64_t span)
{
        if (links->used_bytes > OTLP_TEXT_BYTES_MAX) {
                import_rows_left_out(s->rows, "link beyond 4 KiB", 1);
                return;
        }
        byte_buffer_add_format(links, "%s\"", links->used_bytes ? "," : "");
        json_put_hex(links, trace[0]);
        json_put_hex(links, trace[1]);
        byte_buffer_add_u8(links, '/');
        json_put_hex(links, span);
        byte_buffer_add_u8(links, '"');
}

/* ------------------------------------------------------------------ tracks */

static int find_process(struct otlp_spans *s, struct error *err)
{
        uint32_t namesake = 0;
        int e = s->resource.has_pid
                        ? import_rows_namesake(s->rows, s->resource.pid, s->resource.who, &namesake, err)
                        : 0;
        struct import_track process = { .kind = IMPORT_TRACK_PROCESS,
                                        .clock = s->clock,
                                        .number = s->resource.pid,
                                        .has_number = s->resource.has_pid && namesake == 0 };

        if (e < 0)
                return e;
        if (s->resource.service.used_bytes == 0) {
                s->n_unnamed++;
                byte_buffer_add(&s->resource.service, "unknown_service", strlen("unknown_service"));
        } else if (!process.has_number && s->resource.instance.used_bytes > 0) {
                byte_buffer_add(&s->resource.service, " (", 2);
                byte_buffer_add(&s->resource.service, s->resource.instance.data,
                                s->resource.instance.used_bytes);
                byte_buffer_add_u8(&s->resource.service, ')');
        }
        if (namesake != 0)
                byte_buffer_add_format(&s->resource.service, " (pid %" PRIu64 " #%" PRIu32 ")",
                                       s->resource.pid, namesake + 1);
        process.name = text_in(&s->resource.service);
        if (s->resource.service.failed)
                return error_set(err, -ENOMEM, "no memory for the name of a service");
        return import_rows_track(s->rows, &process, &s->process, err);
}

/* Threads with a number are told apart by that, whatever they are called. */
static int name_thread(struct otlp_spans *s, struct error *err)
{
        struct text_view name = text_in(&s->span.thread_name);
        uint64_t hash;

        if (!s->span.has_tid || name.n_bytes == 0)
                return 0;
        hash = content_hash(name.bytes, name.n_bytes) ^ s->thread;
        if (hash == s->thread_name)
                return 0;
        s->thread_name = hash;
        return import_rows_name_track(s->rows, s->thread, name, err);
}

static int find_thread(struct otlp_spans *s, struct error *err)
{
        struct import_track thread = { .kind = IMPORT_TRACK_THREAD,
                                       .clock = s->clock,
                                       .number = s->span.has_tid ? s->span.tid : 0,
                                       .has_number = s->span.has_tid };
        int e = s->process == 0 ? find_process(s, err) : 0;

        if (e < 0)
                return e;
        if (!thread.has_number)
                thread.name = s->span.thread_name.used_bytes ? text_in(&s->span.thread_name)
                                                             : (struct text_view){ "spans", strlen("spans") };
        thread.parent = s->process;
        if (s->has_thread && thread.has_number && s->thread_number == thread.number)
                return name_thread(s, err);
        e = import_rows_track(s->rows, &thread, &s->thread, err);
        s->has_thread = e == 0 && thread.has_number;
        s->thread_number = thread.number;
        return e < 0 ? e : name_thread(s, err);
}

/* ------------------------------------------------------------------ spans */

static void put_text(struct otlp_spans *s, const struct otlp_span *span)
{
        static const char *const kinds[] = { NULL, "internal", "server", "client", "producer", "consumer" };
        struct byte_buffer *b = &s->text;

        byte_buffer_clear(b);
        byte_buffer_add(b, "{\"trace\":\"", 10);
        json_put_hex(b, span->trace[0]);
        json_put_hex(b, span->trace[1]);
        byte_buffer_add(b, "\",\"span\":\"", 10);
        json_put_hex(b, span->id);
        byte_buffer_add_u8(b, '"');
        if (span->parent != 0) {
                byte_buffer_add(b, ",\"parent\":\"", 11);
                json_put_hex(b, span->parent);
                byte_buffer_add_u8(b, '"');
        }
        if (span->kind > 1 && span->kind < sizeof(kinds) / sizeof(kinds[0]))
                byte_buffer_add_format(b, ",\"kind\":\"%s\"", kinds[span->kind]);
        if (span->status != 0)
                byte_buffer_add_format(b, ",\"status\":\"%s\"",
                                       span->status == STATUS_ERROR ? "error" : "ok");
        if (span->links && span->links->used_bytes > 0) {
                byte_buffer_add(b, ",\"links\":[", 10);
                byte_buffer_add(b, span->links->data, span->links->used_bytes);
                byte_buffer_add_u8(b, ']');
        }
        if (s->attributes.used_bytes > 0) {
                byte_buffer_add(b, ",\"attributes\":", 14);
                byte_buffer_add(b, s->attributes.data, s->attributes.used_bytes);
                byte_buffer_add_u8(b, '}');
        }
        byte_buffer_add_u8(b, '}');
}

static uint32_t short_id(const struct otlp_span *span, uint64_t id)
{
        return id == 0 ? 0
                       : (uint32_t)content_hash((uint64_t[]){ span->trace[0], span->trace[1], id }, 24) | 1;
}

/* "error: connection refused", where the span ends. */
static int put_error(struct otlp_spans *s, const struct otlp_span *span, struct error *err)
{
        struct import_instant instant = { .track = s->thread, .time = span->end_ns };
        int e;

        byte_buffer_clear(&s->text);
        byte_buffer_add(&s->text, "error", 5);
        if (span->message.n_bytes > 0)
                byte_buffer_add(&s->text, ": ", 2);
        byte_buffer_add(&s->text, span->message.bytes,
                        span->message.n_bytes < OTLP_TEXT_BYTES_MAX ? span->message.n_bytes
                                                                    : OTLP_TEXT_BYTES_MAX);
        if (s->text.failed)
                return error_set(err, -ENOMEM, "no memory for a text");
        e = import_rows_string(s->rows, text_in(&s->text), &instant.name, err);
        return e < 0 ? e : import_rows_instant(s->rows, &instant, err);
}

int otlp_spans_put(struct otlp_spans *s, const struct otlp_span *span, const char **ret_why,
                   struct error *err)
{
        struct import_span row = { .begin = span->begin_ns, .end = span->end_ns };
        int e;

        if (span->id == 0 || (span->trace[0] | span->trace[1]) == 0)
                *ret_why = "a span without its id or that of its trace";
        else if (span->begin_ns == 0 || span->end_ns == 0)
                *ret_why = "a span without its beginning or end";
        else if (span->end_ns < span->begin_ns)
                *ret_why = "a span that ends before it begins";
        if (*ret_why)
                return -EBADMSG;
        e = find_thread(s, err);
        if (e < 0)
                return e;
        row.track = s->thread;
        row.id = short_id(span, span->id);
        row.parent = short_id(span, span->parent);
        put_text(s, span);
        if (s->text.failed || s->attributes.failed || (span->links && span->links->failed))
                return error_set(err, -ENOMEM, "no memory for a text");
        e = import_rows_string(s->rows, span->name, &row.name, err);
        if (e == 0)
                e = import_rows_text(s->rows, text_in(&s->text), &row.text, err);
        if (e == 0)
                e = import_rows_span(s->rows, &row, err);
        return e == 0 && span->status == STATUS_ERROR ? put_error(s, span, err) : e;
}

int otlp_spans_put_event(struct otlp_spans *s, uint64_t time_ns, struct text_view name, struct error *err)
{
        struct import_instant instant = { .track = s->thread, .time = time_ns };
        int e = import_rows_string(s->rows, name, &instant.name, err);

        if (e == 0 && s->attributes.used_bytes > 0) {
                byte_buffer_add_u8(&s->attributes, '}');
                if (s->attributes.failed)
                        return error_set(err, -ENOMEM, "no memory for a text");
                e = import_rows_text(s->rows, text_in(&s->attributes), &instant.text, err);
        }
        return e < 0 ? e : import_rows_instant(s->rows, &instant, err);
}

void otlp_spans_finish(struct otlp_spans *s)
{
        if (s->n_beyond)
                import_rows_left_out(s->rows, "attribute beyond 4 KiB", s->n_beyond);
        if (s->n_unnamed)
                import_rows_left_out(s->rows, "name of a service that was not told", s->n_unnamed);
}
