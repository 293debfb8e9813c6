/* SPDX-License-Identifier: MIT */
/* import/perfetto/: a file of Chromium as another reader counts it; clocks, tracks, flows; hostile files */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/perfetto/import_pftrace.h"
#include "import/perfetto/pftrace_fields.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define CHROMIUM "tests/data/import/perfetto/chrome_headless.pftrace.zst"

static struct import_rows rows;
static struct error err;

static int read_path(const char *path)
{
        struct import_source *source;
        struct text_view head;
        int r;

        fake_import_rows_init(&rows);
        ck_assert_int_eq(import_source_open(&source, path, &err), 0);
        ck_assert_int_eq(import_source_head(source, &head, &err), 0);
        r = import_pftrace_recognise(head) ? import_pftrace_read(source, &rows, &err) : -EINVAL;
        import_source_close(source);
        return r;
}

static int read_bytes(const void *bytes, size_t n_bytes)
{
        char path[64];
        int fd = memfd_create("trace", MFD_CLOEXEC), r;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, n_bytes), (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = read_path(path);
        ck_assert_int_eq(close(fd), 0);
        return r;
}

/* ------------------------------------------------------------------ a file of Chromium */

/*
 * By another reader: the clock of each sequence goes on with every packet, also with those that only describe
 * a track, and its microseconds begin where the snapshot read CLOCK_MONOTONIC in nanoseconds.
 */
