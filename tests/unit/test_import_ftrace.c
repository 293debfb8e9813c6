/* SPDX-License-Identifier: MIT */
/* import/text/import_ftrace.c: a real file as it was written, lines of other writers, hostile lines */
#include "base/error.h"
#include "import/text/ftrace_line.h"
#include "import/text/import_ftrace.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>

static struct import_rows rows;
static struct error err;

static const struct fake_import_reader reader = { import_ftrace_recognise, import_ftrace_read };

static int read_path(const char *path)
{
        return fake_import_rows_read_path(&rows, &reader, path, &err);
}

static int read_text(const char *text)
{
        return fake_import_rows_read_text(&rows, &reader, text, &err);
}

/* 41 B, 40 E (10 bare), 20 C, one each of S, F, G, H, I, one text of two lines, one B never ended. */
START_TEST(test_real_file)
{
        const struct import_instant *words;
        const struct import_span *span;
        uint32_t thread, async, track;

        ck_assert_int_eq(read_path("tests/data/import/text/trace_marker.txt"), 0);
        ck_assert_str_eq(rows.format, "ftrace");
        ck_assert_int_eq(rows.clocks[0].kind, IMPORT_CLOCK_UNKNOWN);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(rows.n_spans, 42);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, 0, "inner|with|bars"), 20);
        ck_assert_uint_eq(rows.n_values, 20);
        ck_assert_int_eq((int64_t)rows.values[0].bits, -5);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "begin without end"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "end without begin"), 0);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "sched_switch"), 133);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "sched_waking"), 55);
        thread = fake_import_rows_find_track(&rows, "process 28273/python3");
        async = fake_import_rows_find_track(&rows, "process 28273/async");
        track = fake_import_rows_find_track(&rows, "process 28273/track a");
        ck_assert(thread != 0 && async != 0 && track != 0);
        span = fake_import_rows_span(&rows, 0, "outer 0", 0);
        ck_assert_uint_eq(span->begin, 3258296580000);
        ck_assert_uint_eq(span->end, 3258298685000);
        span = fake_import_rows_span(&rows, async, "async load", 0);
        ck_assert_ptr_nonnull(span);
        ck_assert_uint_eq(span->end - span->begin, 3258321139000 - 3258300139000);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, track, "slice on a track"), 14964000);
        ck_assert_uint_eq(rows.n_instants, 3);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, 0, "an instant"), 1);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, 0, "never ended"), 1);
        words = fake_import_rows_instant(&rows, 0, "trace_marker", 0);
        ck_assert_ptr_nonnull(words);
        ck_assert_ptr_nonnull(strstr(fake_import_rows_text(&rows, words->text), "just words\n"));
        fake_import_rows_deinit(&rows);
}
END_TEST

static const struct {
        const char *line;
        bool is_read;
        const char *task, *event, *text;
        uint64_t tid, tgid, time_ns;
} lines[] = {
        { "         python3-28334   [001] ...1.  3258.296580: tracing_mark_write: B|1|a", true, "python3",
          "tracing_mark_write", "B|1|a", 28334, 0, 3258296580000 },
        { "my prog-2 [1]-x-12345678 (-----) [000] .... 1.5: print: E", true, "my prog-2 [1]-x", "print", "E",
          12345678, 0, 1500000000 },
        { " surfaceflinger-1234  ( 1200) [003] 12.000001: tracing_mark_write: C|1200|x|1", true,
          "surfaceflinger", "tracing_mark_write", "C|1200|x|1", 1234, 1200, 12000001000 },
        { "  a-1 [000] 1.0:-99 [001] ....     2.000000: print: x", true, "a-1 [000] 1.0:", "print", "x", 99,
          0, 2000000000 },
        { "           <...>-7     [000] 18446744073709551616.0: e: x", false, "", "", "", 0, 0, 0 },
        { "           <...>-7     [000] ....  1.2: e", false, "", "", "", 0, 0, 0 },
        { "           <...>-7     000] ....  1.2: e: f", false, "", "", "", 0, 0, 0 },
        { "python3 28334 [001] 3258.296580: cpu-clock: x", false, "", "", "", 0, 0, 0 },
        { "-", false, "", "", "", 0, 0, 0 },
        { "", false, "", "", "", 0, 0, 0 },
};

