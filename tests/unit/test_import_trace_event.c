/* SPDX-License-Identifier: MIT */
/* import/json/import_trace_event.c: files of other programs as another reader counts them; hostile files */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/json/import_trace_event.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDER   "tests/data/import/trace_event/"
#define N(table) (sizeof(table) / sizeof((table)[0]))

static struct import_rows rows;
static struct error err;

/* Returns what the reader returns, or -EINVAL for what it does not recognise. */
static int read_path(const char *path)
{
        struct import_source *source;
        struct text_view head;
        int r;

        fake_import_rows_init(&rows);
        ck_assert_int_eq(import_source_open(&source, path, &err), 0);
        ck_assert_int_eq(import_source_head(source, &head, &err), 0);
        r = import_trace_event_recognise(head) ? import_trace_event_read(source, &rows, &err) : -EINVAL;
        import_source_close(source);
        return r;
}

static int read_file(const char *name)
{
        char path[256];

        (void)snprintf(path, sizeof(path), FOLDER "%s", name);
        return read_path(path);
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

static int read_text(const char *text)
{
        return read_bytes(text, strlen(text));
}

static uint64_t find_first(void)
{
        uint64_t first = UINT64_MAX;

        for (size_t i = 0; i < rows.n_spans; i++)
                if (rows.spans[i].begin < first)
                        first = rows.spans[i].begin;
        return first;
}

static uint64_t find_last(void)
{
        uint64_t last = 0;

        for (size_t i = 0; i < rows.n_spans; i++)
                if (rows.spans[i].end > last)
                        last = rows.spans[i].end;
        return last;
}

static uint64_t count_keys(const char *kind)
{
        uint64_t n = 0;

        for (size_t i = 0; i < rows.n_spans; i++)
                n += rows.spans[i].key.kind != 0 &&
                     strcmp(fake_import_rows_text(&rows, rows.spans[i].key.kind), kind) == 0;
        return n;
}

/* ------------------------------------------------------------------ files of other programs */

static const struct {
        const char *file;
        uint64_t n_rows, n_spans, total_ns, first_ns, last_ns;
        const char *top;
        uint64_t n_top, top_ns, n_sums, n_open, n_correlations;
        enum import_clock_kind host;
        uint64_t zero_ns; /* of the file, on that clock */
} files[] = {
        { "kineto_cpu_only.json.zst", 2467, 2467, 250549000, 1661203462598738000, 1661203462674280000,
          "ProfilerStep#1009", 1, 75473000, 0, 0, 0, IMPORT_CLOCK_REALTIME, 0 },
        { "kineto_cuda_event_sync.json.zst", 92, 33, 11285000, 1707417525509335000, 1707417525512489000,
          "PyTorch Profiler (0)", 1, 3154000, 0, 0, 21, IMPORT_CLOCK_REALTIME, 0 },
        { "kineto_cuda_simple_add.json.zst", 1348, 838, 306668311000, 1694039968933321000,
          1694040010535675000, "PyTorch Profiler (0)", 1, 41602354000, 0, 0, 470, IMPORT_CLOCK_REALTIME, 0 },
        { "kineto_cupti_counters.json.zst", 4222, 2324, 109939346000, 1679055451545746000,
          1679055463395290000, "[param|pytorch.model.alex_net|0|0|0|warmup|forward]", 2, 13704054000, 0, 0,
          1862, IMPORT_CLOCK_REALTIME, 0 },
        { "kineto_rocm_mi250.json.zst", 220, 113, 52276266, 4203669603018756, 4203669612780634,
          "ProfilerStep#1", 2, 10319659, 0, 0, 37, IMPORT_CLOCK_REALTIME, 1735632360000000000 },
        { "kineto_triton.json.zst", 71, 8, 13693360730, 2413668742269099, 2413682432405905, "ProfilerStep#1",
          1, 13336315805, 0, 0, 3, IMPORT_CLOCK_REALTIME, 1727743122000000000 },
        { "clang_time_trace.json.zst", 4829, 4733, 16700374000, 20000, 2499832000, "ExecuteCompiler", 1,
          2499812000, 94, 0, 0, IMPORT_CLOCK_REALTIME, 1795806615067913000 },
        { "chromium_part.json.zst", 3580, 3159, 548126000, 3167455838000, 3167632226000,
          "ThreadControllerImpl::RunTask", 1585, 270107000, 0, 21, 0, IMPORT_CLOCK_MONOTONIC, 0 },
        { "node_trace.json.zst", 98, 48, 41743000, 3166398448000, 3166426850000, "V8.GCScavenger", 3, 848000,
          0, 0, 0, IMPORT_CLOCK_MONOTONIC, 0 },
        { "ninja_trace.json", 4, 4, 2976000000, 0, 2579000000, "a.o", 1, 2579000000, 0, 0, 0,
          IMPORT_CLOCK_UNKNOWN, 0 },
        { "ninja_trace.json.gz", 4, 4, 2976000000, 0, 2579000000, "a.o", 1, 2579000000, 0, 0, 0,
          IMPORT_CLOCK_UNKNOWN, 0 },
};

START_LOOP_TEST(test_files_of_other_programs, 0, N(files))
{
        ck_assert_int_eq(read_file(files[_i].file), 0);
        ck_assert_str_eq(rows.format, "trace-event");
        ck_assert_uint_eq(rows.n_rows, files[_i].n_rows);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert(!rows.is_cut);
        ck_assert_uint_eq(rows.n_spans, files[_i].n_spans);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), files[_i].total_ns);
        ck_assert_uint_eq(find_first(), files[_i].first_ns);
        ck_assert_uint_eq(find_last(), files[_i].last_ns);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, 0, files[_i].top), files[_i].n_top);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, files[_i].top), files[_i].top_ns);
        ck_assert_uint_eq(rows.n_values, files[_i].n_sums);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "begin without end"), files[_i].n_open);
        ck_assert_uint_eq(count_keys("correlation"), files[_i].n_correlations);
        ck_assert_uint_eq(rows.n_readings, files[_i].host != IMPORT_CLOCK_UNKNOWN);
        if (rows.n_readings) {
                ck_assert_int_eq(rows.readings[0].host, files[_i].host);
                ck_assert_uint_eq(rows.readings[0].host_begin - rows.readings[0].ticks, files[_i].zero_ns);
                ck_assert_uint_eq(rows.readings[0].host_begin, rows.readings[0].host_end);
        }
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_devices_are_no_processes)
{
        uint32_t stream, host;
        const struct import_span *kernel, *call = NULL;

        ck_assert_int_eq(read_file("kineto_cuda_event_sync.json.zst"), 0);
        stream = fake_import_rows_find_track(&rows, "GPU 0/stream 7");
        host = fake_import_rows_find_track(&rows, "python3.10/thread 948300 (python3.10)");
        ck_assert_uint_ne(stream, 0);
        ck_assert_uint_ne(host, 0);
        ck_assert_int_eq(rows.tracks[stream - 1].kind, IMPORT_TRACK_STREAM);
        ck_assert_int_eq(rows.tracks[rows.tracks[stream - 1].parent - 1].kind, IMPORT_TRACK_DEVICE);
        ck_assert_int_eq(rows.tracks[host - 1].kind, IMPORT_TRACK_THREAD);
        ck_assert_uint_ne(fake_import_rows_find_track(&rows, "Spans/PyTorch Profiler"), 0);
        for (uint32_t i = 0; i < rows.n_tracks; i++)
                ck_assert(rows.tracks[i].kind != IMPORT_TRACK_PROCESS || rows.tracks[i].number == 948300);
        /* The flows of the file say nothing that the correlation does not. */
        ck_assert_uint_eq(rows.n_instants, 2);
        /* A kernel and the call that started it have one key. */
        kernel = fake_import_rows_span(&rows, stream, "Memcpy DtoH (Device -> Pageable)", 0);
        ck_assert_ptr_nonnull(kernel);
        for (uint64_t i = 0; !call && i < fake_import_rows_count_spans(&rows, host, NULL); i++) {
                call = fake_import_rows_span(&rows, host, NULL, i);
                if (call->key.kind != kernel->key.kind || call->key.value != kernel->key.value)
                        call = NULL;
        }
        ck_assert_ptr_nonnull(call);
        ck_assert_str_eq(fake_import_rows_text(&rows, call->name), "cudaMemcpyAsync");
        fake_import_rows_deinit(&rows);
}
END_TEST