START_TEST(test_chromium)
{
        static const struct {
                const char *name;
                uint64_t n, total_ns;
        } top[] = {
                { "ThreadControllerImpl::RunTask", 7613, 930530000 },
                { "ThreadPool_RunTask", 2054, 708531000 },
                { "Receive mojo message", 2416, 456443000 },
                { "EpollEvent", 1705, 123859000 },
                { "SimpleWatcher::OnHandleReady", 2617, 352202000 },
                { "Receive mojo reply", 200, 49019000 },
        };
        uint64_t first = UINT64_MAX, last = 0, n_raw = 0;

        ck_assert_int_eq(read_path(CHROMIUM), 0);
        ck_assert_str_eq(rows.format, "pftrace");
        ck_assert_uint_eq(rows.n_rows, 38481);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(rows.n_dropped, 0);
        ck_assert(!rows.is_cut);
        ck_assert_uint_eq(rows.n_spans, 18978);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), 2933171000);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "end without begin"), 76);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "begin without end"), 29);
        for (size_t i = 0; i < sizeof(top) / sizeof(top[0]); i++) {
                ck_assert_uint_eq(fake_import_rows_count_spans(&rows, 0, top[i].name), top[i].n);
                ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, top[i].name), top[i].total_ns);
        }
        for (size_t i = 0; i < rows.n_spans; i++) {
                first = rows.spans[i].begin < first ? rows.spans[i].begin : first;
                last = rows.spans[i].end > last ? rows.spans[i].end : last;
        }
        ck_assert_uint_eq(first, 3172868584478);
        ck_assert_uint_eq(last, 3173363966229);
        ck_assert_uint_eq(rows.n_clocks, 1);
        ck_assert_int_eq(rows.clocks[0].kind, IMPORT_CLOCK_MONOTONIC);
        for (size_t i = 0; i < rows.n_readings; i++)
                if (rows.readings[i].host == IMPORT_CLOCK_RAW) {
                        uint64_t apart = rows.readings[i].ticks - rows.readings[i].host_begin;

                        ck_assert(apart >= 266688620 && apart <= 266688650);
                        n_raw++;
                }
        ck_assert_uint_ge(n_raw, 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* ------------------------------------------------------------------ files that a test writes */

static struct byte_buffer file;

struct message {
        uint8_t bytes[1024];
        size_t n_bytes;
};

static void add_varint(struct message *m, uint64_t v)
{
        for (; v >= 0x80; v >>= 7)
                m->bytes[m->n_bytes++] = (uint8_t)(v | 0x80);
        m->bytes[m->n_bytes++] = (uint8_t)v;
}

static void number(struct message *m, uint32_t field, uint64_t v)
{
        add_varint(m, (uint64_t)field << 3);
        add_varint(m, v);
}

static void fixed64(struct message *m, uint32_t field, uint64_t v)
{
        add_varint(m, (uint64_t)field << 3 | 1);
        memcpy(m->bytes + m->n_bytes, &v, sizeof(v));
        m->n_bytes += sizeof(v);
}

static void bytes(struct message *m, uint32_t field, const void *data, size_t n)
{
        add_varint(m, (uint64_t)field << 3 | 2);
        add_varint(m, n);
        memcpy(m->bytes + m->n_bytes, data, n);
        m->n_bytes += n;
}

static void text(struct message *m, uint32_t field, const char *words)
{
        bytes(m, field, words, strlen(words));
}

static void inner(struct message *m, uint32_t field, const struct message *of)
{
        bytes(m, field, of->bytes, of->n_bytes);
}

static void put(const struct message *packet)
{
        byte_buffer_add_u8(&file, 10);
        byte_buffer_add_varint(&file, packet->n_bytes);
        byte_buffer_add(&file, packet->bytes, packet->n_bytes);
}

static int read_file(void)
{
        int r = read_bytes(file.data, file.used_bytes);

        byte_buffer_deinit(&file);
        return r;
}

static struct message packet_of(uint64_t sequence, uint64_t time)
{
        struct message m = { .n_bytes = 0 };

        number(&m, PFTRACE_TIMESTAMP, time);
        number(&m, PFTRACE_SEQUENCE, sequence);
        return m;
}

static void put_thread(uint64_t uuid, uint64_t pid, uint64_t tid, const char *name)
{
        struct message m = { .n_bytes = 0 }, track = m, thread = m;

        number(&thread, PFTRACE_THREAD_PID, pid);
        number(&thread, PFTRACE_THREAD_TID, tid);
        text(&thread, PFTRACE_THREAD_NAME, name);
        number(&track, PFTRACE_TRACK_UUID, uuid);
        inner(&track, PFTRACE_TRACK_THREAD, &thread);
        number(&m, PFTRACE_SEQUENCE, 1);
        inner(&m, PFTRACE_TRACK, &track);
        put(&m);
}

static struct message event_of(uint64_t type, uint64_t uuid, const char *name)
{
        struct message m = { .n_bytes = 0 };

        number(&m, PFTRACE_EVENT_TYPE, type);
        number(&m, PFTRACE_EVENT_TRACK, uuid);
        if (name)
                text(&m, PFTRACE_EVENT_NAME, name);
        return m;
}

static void put_event(uint64_t time, const struct message *event)
{
        struct message m = packet_of(1, time);

        inner(&m, PFTRACE_TRACK_EVENT, event);
        put(&m);
}

static void put_simple(uint64_t time, uint64_t type, uint64_t uuid, const char *name)
{
        struct message event = event_of(type, uuid, name);

        put_event(time, &event);
}

/* Events of a track may come late; arguments and flows. */
START_TEST(test_events)
{
        struct message begin = event_of(PFTRACE_BEGIN, 7, "outer"), arg = { .n_bytes = 0 }, dict = arg,
                       in = arg;
        const struct import_span *span;
        uint32_t thread;

        put_thread(7, 40, 41, "worker");
        text(&arg, PFTRACE_ANNOTATION_NAME, "a \"b\"");
        number(&arg, PFTRACE_ANNOTATION_INT, (uint64_t)-5);
        inner(&begin, PFTRACE_EVENT_ANNOTATION, &arg);
        text(&in, PFTRACE_ANNOTATION_NAME, "x");
        text(&in, PFTRACE_ANNOTATION_STRING, "y\n");
        text(&dict, PFTRACE_ANNOTATION_NAME, "d");
        inner(&dict, PFTRACE_ANNOTATION_DICT, &in);
        inner(&begin, PFTRACE_EVENT_ANNOTATION, &dict);
        fixed64(&begin, PFTRACE_EVENT_FLOW, 99);
        put_event(100, &begin);
        put_simple(400, PFTRACE_END, 7, NULL);
        put_simple(200, PFTRACE_BEGIN, 7, "inner");
        put_simple(300, PFTRACE_END, 7, NULL);
        put_simple(500, PFTRACE_END, 7, NULL);
        put_simple(600, PFTRACE_BEGIN, 7, "open");
        put_simple(650, PFTRACE_INSTANT, 7, "mark");
        put_simple(700, 0, 7, "no type");
        ck_assert_int_eq(read_file(), 0);
        thread = fake_import_rows_find_track(&rows, "process 40/worker");
        ck_assert_uint_ne(thread, 0);
        ck_assert_uint_eq(rows.tracks[thread - 1].number, 41);
        ck_assert_int_eq(rows.clocks[0].kind, IMPORT_CLOCK_BOOTTIME);
        ck_assert_uint_eq(rows.n_spans, 2);
        span = fake_import_rows_span(&rows, thread, "outer", 0);
        ck_assert_ptr_nonnull(span);
        ck_assert_uint_eq(span->begin, 100);
        ck_assert_uint_eq(span->end, 400);
        ck_assert_str_eq(fake_import_rows_text(&rows, span->key.kind), "flow");
        ck_assert_uint_eq(span->key.value, 99);
        ck_assert_str_eq(fake_import_rows_text(&rows, span->text),
                         "{\"a \\\"b\\\"\":-5,\"d\":{\"x\":\"y\\u000a\"}}");
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, thread, "inner"), 100);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, thread, "mark"), 1);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, thread, "open"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "end without begin"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "begin without end"), 1);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_str_eq(rows.first_malformed_why, "an event without a type");
        fake_import_rows_deinit(&rows);
}
END_TEST