START_LOOP_TEST(test_lines, 0, sizeof(lines) / sizeof(lines[0]))
{
        struct text_view text = { lines[_i].line, strlen(lines[_i].line) };
        struct ftrace_line line;

        ck_assert_int_eq(ftrace_line_read(text, &line), lines[_i].is_read);
        if (!lines[_i].is_read)
                return;
        ck_assert(text_view_is(line.task, lines[_i].task));
        ck_assert(text_view_is(line.event, lines[_i].event));
        ck_assert(text_view_is(line.text, lines[_i].text));
        ck_assert_uint_eq(line.tid, lines[_i].tid);
        ck_assert_uint_eq(line.tgid, lines[_i].tgid);
        ck_assert_uint_eq(line.time_ns, lines[_i].time_ns);
}
END_TEST

static const struct {
        const char *text;
        char what;
        const char *name, *track, *value;
} markers[] = {
        { "B|12|a|b", 'B', "a|b", "", "" },
        { "B|12|", 'B', "", "", "" },
        { "E", 'E', "", "", "" },
        { "E|", 'E', "", "", "" },
        { "E|12", 'E', "", "", "" },
        { "E|12|a", 'E', "a", "", "" },
        { "C|1|a|b|-5", 'C', "a|b", "", "-5" },
        { "C|1|a", '\0', "C|1|a", "", "" },
        { "S|1|load|77", 'S', "load", "", "77" },
        { "G|1|t|name|5", 'G', "name", "t", "5" },
        { "G|1|t|5", '\0', "G|1|t|5", "", "" },
        { "H|1|t|5", 'H', "", "t", "5" },
        { "H|1|t|name|5", 'H', "", "t", "5" },
        { "N|1|t|name", 'N', "name", "t", "" },
        { "B", '\0', "B", "", "" },
        { "B|x|a", '\0', "B|x|a", "", "" },
        { "Bad|1|a", '\0', "Bad|1|a", "", "" },
        { "", '\0', "", "", "" },
};

START_LOOP_TEST(test_markers, 0, sizeof(markers) / sizeof(markers[0]))
{
        struct ftrace_marker m;

        ftrace_marker_read((struct text_view){ markers[_i].text, strlen(markers[_i].text) }, &m);
        ck_assert_int_eq(m.what, markers[_i].what);
        ck_assert(text_view_is(m.name, markers[_i].name));
        ck_assert(text_view_is(m.track, markers[_i].track));
        ck_assert(text_view_is(m.value, markers[_i].value));
}
END_TEST

#define LINE(time, text) "           app-7     [000] .....  " time ": print: " text "\n"

START_TEST(test_odd_lines)
{
        ck_assert_int_eq(read_text(LINE("1.0", "0xffffffff81: B|7|two") "lines\n" LINE(
                                 "2.0", "tracing_mark_write: E") "CPU:1 [LOST 23 EVENTS]\n" LINE("3.0", "E|7")
                                           LINE("4.0", "C|7|x|y") "# a comment\n\n"),
                         0);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, "two\nlines"), 1000000000);
        ck_assert_uint_eq(rows.n_dropped, 23);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "end without begin"), 1);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, 6);
        fake_import_rows_deinit(&rows);
        ck_assert_int_eq(read_text("# tracer: nop\nnonsense\n"), 0);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.n_rows, 1);
        fake_import_rows_deinit(&rows);
        ck_assert_int_eq(read_text("name,begin,end\na-1,2,3\n"), -EINVAL);
        fake_import_rows_deinit(&rows);
}
END_TEST
