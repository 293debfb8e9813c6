/* SPDX-License-Identifier: MIT */
/* import/otlp: spans of services and threads, their attributes, events, links; malformed rows */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/otlp/import_otlp.h"
#include "import/perfetto/import_pftrace.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "tests/data/import/otlp/"
#define T      UINT64_C(1700000000000000000)

static struct import_rows rows;
static struct error err;

static const struct fake_import_reader reader = { import_otlp_recognise, import_otlp_read };

static int read_text(const char *text)
{
        return fake_import_rows_read_text(&rows, &reader, text, &err);
}

static const char *const files[] = { FOLDER "spans.jsonl", FOLDER "spans.pb" };

START_LOOP_TEST(spans_are_on_the_threads_of_services, 0, 2)
{
        const struct import_span *query, *get, *send;
        uint32_t worker, mail;

        ck_assert_int_eq(fake_import_rows_read_path(&rows, &reader, files[_i], &err), 0);
        ck_assert_str_eq(rows.format, "otlp");
        ck_assert_uint_eq(rows.n_clocks, 1);
        ck_assert_int_eq(rows.clocks[0].kind, IMPORT_CLOCK_REALTIME);
        ck_assert_uint_eq(rows.n_spans, 6);
        ck_assert_uint_eq(rows.n_instants, 2);
        ck_assert_uint_eq(rows.n_rows, 7);
        ck_assert_uint_eq(rows.n_malformed, 0);
        worker = fake_import_rows_find_track(&rows, "shop/worker");
        mail = fake_import_rows_find_track(&rows, "mail/spans");
        query = fake_import_rows_span(&rows, worker, "query", 0);
        get = fake_import_rows_span(&rows, worker, "GET /", 0);
        send = fake_import_rows_span(&rows, mail, "send", 0);
        ck_assert_ptr_nonnull(query);
        ck_assert_ptr_nonnull(get);
        ck_assert_ptr_nonnull(send);
        ck_assert_uint_eq(query->begin, T + 2000);
        ck_assert_uint_eq(query->end, T + 7000);
        ck_assert_uint_ne(get->id, 0);
        ck_assert_uint_eq(get->parent, 0);
        ck_assert_uint_eq(query->parent, get->id);
        ck_assert_uint_ne(query->id, get->id);
        ck_assert_uint_eq(rows.tracks[worker - 1].number, 12);
        ck_assert_uint_eq(rows.tracks[rows.tracks[worker - 1].parent - 1].number, 4711);
        ck_assert(!rows.tracks[mail - 1].has_number);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_LOOP_TEST(texts_have_ids_and_attributes, 0, 2)
{
        const struct import_span *query, *get;

        ck_assert_int_eq(fake_import_rows_read_path(&rows, &reader, files[_i], &err), 0);
        query = fake_import_rows_span(&rows, fake_import_rows_find_track(&rows, "shop/worker"), "query", 0);
        get = fake_import_rows_span(&rows, fake_import_rows_find_track(&rows, "shop/worker"), "GET /", 0);
        ck_assert_str_eq(
                fake_import_rows_text(&rows, query->text),
                "{\"trace\":\"0af7651916cd43dd8448eb211c80319c\",\"span\":\"0000000000000002\","
                "\"parent\":\"0000000000000001\",\"kind\":\"client\",\"attributes\":{\"thread.id\":12,"
                "\"thread.name\":\"worker\",\"db.statement\":\"select \\\"a\\\"\",\"rows\":3,\"ok\":true,"
                "\"ratio\":0.5,\"list\":[\"a\",1],\"map\":{\"k\":\"v\"}}}");
        ck_assert_str_eq(fake_import_rows_text(&rows, get->text),
                         "{\"trace\":\"0af7651916cd43dd8448eb211c80319c\",\"span\":\"0000000000000001\","
                         "\"kind\":\"server\",\"status\":\"error\",\"links\":["
                         "\"5b8aa5a2d2c872e8321cf37308d69df2/0000000000000009\"],"
                         "\"attributes\":{\"thread.id\":12}}");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[0].name), "error: timed out");
        ck_assert_uint_eq(rows.instants[0].time, get->end);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[1].name), "cache miss");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[1].text), "{\"key\":\"x\"}");
        ck_assert_uint_eq(rows.instants[1].time, T + 1500);
        fake_import_rows_deinit(&rows);
}
END_TEST

