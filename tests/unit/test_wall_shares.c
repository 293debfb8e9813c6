/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/wall_shares.c, past_sweep.c, callstack_sums_add_wall(): a moment is divided by the threads
 * that ran or could run, and without any of them it belongs to what the first thread waits for
 */
#include "analyze/cores/wall_shares.h"
#include "base/error.h"
#include "export/shared/callstack_sums.h"
#include "format/trace_dictionary.h"
#include "tests/unit/thread_scene.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <math.h>

static struct thread_scene s;
static struct wall_shares shares;
static bool is_taken;

static void teardown(void)
{
        if (is_taken)
                wall_shares_deinit(&shares);
        thread_scene_deinit(&s);
}

UNIT_TEST_PLAN(.teardown = teardown);

static void take(const struct trace_filter_request *request)
{
        const struct wall_shares_request of_shares = { .filter = &s.filter };
        struct error err = ERROR_NONE;
        int r;

        thread_scene_open(&s, request);
        r = wall_shares_take(&shares, &s.trace, &of_shares, &err);
        is_taken = true;
        ck_assert_msg(r == 0, "%s", err.text);
}

/* The row of a function, or of a kind; all zero if there is none. */
static struct wall_row row_of(enum wall_row_kind kind, const char *function)
{
        const struct function_table *functions = &shares.sweep.names.places.functions;

        for (uint32_t i = 0; i < shares.n_rows; i++) {
                const struct wall_row_key *key = wall_shares_key(&shares, shares.order[i]);

                if (key->kind != kind)
                        continue;
                if (!function ||
                    text_view_is(trace_dictionary_text(s.trace.dictionary,
                                                       function_table_get(functions, key->label)->name),
                                 function))
                        return shares.rows[shares.order[i] - 1];
        }
        return (struct wall_row){ .share = 0 };
}

static void expect_share(enum wall_row_kind kind, const char *function, double share, double tolerance)
{
        double found = row_of(kind, function).share;

        ck_assert_msg(fabs(found - share) <= tolerance, "%s: %f instead of %f",
                      function ? function : "without a function", found, share);
}

static void expect_whole(void)
{
        double sum = 0;

        for (uint32_t i = 0; i < shares.n_rows; i++)
                sum += shares.rows[shares.order[i] - 1].share;
        ck_assert_double_eq_tol(sum, 1, 1e-9);
}

/* main runs serial() for 6 of 10 ms alone, then both run bar(). */
static void build_serial(unsigned n_frames)
{
        uint32_t one, two, serial, bar;

        thread_scene_init(&s, "2", 10 * n_frames);
        serial = thread_scene_function(&s, "serial");
        bar = thread_scene_function(&s, "bar");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < n_frames; i++) {
                thread_scene_work(&s, i * 10, i * 10 + 6, serial);
                thread_scene_work(&s, i * 10 + 6, i * 10 + 10, bar);
        }
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < n_frames; i++) {
                thread_scene_wait(&s, i * 10, s.queue, i * 10 + 6, one);
                thread_scene_work(&s, i * 10 + 6, i * 10 + 10, bar);
        }
        thread_scene_end(&s);
}

START_TEST(test_alone_and_two_at_a_time)
{
        struct wall_row serial, bar;

        build_serial(100);
        take(NULL);
        ck_assert_uint_eq(shares.wall_ns, 1000 * THREAD_SCENE_MS);
        ck_assert_uint_eq(shares.none_ns, 0);
        expect_share(WALL_ROW_FUNCTION, "serial", 0.6, 1e-9);
        expect_share(WALL_ROW_FUNCTION, "bar", 0.4, 1e-9);
        expect_whole();
        serial = row_of(WALL_ROW_FUNCTION, "serial");
        bar = row_of(WALL_ROW_FUNCTION, "bar");
        ck_assert_double_eq_tol(wall_row_parallelism(&serial), 1, 1e-9);
        ck_assert_double_eq_tol(wall_row_parallelism(&bar), 2, 1e-9);
        ck_assert_double_eq_tol(serial.weight / shares.weight, 6.0 / 14, 1e-9);
        ck_assert_uint_eq(bar.n_samples, 800);
        ck_assert_uint_eq(shares.order[0], 1);
}
END_TEST