/* In a container a process may have the number of a device. */
START_TEST(test_a_process_with_the_number_of_a_device)
{
        uint32_t host, stream;

        ck_assert_int_eq(
                read_text(
                        "{\"deviceProperties\":[{\"id\":1}],\"traceEvents\":["
                        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":9},"
                        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":2,\"dur\":1},"
                        "{\"ph\":\"i\",\"name\":\"mark\",\"pid\":1,\"tid\":7,\"ts\":3},"
                        "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"GPU 1\"}}]}"),
                0);
        host = fake_import_rows_find_track(&rows, "GPU 1/thread 7");
        stream = fake_import_rows_find_track(&rows, "GPU 1/stream 7");
        ck_assert(host != 0 && stream != 0);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, host, "op"), 1);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, stream, "k"), 1);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, stream, "mark"), 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* ------------------------------------------------------------------ hostile files, and edges */

static const struct {
        const char *file;
        uint64_t n_spans, total_ns, n_values, n_instants, n_malformed;
        const char *left_out; /* "kind=n kind=n" */
        uint64_t n_tracks;    /* with something on them; 0 = not looked at */
        bool is_cut;
} odd_files[] = {
        { "hostile/array.json", 2, 10000, 0, 0, 0, "", 1, false },
        { "hostile/async.json", 3, 12000, 0, 1, 0, "", 2, false },
        { "hostile/begin_end.json", 2, 4000, 0, 0, 0, "", 1, false },
        { "hostile/bom_crlf.json", 1, 5000, 0, 0, 0, "", 1, false },
        { "hostile/concatenated.json", 2, 2000, 0, 0, 0, "", 1, false },
        { "hostile/counters.json", 0, 0, 4, 0, 0, "", 1, false },
        { "hostile/crossing.json", 3, 21000, 0, 0, 0, "", 1, false },
        { "hostile/cut_array.json", 2, 10000, 0, 0, 0, "", 1, true },
        { "hostile/deep.json", 2, 2000, 0, 0, 0, "arguments beyond 4 KiB=1", 1, false },
        { "hostile/empty_array.json", 0, 0, 0, 0, 0, "", 0, false },
        { "hostile/end_alone.json", 0, 0, 0, 1, 0, "end without begin=1 begin without end=1", 1, false },
        { "hostile/end_first.json", 1, 5000, 0, 0, 0, "", 1, false },
        { "hostile/end_other_name.json", 2, 4000, 0, 0, 0, "end with another name than its begin=2", 1,
          false },
        { "hostile/escapes.json", 2, 2000, 0, 0, 0, "", 1, false },
        { "hostile/events_key_last.json", 1, 1000, 0, 0, 0, "", 1, false },
        { "hostile/exponent.json", 1, 20000, 0, 0, 0, "", 1, false },
        { "hostile/flows.json", 2, 10000, 0, 4, 0, "flow start without end=1 flow end without start=1", 2,
          false },
        { "hostile/huge_ids.json", 2, 2000, 0, 0, 0, "", 2, false },
        { "hostile/invalid_utf8.json", 1, 1000, 0, 0, 0, "", 1, false },
        { "hostile/long_name.json.zst", 1, 1000, 0, 0, 0, "", 1, false },
        { "hostile/metadata.json", 1, 1000, 0, 0, 0, "sort index=1", 1, false },
        { "hostile/metadata_after_events.json", 1, 1000, 0, 0, 0, "", 1, false },
        { "hostile/missing.json", 2, 2000, 0, 0, 6, "", 2, false },
        { "hostile/nan.json", 1, 1000, 0, 0, 3, "", 1, false },
        { "hostile/negative.json", 2, 2000, 0, 0, 1, "", 1, false },
        { "hostile/no_closing.json", 1, 5000, 0, 0, 0, "", 1, false },
        { "hostile/ns_fraction.json", 1, 877, 0, 0, 0, "", 1, false },
        { "hostile/object.json", 1, 5000, 0, 0, 0, "", 1, false },
        { "hostile/same_start.json", 4, 20000, 0, 0, 0, "", 1, false },
        { "hostile/string_ids.json", 2, 2000, 0, 0, 0, "", 2, false },
        { "hostile/string_numbers.json", 1, 5500, 0, 0, 0, "", 1, false },
        { "hostile/twice.json", 1, 1000, 0, 0, 0, "", 1, false },
        { "hostile/unknown_phases.json", 1, 1000, 0, 1, 0, "P=1 O=1 v=1 (=1 Z=1", 1, false },
        { "hostile/unordered.json", 3, 37000, 0, 0, 0, "", 1, false },
        { "edges/bex-interaction.json", 12, 20000, 0, 0, 0, "", 1, false },
        { "edges/end-event-with-empty-stack.json", 1, 1000, 0, 0, 0, "end without begin=1", 1, false },
        { "edges/end-non-top-of-stack.json", 2, 10000, 0, 1, 0,
          "begin without end=1 end with another name than its begin=1", 1, false },
        { "edges/event-reordering-name-match.json", 3, 12000, 0, 0, 0,
          "end with another name than its begin=2", 1, false },
        { "edges/hermes-multiple-frames.json", 4, 30000, 0, 0, 0, "", 1, false },
        { "edges/invalid-x-nesting.json", 2, 20000, 0, 0, 0, "", 1, false },
        { "edges/matching-x.json", 5, 14000, 0, 0, 0, "", 1, false },
        { "edges/mismatched-args.json", 1, 10000, 0, 0, 0, "", 1, false },
        { "edges/mismatched-name.json", 1, 10000, 0, 0, 0, "end with another name than its begin=1", 1,
          false },
        { "edges/multi-thread-with-samples.json", 2, 0, 0, 0, 0, "samples=8", 2, false },
        { "edges/multiprocess.json", 8, 8000, 0, 0, 0, "", 8, false },
        { "edges/must-retain-original-order.json", 7, 15000, 0, 0, 0, "", 1, false },
        { "edges/not-enough-end-events.json", 1, 1000, 0, 2, 0, "begin without end=2", 1, false },
        { "edges/only-begin-events.json", 0, 0, 0, 3, 0, "begin without end=3", 1, false },
        { "edges/out-of-order.json", 3, 24000, 0, 0, 0, "", 1, false },
        { "edges/out-of-order-unbalanced-name.json", 2, 18000, 0, 0, 0,
          "end with another name than its begin=2", 1, false },
        { "edges/simple.json", 3, 31000, 0, 0, 1, "", 1, false },
        { "edges/simple-hermes.json", 2, 26000, 0, 0, 0, "", 1, false },
        { "edges/simple-object.json", 2, 26000, 0, 0, 1, "", 1, false },
        { "edges/simple-partial.json", 3, 31000, 0, 0, 1, "", 1, false },
        { "edges/simple-partial-trailing-comma.json", 3, 31000, 0, 0, 1, "", 1, false },
        { "edges/simple-partial-whitespace.json", 3, 31000, 0, 0, 1, "", 1, false },
        { "edges/simple-with-samples.json", 0, 0, 0, 0, 0, "samples=7", 0, false },
        { "edges/simultaneous-anonymous-calls.json", 6, 15000, 0, 0, 0, "", 1, false },
        { "edges/too-many-end-events.json", 2, 9000, 0, 0, 0,
          "end without begin=2 end with another name than its begin=2", 1, false },
        { "edges/unbalanced-args.json", 2, 18000, 0, 0, 0, "", 1, false },
        { "edges/unbalanced-name.json", 2, 18000, 0, 0, 0, "end with another name than its begin=2", 1,
          false },
        { "edges/x-events-matching-end.json", 9, 32000, 0, 0, 0, "", 1, false },
        { "edges/x-events-matching-start.json", 9, 32000, 0, 0, 0, "", 1, false },
        { "edges/zero-duration-events.json", 4, 10000, 0, 0, 0, "end with another name than its begin=2", 1,
          false },
};

