/* SPDX-License-Identifier: MIT */
/* IREE's profiles: real ones equal what IREE says of them, both forms are alike, hostile ones are read. */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/iree/import_ireeprof.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/iree_profile.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DATA "tests/data/import/iree/"

static struct import_rows rows;
static struct error err;

static void setup(void)
{
        fake_import_rows_init(&rows);
        err = ERROR_NONE;
}

static void teardown(void)
{
        fake_import_rows_deinit(&rows);
}

UNIT_TEST_PLAN(.timeout_s = 240, .setup = setup, .teardown = teardown);

static int read_path(const char *path, struct import_rows *into)
{
        return iree_profile_read_path(path, into, &err);
}

static int read_bytes(const void *bytes, size_t n_bytes, struct import_rows *into)
{
        return iree_profile_read_bytes(bytes, n_bytes, into, &err);
}

static void read_profile(struct iree_profile *profile)
{
        ck_assert_msg(read_bytes(profile->bytes.data, profile->bytes.used_bytes, &rows) == 0, "%s", err.text);
        iree_profile_deinit(profile);
}

/* ------------------------------------------------------------------ real files */

#define EXECUTION "device 0 on the host/queue 0 execution"

/* From IREE's own summary and statistics of each. */
static const struct {
        const char *path, *function;
        uint64_t n_rows, all_ns, dispatch_ns, n_regions, region_ns, ready_ns;
} LOCAL[] = {
        { DATA "local_sync_matmul.ireeprof", "main_dispatch_0_matmul_64x64x64_f32", 38, 26773392, 13371834, 0,
          0, 0 },
        { DATA "local_task_softmax.ireeprof", "main_dispatch_1_softmax_64x64xf32", 47, 38476657, 15604888, 0,
          0, 0 },
        { DATA "local_task_regions.ireeprof", "modela_dispatch_2_elementwise_4096_f32", 67, 111214875,
          55288299, 20, 55948049, 10905 },
};

START_LOOP_TEST(test_a_host_s_work_adds_up, 0, sizeof(LOCAL) / sizeof(LOCAL[0]))
{
        uint32_t track, regions, submissions;

        ck_assert_int_eq(read_path(LOCAL[_i].path, &rows), 0);
        track = fake_import_rows_find_track(&rows, EXECUTION);
        regions = fake_import_rows_find_track(&rows, "device 0 on the host/queue 0 regions");
        submissions = fake_import_rows_find_track(&rows, "IREE/device 0 queue 0 submissions");
        ck_assert_str_eq(rows.format, "ireeprof");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.version), "1.6");
        ck_assert_uint_eq(rows.n_rows, LOCAL[_i].n_rows);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(rows.n_left_out, 0);
        ck_assert(!rows.is_cut);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, track, LOCAL[_i].function), 20);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, track, "execute"), 5);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, track, NULL), LOCAL[_i].all_ns);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, track, LOCAL[_i].function),
                          LOCAL[_i].dispatch_ns);
        ck_assert_uint_eq(regions != 0, LOCAL[_i].n_regions != 0);
        if (regions) {
                ck_assert_uint_eq(fake_import_rows_count_spans(&rows, regions, "command region"),
                                  LOCAL[_i].n_regions);
                ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, regions, NULL), LOCAL[_i].region_ns);
                ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, submissions, NULL), LOCAL[_i].ready_ns);
        }
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, submissions, "execute"), 5);
        ck_assert_uint_eq(rows.tracks[track - 1].clock, 1);
        ck_assert_int_eq(rows.clocks[0].kind, IMPORT_CLOCK_MONOTONIC);
}
END_TEST