/* A thread that another program keeps from its CPU is parallel all the same. */
START_TEST(test_preempted_threads_count)
{
        uint32_t one, two, left, right;

        thread_scene_init(&s, "2", 100);
        left = thread_scene_function(&s, "left");
        right = thread_scene_function(&s, "right");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 100, left);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 50, right);
        thread_scene_preempt(&s, 50);
        thread_scene_in(&s, 100);
        thread_scene_end(&s);
        take(NULL);
        expect_share(WALL_ROW_FUNCTION, "left", 100.0 / 150, 1e-9);
        expect_share(WALL_ROW_FUNCTION, "right", 50.0 / 150, 1e-9);
        expect_whole();
}
END_TEST

/* Time in which some could run and none did is spread over the rows, and known. */
START_TEST(test_ready_and_none_runs)
{
        uint32_t one, work;

        thread_scene_init(&s, "1", 100);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 40, work);
        thread_scene_preempt(&s, 40);
        thread_scene_in(&s, 100);
        thread_scene_end(&s);
        take(NULL);
        ck_assert_uint_eq(shares.ready_ns, 60 * THREAD_SCENE_MS);
        ck_assert_uint_eq(shares.none_ns, 0);
        expect_share(WALL_ROW_FUNCTION, "work", 1, 1e-9);
}
END_TEST

/* The kernel's thread ends the wait, for an interrupt of no device that hyprof knows. */
START_TEST(test_another_interrupt)
{
        uint32_t one, softirqs, work;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        softirqs = trace_builder_string(&s.b, "ksoftirqd/0");
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 200, work);
        thread_scene_out(&s, 200, s.none);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + 800 * THREAD_SCENE_MS, WAKEUP, 0, 0, softirqs);
        thread_scene_in(&s, 800);
        thread_scene_work(&s, 800, 1000, work);
        thread_scene_end(&s);
        take(NULL);
        expect_share(WALL_ROW_INTERRUPT, NULL, 0.6, 1e-3);
        expect_share(WALL_ROW_UNKNOWN, NULL, 0, 0);
        expect_whole();
}
END_TEST

/* main waits for the worker, which waits for the disk: no thread runs because of the disk. */
START_TEST(test_no_thread_runs)
{
        uint32_t one, two, work;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 200, work);
        thread_scene_wait(&s, 200, s.queue, 800, two); /* for 300 ms nothing runs: the worker's disk */
        thread_scene_wait(&s, 800, s.timer, 900, 0);
        thread_scene_work(&s, 900, 1000, work);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 200, one);
        thread_scene_work(&s, 200, 500, work);
        thread_scene_wait(&s, 500, s.disk, 800, 0);
        thread_scene_out(&s, 800, s.network); /* to the end: it has no say */
        thread_scene_end(&s);
        take(NULL);
        ck_assert_uint_eq(shares.none_ns, 400 * THREAD_SCENE_MS);
        expect_share(WALL_ROW_DISK, NULL, 0.3, 1e-3);
        expect_share(WALL_ROW_TIMER, NULL, 0.1, 1e-3);
        expect_share(WALL_ROW_FUNCTION, "work", 0.6, 1e-9);
        expect_share(WALL_ROW_NETWORK, NULL, 0, 0);
        expect_whole();
}
END_TEST

/* One thread, or equal ones all along: one row, whatever the number of threads. */
START_LOOP_TEST(test_nothing_to_find, 1, 5)
{
        uint32_t work;

        thread_scene_init(&s, "4", 300);
        work = thread_scene_function(&s, "work");
        for (int i = 0; i < _i; i++) {
                thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
                thread_scene_in(&s, 0);
                thread_scene_work(&s, 0, 300, work);
                thread_scene_end(&s);
        }
        take(NULL);
        ck_assert_uint_eq(shares.n_rows, 1);
        expect_share(WALL_ROW_FUNCTION, "work", 1, 1e-9);
        ck_assert_double_eq_tol(wall_row_parallelism(&shares.rows[0]), _i, 1e-9);
}
END_TEST