static uint64_t count_used_tracks(void)
{
        uint64_t n = 0;

        for (uint32_t id = 1; id <= rows.n_tracks; id++)
                n += fake_import_rows_count_spans(&rows, id, NULL) +
                             fake_import_rows_count_values(&rows, id, NULL) +
                             fake_import_rows_count_instants(&rows, id, NULL) >
                     0;
        return n;
}

/* All kinds that were left out, and nothing else. */
static void check_left_out(const char *expected)
{
        size_t n_kinds = 0;

        for (const char *at = expected; *at; n_kinds++) {
                const char *equals = strchr(at, '='), *next;
                char kind[64];

                ck_assert_ptr_nonnull(equals);
                (void)snprintf(kind, sizeof(kind), "%.*s", (int)(equals - at), at);
                ck_assert_uint_eq(fake_import_rows_left_out(&rows, kind), (uint64_t)(equals[1] - '0'));
                next = equals + 2;
                at = *next == ' ' ? next + 1 : next;
        }
        ck_assert_uint_eq(rows.n_left_out, n_kinds);
}

START_LOOP_TEST(test_odd_files, 0, N(odd_files))
{
        ck_assert_int_eq(read_file(odd_files[_i].file), 0);
        ck_assert_uint_eq(rows.n_spans, odd_files[_i].n_spans);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), odd_files[_i].total_ns);
        ck_assert_uint_eq(rows.n_values, odd_files[_i].n_values);
        ck_assert_uint_eq(rows.n_instants, odd_files[_i].n_instants);
        ck_assert_uint_eq(rows.n_malformed, odd_files[_i].n_malformed);
        ck_assert_uint_eq(count_used_tracks(), odd_files[_i].n_tracks);
        ck_assert_int_eq(rows.is_cut, odd_files[_i].is_cut);
        check_left_out(odd_files[_i].left_out);
        fake_import_rows_deinit(&rows);
}
END_TEST

