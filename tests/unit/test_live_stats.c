/* SPDX-License-Identifier: MIT */
/*
 * analyze/live: the last ten seconds hold what fell into them and nothing else, names come when they come,
 * and neither a clock that jumps nor any number of places costs more than the limits say
 */
#include "analyze/live/live_rows.h"
#include "analyze/live/live_shown.h"
#include "analyze/live/live_stats.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_follow.h"
#include "format/trace_reader.h"
#include "symbolize/process/live_names.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS (UINT64_C(1000) * NS_PER_S)

/* A trace that is written and followed at once. */
struct live_trace {
        struct trace_builder b;
        struct trace_follow *follow;
        struct live_stats stats;
        struct live_names names;
        struct live_shown *shown;
        uint32_t thread;
};

static struct live_trace l;

static void begin(void)
{
        struct trace_follow_options options = { .quiet_ns = UINT64_MAX };
        struct live_names_options naming = { .is_off = true };

        UNIT_TEST_SPOIL(l);
        trace_builder_init(&l.b);
        l.thread = trace_builder_thread(&l.b, 10, 10);
        options.path = l.b.path;
        ck_assert_int_eq(trace_follow_open(&options, &l.follow, NULL), 0);
        naming.dictionary = trace_follow_dictionary(l.follow);
        live_names_init(&l.names, &naming);
        l.shown = NULL;
        ck_assert_int_eq(live_stats_init(&l.stats, naming.dictionary), 0);
}

static void end(void)
{
        live_stats_deinit(&l.stats);
        live_shown_free(l.shown);
        live_names_deinit(&l.names);
        trace_follow_close(l.follow);
        trace_builder_deinit(&l.b);
}

/* All that was written so far arrives. */
static void arrive(void)
{
        struct trace_item item;

        trace_builder_flush(&l.b);
        while (trace_follow_next(l.follow, &item, NULL) == 1)
                ck_assert_int_eq(live_stats_add(&l.stats, &item, NULL), 0);
        ck_assert_int_ge(live_names_step(&l.names), 0);
        ck_assert_int_eq(live_shown_renew(l.names.options.dictionary, &l.names, &l.shown), 0);
}

static struct live_rows rows_of(bool all)
{
        return (struct live_rows){ .stats = &l.stats, .names = &l.names, .shown = l.shown, .all = all };
}

static void add_zone(uint64_t begin_ns, uint64_t length_ns, uint32_t location)
{
        trace_builder_begin_run(&l.b, l.thread);
        trace_builder_begin_zone(&l.b, begin_ns, location);
        trace_builder_event(&l.b, begin_ns + length_ns, TRACE_OP_ZONE_END);
        trace_builder_end_run(&l.b);
}

static bool is_text(struct text_view text, const char *wanted)
{
        return text.n_bytes == strlen(wanted) && memcmp(text.bytes, wanted, text.n_bytes) == 0;
}

START_TEST(test_zones_of_the_window)
{
        struct live_zone_row *rows;
        struct live_rows of;
        uint32_t location;

        location = trace_builder_location(&l.b, "work");
        add_zone(START_NS, NS_PER_S, location); /* too long ago at the end */
        arrive();
        for (uint64_t i = 0; i < 100; i++)
                add_zone(START_NS + 12 * NS_PER_S + i * 10 * NS_PER_MS, i == 99 ? 8 * NS_PER_MS : NS_PER_MS,
                         location);
        arrive();
        of = rows_of(false);
        ck_assert_int_eq(live_rows_zones(&of, &rows), 1);
        ck_assert(is_text(rows[0].name, "work"));
        ck_assert_uint_eq(rows[0].n, 100);
        ck_assert_uint_eq(live_stats_tally(&l.stats, false).n_zones, 100);
        ck_assert_uint_eq(rows[0].sum_ns, 107 * NS_PER_MS);
        ck_assert_uint_eq(rows[0].mean_ns, 107 * NS_PER_MS / 100);
        ck_assert_uint_eq(rows[0].largest_ns, 8 * NS_PER_MS);
        /* as reports have them: by nearest rank, within 1 % */
        ck_assert_uint_ge(rows[0].p50_ns, NS_PER_MS - NS_PER_MS / 100);
        ck_assert_uint_le(rows[0].p50_ns, NS_PER_MS + NS_PER_MS / 100);
        ck_assert_uint_eq(rows[0].p99_ns, rows[0].p50_ns);
        /* 12.998 s after the start: nine whole seconds and the begun one */
        ck_assert_uint_eq(live_stats_window_ns(&l.stats, false), 9 * NS_PER_S + 998 * NS_PER_MS);
        ck_assert_double_eq_tol(rows[0].per_second, 100 / 9.998, 0.01);
        free(rows);
        of = rows_of(true);
        ck_assert_int_eq(live_rows_zones(&of, &rows), 1);
        ck_assert_uint_eq(rows[0].n, 101);
        ck_assert_uint_eq(live_stats_tally(&l.stats, true).n_zones, 101);
        ck_assert_uint_eq(rows[0].largest_ns, NS_PER_S);
        free(rows);
}
END_TEST