static void put_track(uint64_t uuid, uint64_t parent, const char *name, bool is_counter, bool is_incremental)
{
        struct message m = { .n_bytes = 0 }, track = m, counter = m;

        number(&track, PFTRACE_TRACK_UUID, uuid);
        number(&track, PFTRACE_TRACK_PARENT, parent);
        text(&track, PFTRACE_TRACK_NAME, name);
        number(&counter, PFTRACE_COUNTER_UNIT, PFTRACE_UNIT_BYTES);
        number(&counter, PFTRACE_COUNTER_MULTIPLIER, 1024);
        number(&counter, PFTRACE_COUNTER_INCREMENTAL, is_incremental);
        if (is_counter)
                inner(&track, PFTRACE_TRACK_COUNTER, &counter);
        inner(&m, PFTRACE_TRACK, &track);
        put(&m);
}

START_TEST(test_counters_and_parents)
{
        struct message value = event_of(PFTRACE_COUNTER, 9, NULL), bare = value, real = event_of(4, 8, NULL);
        const double half = 0.5;
        uint64_t bits;
        uint32_t thread;

        put_thread(7, 40, 41, "worker");
        put_track(9, 7, "heap", true, true);
        put_track(8, 0, "load", true, false);
        put_track(11, 10, "ring a", false, false);
        put_track(10, 11, "ring b", false, false);
        number(&value, PFTRACE_EVENT_COUNTER, 3);
        put_event(1, &value);
        put_event(2, &value);
        put_event(3, &bare);
        memcpy(&bits, &half, sizeof(bits));
        fixed64(&real, PFTRACE_EVENT_COUNTER_DOUBLE, bits);
        put_event(4, &real);
        put_simple(5, PFTRACE_INSTANT, 10, "in a ring");
        put_simple(6, PFTRACE_INSTANT, 77, "nowhere");
        ck_assert_int_eq(read_file(), 0);
        thread = fake_import_rows_find_track(&rows, "process 40/worker");
        ck_assert_uint_eq(fake_import_rows_count_values(&rows, thread, "heap"), 2);
        ck_assert_uint_eq(fake_import_rows_value(&rows, thread, "heap", 0)->bits, 3072);
        ck_assert_uint_eq(fake_import_rows_value(&rows, thread, "heap", 1)->bits, 6144);
        ck_assert_str_eq(fake_import_rows_text(&rows, fake_import_rows_value(&rows, thread, "heap", 0)->unit),
                         "bytes");
        memcpy(&bits, &(double){ 512.0 }, sizeof(bits));
        ck_assert_uint_eq(fake_import_rows_value(&rows, 0, "load", 0)->bits, bits);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, 0, "in a ring"), 1);
        ck_assert_uint_ne(fake_import_rows_find_track(&rows, "track 77"), 0);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "track without a description"), 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* A name of before the state was cleared, or of a sequence that lost packets, is not used. */
