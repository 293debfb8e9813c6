/* SPDX-License-Identifier: MIT */
/* import/json/import_ninja_log.c: edges on CLOCK_REALTIME, builds one after the other, and what is no line */
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/json/import_ninja_log.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define LOG "tests/data/import/trace_event/ninja_log.txt"

static struct import_rows rows;
static struct error err;

static const struct fake_import_reader reader = { import_ninja_log_recognise, import_ninja_log_read };

static int read_path(const char *path)
{
        return fake_import_rows_read_path(&rows, &reader, path, &err);
}

static int read_text(const char *text)
{
        return fake_import_rows_read_text(&rows, &reader, text, &err);
}

/* Begin of the only span of this name, and that it has this length. */
static uint64_t begin_of(const char *name, uint64_t length_ns)
{
        const struct import_span *span = fake_import_rows_span(&rows, 0, name, 0);

        ck_assert_ptr_nonnull(span);
        ck_assert_uint_eq(span->end - span->begin, length_ns);
        return span->begin;
}

/* The four edges of a real log agree within 18 ms about when the build began. */
START_TEST(test_a_real_log)
{
        uint64_t begin, zero;

        ck_assert_int_eq(read_path(LOG), 0);
        ck_assert_str_eq(rows.format, "ninja-log");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.version), "5");
        ck_assert_uint_eq(rows.n_rows, 4);
        ck_assert_uint_eq(rows.n_spans, 4);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), 2976000000);
        zero = begin_of("a.o", 2579000000);
        ck_assert_uint_eq(begin_of("b.o", 69000000) - zero, 5000000);
        ck_assert_uint_eq(begin_of("c.o", 101000000) - zero, 75000000);
        ck_assert_uint_eq(begin_of("prog", 227000000) - zero, 176000000);
        begin = UINT64_C(1795806615065173857) - 74000000; /* as b.o says */
        ck_assert_uint_lt(zero > begin ? zero - begin : begin - zero, 18000000);
        ck_assert_uint_eq(rows.n_readings, 1);
        ck_assert_int_eq(rows.readings[0].host, IMPORT_CLOCK_REALTIME);
        ck_assert_uint_lt(rows.readings[0].host_end - rows.readings[0].host_begin, 2 * 18000000);
        ck_assert_uint_eq(rows.readings[0].host_end - rows.readings[0].ticks,
                          rows.readings[0].ticks - rows.readings[0].host_begin);
        ck_assert_uint_ne(fake_import_rows_find_track(&rows, "ninja/jobs"), 0);
        fake_import_rows_deinit(&rows);
}
END_TEST

#define HEAD "# ninja log v5\n"

/* Two builds an hour apart in one log; a file that stayed as it was; two outputs of one command. */
START_TEST(test_builds)
{
        ck_assert_int_eq(read_text(HEAD "0\t100\t1000000100000000\ta\t1\n"
                                        "0\t200\t1000000200000000\tb\t2\n"
                                        "100\t300\t400000000000000\told\t3\n"
                                        "0\t50\t4600000050000000\tc\t4\r\n"
                                        "0\t50\t4600000050000000\tc2\t4\n"),
                         0);
        ck_assert_uint_eq(rows.n_spans, 4);
        ck_assert_uint_eq(begin_of("a", 100000000), 1000000000000000);
        ck_assert_uint_eq(begin_of("b", 200000000), 1000000000000000);
        ck_assert_uint_eq(begin_of("old", 200000000), 1000000100000000);
        ck_assert_uint_eq(begin_of("c", 50000000), 4600000000000000);
        ck_assert_str_eq(fake_import_rows_text(&rows, fake_import_rows_span(&rows, 0, "c", 0)->text), "c2");
        ck_assert_uint_eq(rows.readings[0].host_begin, rows.readings[0].host_end);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* Newer versions note when the command began. */
START_TEST(test_times_of_begins)
{
        ck_assert_int_eq(read_text("# ninja log v7\n"
                                   "10\t100\t1000000010000000\ta\t1\n"
                                   "20\t200\t1000000020000000\tb\t2\n"
                                   "100\t300\t1000000100000000\tc\t3\n"),
                         0);
        ck_assert_uint_eq(begin_of("a", 90000000), 1000000010000000);
        ck_assert_uint_eq(begin_of("c", 200000000), 1000000100000000);
        fake_import_rows_deinit(&rows);
}
END_TEST

static const char *const bad_lines[] = {
        "0\t100\t1000000100000000\ta",
        "0\t100\t1000000100000000\ta\t1\tmore",
        "x\t100\t1000000100000000\ta\t1",
        "0\t-1\t1000000100000000\ta\t1",
        "200\t100\t1000000100000000\ta\t1",
        "0\t100\t18446744073709551615\ta\t1",
        "18446744073709551615\t100\t1\ta\t1",
        "\t\t\t\t",
        "# comment",
};

START_LOOP_TEST(test_bad_lines, 0, sizeof(bad_lines) / sizeof(bad_lines[0]))
{
        char text[256];

        (void)snprintf(text, sizeof(text),
                       HEAD "0\t100\t1000000100000000\tgood\t1\n%s\n0\t120\t1000000120000000\tb\t2",
                       bad_lines[_i]);
        ck_assert_int_eq(read_text(text), 0);
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, 3);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_files_that_are_not_there_have_no_time)
{
        ck_assert_int_eq(read_text(HEAD "0\t100\t0\ta\t1\n"), 0);
        ck_assert_uint_eq(rows.n_spans, 0);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "command without a time"), 1);
        ck_assert_uint_eq(rows.n_readings, 0);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_other_versions_are_refused)
{
        ck_assert_int_eq(read_text("# ninja log v4\n0\t1\t1\ta\t1\n"), -ENOTSUP);
        ck_assert_ptr_nonnull(strstr(err.text, "versions 5 to 7"));
        fake_import_rows_deinit(&rows);
        ck_assert_int_eq(read_text("# ninja log v\n"), -ENOTSUP);
        fake_import_rows_deinit(&rows);
        ck_assert_int_eq(read_text("# ninja\n"), -EINVAL);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_errors_of_the_trace)
{
        int n_calls;

        ck_assert_int_eq(read_path(LOG), 0);
        n_calls = rows.n_calls;
        fake_import_rows_deinit(&rows);
        for (int i = 1; i <= n_calls; i++) {
                struct import_source *source;

                fake_import_rows_init(&rows);
                rows.fails_after = i;
                ck_assert_int_eq(import_source_open(&source, LOG, &err), 0);
                ck_assert_int_eq(import_ninja_log_read(source, &rows, &err), -ENOSPC);
                import_source_close(source);
                fake_import_rows_deinit(&rows);
        }
}
END_TEST