START_TEST(test_workers_sum_of_tiles_and_what_encloses_what)
{
        uint64_t sum = 0, n_inside = 0;
        uint32_t track;

        ck_assert_int_eq(read_path(DATA "local_task_softmax.ireeprof", &rows), 0);
        track = fake_import_rows_find_track(&rows, EXECUTION);
        for (size_t i = 0; i < rows.n_values; i++) {
                ck_assert_uint_eq(rows.values[i].track, track);
                ck_assert_str_eq(fake_import_rows_text(&rows, rows.values[i].name), "tile time");
                sum += rows.values[i].bits;
        }
        ck_assert_uint_eq(rows.n_values, 20);
        ck_assert_uint_eq(sum, 20756678);
        for (uint64_t i = 0; i < 20; i++) {
                const struct import_span *inner = fake_import_rows_span(
                        &rows, track, "main_dispatch_1_softmax_64x64xf32", i);

                for (uint64_t j = 0; j < 5; j++) {
                        const struct import_span *outer = fake_import_rows_span(&rows, track, "execute", j);

                        n_inside += outer->begin <= inner->begin && inner->end <= outer->end &&
                                    outer->key.kind == inner->key.kind &&
                                    outer->key.value == inner->key.value;
                }
        }
        ck_assert_uint_eq(n_inside, 20);
}
END_TEST

static const struct {
        const char *track, *name;
        uint64_t n, ticks;
} DISPATCHES[] = {
        { "device 0", "main_dispatch_1_softmax_64x64xf32", 50, 1071438 },
        { "device 0", "odd \"name\"\twith \\ and \xc3\xbc", 46, 933967 },
        { "device 0", "main_dispatch_0_matmul_64x64x64_f32", 54, 1216997 },
        { "device 1", "odd \"name\"\twith \\ and \xc3\xbc", 57, 1157389 },
        { "device 1", "main_dispatch_0_matmul_64x64x64_f32", 42, 915923 },
        { "device 1", "main_dispatch_1_softmax_64x64xf32", 50, 1015847 },
};

static void count_dispatches(const char *device, const char *name, uint64_t *n, uint64_t *ticks)
{
        char path[80];

        *n = *ticks = 0;
        for (int queue = 0; queue < 2; queue++) {
                uint32_t track;

                (void)snprintf(path, sizeof(path), "%s/queue %d", device, queue);
                track = fake_import_rows_find_track(&rows, path);
                ck_assert_uint_ne(track, 0);
                *n += fake_import_rows_count_spans(&rows, track, name);
                *ticks += fake_import_rows_sum_spans(&rows, track, name);
        }
}

START_TEST(test_a_device_s_work_adds_up)
{
        uint32_t track, submissions;
        const struct import_span *first, *last, *submission;
        uint64_t n, ticks;

        ck_assert_int_eq(read_path(DATA "gpu.ireeprof.zst", &rows), 0);
        for (size_t i = 0; i < sizeof(DISPATCHES) / sizeof(DISPATCHES[0]); i++) {
                count_dispatches(DISPATCHES[i].track, DISPATCHES[i].name, &n, &ticks);
                ck_assert_uint_eq(n, DISPATCHES[i].n);
                ck_assert_uint_eq(ticks, DISPATCHES[i].ticks);
        }
        count_dispatches("device 0", NULL, &n, &ticks);
        ck_assert_uint_eq(n, 150);
        ck_assert_uint_eq(ticks, 3222402);
        count_dispatches("device 1", NULL, &n, &ticks);
        ck_assert_uint_eq(n, 149);
        ck_assert_uint_eq(ticks, 3089159);
        ck_assert_uint_eq(rows.n_rows, 1244);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_str_eq(rows.first_malformed_why, "an end before its beginning");
        ck_assert_uint_eq(rows.n_dropped, 42);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "chunks that the program says are truncated"), 1);
        ck_assert_uint_eq(rows.n_left_out, 1);

        track = fake_import_rows_find_track(&rows, "device 0/queue 0");
        submissions = fake_import_rows_find_track(&rows, "IREE/device 0 queue 0 submissions");
        first = fake_import_rows_span(&rows, track, NULL, 0);
        last = fake_import_rows_span(&rows, track, NULL, 74);
        submission = fake_import_rows_span(&rows, submissions, NULL, 0);
        ck_assert_uint_eq(first->begin, 72057594038128060);
        ck_assert_uint_eq(first->end, 72057594038146506);
        ck_assert_ptr_null(fake_import_rows_span(&rows, track, NULL, 75));
        ck_assert_uint_eq(last->key.value, 297);
        ck_assert_uint_eq(submission->begin, 2868171688113);
        ck_assert_uint_eq(submission->end, 2868171689013);
        ck_assert_uint_eq(submission->key.kind, first->key.kind);
        ck_assert_uint_eq(submission->key.value, first->key.value);
        ck_assert_str_eq(fake_import_rows_text(&rows, first->text),
                         "{\"workgroup_count\":[64,1,1],\"workgroup_size\":[64,1,1]}");
        /* of another queue, with another meaning of the same numbers */
        ck_assert_uint_ne(
                first->key.kind,
                fake_import_rows_span(&rows, fake_import_rows_find_track(&rows, "device 1/queue 0"), NULL, 0)
                        ->key.kind);
        ck_assert_int_eq(rows.clocks[rows.tracks[track - 1].clock - 1].kind, IMPORT_CLOCK_OWN);
        ck_assert_int_eq(rows.clocks[rows.tracks[submissions - 1].clock - 1].kind, IMPORT_CLOCK_MONOTONIC);
}
END_TEST

