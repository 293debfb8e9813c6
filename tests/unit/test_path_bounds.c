/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_walk.c: long chains, circles and many segments cost what the bounds allow, and the
 * segments are a partition all the same
 */
#include "analyze/path/past.h"
#include "analyze/path/path_walk.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static uint32_t m, a, b;     /* threads */
static uint32_t here, there; /* stacks in which a thread waits */

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("m", 0);
        a = path_lab_thread("a", 1);
        b = path_lab_thread("b", 2);
        here = path_lab_kernel(path_lab_function("wait_here"), "futex_wait");
        there = path_lab_kernel(path_lab_function("wait_there"), "futex_wait");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

/* Each of many threads was woken by the next one: the path goes on, the chain names the first of them. */
START_TEST(test_long_chain)
{
        uint32_t threads[PATH_WALK_DEPTH_MAX + 10], n = PATH_WALK_DEPTH_MAX + 10;

        for (uint32_t i = 0; i < n; i++)
                threads[i] = path_lab_thread("t", 4);
        path_lab_wait(m, 1100, 1900, 1900, threads[0], here);
        for (uint32_t i = 0; i + 1 < n; i++)
                path_lab_wait(threads[i], 1000, 1890 - i, 1890 - i, threads[i + 1], here);
        (void)path_lab_walk(m, 1000, 2000);
        ck_assert_ptr_null(strstr(path_lab.text, "cut"));
        ck_assert_uint_eq(path_lab.walk.chains.n_items, PATH_WALK_DEPTH_MAX);
        ck_assert_uint_gt(path_lab.walk.n_chains_cut, 0);
}
END_TEST

/* Threads that wake each other in turns are one short chain. */
START_TEST(test_turns)
{
        path_lab_wait(a, 1000, 1100, 1100, b, there);
        path_lab_wait(b, 1110, 1200, 1200, a, there);
        path_lab_wait(a, 1210, 1300, 1300, b, there);
        path_lab_wait(b, 1310, 1400, 1400, a, there);
        path_lab_wait(m, 900, 1500, 1500, b, here);
        ck_assert_str_eq(path_lab_walk(m, 800, 1600),
                         "800-900 m run, 900-1100 .b run, 1100-1200 ..a run, 1200-1300 .b run, "
                         "1300-1400 ..a run, 1400-1500 .b run, 1500-1600 m run");
        ck_assert_uint_eq(path_lab.walk.chains.n_items, 2);
}
END_TEST

/* By its switches a was away when it woke m: what it waited for then is not followed. */
START_TEST(test_circle_of_two)
{
        path_lab_wait(m, 1200, 1500, 1500, a, here);
        path_lab_wait(a, 1000, 1600, 1600, m, there);
        ck_assert_str_eq(path_lab_walk(m, 900, 1700), "900-1200 m run, 1200-1500 .a thread, 1500-1700 m run");
}
END_TEST

/* Three that were woken later than they woke another: they wait for each other, which leads nowhere. */
START_TEST(test_circle_of_three)
{
        path_lab_wait(m, 1200, 1500, 1500, a, here);
        path_lab_wait(a, 1000, 1500, 1500, b, there);
        path_lab_wait(b, 1000, 1500, 1500, m, there);
        (void)path_lab_walk(m, 900, 1700);
        ck_assert_uint_lt(path_lab.walk.n_steps, 10 * PATH_WALK_LEVELS_MAX);
        ck_assert_uint_eq(path_lab.walk.n_too_deep, 1);
}
END_TEST