static const char *const foreign[] = { "hostile/empty.json", "hostile/html.json", "hostile/not_ours.json",
                                       "README.md", "ninja_log.txt" };

START_LOOP_TEST(test_other_files_are_not_taken, 0, N(foreign))
{
        ck_assert_int_eq(read_file(foreign[_i]), -EINVAL);
        fake_import_rows_deinit(&rows);
}
END_TEST

static const struct {
        const char *head;
        bool is_ours;
} heads[] = {
        { "[", true },
        { "\n[\n", true },
        { "[]", true },
        { "[{\"ph\":\"X\",\"ts\":1", true },
        { "[{\"name\":\"a\",\"ts\":1}]", false },
        { "[1,2,3]", false },
        { "[[1]]", false },
        { "{\"traceEvents\":[", true },
        { "{\"traceEvents\":{}}", false },
        { "{\"a\":{\"traceEvents\":[]}}", false },
        { "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0", true },
        { "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"x\":\"", true },
        { "{\"record_type\":\"schema\"}\n", false },
        { "{\"nodes\":[]}", false },
        { "{}", false },
        { "{", false },
        { "\xef\xbb\xbf", false },
        { "", false },
};

START_LOOP_TEST(test_recognises_by_the_head, 0, N(heads))
{
        struct text_view head = { heads[_i].head, strlen(heads[_i].head) };

        ck_assert_int_eq(import_trace_event_recognise(head), heads[_i].is_ours);
}
END_TEST

/* ------------------------------------------------------------------ what exactly becomes of an event */