/* A zone of a fiber, from 10 to 90 ms; the worker runs the fiber from 20 to 40 ms, then something else. */
START_TEST(test_zone_of_a_fiber)
{
        const struct trace_filter_request request = { .zone = "request" };
        uint32_t worker, fiber, working, flushing;

        thread_scene_init(&s, "2", 100);
        working = thread_scene_function(&s, "work");
        flushing = thread_scene_function(&s, "flush");
        worker = thread_scene_thread(&s, "w", 0);
        fiber = trace_builder_fiber(&s.b, 100, 1);
        thread_scene_begin(&s, worker);
        thread_scene_in(&s, 0);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + 20 * THREAD_SCENE_MS, FIBER_ENTER, fiber);
        thread_scene_work(&s, 20, 40, working);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + 40 * THREAD_SCENE_MS, FIBER_LEAVE, 0);
        thread_scene_work(&s, 40, 100, flushing);
        thread_scene_end(&s);
        thread_scene_begin(&s, fiber);
        trace_builder_begin_zone(&s.b, THREAD_SCENE_START_NS + 10 * THREAD_SCENE_MS,
                                 trace_builder_location(&s.b, "request"));
        trace_builder_event(&s.b, THREAD_SCENE_START_NS + 90 * THREAD_SCENE_MS, TRACE_OP_ZONE_END);
        thread_scene_end(&s);
        take(&request);
        ck_assert_uint_eq(shares.wall_ns, 80 * THREAD_SCENE_MS);
        expect_share(WALL_ROW_FUNCTION, "work", 20.0 / 70, 1e-9); /* samples begin at 20 ms */
        ck_assert_uint_eq(row_of(WALL_ROW_FUNCTION, "flush").n_samples, 0);
        expect_share(WALL_ROW_ELSEWHERE, NULL, 50.0 / 70, 1e-9);
        expect_whole();
}
END_TEST

/* Only while the zone is open, and only its threads by name; the rest of that time is one row. */
START_TEST(test_zone)
{
        const struct trace_filter_request request = { .zone = "frame" };
        uint32_t one, two, work, help, frame;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        help = thread_scene_function(&s, "help");
        frame = trace_builder_location(&s.b, "frame");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 500, work);
        trace_builder_begin_zone(&s.b, THREAD_SCENE_START_NS + 500 * THREAD_SCENE_MS, frame);
        thread_scene_work(&s, 500, 700, work);
        thread_scene_wait(&s, 700, s.queue, 800, two);
        trace_builder_event(&s.b, THREAD_SCENE_START_NS + 900 * THREAD_SCENE_MS, TRACE_OP_ZONE_END);
        thread_scene_work(&s, 900, 1000, work);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 800, help);
        thread_scene_out(&s, 800, s.queue);
        thread_scene_end(&s);
        take(&request);
        ck_assert_uint_eq(shares.wall_ns, 400 * THREAD_SCENE_MS);
        /* 200 ms of both, 100 of the other alone; the last 100 ms have no samples */
        expect_share(WALL_ROW_FUNCTION, "work", 1.0 / 3, 1e-9);
        expect_share(WALL_ROW_ELSEWHERE, NULL, 2.0 / 3, 1e-9);
        expect_share(WALL_ROW_FUNCTION, "help", 0, 0);
        expect_whole();
}
END_TEST

START_TEST(test_range_and_thread)
{
        const struct trace_filter_request request = { .from_ns = 300 * THREAD_SCENE_MS,
                                                      .to_ns = 610 * THREAD_SCENE_MS,
                                                      .has_from = true,
                                                      .has_to = true,
                                                      .thread = "w" };

        build_serial(100);
        take(&request);
        ck_assert_uint_eq(shares.wall_ns, 310 * THREAD_SCENE_MS);
        expect_share(WALL_ROW_FUNCTION, "bar", 0.2, 1e-9);
        expect_share(WALL_ROW_ELSEWHERE, NULL, 0.8, 1e-9);
        ck_assert_uint_eq(shares.n_samples, 31 * 14);
}
END_TEST