/* Nothing happens, and the window passes over what did. */
START_TEST(test_time_goes_on_without_events)
{
        struct live_zone_row *rows;
        struct live_rows of;

        add_zone(START_NS, NS_PER_MS, trace_builder_location(&l.b, "work"));
        arrive();
        live_stats_advance(&l.stats, START_NS + 9 * NS_PER_S);
        of = rows_of(false);
        ck_assert_int_eq(live_rows_zones(&of, &rows), 1);
        free(rows);
        live_stats_advance(&l.stats, START_NS + 11 * NS_PER_S);
        ck_assert_int_eq(live_rows_zones(&of, &rows), 0);
        free(rows);
}
END_TEST

/* An event of a far future, then those of the present: the window is theirs again. */
START_TEST(test_a_clock_that_jumps)
{
        struct live_zone_row *rows;
        struct live_rows of;
        uint32_t work;

        work = trace_builder_location(&l.b, "work");
        add_zone(START_NS, NS_PER_MS, work);
        arrive();
        l.thread = trace_builder_thread(&l.b, 10, 11);
        add_zone(UINT64_MAX / 2, NS_PER_MS, trace_builder_location(&l.b, "future"));
        arrive();
        l.thread = trace_builder_thread(&l.b, 10, 12);
        add_zone(START_NS + NS_PER_S, NS_PER_MS, work);
        arrive();
        ck_assert_uint_eq(l.stats.n_clock_jumps, 1);
        of = rows_of(false);
        ck_assert_int_eq(live_rows_zones(&of, &rows), 1);
        ck_assert(is_text(rows[0].name, "work"));
        ck_assert_uint_eq(rows[0].n, 2);
        free(rows);
}
END_TEST

/* Frames have module and offset first, and their names once these are there, also in the sums of before. */
START_TEST(test_names_come_later)
{
        struct live_function_row *rows;
        struct live_rows of;
        uint32_t module, inner, outer, event, stack;

        module = trace_builder_module(&l.b, "/usr/lib/libwork.so");
        inner = trace_builder_frame(&l.b, module, 0x1234);
        outer = trace_builder_frame(&l.b, module, 0x2000);
        event = trace_builder_sample_event(&l.b, "cpu-clock");
        stack = trace_builder_stack(&l.b, trace_builder_stack(&l.b, 0, outer), inner);
        trace_builder_begin_run(&l.b, l.thread);
        for (uint64_t i = 0; i < 3; i++)
                trace_builder_sample(&l.b, START_NS + i, event, 0, stack);
        trace_builder_end_run(&l.b);
        arrive();
        of = rows_of(false);
        ck_assert_int_eq(live_rows_functions(&of, &rows), 2);
        ck_assert(is_text(live_label_text(&rows[0].label), "libwork.so+0x1234"));
        ck_assert(is_text(rows[0].label.module, "libwork.so"));
        ck_assert_uint_eq(rows[0].n_samples, 3);
        free(rows);
        trace_builder_symbol(&l.b, inner, "helper", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&l.b, inner, "run", 0);
        trace_builder_symbol(&l.b, outer, "run", 0);
        arrive();
        ck_assert_int_eq(live_rows_functions(&of, &rows), 2);
        ck_assert(is_text(live_label_text(&rows[0].label), "helper"));
        ck_assert_double_eq_tol(rows[0].self, 1, 1e-9);
        ck_assert(is_text(live_label_text(&rows[1].label), "run"));
        ck_assert_double_eq_tol(rows[1].total, 1, 1e-9); /* once, though it is twice in the stack */
        ck_assert_double_eq_tol(rows[1].self, 0, 1e-9);
        free(rows);
}
END_TEST