#define OURS "\"pid\":1,\"tid\":2"

static const struct {
        const char *text, *line; /* of fake_import_rows_dump() */
} events[] = {
        { "[{\"ph\":\"X\",\"ts\":1712195495519689.123,\"dur\":0.877,\"name\":\"a\"," OURS "}]",
          "span process 1/thread 2 name=\"a\" begin=1712195495519689123 end=1712195495519690000" },
        { "[{\"ph\":\"X\",\"ts\":0.0005,\"dur\":0.0005,\"name\":\"a\"," OURS "}]",
          "span process 1/thread 2 name=\"a\" begin=1 end=2" },
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\",\"loc\":\"x:y.c:14\"," OURS
          ",\"args\":{\"k\": [1]}}]",
          "span process 1/thread 2 name=\"a\" file=\"x:y.c\" line=14 begin=1000 end=2000 text=\"{\\x22k\\x22: [1]}\"" },
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\",\"loc\":\"x.c:\",\"args\":{ }," OURS "}]",
          "span process 1/thread 2 name=\"a\" file=\"x.c:\" begin=1000 end=2000" },
        { "[{\"ph\":\"B\",\"ts\":1,\"name\":\"a\"," OURS "},{\"ph\":\"E\",\"ts\":2," OURS
          ",\"args\":{\"r\":1}}]",
          "span process 1/thread 2 name=\"a\" begin=1000 end=2000 text=\"{\\x22r\\x22:1}\"" },
        { "[{\"ph\":\"b\",\"ts\":1,\"name\":\"a\",\"cat\":\"net\",\"id\":1," OURS
          "},{\"ph\":\"e\",\"ts\":3,\"cat\":\"net\",\"id\":1,\"pid\":1,\"tid\":9}]",
          "span process 1/net name=\"a\" begin=1000 end=3000" },
        { "[{\"ph\":\"S\",\"ts\":1,\"name\":\"a\",\"id\":1," OURS "},{\"ph\":\"F\",\"ts\":3,\"id\":1," OURS
          "}]",
          "span process 1/async name=\"a\" begin=1000 end=3000" },
        { "[{\"ph\":\"b\",\"ts\":1,\"name\":\"a\",\"cat\":\"c\",\"id2\":{\"local\":1},\"pid\":1},"
          "{\"ph\":\"b\",\"ts\":2,\"name\":\"a\",\"cat\":\"c\",\"id2\":{\"local\":1},\"pid\":2},"
          "{\"ph\":\"e\",\"ts\":3,\"cat\":\"c\",\"id2\":{\"local\":1},\"pid\":1},"
          "{\"ph\":\"e\",\"ts\":5,\"cat\":\"c\",\"id2\":{\"local\":1},\"pid\":2}]",
          "span process 1/c name=\"a\" begin=1000 end=3000" },
        { "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":1,\"name\":\"a\"," OURS
          ",\"args\":{\"correlation\":0}}]",
          "span process 1/thread 2 name=\"a\" begin=1000 end=2000 text=\"{\\x22correlation\\x22:0}\"" },
        { "[{\"ph\":\"s\",\"ts\":1,\"name\":\"a\",\"cat\":\"c\",\"id\":1," OURS "},"
          "{\"ph\":\"t\",\"ts\":2,\"name\":\"a\",\"cat\":\"c\",\"id\":1," OURS "}]",
          "left out flow start without end n=1" },
        { "[{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"x\",\"ts\":0},"
          "{\"ph\":\"i\",\"cat\":\"node,node.fs\",\"ts\":1,\"name\":\"a\"," OURS "}]",
          "reading mono clock=\"times of the file\" ticks=1000 begin=1000 end=1000 epoch=0" },
        { "[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"," OURS "}]",
          "instant process 1/thread 2 name=\"a\" time=1000" },
        { "[{\"ph\":\"B\",\"ts\":1,\"name\":\"a\"," OURS "}]",
          "instant process 1/thread 2 name=\"a\" time=1000" },
        { "[{\"ph\":\"s\",\"ts\":1,\"name\":\"a\",\"cat\":\"rpc\",\"id\":7," OURS "}]",
          "instant process 1/thread 2 name=\"a\" time=1000 key=\"flow rpc\" is=7 flow=1" },
        { "[{\"ph\":\"t\",\"ts\":1,\"name\":\"a\",\"id\":7," OURS "}]",
          "instant process 1/thread 2 name=\"a\" time=1000 key=\"flow\" is=7 flow=2" },
        { "[{\"ph\":\"f\",\"ts\":1,\"name\":\"a\",\"cat\":\"flow\",\"id\":7," OURS "}]",
          "instant process 1/thread 2 name=\"a\" time=1000 key=\"flow\" is=7 flow=3" },
        { "[{\"ph\":\"C\",\"ts\":1,\"name\":\"m\",\"args\":{\"used\":9007199254740993}," OURS "}]",
          "value process 1 name=\"m.used\" time=1000 signed=9007199254740993" },
        { "[{\"ph\":\"C\",\"ts\":1,\"name\":\"m\",\"id\":\"7\",\"args\":{\"m\":18446744073709551615}," OURS
          "}]",
          "value process 1 name=\"m[7]\" time=1000 unsigned=18446744073709551615" },
        { "[{\"ph\":\"C\",\"ts\":1,\"name\":\"m\",\"args\":{\"m\":-2}," OURS "}]",
          "value process 1 name=\"m\" time=1000 signed=18446744073709551614" },
        { "[{\"ph\":\"C\",\"ts\":1,\"name\":\"m\",\"args\":{\"m\":2.5}," OURS "}]",
          "value process 1 name=\"m\" time=1000 double=4612811918334230528" },
        { "[{\"ph\":\"X\",\"ts\":0,\"dur\":5,\"name\":\"Total Source\",\"args\":{\"count\":3,\"avg ms\":1}," OURS
          "}]",
          "value process 1 name=\"Total Source\" unit=\"ns\" time=0 unsigned=5000" },
        { "[{\"ph\":\"X\",\"ts\":0,\"dur\":5,\"name\":\"Total Source\",\"args\":{\"count\":3}," OURS "}]",
          "span process 1/thread 2 name=\"Total Source\" begin=0 end=5000 text=\"{\\x22count\\x22:3}\"" },
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\",\"pid\":null}]",
          "span no process name=\"a\" begin=1000 end=2000" },
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\",\"pid\":\"\",\"tid\":\"\"}]",
          "span no process/no thread name=\"a\" begin=1000 end=2000" },
        { "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"early\"}},"
          "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\"," OURS "},"
          "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"l\\u0061te \"}},"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"Renderer\"}},"
          "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"page\"}}]",
          "span Renderer (page)/late name=\"a\" begin=1000 end=2000" },
        { "[{\"ph\":\"X\",\"ts\":-3,\"dur\":5,\"name\":\"a\"," OURS "}]",
          "span process 1/thread 2 name=\"a\" begin=1152921504606843976 end=1152921504606848976" },
};

