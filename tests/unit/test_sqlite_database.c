/* SPDX-License-Identifier: MIT */
/*
 * export/tables/sqlite_database.c, sqlite_writer.c: every row of small_trace; views count right; foreign
 * text; rows by a thread; a full disk is said
 */
#include "export/tables/sqlite_database.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "export/tables/sqlite_writer.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct database {
        char path[64];
        sqlite3 *db;
};

static struct database d;
static struct trace_builder b;
static struct sqlite_database_totals totals;

static void setup(void)
{
        int fd;

        (void)snprintf(d.path, sizeof(d.path), "/tmp/test_sqlite_database.XXXXXX");
        fd = mkstemp(d.path);
        ck_assert_int_ge(fd, 0);
        (void)close(fd);
        trace_builder_init(&b);
}

static void teardown(void)
{
        (void)sqlite3_close(d.db);
        d.db = NULL;
        (void)unlink(d.path);
        trace_builder_deinit(&b);
}

static void open_file(void)
{
        ck_assert_int_eq(sqlite3_open_v2(d.path, &d.db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
}

static void write_database(void)
{
        struct error err = ERROR_NONE;
        struct loaded_trace trace;

        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_msg(sqlite_database_write(&trace, &(struct sqlite_database_request){ .filter = NULL },
                                            d.path, &totals, &err) == 0,
                      "%s", err.text);
        loaded_trace_close(&trace);
        open_file();
}

/* The first cell of the answer; NULL is "-". */
static void expect(const char *wanted, const char *sql)
{
        sqlite3_stmt *statement = NULL;
        const char *found;

        ck_assert_msg(sqlite3_prepare_v2(d.db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
                      sqlite3_errmsg(d.db));
        ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(d.db));
        found = (const char *)sqlite3_column_text(statement, 0);
        ck_assert_msg(strcmp(found ? found : "-", wanted) == 0, "%s: %s, wanted %s", sql, found, wanted);
        (void)sqlite3_finalize(statement);
}

START_TEST(small)
{
        small_trace_build(&b);
        write_database();
        expect("ok", "PRAGMA integrity_check");
        expect("9", "SELECT count(*) FROM zones");
        expect("3", "SELECT count(*) FROM zones WHERE NOT closed");
        expect("7", "SELECT count(*) FROM samples");
        ck_assert_uint_eq(totals.n_zones, 9);
        ck_assert_uint_eq(totals.n_samples, 7);
        /* Bits of what has no place among signed numbers. */
        expect("-1", "SELECT min(weight) FROM samples");
        expect("load of level 7", "SELECT name FROM zones WHERE value = -3");
        expect("level \"7\" time_ns=1\n\xef\xbf\xbd", "SELECT text FROM zones WHERE text NOT NULL");
        expect("sleeping", "SELECT state FROM waits WHERE waker_thread = 1");
        expect("50", "SELECT duration_ns FROM waits WHERE waker_thread = 1");
        expect("10", "SELECT delay_ns FROM waits WHERE waker_thread = 1");
        expect("0", "SELECT wake_cpu FROM waits WHERE waker_thread = 1");
        expect("-", "SELECT below FROM waits WHERE waker_thread = 1");
        expect("-", "SELECT waker_thread FROM waits WHERE below = 1");
        expect("idle other thread",
               "SELECT group_concat(successor_kind, ' ') FROM (SELECT * FROM waits ORDER BY out_ns)");
        expect("1", "SELECT successor FROM waits WHERE successor_kind = 'thread'");
        expect("1", "SELECT count(successor) FROM waits");
        expect("5", "SELECT count(*) FROM waits WHERE wake_cpu IS NULL AND state = 'preempted'");
        expect("1", "SELECT creator FROM threads WHERE id = 2");
        expect("2004", "SELECT end_ns FROM threads WHERE id = 2");
        expect("2", "SELECT count(end_ns) FROM threads");
        expect("1030 3;1040 -;",
               "SELECT group_concat(time_ns || ' ' || coalesce(fiber, '-') || ';', '') FROM fiber_switches");
        expect("low\nmemory", "SELECT text FROM messages WHERE severity = 3 AND text NOT NULL");
        expect("0.1", "SELECT value FROM plots WHERE name = 'load'");
        expect("3", "SELECT count(*) FROM memory WHERE kind <> 'alloc' OR size_bytes = 4096");
        expect("wait obtain release obtain",
               "SELECT group_concat(kind, ' ') FROM (SELECT kind FROM locks ORDER BY time_ns)");
        /* The end is of another recording. */
        expect("step 2 1311 2 1314 3",
               "SELECT group_concat(kind || ' ' || from_thread || ' ' || from_ns || ' ' || to_thread || ' ' || to_ns "
               "|| ' ' || since_begin_ns, ';') FROM (SELECT * FROM flows ORDER BY to_ns)");
        expect("correlation -2 2 -", "SELECT space || ' ' || id || ' ' || from_location || ' ' || "
                                     "coalesce(to_location, '-') FROM flows WHERE kind = 'step'");
        expect("2", "SELECT count(*) FROM symbols WHERE frame = 1");
        expect("main", "SELECT function FROM symbols WHERE frame = 1 AND level = 1");
        expect("00017f80ff0a5c", "SELECT build_id FROM modules WHERE build_id NOT NULL");
}
END_TEST

/*
 * Where a thread waits is not how the kernel records it, nor its scheduler; the program's own schedule() is.
 */
START_TEST(waits)
{
        static const char *const names[] = {
                "main",     "schedule_job", "do_syscall_64",           "futex_do_wait",
                "schedule", "__schedule",   "__traceiter_sched_switch"
        };
        uint32_t thread, program, module, stack = 0, own = 0;

        thread = trace_builder_thread(&b, 1, 1);
        program = trace_builder_module(&b, "/bin/p");
        module = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                stack = trace_builder_push(&b, stack, i < 2 ? program : module, 16 * i + 16, names[i]);
                if (i == 1)
                        own = stack;
        }
        trace_builder_begin_run(&b, thread);
        for (uint64_t i = 0; i < 3; i++) {
                /* The second one is known only when it ends; what a wait began with stays. */
                TRACE_BUILDER_ADD(&b, 1000 + 100 * i, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING,
                                  i == 0   ? stack
                                  : i == 1 ? 0
                                           : own);
                TRACE_BUILDER_ADD(&b, 1050 + 100 * i, SWITCH_IN, 0, i == 0 ? 0 : stack);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        write_database();
        expect("2", "SELECT waits FROM wait_stats WHERE function = 'futex_do_wait'");
        expect("100", "SELECT total_ns FROM wait_stats WHERE function = 'futex_do_wait'");
        expect("1", "SELECT waits FROM wait_stats WHERE function = 'schedule_job'");
        expect("2", "SELECT count(*) FROM wait_stats");
}
END_TEST

/* Recursion: f() in f(); a zone in itself; a second group of names replaces the first. */
START_TEST(views)
{
        uint32_t thread, event, frames[2], stack, path, zone;

        thread = trace_builder_thread(&b, 1, 1);
        event = trace_builder_sample_event(&b, "cpu-clock");
        zone = trace_builder_location(&b, "z");
        path = trace_builder_path(&b, trace_builder_path(&b, 0, zone), zone);
        for (uint32_t i = 0; i < 2; i++)
                frames[i] = trace_builder_frame(&b, trace_builder_module(&b, "/bin/p"),
                                                UINT64_C(16) * (i + 1));
        stack = trace_builder_stack(&b, trace_builder_stack(&b, 0, frames[0]), frames[1]);
        trace_builder_symbol(&b, frames[0], "wrong", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&b, frames[0], "wrong too", 0);
        trace_builder_symbol(&b, frames[1], "f", 0);
        trace_builder_symbol(&b, frames[0], "f", 0);
        trace_builder_begin_run(&b, thread);
        trace_builder_begin_zone(&b, 1000, zone);
        trace_builder_begin_zone(&b, 1100, zone);
        for (uint64_t i = 0; i < 3; i++)
                trace_builder_sample(&b, 1200 + i, event, path, stack);
        trace_builder_event(&b, 1300, TRACE_OP_ZONE_END);
        trace_builder_event(&b, 2000, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        write_database();
        expect("2", "SELECT count FROM zone_stats WHERE name = 'z'");
        expect("1000", "SELECT total_ns FROM zone_stats WHERE name = 'z'");
        expect("1000", "SELECT self_ns FROM zone_stats WHERE name = 'z'");
        expect("z1", "SELECT handle FROM zone_stats");
        expect("3", "SELECT samples FROM function_self WHERE function = 'f'");
        expect("3", "SELECT sum(samples) FROM function_total");
        expect("3", "SELECT samples FROM zone_samples WHERE zone = 'z'");
        expect("3", "SELECT sum(samples) FROM zone_functions WHERE zone = 'z' AND function = 'f'");
        expect("0", "SELECT count(*) FROM wait_stats");
        expect("0", "SELECT count(*) FROM symbols WHERE function LIKE 'wrong%'");
        /* Without context switches this is unknown. */
        expect("0", "SELECT count(on_cpu_ns) FROM zones");
}
END_TEST

/* Native code counts for the Python function, and the line, that called it. */
START_TEST(python_functions)
{
        uint32_t native, python, run, build, event, stacks[4];

        event = trace_builder_sample_event(&b, "cpu-clock");
        native = trace_builder_module(&b, "/usr/bin/python3.11");
        python = trace_builder_module_of(&b, TRACE_MODULE_PYTHON, "/srv/work.py");
        run = trace_builder_frame(&b, python, 1);
        build = trace_builder_frame(&b, python, 2);
        trace_builder_symbol(&b, run, "run", 0);
        trace_builder_symbol(&b, build, "build", 0);
        stacks[0] = trace_builder_stack(&b, 0, trace_builder_frame(&b, native, 0x10)); /* no Python */
        stacks[1] = trace_builder_stack(&b, stacks[0], run);
        stacks[2] = trace_builder_stack(
                &b, trace_builder_stack(&b, stacks[1], trace_builder_frame(&b, native, 0x20)), build);
        stacks[3] = trace_builder_stack(&b, stacks[2], trace_builder_frame(&b, native, 0x30));
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint32_t i = 0; i < 10; i++) /* 1, 2, 3 and 4 of them */
                trace_builder_sample(&b, 100 + i, event, 0, stacks[i < 1 ? 0 : i < 3 ? 1 : i < 6 ? 2 : 3]);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        write_database();
        expect("7", "SELECT samples FROM python_self WHERE function = 'build'");
        expect("7000", "SELECT weight FROM python_self WHERE function = 'build'");
        expect("3000", "SELECT python_weight FROM python_self WHERE function = 'build'");
        expect("2", "SELECT samples FROM python_self WHERE function = 'run'");
        expect("9", "SELECT sum(samples) FROM python_self");
        expect("1", "SELECT count(*) FROM modules WHERE is_python");
}
END_TEST

/*
 * Rows wait for each other: each has its own values, not those of the rows before, whatever their
 * number and their texts.
 */
START_TEST(many_rows)
{
        enum { N_ROWS = 20003, LONG_BYTES = 100000 }; /* several batches: a thread inserts the later ones */
        static char text[LONG_BYTES];
        struct error err = ERROR_NONE;
        struct sqlite_insert insert;
        struct sqlite_writer w;

        ck_assert_int_eq(sqlite_writer_open(&w, d.path, "CREATE TABLE t(id, real, text, last)", &err), 0);
        sqlite_insert_open(&insert, &w, "t", 4);
        for (uint64_t id = 1; id <= N_ROWS; id++) {
                size_t n_bytes = id % 1000 == 0 ? LONG_BYTES : (size_t)id % 3;

                memset(text, 'a' + (int)(id % 26), sizeof(text));
                sqlite_insert_number(&insert, id);
                if (id % 7 != 0) {
                        sqlite_insert_real(&insert, (double)id / 2);
                        sqlite_insert_string(&insert, (struct text_view){ text, n_bytes });
                }
                sqlite_insert_end_row(&insert);
        }
        sqlite_insert_close(&insert);
        ck_assert_int_eq(sqlite_writer_finish(&w, "", &err), 0);
        sqlite_writer_close(&w);
        open_file();
        expect("20003", "SELECT count(*) FROM t WHERE id = rowid AND last IS NULL");
        expect("2857", "SELECT count(*) FROM t WHERE real IS NULL");
        expect("17146", "SELECT count(*) FROM t WHERE real = id / 2.0 AND id % 7 <> 0");
        expect("0", "SELECT count(*) FROM t WHERE id % 7 <> 0 AND coalesce(length(text), 0) <> "
                    "CASE id % 1000 WHEN 0 THEN 100000 ELSE id % 3 END");
        expect("0", "SELECT count(*) FROM t WHERE rtrim(text, char(97 + id % 26)) <> ''");
}
END_TEST

START_TEST(empty)
{
        trace_builder_finish(&b);
        write_database();
        expect("0", "SELECT count(*) FROM zone_stats");
        expect("0", "SELECT count(*) FROM function_total");
}
END_TEST

static void write_letter(struct sqlite_writer *w, const char *bytes, size_t n_bytes)
{
        struct sqlite_insert insert;

        sqlite_insert_open(&insert, w, "t", 1);
        sqlite_insert_string(&insert, (struct text_view){ bytes, n_bytes });
        sqlite_insert_end_row(&insert);
        sqlite_insert_close(&insert);
}

START_TEST(foreign_text)
{
        struct error err = ERROR_NONE;
        struct sqlite_writer w;

        ck_assert_int_eq(sqlite_writer_open(&w, d.path, "CREATE TABLE t(a TEXT)", &err), 0);
        write_letter(&w, "a\0b\xff\xc3\xa4", 6);
        ck_assert_int_eq(sqlite_writer_finish(&w, "", &err), 0);
        sqlite_writer_close(&w);
        open_file();
        expect("a\xef\xbf\xbd"
               "b\xef\xbf\xbd\xc3\xa4",
               "SELECT a FROM t");
}
END_TEST

/* loop test: tables take turns; what fails in the thread ends all, and is said. */
START_LOOP_TEST(rows_of_two_tables, 0, 2)
{
        static const uint64_t twice[] = { 0, 12345 }; /* 0 = no number is */
        struct error err = ERROR_NONE;
        struct sqlite_insert insert[2];
        struct sqlite_writer w;
        int r;

        ck_assert_int_eq(
                sqlite_writer_open(&w, d.path, "CREATE TABLE t(a UNIQUE); CREATE TABLE u(a, b)", &err), 0);
        sqlite_insert_open(&insert[0], &w, "t", 1);
        sqlite_insert_open(&insert[1], &w, "u", 2);
        for (uint64_t id = 1; id <= 30000; id++) {
                sqlite_insert_number(&insert[0], id == twice[_i] ? id - 1 : id);
                sqlite_insert_end_row(&insert[0]);
                sqlite_insert_null(&insert[1]);
                sqlite_insert_number(&insert[1], id * 2);
                sqlite_insert_end_row(&insert[1]);
        }
        sqlite_insert_close(&insert[0]);
        sqlite_insert_close(&insert[1]);
        r = sqlite_writer_finish(&w, "", &err);
        sqlite_writer_close(&w);
        ck_assert_int_eq(r, _i == 0 ? 0 : -EIO);
        if (_i == 1) {
                ck_assert_ptr_nonnull(strstr(err.text, "UNIQUE"));
                return;
        }
        open_file();
        expect("30000", "SELECT count(*) FROM t WHERE a = rowid");
        expect("30000", "SELECT count(*) FROM u WHERE b = rowid * 2 AND a IS NULL");
}
END_TEST

/* The first failure is kept, and what comes after it does nothing. */
START_TEST(failures)
{
        struct error err = ERROR_NONE;
        struct sqlite_writer w;

        ck_assert_int_eq(sqlite_writer_open(&w, "/nowhere/at/all.db", "", &err), -EIO);
        sqlite_writer_close(&w);
        ck_assert_int_eq(sqlite_writer_open(&w, d.path, "CREATE TABLE t(a UNIQUE)", &err), 0);
        write_letter(&w, "x", 1);
        write_letter(&w, "x", 1);
        write_letter(&w, "y", 1);
        ck_assert_int_eq(sqlite_writer_finish(&w, "", &err), -EIO);
        ck_assert_ptr_nonnull(strstr(err.text, "UNIQUE"));
        sqlite_writer_close(&w);
}
END_TEST

/* Only a trace that says so has idle times of CPUs; 0 is one. */
START_LOOP_TEST(idle_times, 0, 2)
{
        uint32_t thread = trace_builder_thread(&b, 1, 1);

        if (_i == 1)
                trace_builder_meta(&b, "idle", "1");
        trace_builder_begin_run(&b, thread);
        for (uint64_t i = 0; i < 2; i++) {
                TRACE_BUILDER_ADD(&b, 1000 + 100 * i, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
                TRACE_BUILDER_ADD(&b, 1050 + 100 * i, SWITCH_IN, 0, 0, 0, 30 * i);
        }
        TRACE_BUILDER_ADD(&b, 1300, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        write_database();
        expect("3", "SELECT count(*) FROM waits");
        expect(_i == 0 ? "0" : "2", "SELECT count(idle_ns) FROM waits");
        expect(_i == 0 ? "-" : "0 30",
               "SELECT group_concat(idle_ns, ' ') FROM (SELECT * FROM waits ORDER BY out_ns)");
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