/* Different functions of one name are told apart, in texts that stay until the names are renewed. */
START_TEST(test_functions_of_one_name)
{
        struct live_function_row *rows;
        struct live_rows of;
        uint32_t module, event, stack;
        char both[2][64];

        module = trace_builder_module(&l.b, "/usr/lib/libwork.so");
        event = trace_builder_sample_event(&l.b, "cpu-clock");
        trace_builder_begin_run(&l.b, l.thread);
        for (uint32_t i = 0; i < 2; i++) {
                struct trace_symbol symbol = { .frame = trace_builder_frame(&l.b, module, 0x1000 * (i + 1)),
                                               .function = trace_builder_string(&l.b, "step"),
                                               .declared_file = trace_builder_string(&l.b, i ? "b.c" : "a.c"),
                                               .declared_line = 3,
                                               .start_svma = 0x1000 * (i + 1) };

                (void)trace_builder_row(&l.b, TRACE_TABLE_SYMBOLS, &symbol);
                stack = trace_builder_stack(&l.b, 0, symbol.frame);
                trace_builder_sample(&l.b, START_NS + i, event, 0, stack);
        }
        trace_builder_end_run(&l.b);
        arrive();
        of = rows_of(false);
        ck_assert_int_eq(live_rows_functions(&of, &rows), 2);
        for (size_t i = 0; i < 2; i++)
                (void)snprintf(both[i], sizeof(both[i]), "%.*s", (int)rows[i].label.name.n_bytes,
                               rows[i].label.name.bytes);
        ck_assert_msg((strcmp(both[0], "step (a.c)") == 0 && strcmp(both[1], "step (b.c)") == 0) ||
                              (strcmp(both[0], "step (b.c)") == 0 && strcmp(both[1], "step (a.c)") == 0),
                      "%s, %s", both[0], both[1]);
        free(rows);
}
END_TEST

START_TEST(test_threads_and_waits)
{
        struct live_thread_row *threads;
        struct live_wait_row *waits;
        struct live_rows of;

        trace_builder_begin_run(&l.b, l.thread);
        trace_builder_event(&l.b, START_NS, TRACE_OP_SWITCH_IN);
        trace_builder_event(&l.b, START_NS + 2 * NS_PER_S, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&l.b, START_NS + 3 * NS_PER_S, TRACE_OP_SWITCH_IN);
        trace_builder_event(&l.b, START_NS + 4 * NS_PER_S, TRACE_OP_SWITCH_OUT);
        trace_builder_end_run(&l.b);
        arrive();
        live_stats_advance(&l.stats, START_NS + 6 * NS_PER_S);
        of = rows_of(true);
        ck_assert_int_eq(live_rows_threads(&of, &threads), 1);
        ck_assert_int_eq(threads[0].state, LIVE_THREAD_WAITING);
        ck_assert_uint_eq(threads[0].since_ns, 2 * NS_PER_S);
        ck_assert_double_eq_tol(threads[0].on_cpu, 0.5, 0.001);
        ck_assert_int_eq(live_rows_waits(&of, &waits), 1);
        ck_assert_uint_eq(waits[0].n, 1);
        ck_assert_uint_eq(waits[0].sum_ns, NS_PER_S);
        free(threads);
        free(waits);
}
END_TEST