START_LOOP_TEST(test_events, 0, N(events))
{
        struct byte_buffer dump = { .data = NULL };
        char line[512];

        ck_assert_int_eq(read_text(events[_i].text), 0);
        fake_import_rows_dump(&rows, &dump);
        byte_buffer_add_u8(&dump, 0);
        (void)snprintf(line, sizeof(line), "%s\n", events[_i].line);
        ck_assert_msg(strstr((const char *)dump.data, line) != NULL, "no %sin\n%s", line,
                      (const char *)dump.data);
        ck_assert_uint_eq(rows.n_malformed, 0);
        byte_buffer_deinit(&dump);
        fake_import_rows_deinit(&rows);
}
END_TEST

static const struct {
        const char *row, *why;
} bad_rows[] = {
        { "{\"ph\":\"X\",\"ts\":1,\"name\":\"a\"," OURS "}", "an X event without a duration" },
        { "{\"ph\":\"X\",\"ts\":1,\"dur\":-0.001,\"name\":\"a\"," OURS "}", "a duration below 0" },
        { "{\"ph\":\"X\",\"ts\":1e15,\"dur\":9e15,\"name\":\"a\"," OURS "}", "a time out of range" },
        { "{\"ph\":\"X\",\"ts\":[1],\"dur\":1,\"name\":\"a\"," OURS "}", "an event without a time" },
        { "{\"ph\":\"X\",\"ts\":1e30,\"dur\":1,\"name\":\"a\"," OURS "}", "an event without a time" },
        { "{\"ph\":\"XX\",\"ts\":1,\"dur\":1,\"name\":\"a\"," OURS "}", "an event without a phase" },
        { "{\"ph\":\"b\",\"ts\":1,\"name\":\"a\"," OURS "}", "an event of a chain without an id" },
        { "{\"ph\":\"C\",\"ts\":1,\"name\":\"a\",\"args\":{\"a\":\"x\"}," OURS "}",
          "a counter without a number" },
        { "{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{}}", "a name that is no text" },
        { "{\"ph\":\"X\",\"ts\"}", "no object" },
        { "{\"ph\":\"X\"]", "no JSON" },
        { "\"text\"", "no object" },
        { "}", "no JSON" },
};

/* A bad row ends nothing but itself. */
START_LOOP_TEST(test_bad_rows, 0, N(bad_rows))
{
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "{\"traceEvents\":[\n{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\"},\n%s,\n"
                       "{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"a\"}]}",
                       bad_rows[_i].row);
        ck_assert_int_eq(read_text(text), 0);
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_uint_eq(rows.n_rows, 3);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, 3);
        ck_assert_str_eq(rows.first_malformed_why, bad_rows[_i].why);
        ck_assert(!rows.is_cut);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* A file that is cut anywhere gives the rows before the cut, and says so unless it is between two of them. */