#define SPAN(more) "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{" more "}]}]}]}\n"
#define IDS        "\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"0000000000000002\","
#define TIMES      "\"startTimeUnixNano\":\"5\",\"endTimeUnixNano\":7"

static const struct {
        const char *text, *why;
} broken[] = {
        { SPAN(IDS "\"startTimeUnixNano\":\"5\""), "a span without its beginning or end" },
        { SPAN(IDS "\"startTimeUnixNano\":\"5\",\"endTimeUnixNano\":\"4\""),
          "a span that ends before it begins" },
        { SPAN("\"spanId\":\"0000000000000002\"," TIMES), "a span without its id or that of its trace" },
        { SPAN("\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"2\"," TIMES),
          "a span without its id or that of its trace" },
        { SPAN(IDS TIMES ",\"events\":[{\"name\":\"x\"}]"), "an event without a time" },
};

START_LOOP_TEST(malformed_rows_are_counted, 0, sizeof(broken) / sizeof(broken[0]))
{
        char text[1024];

        (void)snprintf(text, sizeof(text), SPAN(IDS TIMES) "%s" SPAN(IDS TIMES), broken[_i].text);
        ck_assert_int_eq(read_text(text), 0);
        ck_assert_uint_ge(rows.n_spans, 2);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, 2);
        ck_assert_str_eq(rows.first_malformed_why, broken[_i].why);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* However long it is, also where the file ends in it. */
START_LOOP_TEST(a_long_word_is_one_malformed_row, 0, 2)
{
        const size_t n_bytes = (size_t)2 << 20;
        struct byte_buffer text = { .data = NULL };

        byte_buffer_add_format(&text, "%s", SPAN(IDS TIMES));
        for (size_t i = 0; i < n_bytes; i++)
                byte_buffer_add_u8(&text, 'x');
        if (_i == 0)
                byte_buffer_add_format(&text, "\n%s", SPAN(IDS TIMES));
        byte_buffer_add_u8(&text, '\0');
        ck_assert_int_eq(read_text((const char *)text.data), 0);
        ck_assert_uint_eq(rows.n_spans, _i == 0 ? 2 : 1);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, 2);
        ck_assert_str_eq(rows.first_malformed_why, "a word longer than 256 KiB");
        ck_assert_int_eq(rows.is_cut, _i == 1);
        ck_assert_uint_eq(rows.n_left_out, 1); /* the name of the service */
        ck_assert_uint_eq(rows.n_rows, rows.n_spans + 1);
        byte_buffer_deinit(&text);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* A file of the collector may have all three kinds. */
START_TEST(metrics_and_logs_are_left_out)
{
        ck_assert_int_eq(
                read_text("{\"resourceLogs\":[{}]}\n" SPAN(IDS TIMES) "{\"resourceMetrics\":[{},{}]}\n"), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "logs of a resource"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "metrics of a resource"), 2);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* Attributes beyond the limit are left out whole. */
START_TEST(large_attributes_are_bounded)
{
        static char text[16384];
        size_t n = (size_t)snprintf(text, sizeof(text), "%.*s", (int)strlen(SPAN(IDS TIMES)) - 8,
                                    SPAN(IDS TIMES));

        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              ",\"attributes\":[{\"key\":\"small\",\"value\":{\"boolValue\":true}},"
                              "{\"key\":\"k\",\"value\":{\"stringValue\":\"");
        memset(text + n, 'v', 5000);
        (void)snprintf(text + n + 5000, sizeof(text) - n - 5000, "\"}}]}]}]}]}\n");
        ck_assert_int_eq(read_text(text), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_ptr_nonnull(strstr(fake_import_rows_text(&rows, rows.spans[0].text), "{\"small\":true}}"));
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "attribute beyond 4 KiB"), 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