START_TEST(test_counters_have_the_times_of_their_dispatches)
{
        uint32_t track;

        ck_assert_int_eq(read_path(DATA "gpu.ireeprof.zst", &rows), 0);
        track = fake_import_rows_find_track(&rows, "device 0/queue 0");
        ck_assert_uint_eq(rows.n_values, 6);
        for (uint64_t i = 0; i < 3; i++) {
                const struct import_value *waves = fake_import_rows_value(&rows, track, "SQ_WAVES[0]", i);
                const struct import_value *second = fake_import_rows_value(&rows, track, "SQ_WAVES[1]", i);

                ck_assert_uint_eq(waves->bits, 64 * (4 * i + 1));
                ck_assert_uint_eq(second->bits, UINT64_C(0x8000000000000001) + 4 * i);
                ck_assert_uint_eq(waves->time, fake_import_rows_span(&rows, track, NULL, i)->end);
                ck_assert_uint_eq(second->time, waves->time);
        }
}
END_TEST

/* 300 dispatches were recorded; IREE's reader refuses the whole file. */
START_TEST(test_a_cut_file_is_read_to_its_cut)
{
        uint64_t n, ticks, n_all = 0, ticks_all = 0;

        ck_assert_int_eq(read_path(DATA "gpu_cut.ireeprof.zst", &rows), 0);
        count_dispatches("device 0", NULL, &n_all, &ticks_all);
        count_dispatches("device 1", NULL, &n, &ticks);
        ck_assert(rows.is_cut);
        ck_assert_uint_eq(rows.cut_at, 100000);
        ck_assert_uint_eq(n_all + n, 224);
        ck_assert_uint_eq(rows.n_malformed, 1); /* the 225th ends before it begins */
        ck_assert_uint_eq(ticks_all + ticks, 4701757);
}
END_TEST

START_LOOP_TEST(test_a_header_alone_says_that_nothing_was_recorded, 0, 2)
{
        static const char *const paths[] = { DATA "header_only.ireeprof", DATA "header_only.jsonl" };

        ck_assert_int_eq(read_path(paths[_i], &rows), -ENODATA);
        ck_assert_ptr_nonnull(strstr(err.text, "nothing was recorded"));
        ck_assert_uint_eq(rows.n_tracks, 0);
}
END_TEST

static const char *const BOTH[][2] = {
        { DATA "gpu.ireeprof.zst", DATA "gpu.jsonl.zst" },
        { DATA "local_sync_matmul.ireeprof", DATA "local_sync_matmul.jsonl.zst" },
        { DATA "local_task_softmax.ireeprof", DATA "local_task_softmax.jsonl.zst" },
        { DATA "local_task_regions.ireeprof", DATA "local_task_regions.jsonl.zst" },
        { DATA "one_of_each_record.ireeprof", DATA "one_of_each_record.jsonl" },
};