START_TEST(test_cut_everywhere)
{
        static const char text[] =
                "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\\\"]}\"},"
                "{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"b\"}],\"displayTimeUnit\":\"ns\"}";
        size_t n_bytes = strlen(text);

        for (size_t n = strlen("{\"traceEvents\":["); n <= n_bytes; n++) {
                uint64_t n_spans = 0;

                for (size_t i = 0; i < n; i++)
                        n_spans += text[i] == '}' && text[i + 1] != '"' && i + 1 < n_bytes;
                ck_assert_int_eq(read_bytes(text, n), 0);
                ck_assert_uint_eq(rows.n_spans, n_spans);
                ck_assert_uint_eq(rows.n_malformed, 0);
                ck_assert_int_eq(rows.is_cut, n < n_bytes);
                fake_import_rows_deinit(&rows);
        }
}
END_TEST

/* Each call of import_rows in turn fails: that ends the import, with its words. */
START_TEST(test_errors_of_the_trace)
{
        int n_calls;

        ck_assert_int_eq(read_file("hostile/flows.json"), 0);
        n_calls = rows.n_calls;
        fake_import_rows_deinit(&rows);
        ck_assert_int_gt(n_calls, 10);
        for (int i = 1; i <= n_calls; i++) {
                struct import_source *source;

                fake_import_rows_init(&rows);
                rows.fails_after = i;
                ck_assert_int_eq(import_source_open(&source, FOLDER "hostile/flows.json", &err), 0);
                ck_assert_int_eq(import_trace_event_read(source, &rows, &err), -ENOSPC);
                ck_assert_str_eq(err.text, "no space left on device");
                import_source_close(source);
                fake_import_rows_deinit(&rows);
        }
}
END_TEST

/* Begins and ends that come in the wrong order, more of them than are sorted at once. */
START_TEST(test_many_unordered_begins_and_ends)
{
        struct byte_buffer b = { .data = NULL };
        unsigned n = 200000;

        byte_buffer_add_format(&b, "[");
        for (unsigned i = 0; i < n; i++)
                byte_buffer_add_format(&b,
                                       "{\"ph\":\"E\",\"ts\":%u,\"pid\":1,\"tid\":1},"
                                       "{\"ph\":\"B\",\"ts\":%u,\"name\":\"a\",\"pid\":1,\"tid\":1},\n",
                                       10 * i + 7, 10 * i);
        ck_assert(!b.failed);
        ck_assert_int_eq(read_bytes(b.data, b.used_bytes), 0);
        ck_assert_uint_eq(rows.n_spans, n);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, "a"), UINT64_C(7000) * n);
        ck_assert_uint_eq(rows.n_left_out, 0);
        fake_import_rows_deinit(&rows);
        byte_buffer_deinit(&b);
}
END_TEST

/* Asynchronous work with many ids, open at once and closed in another order. */
START_TEST(test_many_open_ids)
{
        struct byte_buffer b = { .data = NULL };
        unsigned n = 5000;

        byte_buffer_add_format(&b, "[");
        for (unsigned i = 0; i < n; i++)
                byte_buffer_add_format(
                        &b, "{\"ph\":\"b\",\"ts\":%u,\"name\":\"a\",\"cat\":\"c\",\"id\":%u,\"pid\":1},\n", i,
                        i);
        for (unsigned i = 0; i < n; i++)
                byte_buffer_add_format(
                        &b, "{\"ph\":\"e\",\"ts\":%u,\"name\":\"a\",\"cat\":\"c\",\"id\":%u,\"pid\":1},\n",
                        n + i, i * 7 % n);
        ck_assert(!b.failed);
        ck_assert_int_eq(read_bytes(b.data, b.used_bytes), 0);
        ck_assert_uint_eq(rows.n_spans, n);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, "a"), UINT64_C(1000) * n * n);
        ck_assert_uint_eq(rows.n_left_out, 0);
        fake_import_rows_deinit(&rows);
        byte_buffer_deinit(&b);
}
END_TEST

