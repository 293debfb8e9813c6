/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/perf_map.c: every line that makes sense comes out once, however it is cut; others are counted
 */
#include "sampler/jit/perf_map.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wanted {
        const char *line;
        int code;
        uint64_t start_avma, length_bytes;
        const char *name;
};

static const struct wanted wanted[] = {
        { "1000 20 foo", 0, 0x1000, 0x20, "foo" },
        { "0x1000 0X20 foo", 0, 0x1000, 0x20, "foo" },
        { "7fFFa0 a LazyCompile:*main /a b.js:1:2", 0, 0x7fffa0, 0xa, "LazyCompile:*main /a b.js:1:2" },
        { "1000\t20\tfoo\r", 0, 0x1000, 0x20, "foo" },
        { "1000  20   foo  ", 0, 0x1000, 0x20, "foo" },
        { "1000 0 stub", -EBADMSG, 0, 0, NULL }, /* of nothing */
        { "0 1 0", 0, 0, 1, "0" },
        { "000000000000000000001000 1 a", 0, 0x1000, 1, "a" },
        { "fffffffffffffffe 1 last", 0, UINT64_MAX - 1, 1, "last" },
        { "ffffffffffffffff 1 beyond", -EBADMSG, 0, 0, NULL },
        { "10000000000000000 1 long", -EBADMSG, 0, 0, NULL },
        { "1000 20", -EBADMSG, 0, 0, NULL },
        { "1000 20 ", -EBADMSG, 0, 0, NULL },
        { "1000 20 \r", -EBADMSG, 0, 0, NULL },
        { "1000 x foo", -EBADMSG, 0, 0, NULL },
        { "0x 20 foo", -EBADMSG, 0, 0, NULL },
        { "1000 0x foo", -EBADMSG, 0, 0, NULL },
        { " 1000 20 foo", -EBADMSG, 0, 0, NULL },
        { "-1000 20 foo", -EBADMSG, 0, 0, NULL },
        { "foo", -EBADMSG, 0, 0, NULL },
        { "", -EBADMSG, 0, 0, NULL },
};
#define N_WANTED ((int)(sizeof(wanted) / sizeof(wanted[0])))

/* loop test */
START_LOOP_TEST(test_line, 0, N_WANTED)
{
        const struct wanted *w = &wanted[_i];
        struct perf_map_line line;

        ck_assert_int_eq(perf_map_parse(w->line, strlen(w->line), &line), w->code);
        if (w->code < 0)
                return;
        ck_assert_uint_eq(line.start_avma, w->start_avma);
        ck_assert_uint_eq(line.length_bytes, w->length_bytes);
        ck_assert_uint_eq(line.name_bytes, strlen(w->name));
        ck_assert_mem_eq(line.name, w->name, line.name_bytes);
}
END_TEST

/* No end of a line is read beyond it. */
START_TEST(test_cut_line)
{
        static const char text[] = "0x1000 0x20 foo bar";

        for (size_t n = 0; n < sizeof(text); n++) {
                char *copy = malloc(n + 1);
                struct perf_map_line line;

                ck_assert_ptr_nonnull(copy);
                memcpy(copy, text, n);
                ck_assert_int_eq(perf_map_parse(copy, n, &line), n > 12 ? 0 : -EBADMSG);
                free(copy);
        }
}
END_TEST

static const char file[] = "1000 10 one\n"
                           "garbage\n"
                           "\n"
                           "2000 20 two words\n"
                           "3000 30\n"
                           "4000 40 four\n"
                           "5000 50 half";

static void take_all(struct perf_map *m, unsigned *n_lines)
{
        static const char *const names[] = { "one", "two words", "four" };
        struct perf_map_line line;

        while (perf_map_next(m, &line) == 1) {
                ck_assert_uint_lt(*n_lines, 3);
                ck_assert_uint_eq(line.name_bytes, strlen(names[*n_lines]));
                ck_assert_mem_eq(line.name, names[*n_lines], line.name_bytes);
                ++*n_lines;
        }
}

START_TEST(test_pieces)
{
        for (size_t step = 1; step <= sizeof(file); step++) {
                struct perf_map m = { .at_bytes = 0 };
                unsigned n_lines = 0;

                for (size_t at = 0; at < sizeof(file) - 1; at += step) {
                        size_t n = sizeof(file) - 1 - at < step ? sizeof(file) - 1 - at : step;

                        ck_assert_int_eq(perf_map_add(&m, file + at, n), 0);
                        take_all(&m, &n_lines);
                }
                ck_assert_uint_eq(n_lines, 3);
                ck_assert_uint_eq(m.n_garbage, 2);
                perf_map_deinit(&m);
        }
}
END_TEST

START_TEST(test_restart)
{
        struct perf_map m = { .at_bytes = 0 };
        struct perf_map_line line;

        ck_assert_int_eq(perf_map_add(&m, "1000 10 one\n2000 20 tw", 22), 0);
        ck_assert_int_eq(perf_map_next(&m, &line), 1);
        ck_assert_int_eq(perf_map_next(&m, &line), 0);
        perf_map_restart(&m);
        ck_assert_int_eq(perf_map_add(&m, "3000 30 three\n", 14), 0);
        ck_assert_int_eq(perf_map_next(&m, &line), 1);
        ck_assert_uint_eq(line.start_avma, 0x3000);
        ck_assert_uint_eq(m.n_garbage, 0);
        perf_map_deinit(&m);
}
END_TEST

/* One that never ends takes no memory, and what comes after it is read. */
START_TEST(test_long_line)
{
        struct perf_map m = { .at_bytes = 0 };
        struct perf_map_line line;
        char zeros[4096];

        memset(zeros, 0, sizeof(zeros));
        for (int i = 0; i < 1000; i++) {
                ck_assert_int_eq(perf_map_add(&m, zeros, sizeof(zeros)), 0);
                ck_assert_int_eq(perf_map_next(&m, &line), 0);
        }
        ck_assert_uint_le(m.text.capacity_bytes, 4 * PERF_MAP_LINE_BYTES_MAX);
        ck_assert_int_eq(perf_map_add(&m, "\n1000 10 one\n", 13), 0);
        ck_assert_int_eq(perf_map_next(&m, &line), 1);
        ck_assert_uint_eq(line.start_avma, 0x1000);
        ck_assert_uint_eq(m.n_garbage, 1);
        perf_map_deinit(&m);
}
END_TEST

/* A last line without its end: taken if it is believed, and counted if not. */
START_TEST(test_last_line)
{
        static const char text[] = "1000 20 one\n2000 20 two";
        struct perf_map m = { .at_bytes = 0 };
        struct perf_map_line line;

        for (int believed = 0; believed < 2; believed++) {
                ck_assert_int_eq(perf_map_add(&m, text, sizeof(text) - 1), 0);
                ck_assert_int_eq(perf_map_next(&m, &line), 1);
                ck_assert_int_eq(perf_map_next(&m, &line), 0);
                ck_assert_int_eq(perf_map_last(&m, believed == 1, &line), believed);
                ck_assert_int_eq(perf_map_last(&m, true, &line), 0);
                ck_assert_uint_eq(m.n_garbage, 1);
        }
        ck_assert_uint_eq(line.start_avma, 0x2000);
        ck_assert_mem_eq(line.name, "two", 3);
        ck_assert_int_eq(perf_map_add(&m, "30", 2), 0);
        ck_assert_int_eq(perf_map_last(&m, true, &line), 0);
        ck_assert_uint_eq(m.n_garbage, 2);
        perf_map_deinit(&m);
}
END_TEST