START_LOOP_TEST(test_both_forms_give_the_same_rows, 0, sizeof(BOTH) / sizeof(BOTH[0]))
{
        struct byte_buffer binary = { .data = NULL }, lines = { .data = NULL };
        struct import_rows other;

        fake_import_rows_init(&other);
        ck_assert_int_eq(read_path(BOTH[_i][0], &rows), 0);
        ck_assert_int_eq(read_path(BOTH[_i][1], &other), 0);
        ck_assert_str_eq(other.format, "ireeperf-jsonl");
        ck_assert_str_eq(fake_import_rows_text(&other, other.version), "15 of 1.6");
        ck_assert_uint_eq(rows.n_rows, other.n_rows);
        fake_import_rows_dump(&rows, &binary);
        fake_import_rows_dump(&other, &lines);
        byte_buffer_add_u8(&binary, '\0');
        byte_buffer_add_u8(&lines, '\0');
        ck_assert_str_eq((const char *)binary.data, (const char *)lines.data);
        ck_assert_uint_gt(rows.n_spans, 0);
        byte_buffer_deinit(&binary);
        byte_buffer_deinit(&lines);
        fake_import_rows_deinit(&other);
}
END_TEST

/* ------------------------------------------------------------------ made files: names and clocks */

START_TEST(test_names_may_come_after_what_they_name)
{
        struct iree_profile p;
        uint32_t track;

        iree_profile_begin(&p);
        iree_profile_dispatch(
                &p, 0, 0,
                &(struct iree_profile_dispatch){
                        .submission = 1, .executable = 7, .function = 2, .begin = 10, .end = 20 });
        iree_profile_dispatch(
                &p, 0, 0,
                &(struct iree_profile_dispatch){
                        .submission = 2, .executable = 7, .function = 3, .begin = 30, .end = 45 });
        iree_profile_dispatch(&p, 0, 0,
                              &(struct iree_profile_dispatch){
                                      .submission = 3, .function = UINT32_MAX, .begin = 50, .end = 51 });
        iree_profile_function(&p, 7, 2, "late", 4);
        iree_profile_end(&p, 0);
        read_profile(&p);
        track = fake_import_rows_find_track(&rows, "device 0/queue 0");
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, track, "late"), 10);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, track, "executable 7 function 3"), 15);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, track, "dispatch"), 1);
        ck_assert(!rows.is_cut);
}
END_TEST

START_TEST(test_ids_of_another_session_are_others)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        for (int session = 0; session < 2; session++) {
                if (session == 1)
                        iree_profile_record(&p, 1, "session", NULL, 0);
                iree_profile_function(&p, 7, 2, session ? "second" : "first", session ? 6 : 5);
                iree_profile_dispatch(
                        &p, 0, 0,
                        &(struct iree_profile_dispatch){
                                .submission = 1, .executable = 7, .function = 2, .begin = 10, .end = 20 });
                if (session == 0)
                        iree_profile_record(&p, 3, "session", NULL, 0);
        }
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[0].name), "first");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[1].name), "second");
        ck_assert_uint_eq(rows.spans[0].track, rows.spans[1].track);
        ck_assert_uint_ne(rows.spans[0].key.kind, rows.spans[1].key.kind);
}
END_TEST

START_TEST(test_names_are_bytes_of_any_kind)
{
        static const char name[] = "a\0b\x1b[31m\xff";
        struct iree_profile p;
        size_t n_bytes;
        const char *bytes;

        iree_profile_begin(&p);
        iree_profile_function(&p, 7, 2, name, sizeof(name) - 1);
        iree_profile_dispatch(
                &p, 0, 0,
                &(struct iree_profile_dispatch){ .executable = 7, .function = 2, .begin = 10, .end = 20 });
        iree_profile_end(&p, 0);
        read_profile(&p);
        bytes = intern_get(&rows.strings, rows.spans[0].name, &n_bytes);
        ck_assert_uint_eq(n_bytes, sizeof(name) - 1);
        ck_assert_mem_eq(bytes, name, n_bytes);
        ck_assert_uint_eq(rows.spans[0].key.kind, 0); /* submission 0: none */
}
END_TEST