/* A row beyond the limit is skipped without being kept, and the next one is read. */
START_TEST(test_a_row_that_is_too_long)
{
        static const char begin[] = "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"",
                          end[] = "\"},\n{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"b\"}]";
        size_t n = IMPORT_LINE_BYTES_MAX + ((size_t)1 << 20);
        struct byte_buffer b = { .data = NULL };
        uint8_t *text;

        byte_buffer_add(&b, begin, strlen(begin));
        text = byte_buffer_reserve(&b, n);
        ck_assert_ptr_nonnull(text);
        memset(text, 'x', n);
        b.used_bytes += n;
        byte_buffer_add(&b, end, strlen(end));
        ck_assert_int_eq(read_bytes(b.data, b.used_bytes), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_str_eq(rows.first_malformed_why, "longer than 64 MiB");
        ck_assert(!rows.is_cut);
        fake_import_rows_deinit(&rows);
        byte_buffer_deinit(&b);
}
END_TEST

static const char own_file[] =
        "{\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"hyprof_clock\",\"args\":{\"clock\":\"CLOCK_MONOTONIC_RAW\","
        "\"start_ns\":\"18000000000000000000\",\"start_realtime_ns\":1700000000000000000}},\n"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"hyprof_device\",\"args\":{\"device\":3,\"name\":\"chip\","
        "\"placed\":\"proven\",\"bound_ns\":312}},\n"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"hyprof_device\",\"args\":{\"device\":4,\"name\":\"other\","
        "\"placed\":\"estimated\",\"bound_ns\":99}},\n"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"hyprof_lane\",\"args\":{\"device\":3,\"lane\":7,"
        "\"kind\":\"CORE\",\"name\":\"core\"}},\n"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"hyprof_unit\",\"args\":{\"name\":\"power\",\"unit\":\"W\"}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"launch\",\"keys\":[{\"key\":5,\"kind\":\"a\"},"
        "{\"key\":6,\"kind\":\"b\"},{\"key\":\"18446744073709551615\",\"kind\":\"a\"}]},\n"
        "{\"ph\":\"C\",\"pid\":0,\"tid\":9,\"ts\":2,\"name\":\"power\",\"id\":\"3/7\",\"args\":{\"power\":0.5},"
        "\"device\":3},\n"
        "{\"ph\":\"i\",\"pid\":0,\"tid\":9,\"ts\":3,\"name\":\"reset\",\"args\":{\"lane\":7,\"key\":5,"
        "\"key_kind\":\"a\",\"text\":\"why\"},\"device\":3},\n"
        "{\"ph\":\"C\",\"pid\":0,\"tid\":9,\"ts\":2,\"name\":\"power\",\"id\":\"3\",\"args\":{\"power\":1},"
        "\"device\":3},\n"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":9,\"ts\":4,\"dur\":1,\"name\":\"work\",\"args\":{\"lane\":0},\"device\":4}]}";

/* Keys of a zone; values and moments of a device on their lanes, units; the clock, and its bound. */
START_TEST(test_our_own_devices)
{
        const struct import_instant *reset;
        const struct import_value *power;
        uint32_t core;

        ck_assert_int_eq(read_text(own_file), 0);
        core = fake_import_rows_find_track(&rows, "chip/core");
        ck_assert_uint_ne(core, 0);
        ck_assert_uint_eq(rows.spans[0].key.value, 5);
        ck_assert_uint_eq(rows.n_further_keys, 2);
        ck_assert_uint_eq(rows.further_keys[0].value, 6);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.further_keys[0].kind), "b");
        ck_assert_uint_eq(rows.further_keys[1].value, UINT64_MAX);
        power = fake_import_rows_value(&rows, core, "power", 0);
        reset = fake_import_rows_instant(&rows, core, "reset", 0);
        ck_assert(power && reset);
        ck_assert_str_eq(fake_import_rows_text(&rows, power->unit), "W");
        ck_assert_uint_eq(power->time, 2000);
        ck_assert_uint_eq(reset->key.value, 5);
        ck_assert_str_eq(fake_import_rows_text(&rows, reset->text), "why");
        ck_assert_uint_eq(rows.n_values, 1);
        ck_assert_uint_eq(rows.n_malformed, 1); /* its id names no lane */
        ck_assert_uint_eq(rows.n_readings, 2);
        ck_assert_uint_eq(rows.readings[0].host_begin, UINT64_C(18000000000000000000));
        ck_assert_int_eq(rows.readings[0].host, IMPORT_CLOCK_RAW);
        ck_assert_int_eq(rows.readings[1].host, IMPORT_CLOCK_REALTIME);
        ck_assert_uint_eq(rows.clocks[rows.tracks[core - 1].clock - 1].of, 1);
        ck_assert_uint_eq(rows.clocks[rows.tracks[core - 1].clock - 1].error_ns, 312);
        ck_assert_uint_eq(rows.clocks[rows.tracks[rows.spans[1].track - 1].clock - 1].error_ns, UINT64_MAX);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "bound of a device's clock"), 1);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* A file has a bounded number of clocks, however many devices say another bound. */
START_TEST(test_many_bounds)
{
        struct byte_buffer b = { .data = NULL };

        byte_buffer_add_format(&b, "[");
        for (unsigned i = 0; i < 3000; i++)
                byte_buffer_add_format(
                        &b,
                        "{\"ph\":\"M\",\"pid\":0,\"name\":\"hyprof_device\",\"args\":{\"device\":%u,"
                        "\"name\":\"d\",\"placed\":\"proven\",\"bound_ns\":%u}},\n",
                        i, i % 1000);
        byte_buffer_add_format(&b, "{}]");
        ck_assert_int_eq(read_bytes(b.data, b.used_bytes), 0);
        ck_assert_uint_eq(rows.n_tracks, 3000);
        ck_assert_uint_lt(rows.n_clocks, 300);
        ck_assert_uint_eq(rows.clocks[rows.tracks[2999].clock - 1].error_ns, UINT64_MAX);
        fake_import_rows_deinit(&rows);
        byte_buffer_deinit(&b);
}
END_TEST