static const struct {
        const char *value, *text;
} values[] = {
        { "{\"doubleValue\":0.5}", "{\"v\":0.5}" },
        { "{\"doubleValue\":-1.25e+300}", "{\"v\":-1.25e+300}" },
        { "{\"doubleValue\":\"7.5\"}", "{\"v\":7.5}" },
        { "{\"doubleValue\":\"NaN\"}", "{\"v\":null}" },
        { "{\"doubleValue\":1.2.3}", "{\"v\":null}" },
        { "{\"doubleValue\":12\\u}", "{\"v\":null}" },
        { "{\"doubleValue\":1e}", "{\"v\":null}" },
        { "{\"doubleValue\":01}", "{\"v\":null}" },
        { "{\"doubleValue\":-}", "{\"v\":null}" },
        { "{\"intValue\":99999999999999999999}", "{\"v\":99999999999999999999}" },
        { "{\"bytesValue\":\"AAH+/w==\"}", "{\"v\":{\"base64\":\"AAH+/w==\"}}" },
        { "{\"arrayValue\":{\"values\":[{\"bytesValue\":\"AA==\"}]}}", "{\"v\":[{\"base64\":\"AA==\"}]}" },
        { "{\"bytesValue\":5}", "{\"v\":5}" },
};

/* A text is JSON whatever the file has in the place of a value, and says what the value is. */
START_LOOP_TEST(values_are_checked, 0, sizeof(values) / sizeof(values[0]))
{
        char text[1024], expected[128];

        (void)snprintf(text, sizeof(text), SPAN(IDS TIMES ",\"attributes\":[{\"key\":\"v\",\"value\":%s}]"),
                       values[_i].value);
        ck_assert_int_eq(read_text(text), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        (void)snprintf(expected, sizeof(expected), "\"attributes\":%s}", values[_i].text);
        ck_assert_ptr_nonnull(strstr(fake_import_rows_text(&rows, rows.spans[0].text), expected));
        fake_import_rows_deinit(&rows);
}
END_TEST

/* A message of protobuf, field by field; each is shorter than 128 bytes. */
static void wrap(struct byte_buffer *b, uint8_t tag)
{
        struct byte_buffer whole = { .data = NULL };

        byte_buffer_add_u8(&whole, tag);
        byte_buffer_add_u8(&whole, (uint8_t)b->used_bytes);
        byte_buffer_add(&whole, b->data, b->used_bytes);
        byte_buffer_deinit(b);
        *b = whole;
}

START_TEST(bytes_of_protobuf_are_said)
{
        static const char before[] =
                "\x0a\x10TTTTTTTTTTTTTTTT\x12\x08SSSSSSSS\x39\5\0\0\0\0\0\0\0\x41\7\0\0\0\0\0\0";
        struct byte_buffer b = { .data = NULL }, span = { .data = NULL };

        byte_buffer_add(&b, "\0\1\xfe\xff", 4);
        wrap(&b, 7 << 3 | 2); /* the value */
        wrap(&b, 2 << 3 | 2);
        byte_buffer_add(&span, "\x0a\1v", 3); /* its key */
        byte_buffer_add(&span, b.data, b.used_bytes);
        wrap(&span, 9 << 3 | 2);
        byte_buffer_clear(&b);
        byte_buffer_add(&b, before, sizeof(before));
        byte_buffer_add(&b, span.data, span.used_bytes);
        wrap(&b, 2 << 3 | 2); /* the span, its scope and its resource */
        wrap(&b, 2 << 3 | 2);
        wrap(&b, 1 << 3 | 2);
        ck_assert_int_eq(fake_import_rows_read_bytes(&rows, &reader, b.data, b.used_bytes, &err), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_ptr_nonnull(strstr(fake_import_rows_text(&rows, rows.spans[0].text),
                                     "\"attributes\":{\"v\":{\"base64\":\"AAH+/w==\"}}}"));
        byte_buffer_deinit(&b);
        byte_buffer_deinit(&span);
        fake_import_rows_deinit(&rows);
}
END_TEST

#define RESOURCE(service, host, id)                                                                    \
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":["                                          \
        "{\"key\":\"process.pid\",\"value\":{\"intValue\":1}},"                                        \
        "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"" host "\"}},"                            \
        "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" service                              \
        "\"}}]},\"scopeSpans\":[{\"spans\":[{"                                                         \
        "\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"000000000000000" id "\"," TIMES \
        ",\"attributes\":[{\"key\":\"n\",\"value\":{\"intValue\":\"007\"}}]}]}]}]}\n"

/* The text of a span has whole links, up to the limit; the others are counted. */
START_TEST(links_are_bounded)
{
        static const char link[] = "{" IDS "\"traceState\":\"\"}";
        static char text[32768];
        size_t n = (size_t)snprintf(text, sizeof(text), "%.*s,\"links\":[%s",
                                    (int)strlen(SPAN(IDS TIMES)) - 8, SPAN(IDS TIMES), link);

        for (int i = 0; i < 199; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, ",%s", link);
        (void)snprintf(text + n, sizeof(text) - n, "]}]}]}]}\n");
        ck_assert_int_eq(read_text(text), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "link beyond 4 KiB"), 200 - 4096 / 52 - 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* In a container most processes have the number 1. */
START_TEST(services_with_the_same_number_are_processes_of_their_own)
{
        uint32_t front, back, other;

        ck_assert_int_eq(read_text(RESOURCE("front", "a", "1") RESOURCE("back", "b", "2")
                                           RESOURCE("front", "a", "3") RESOURCE("front", "c", "4")),
                         0);
        front = fake_import_rows_find_track(&rows, "front");
        back = fake_import_rows_find_track(&rows, "back (pid 1 #2)");
        other = fake_import_rows_find_track(&rows, "front (pid 1 #3)");
        ck_assert(front != 0 && back != 0 && other != 0);
        ck_assert(rows.tracks[front - 1].has_number && rows.tracks[front - 1].number == 1);
        ck_assert(!rows.tracks[back - 1].has_number);
        ck_assert(!rows.tracks[other - 1].has_number);
        ck_assert_uint_eq(rows.n_spans, 4);
        ck_assert_uint_eq(rows.tracks[rows.spans[1].track - 1].parent, back);
        ck_assert_uint_eq(rows.tracks[rows.tracks[rows.spans[2].track - 1].parent - 1].number, 1);
        ck_assert_uint_eq(rows.tracks[rows.spans[3].track - 1].parent, other);
        /* An integer is one of JSON, however it was written. */
        ck_assert_ptr_nonnull(strstr(fake_import_rows_text(&rows, rows.spans[0].text), "{\"n\":7}"));
        fake_import_rows_deinit(&rows);
}
END_TEST

/* Both are a repeated field 1 of messages. */
START_TEST(packets_of_perfetto_are_not_taken)
{
        static char bytes[4096];
        FILE *file = fopen("tests/fuzz/corpus/fuzz_import_pftrace/tracks.pftrace", "re");
        struct text_view head = { bytes, 0 };

        ck_assert_ptr_nonnull(file);
        head.n_bytes = fread(bytes, 1, sizeof(bytes), file);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert(import_pftrace_recognise(head));
        ck_assert(!import_otlp_recognise(head));
        ck_assert(!import_otlp_recognise((struct text_view){ "{\"traceEvents\":[]}", 18 }));
        ck_assert(!import_otlp_recognise((struct text_view){ "", 0 }));
}
END_TEST