/* A thread counts from its birth to its end; before that there is no wall time either. */
START_TEST(test_birth_and_end)
{
        uint32_t one, two, work, help;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        help = thread_scene_function(&s, "help");
        one = thread_scene_thread(&s, "main", 200);
        two = thread_scene_thread(&s, "w", 400);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 200);
        thread_scene_work(&s, 200, 800, work);
        thread_scene_exit(&s, 800);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 500); /* born 100 ms before: ready since then */
        thread_scene_work(&s, 500, 600, help);
        thread_scene_exit(&s, 600);
        thread_scene_end(&s);
        take(NULL);
        ck_assert_uint_eq(shares.wall_ns, 600 * THREAD_SCENE_MS);
        ck_assert_uint_eq(shares.none_ns, 0);
        expect_share(WALL_ROW_FUNCTION, "help", 50.0 / (50 + 200 + 50 + 50 + 200), 1e-9);
        expect_whole();
}
END_TEST

/* A thread of which nothing is known yet does not count: it slept since before the recording. */
START_TEST(test_sleepers_from_before)
{
        uint32_t one, two, work;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "sleeper", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, work);
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 900);
        thread_scene_out(&s, 1000, s.queue);
        thread_scene_end(&s);
        take(NULL);
        ck_assert_double_eq_tol(row_of(WALL_ROW_FUNCTION, "work").n_times / shares.weight, 1.1, 1e-9);
}
END_TEST

START_TEST(test_without_switches_or_samples)
{
        uint32_t one;

        thread_scene_init(&s, "2", 100);
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        thread_scene_work(&s, 0, 50, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        take(NULL);
        ck_assert(!shares.has_switches);
        wall_shares_deinit(&shares);
        thread_scene_deinit(&s);

        thread_scene_init(&s, "2", 100);
        one = thread_scene_thread(&s, "main", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 50, s.timer, 75, 0);
        thread_scene_end(&s);
        take(NULL);
        ck_assert(shares.has_switches);
        expect_share(WALL_ROW_UNSAMPLED, NULL, 0.75, 1e-9);
        expect_share(WALL_ROW_TIMER, NULL, 0.25, 1e-9);
        expect_whole();
}
END_TEST

/* The same by call stack and thread, for exports: 100 frames of 6 ms alone and 4 ms on two threads. */
START_TEST(test_call_stacks)
{
        struct export_options options = { .filter = &s.filter };
        struct callstack_sums sums;
        struct error err = ERROR_NONE;
        uint64_t alone_ns = 0, all_ns = 0;

        build_serial(100);
        thread_scene_open(&s, NULL);
        options.event = s.event;
        ck_assert_msg(callstack_sums_read(&sums, &s.trace, &options, &err) == 0, "%s", err.text);
        ck_assert_msg(callstack_sums_add_wall(&sums, &s.trace, &err) == 0, "%s", err.text);
        for (uint32_t id = 1; id <= callstack_sums_count(&sums); id++) {
                const uint64_t *values = sums.sums[id - 1].values;

                all_ns += values[CALLSTACK_WALL_NS];
                if (values[CALLSTACK_SAMPLES] == 600)
                        alone_ns += values[CALLSTACK_WALL_NS];
                else if (values[CALLSTACK_SAMPLES] != 0)
                        ck_assert_uint_eq(values[CALLSTACK_WALL_NS], 200 * THREAD_SCENE_MS);
        }
        ck_assert_uint_eq(alone_ns, 600 * THREAD_SCENE_MS);
        ck_assert_uint_eq(all_ns, 1000 * THREAD_SCENE_MS);
        callstack_sums_deinit(&sums);
}
END_TEST

START_TEST(test_call_stacks_without_switches)
{
        struct export_options options = { .filter = &s.filter };
        struct callstack_sums sums;
        struct error err = ERROR_NONE;

        thread_scene_init(&s, "2", 100);
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_work(&s, 0, 50, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        thread_scene_open(&s, NULL);
        options.event = s.event;
        ck_assert_int_eq(callstack_sums_read(&sums, &s.trace, &options, &err), 0);
        ck_assert_int_eq(callstack_sums_add_wall(&sums, &s.trace, &err), -ENODATA);
        callstack_sums_deinit(&sums);
}
END_TEST