/* Each reading by flags; the bracket is 1000 to 1100, the tick 5. */
static const struct {
        uint32_t flags;
        uint64_t cpu;
        size_t n; /* readings of any clock */
        enum import_clock_kind host;
        uint64_t begin, end;
} READINGS[] = {
        { 1 | 8, 0, 1, IMPORT_CLOCK_MONOTONIC, 1000, 1100 },
        { 1 | 2, 500, 1, IMPORT_CLOCK_RAW, 500, 500 },
        { 1 | 2 | 8, 500, 3, IMPORT_CLOCK_RAW, 400, 600 },
        { 1 | 2 | 8, 1050, 1, IMPORT_CLOCK_MONOTONIC, 1000, 1100 }, /* Vulkan's CPU time */
        { 1 | 4, 0, 0, 0, 0, 0 },
        { 8, 0, 0, 0, 0, 0 },
        { 1 | 8 | 16, 0, 0, 0, 0, 0 },
        { 0, 0, 0, 0, 0, 0 },
};

START_LOOP_TEST(test_a_reading_is_taken_by_its_flags, 0, sizeof(READINGS) / sizeof(READINGS[0]))
{
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_clock(&p, 0, READINGS[_i].flags, 5, READINGS[_i].cpu, 1000, 1100);
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.n_readings, READINGS[_i].n);
        ck_assert_uint_eq(rows.n_left_out, READINGS[_i].n == 0);
        if (READINGS[_i].n == 0)
                return;
        ck_assert_int_eq(rows.readings[0].host, READINGS[_i].host);
        ck_assert_uint_eq(rows.readings[0].host_begin, READINGS[_i].begin);
        ck_assert_uint_eq(rows.readings[0].host_end, READINGS[_i].end);
        ck_assert_uint_eq(rows.readings[0].ticks, 5);
        ck_assert_int_eq(rows.clocks[rows.readings[0].clock - 1].kind, IMPORT_CLOCK_OWN);
        if (READINGS[_i].n < 3)
                return;
        ck_assert_int_eq(rows.readings[1].host, IMPORT_CLOCK_MONOTONIC);
        ck_assert_uint_eq(rows.readings[1].host_begin, 1000);
        ck_assert_uint_eq(rows.readings[1].host_end, 1100);
        ck_assert_int_eq(rows.clocks[rows.readings[2].clock - 1].kind, IMPORT_CLOCK_MONOTONIC);
        ck_assert_uint_eq(rows.readings[2].ticks, 1000);
        ck_assert_uint_eq(rows.readings[2].host_begin, 400);
        ck_assert_uint_eq(rows.readings[2].host_end, 500);
}
END_TEST

START_TEST(test_one_unaligned_reading_spoils_those_of_its_device)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_clock(&p, 0, 1 | 8, 5, 0, 1000, 1100);
        iree_profile_clock(&p, 1, 1 | 8, 5, 0, 1000, 1100);
        iree_profile_clock(&p, 0, 1 | 8 | 16, 6, 0, 2000, 2100);
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_readings, 1);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.clocks[rows.readings[0].clock - 1].name),
                         "device 1");
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(fake_import_rows_left_out(
                                  &rows, "clock readings of a device whose clock is not that of its events"),
                          2);
}
END_TEST