/* Holders of locks that wait for locks, each after another holder. */
START_TEST(test_levels_are_bounded)
{
        uint32_t holders[PATH_WALK_LEVELS_MAX + 10], n = PATH_WALK_LEVELS_MAX + 10;

        holders[0] = m;
        for (uint32_t i = 1; i < n; i++)
                holders[i] = path_lab_thread("t", 4);
        for (uint32_t i = 0; i + 1 < n; i++) {
                uint32_t lock = path_lab_lock("lock");
                uint64_t out = 1100 + 10 * i;

                PATH_LAB_EVENT(a, 900, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(a, out + 5, LOCK_RELEASE, lock);
                PATH_LAB_EVENT(holders[i + 1], out + 5, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(holders[i], out - 2, LOCK_WAIT, lock);
                path_lab_wait(holders[i], out, 1900, 1900, 0, here);
                PATH_LAB_EVENT(holders[i], 1900, LOCK_OBTAIN, lock);
        }
        (void)path_lab_walk(m, 1000, 2000);
        ck_assert_uint_eq(path_lab.walk.n_too_deep, 1);
}
END_TEST

START_TEST(test_steps_are_bounded)
{
        for (uint64_t i = 0; i < 1000; i++)
                path_lab_wait(m, 1000 + 20 * i, 1010 + 20 * i, 1010 + 20 * i, 0, 0);
        (void)path_lab_walk(m, 0, 30000);
        ck_assert_uint_eq(path_lab.n_segments, 2001);
        path_lab.walk.n_segments_max = 100;
        (void)path_lab_walk(m, 0, 30000);
        ck_assert_uint_ge(path_lab.n_segments, 100);
        ck_assert_uint_le(path_lab.n_segments, 2 * 100 + 1);
        ck_assert_uint_eq(path_lab.walk.n_too_many, 1);
        ck_assert_ptr_nonnull(strstr(path_lab.text, " m cut, "));
}
END_TEST

/* Many holders in one wait, many fibers in one run. */
START_TEST(test_steps_of_one_wait_are_bounded)
{
        uint32_t lock = path_lab_lock("lock"), f = path_lab_fiber("f");

        PATH_LAB_EVENT(m, 900, LOCK_WAIT, lock);
        for (uint64_t i = 0; i < 1000; i++) {
                PATH_LAB_EVENT(a, 1000 + 20 * i, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(a, 1010 + 20 * i, LOCK_RELEASE, lock);
                PATH_LAB_EVENT(b, 1000 + 20 * i, FIBER_ENTER, f);
                PATH_LAB_EVENT(b, 1010 + 20 * i, FIBER_LEAVE, 0);
        }
        path_lab_wait(m, 990, 29000, 29000, 0, 0);
        (void)path_lab_walk(m, 0, 30000);
        ck_assert_uint_gt(path_lab.n_segments, 2000);
        (void)path_lab_walk(b, 0, 30000);
        ck_assert_uint_gt(path_lab.n_segments, 2000);
        path_lab.walk.n_segments_max = 100;
        (void)path_lab_walk(m, 0, 30000);
        ck_assert_uint_le(path_lab.n_segments, 2 * 100 + 1);
        ck_assert_uint_ge(path_lab.walk.n_too_many, 1);
        (void)path_lab_walk(b, 0, 30000);
        ck_assert_uint_le(path_lab.n_segments, 2 * 100 + 1);
}
END_TEST

START_TEST(test_forgotten)
{
        path_lab_wait(m, 1200, 1500, 1500, a, here);
        path_lab_wait(m, 2200, 2500, 2500, a, here);
        path_lab_load();
        path_lab.past.trimmed_bytes = 0;
        path_lab.past.used_bytes = PAST_BYTES_MAX + 1;
        past_forget(&path_lab.past, 2000);
        ck_assert_str_eq(path_lab_walk(m, 1000, 3000),
                         "1000-2000 m cut, 2000-2200 m run, 2200-2500 .a run, 2500-3000 m run");
        ck_assert_uint_eq(path_lab.walk.n_too_old, 1);
        ck_assert_uint_eq(path_lab.walk.n_too_many, 0);
        /* nothing to walk */
        ck_assert_str_eq(path_lab_walk(m, 1000, 1000), "");
        ck_assert_int_eq(path_walk_run(&path_lab.walk, 0, 1000, 2000), 0);
        ck_assert_int_eq(path_walk_run(&path_lab.walk, 1000, 1000, 2000), 0);
        ck_assert_int_eq(path_walk_run(&path_lab.walk, m, 2000, 1000), 0);
        ck_assert_uint_eq(path_lab.n_segments, 0);
}
END_TEST