START_TEST(test_interned_names)
{
        struct message event = event_of(PFTRACE_INSTANT, 0, NULL), m, interned = { .n_bytes = 0 },
                       name = interned;

        number(&name, PFTRACE_INTERNED_IID, 5);
        text(&name, PFTRACE_INTERNED_TEXT, "told");
        inner(&interned, PFTRACE_INTERNED_NAME, &name);
        number(&event, PFTRACE_EVENT_NAME_IID, 5);
        for (unsigned i = 0; i < 5; i++) {
                m = packet_of(i == 4 ? 2 : 1, 10 + i);
                if (i == 0)
                        inner(&m, PFTRACE_INTERNED, &interned);
                number(&m, PFTRACE_FLAGS, i == 0 || i == 2 ? PFTRACE_STATE_CLEARED : PFTRACE_NEEDS_STATE);
                if (i == 3)
                        number(&m, PFTRACE_DROPPED, 1);
                inner(&m, PFTRACE_TRACK_EVENT, &event);
                put(&m);
        }
        ck_assert_int_eq(read_file(), 0);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, 0, "told"), 2);
        ck_assert_uint_eq(rows.n_instants, 3);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "name that was not told"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "packet after a loss"), 2);
        ck_assert_uint_eq(rows.n_dropped, 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

static void add_reading(struct message *snapshot, uint64_t id, uint64_t ticks, uint64_t unit)
{
        struct message m = { .n_bytes = 0 };

        number(&m, PFTRACE_READING_ID, id);
        number(&m, PFTRACE_READING_TIME, ticks);
        if (unit) {
                number(&m, PFTRACE_READING_INCREMENTAL, 1);
                number(&m, PFTRACE_READING_UNIT, unit);
        }
        inner(snapshot, PFTRACE_SNAPSHOT_CLOCK, &m);
}

/* One track, whose events come by two clocks; a clock that nothing is known of. */
START_TEST(test_clocks)
{
        struct message m = { .n_bytes = 0 }, snapshot = m, event = event_of(PFTRACE_BEGIN, 7, "span");
        const struct import_span *span;

        put_thread(7, 40, 41, "worker");
        add_reading(&snapshot, PFTRACE_MONOTONIC, 5000700, 0);
        add_reading(&snapshot, PFTRACE_BOOTTIME, 9000700, 0);
        add_reading(&snapshot, PFTRACE_MONOTONIC_RAW, 4000700, 0);
        add_reading(&snapshot, 64, 5000, 1000);
        number(&snapshot, PFTRACE_SNAPSHOT_PRIMARY, PFTRACE_MONOTONIC);
        number(&m, PFTRACE_SEQUENCE, 1);
        inner(&m, PFTRACE_CLOCK_SNAPSHOT, &snapshot);
        put(&m);
        m = packet_of(1, 10);
        number(&m, PFTRACE_CLOCK, 64);
        put(&m);
        m = packet_of(1, 20);
        number(&m, PFTRACE_CLOCK, 64);
        inner(&m, PFTRACE_TRACK_EVENT, &event);
        put(&m);
        event = event_of(PFTRACE_END, 7, NULL);
        m = packet_of(1, 9050700);
        number(&m, PFTRACE_CLOCK, PFTRACE_BOOTTIME);
        inner(&m, PFTRACE_TRACK_EVENT, &event);
        put(&m);
        m = packet_of(2, 1);
        number(&m, PFTRACE_CLOCK, 64);
        inner(&m, PFTRACE_TRACK_EVENT, &event);
        put(&m);
        ck_assert_int_eq(read_file(), 0);
        ck_assert_uint_eq(rows.n_clocks, 1);
        span = fake_import_rows_span(&rows, 0, "span", 0);
        ck_assert_ptr_nonnull(span);
        ck_assert_uint_eq(span->begin, 5030700);
        ck_assert_uint_eq(span->end, 5050700);
        ck_assert_uint_eq(rows.n_readings, 2);
        ck_assert_uint_eq(rows.n_malformed, 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_legacy)
{
        static const char phases[] = "XbeiBEs";
        uint32_t async;

        for (unsigned i = 0; phases[i]; i++) {
                struct message event = event_of(0, 7, "old"), legacy = { .n_bytes = 0 };

                if (i == 0)
                        put_thread(7, 40, 41, "worker");
                number(&legacy, PFTRACE_LEGACY_PHASE, (uint8_t)phases[i]);
                number(&legacy, PFTRACE_LEGACY_DURATION_US, 2);
                number(&legacy, PFTRACE_LEGACY_GLOBAL_ID, 3);
                inner(&event, PFTRACE_EVENT_LEGACY, &legacy);
                put_event(100 + 10 * i, &event);
        }
        ck_assert_int_eq(read_file(), 0);
        async = fake_import_rows_find_track(&rows, "process 40/async");
        ck_assert_uint_eq(rows.n_spans, 3);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, async, NULL), 10);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), 2020);
        ck_assert_uint_eq(rows.n_instants, 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "legacy s"), 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_packed_packets)
{
        struct message m = packet_of(1, 5), event = event_of(PFTRACE_INSTANT, 0, "packed");
        uint8_t plain[512], packed[512];
        uLongf n = sizeof(packed);

        inner(&m, PFTRACE_TRACK_EVENT, &event);
        put(&m);
        memcpy(plain, file.data, file.used_bytes);
        ck_assert_int_eq(compress(packed, &n, plain, file.used_bytes), Z_OK);
        m = packet_of(1, 5);
        bytes(&m, PFTRACE_COMPRESSED, packed, n);
        put(&m);
        m = packet_of(1, 5);
        bytes(&m, PFTRACE_COMPRESSED, packed, n / 2);
        put(&m);
        ck_assert_int_eq(read_file(), 0);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, 0, "packed"), 2);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "packed packets that are broken"), 2);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* ------------------------------------------------------------------ hostile files */