START_TEST(test_a_counter_that_was_set_back_begins_an_epoch)
{
        static const struct {
                uint64_t ticks, host;
                uint32_t epoch;
        } readings[] = {
                { 100, 1000, 0 }, { 300, 3000, 0 }, { 200, 2000, 0 }, { 50, 4000, 1 }, { 60, 5000, 1 }
        };
        struct iree_profile p;

        iree_profile_begin(&p);
        for (size_t i = 0; i < 5; i++)
                iree_profile_clock(&p, 0, 1 | 8, readings[i].ticks, 0, readings[i].host,
                                   readings[i].host + 1);
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_readings, 5);
        for (size_t i = 0; i < 5; i++)
                ck_assert_uint_eq(rows.readings[i].epoch, readings[i].epoch);
}
END_TEST

/* import_rows takes two tracks with one parent and number, or without number and one name, for one. */
static void require_apart(const struct import_rows *in)
{
        for (size_t i = 0; i < in->n_tracks; i++)
                for (size_t j = 0; j < i; j++) {
                        const struct fake_import_track *a = &in->tracks[i], *b = &in->tracks[j];

                        if (a->kind != b->kind || a->parent != b->parent || a->has_number != b->has_number)
                                continue;
                        ck_assert(a->has_number ? a->number != b->number : a->name != b->name);
                }
}

START_LOOP_TEST(test_tracks_are_told_apart, 0, sizeof(BOTH) / sizeof(BOTH[0]))
{
        ck_assert_int_eq(read_path(BOTH[_i][0], &rows), 0);
        ck_assert_uint_gt(rows.n_tracks, 2);
        require_apart(&rows);
}
END_TEST

START_TEST(test_streams_of_one_queue_have_tracks_of_their_own)
{
        static const struct iree_profile_dispatch dispatch = { .submission = 1, .begin = 10, .end = 20 };
        struct iree_profile p;

        iree_profile_begin(&p);
        for (p.stream = 4; p.stream < 7; p.stream++)
                iree_profile_dispatch(&p, 0, 0, &dispatch);
        iree_profile_end(&p, 0);
        read_profile(&p);
        require_apart(&rows);
        ck_assert_uint_eq(rows.n_tracks, 4);
        ck_assert_uint_eq(rows.spans[1].track,
                          fake_import_rows_find_track(&rows, "device 0/queue 0 stream 5"));
        ck_assert_uint_ne(rows.spans[0].key.kind, rows.spans[1].key.kind);
}
END_TEST

/* ------------------------------------------------------------------ made files: memory, losses, growth */

START_TEST(test_memory_is_balanced_by_lives)
{
        static const struct {
                uint32_t type;
                uint64_t id, n_bytes, live; /* UINT64_MAX: no value */
        } events[] = {
                /* the third says no length, which is known */
                { 9, 1, 100, 100 },       { 9, 2, 50, 150 },   { 10, 1, 0, 50 },
                { 10, 1, 0, UINT64_MAX }, { 9, 1, 70, 120 },   { 9, 1, 30, 80 },
                { 10, 2, 9999, 30 },      { 11, 1, 500, 500 }, { 10, 1, 30, 0 },
        };
        struct iree_profile p;
        size_t n = 0;

        iree_profile_begin(&p);
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
                iree_profile_memory(&p, events[i].type, 100 + i, events[i].id, events[i].n_bytes);
        iree_profile_memory(&p, 6, 500, 3, 10);
        iree_profile_end(&p, 0);
        read_profile(&p);
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
                if (events[i].live == UINT64_MAX)
                        continue;
                ck_assert_uint_eq(rows.values[n].bits, events[i].live);
                ck_assert_uint_eq(rows.values[n].time, 100 + i);
                ck_assert_str_eq(fake_import_rows_text(&rows, rows.values[n].name),
                                 events[i].type == 11 ? "live imported buffers" : "live buffers");
                n++;
        }
        ck_assert_uint_eq(rows.n_values, n);
        ck_assert_uint_eq(
                fake_import_rows_left_out(&rows, "memory_event: ends of allocations that did not begin"), 1);
        ck_assert_uint_eq(rows.n_instants, 1);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[0].name), "pool_wait");
}
END_TEST