/* main > run (Python) > sort > build (Python) > copy: 3 samples, a wait; main > spin: @n_native samples. */
static void add_python(uint32_t n_native)
{
        struct trace_module python = { .kind = TRACE_MODULE_PYTHON };
        uint32_t native = trace_builder_module(&l.b, "/usr/bin/python3.11"), module, main, copy, spin, event;

        event = trace_builder_sample_event(&l.b, "cpu-clock");
        python.path = trace_builder_string(&l.b, "/srv/work.py");
        module = trace_builder_row(&l.b, TRACE_TABLE_MODULES, &python);
        main = trace_builder_push(&l.b, 0, native, 0x10, "main");
        copy = trace_builder_push(&l.b, main, module, 1, "run");
        copy = trace_builder_push(&l.b, copy, native, 0x20, "sort");
        copy = trace_builder_push(&l.b, copy, module, 2, "build");
        copy = trace_builder_push(&l.b, copy, native, 0x30, "copy");
        spin = trace_builder_push(&l.b, main, native, 0x40, "spin");
        trace_builder_begin_run(&l.b, l.thread);
        TRACE_BUILDER_ADD(&l.b, START_NS, SWITCH_IN, 0);
        for (uint32_t i = 0; i < 3 + n_native; i++)
                trace_builder_sample(&l.b, START_NS + i, event, 0, i < 3 ? copy : spin);
        TRACE_BUILDER_ADD(&l.b, START_NS + 100, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, copy,
                          TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&l.b, START_NS + 200, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&l.b, START_NS + 300, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, copy,
                          TRACE_STACK_COMPLETE);
        trace_builder_end_run(&l.b);
        arrive();
}

static void check_function(const struct live_rows *of, const char *name, uint64_t n_wanted)
{
        struct live_function_row *rows;
        int n = live_rows_functions(of, &rows);
        uint64_t n_samples = UINT64_MAX;

        for (int i = 0; i < n; i++)
                if (is_text(rows[i].label.name, name))
                        n_samples = rows[i].n_samples;
        ck_assert_msg(n_samples == n_wanted, "%s: %" PRIu64, name, n_samples);
        free(rows);
}

static void check_wait(const struct live_rows *of, const char *name)
{
        struct live_thread_row *threads;
        struct live_wait_row *waits;

        ck_assert_int_eq(live_rows_waits(of, &waits), 1);
        ck_assert(is_text(waits[0].where.name, name));
        ck_assert_int_eq(live_rows_threads(of, &threads), 1);
        ck_assert(is_text(threads[0].where.name, name));
        free(waits);
        free(threads);
}

/* Native code counts for the Python function that called it, if most samples are below one. */
START_TEST(test_python_functions)
{
        struct live_rows of;

        add_python(2);
        of = rows_of(true);
        check_function(&of, "build", 3);
        check_function(&of, "run", 0);
        check_function(&of, "spin", 2);
        check_function(&of, "copy", UINT64_MAX);
        check_function(&of, "sort", UINT64_MAX);
        check_wait(&of, "build");
        of.shows_native = true;
        check_function(&of, "build", 0);
        check_function(&of, "copy", 3);
        check_function(&of, "sort", 0);
        check_wait(&of, "copy");
        end();
        begin();
        add_python(3); /* half is not more than half; of the waits all are below Python functions */
        of = rows_of(true);
        check_function(&of, "copy", 3);
        check_wait(&of, "build");
}
END_TEST

/* Time without samples lasts until now, also that of a thread that runs on. */
START_TEST(test_time_of_a_thread_that_runs_on)
{
        trace_builder_begin_run(&l.b, l.thread);
        trace_builder_event(&l.b, START_NS, TRACE_OP_SWITCH_IN);
        trace_builder_end_run(&l.b);
        arrive();
        live_stats_advance(&l.stats, START_NS + 3 * NS_PER_S);
        ck_assert_uint_eq(live_stats_unsampled(&l.stats).on_cpu_ns, 3 * NS_PER_S);
        ck_assert_uint_eq(live_stats_unsampled(&l.stats).unseen_ns, 3 * NS_PER_S);
}
END_TEST

/* The switch after its exit may never be reported. */
START_TEST(test_a_thread_that_has_ended_runs_no_more)
{
        struct live_thread_row *threads;
        struct live_rows of;

        trace_builder_begin_run(&l.b, l.thread);
        trace_builder_event(&l.b, START_NS, TRACE_OP_SWITCH_IN);
        trace_builder_event(&l.b, START_NS + NS_PER_S, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&l.b);
        arrive();
        for (uint64_t i = 2; i <= 4; i++)
                live_stats_advance(&l.stats, START_NS + i * NS_PER_S);
        for (int all = 0; all <= 1; all++) {
                of = rows_of(all);
                ck_assert_int_eq(live_rows_threads(&of, &threads), 1);
                ck_assert_int_eq(threads[0].state, LIVE_THREAD_ENDED);
                /* It ended before any mark of the window. */
                ck_assert_double_eq_tol(threads[0].on_cpu, all ? 0.25 : 0, 0.001);
                free(threads);
        }
}
END_TEST