static void write_some(void)
{
        put_thread(7, 40, 41, "worker");
        put_simple(100, PFTRACE_BEGIN, 7, "span");
        put_simple(200, PFTRACE_END, 7, NULL);
}

/* Every cut gives what was before it, and each spoiled byte ends well. */
START_TEST(test_cut_and_spoiled)
{
        uint8_t copy[512];
        size_t n;

        write_some();
        n = file.used_bytes;
        ck_assert_uint_lt(n, sizeof(copy));
        memcpy(copy, file.data, n);
        byte_buffer_deinit(&file);
        for (size_t i = 0; i < n; i++) {
                int r = read_bytes(copy, i);

                ck_assert(r == 0 || r == -EINVAL);
                ck_assert_uint_eq(rows.n_spans, 0);
                if (r == 0 && i > 40)
                        ck_assert(rows.is_cut || rows.n_instants == 1 || rows.n_instants == 0);
                fake_import_rows_deinit(&rows);
        }
        for (size_t i = 0; i < n; i++)
                for (unsigned bit = 0; bit < 8; bit++) {
                        copy[i] ^= (uint8_t)(1U << bit);
                        (void)read_bytes(copy, n);
                        fake_import_rows_deinit(&rows);
                        copy[i] ^= (uint8_t)(1U << bit);
                }
}
END_TEST

START_TEST(test_is_cut)
{
        write_some();
        put_simple(300, PFTRACE_INSTANT, 7, "the last");
        file.used_bytes -= 3;
        ck_assert_int_eq(read_file(), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert(rows.is_cut);
        fake_import_rows_deinit(&rows);
}
END_TEST

static const struct {
        const char *what, *text;
        size_t n_bytes;
} no_traces[] = {
        { "empty", "", 0 },
        { "text after an empty line", "\n{\"traceEvents\":[]}\n", 20 },
        { "rows", "\n\n\nname,begin,end\n", 18 },
        { "a packet of nothing", "\n\0", 2 },
        { "a length beyond all", "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
        { "a tag of no type", "\n\2\17\0", 4 },
        { "text", "hello", 5 },
};

START_LOOP_TEST(test_is_no_trace, 0, sizeof(no_traces) / sizeof(no_traces[0]))
{
        ck_assert_int_eq(read_bytes(no_traces[_i].text, no_traces[_i].n_bytes), -EINVAL);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* Annotations in each other, deeper than any stack. */
START_TEST(test_deep_annotations)
{
        struct byte_buffer deep = { .data = NULL }, outer = { .data = NULL };
        struct message event = event_of(PFTRACE_INSTANT, 0, "deep");

        for (unsigned i = 0; i < 300; i++) {
                byte_buffer_clear(&outer);
                byte_buffer_add_u8(&outer, PFTRACE_ANNOTATION_ARRAY << 3 | 2);
                byte_buffer_add_varint(&outer, deep.used_bytes);
                byte_buffer_add(&outer, deep.data, deep.used_bytes);
                byte_buffer_clear(&deep);
                byte_buffer_add(&deep, outer.data, outer.used_bytes);
        }
        bytes(&event, PFTRACE_EVENT_ANNOTATION, deep.data, deep.used_bytes);
        put_event(1, &event);
        byte_buffer_deinit(&deep);
        byte_buffer_deinit(&outer);
        ck_assert_int_eq(read_file(), 0);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[0].text), "{\"\":[[[[[[[[null]]]]]]]]}");
        fake_import_rows_deinit(&rows);
}
END_TEST

/* No room on the disk, at each call. */
START_TEST(test_failing_rows)
{
        for (int i = 1; i < 40; i++) {
                struct import_source *source;
                char path[64];
                int fd = memfd_create("trace", MFD_CLOEXEC), r;

                write_some();
                ck_assert_int_eq(write(fd, file.data, file.used_bytes), (ssize_t)file.used_bytes);
                byte_buffer_deinit(&file);
                (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
                fake_import_rows_init(&rows);
                rows.fails_after = i;
                ck_assert_int_eq(import_source_open(&source, path, &err), 0);
                r = import_pftrace_read(source, &rows, &err);
                ck_assert_int_eq(r, rows.n_calls >= i ? -ENOSPC : 0);
                import_source_close(source);
                fake_import_rows_deinit(&rows);
                ck_assert_int_eq(close(fd), 0);
        }
}
END_TEST