START_TEST(test_what_is_lost_or_not_known_is_counted)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_record(&p, 2, "quantum-events", "12345678", 8);
        iree_profile_record(&p, 2, "quantum-events", NULL, 0);
        iree_profile_record(&p, 2, "bad\nname", NULL, 0);
        iree_profile_record(&p, 9, "session", "12345678", 8);
        iree_profile_lossy(&p, 11);
        iree_profile_trace(&p, 3000);
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_end(&p, 13);
        read_profile(&p);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "quantum-events"), 2);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "bad?name"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "records of an unknown type"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "chunks that the program says are truncated"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "executable_trace"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "session ended: INTERNAL"), 1);
        ck_assert_uint_eq(rows.n_dropped, 11);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.n_malformed, 0);
}
END_TEST

START_TEST(test_records_of_a_newer_iree_may_be_longer)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        p.n_more_bytes = 24;
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 30, .end = 50 });
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), 30);
        ck_assert_uint_eq(rows.n_malformed, 0);
}
END_TEST

START_TEST(test_ordinals_may_be_absent)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_dispatch(&p, UINT32_MAX, UINT32_MAX,
                              &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_ne(fake_import_rows_find_track(&rows, "device/no queue"), 0);
        ck_assert(!rows.tracks[0].has_number);
}
END_TEST

/* Bytes after the end that the header states are those of an older file. */
START_TEST(test_the_file_ends_where_its_header_says)
{
        struct iree_profile p;
        size_t end;

        iree_profile_begin(&p);
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_end(&p, 0);
        end = p.bytes.used_bytes;
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        iree_profile_set_length(&p, end);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert(!rows.is_cut);
        ck_assert_uint_eq(rows.n_malformed, 0);
}
END_TEST

START_TEST(test_a_session_without_an_end_is_cut)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 10, .end = 20 });
        read_profile(&p);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert(rows.is_cut);
}
END_TEST

/* The device never wrote a time; an end before the beginning; a good one. */
START_TEST(test_impossible_times_are_malformed)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 0, .end = 20 });
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 21, .end = 20 });
        iree_profile_dispatch(&p, 0, 0, &(struct iree_profile_dispatch){ .begin = 20, .end = 20 });
        iree_profile_memory(&p, 9, (uint64_t)-5, 1, 1);
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.n_values, 0);
        ck_assert_uint_eq(rows.n_malformed, 3);
        ck_assert_str_eq(rows.first_malformed_why, "the device wrote no time");
}
END_TEST

/* Many lives that end in another order than they began: none is forgotten, none counted twice. */
START_TEST(test_a_thousand_allocations_balance)
{
        struct iree_profile p;
        uint64_t live = 0;

        iree_profile_begin(&p);
        for (uint64_t i = 0; i < 1000; i++)
                iree_profile_memory(&p, 9, 100 + i, i * 64, i + 1);
        for (uint64_t i = 0; i < 1000; i++)
                iree_profile_memory(&p, 10, 2000 + i, i * 7 % 1000 * 64, 0);
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_left_out, 0);
        ck_assert_uint_eq(rows.n_values, 2000);
        for (size_t i = 0; i < 2000; i++) {
                live = i < 1000 ? live + i + 1 : live - (i * 7 % 1000 + 1);
                ck_assert_uint_eq(rows.values[i].bits, live);
        }
        ck_assert_uint_eq(live, 0);
}
END_TEST

START_TEST(test_queues_in_turn_keep_their_tracks)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        for (uint32_t i = 0; i < 9; i++)
                iree_profile_dispatch(&p, 0, i % 3,
                                      &(struct iree_profile_dispatch){ .begin = i + 1, .end = i + 2 });
        iree_profile_end(&p, 0);
        read_profile(&p);
        ck_assert_uint_eq(rows.n_tracks, 4);
        for (size_t i = 0; i < 9; i++)
                ck_assert_uint_eq(rows.tracks[rows.spans[i].track - 1].number, i % 3);
}
END_TEST