/* More places than there is room for: those that found none are counted. */
START_TEST(test_more_places_than_room)
{
        struct live_zone_row *rows;
        struct live_rows of;
        char name[32];

        for (uint32_t i = 0; i < LIVE_ZONES_MAX + 5; i++) {
                (void)snprintf(name, sizeof(name), "zone %u", i);
                add_zone(START_NS + i * 10, 5, trace_builder_location(&l.b, name));
        }
        arrive();
        of = rows_of(false);
        ck_assert_int_eq(live_rows_zones(&of, &rows), LIVE_ZONES_MAX);
        ck_assert_uint_eq(live_stats_tally(&l.stats, false).n_zones_beside, 5);
        free(rows);
}
END_TEST

START_TEST(test_more_keys_than_room)
{
        struct live_window w = { .slots = { { .second = 0 } } };
        struct live_cell *cells;
        struct live_sum others;

        for (uint64_t i = 1; i <= LIVE_KEYS_MAX + 7; i++)
                ck_assert_int_eq(live_window_add(&w, START_NS, i, 2), 0);
        ck_assert_int_eq(live_window_collect(&w, START_NS, false, &cells, &others), LIVE_KEYS_MAX);
        ck_assert_uint_eq(others.n, 7);
        ck_assert_uint_eq(others.sum, 14);
        free(cells);
        /* ten seconds later the slot is another second's */
        ck_assert_int_eq(live_window_add(&w, START_NS + LIVE_SLOTS * LIVE_SLOT_NS, 1, 3), 0);
        ck_assert_int_eq(
                live_window_collect(&w, START_NS + LIVE_SLOTS * LIVE_SLOT_NS, false, &cells, &others), 1);
        ck_assert_uint_eq(cells[0].sum.sum, 3);
        free(cells);
        live_window_deinit(&w);
}
END_TEST

/* Those of one place, of the window or of all time, by powers of two. */
START_TEST(test_histogram)
{
        static const uint64_t lengths_ns[] = { 0, 1, 2, 3, 4, 1023, 1024, 2047, NS_PER_MS, NS_PER_MS };
        static const struct {
                size_t bucket;
                uint64_t n_recent, n_all;
        } wanted[] = {
                { 0, 2, 3 }, { 1, 2, 4 }, { 2, 1, 2 }, { 9, 1, 2 }, { 10, 2, 4 }, { 19, 2, 4 }, { 29, 0, 1 },
        };
        uint32_t work, other;

        work = trace_builder_location(&l.b, "work");
        other = trace_builder_location(&l.b, "other");
        add_zone(START_NS, NS_PER_S, work); /* too long ago at the end, as the next ones */
        for (uint64_t i = 1; i < 10; i++)
                add_zone(START_NS + NS_PER_S + i * NS_PER_MS, lengths_ns[i], work);
        for (uint64_t i = 0; i < 10; i++)
                add_zone(START_NS + (13 + i / 5) * NS_PER_S + i * 10 * NS_PER_MS, lengths_ns[i], work);
        add_zone(START_NS + 15 * NS_PER_S, 5 * NS_PER_MS, other);
        arrive();
        for (int all = 0; all <= 1; all++) {
                struct live_rows of = rows_of(all);
                uint64_t counts[64], n = 0;

                memset(counts, 0xff, sizeof(counts));
                live_rows_histogram(&of, work, counts);
                for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
                        ck_assert_uint_eq(counts[wanted[i].bucket],
                                          all ? wanted[i].n_all : wanted[i].n_recent);
                for (size_t i = 0; i < 64; i++)
                        n += counts[i];
                ck_assert_uint_eq(n, all ? 20 : 10);
                live_rows_histogram(&of, other, counts);
                ck_assert_uint_eq(counts[22], 1);
                ck_assert_uint_eq(counts[19], 0);
        }
}
END_TEST

UNIT_TEST_PLAN(.setup = begin, .teardown = end);
