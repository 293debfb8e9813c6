/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_walk.c: each moment of a thread's time is on the path once, where the rules say
 */
#include "analyze/path/past.h"
#include "analyze/path/path_chains.h"
#include "analyze/path/path_walk.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

static uint32_t m, a, b, c;  /* threads */
static uint32_t here, there; /* stacks in which a thread waits */

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("m", 0);
        a = path_lab_thread("a", 1);
        b = path_lab_thread("b", 2);
        c = path_lab_thread("c", 3);
        here = path_lab_kernel(path_lab_function("wait_here"), "futex_wait");
        there = path_lab_kernel(path_lab_function("wait_there"), "futex_wait");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

START_TEST(test_runs_all_the_time)
{
        path_lab_samples(m, 1000, 2000, 100, 0);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000), "1000-2000 m run");
}
END_TEST

START_TEST(test_waits_for_its_waker)
{
        path_lab_wait(m, 1200, 1500, 1510, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1200 m run, 1200-1500 .a run, 1500-1510 m ready, 1510-2000 m run");
        /* any part of the time is a part of the same path */
        ck_assert_str_eq(path_lab_walk(m, 1300, 1505), "1300-1500 .a run, 1500-1505 m ready");
        ck_assert_str_eq(path_lab_walk(m, 1505, 1508), "1505-1508 m ready");
        ck_assert_str_eq(path_lab_walk(m, 1200, 1400), "1200-1400 .a run");
        ck_assert_str_eq(path_lab_walk(m, 1510, 1511), "1510-1511 m run");
}
END_TEST

START_TEST(test_preempted)
{
        path_lab_preempt(m, 1200, 1500);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1200 m run, 1200-1500 m preempted, 1500-2000 m run");
}
END_TEST

/* The time between the wake-up and the CPU is neither the thread's nor its waker's. */
START_TEST(test_ready_is_no_wait)
{
        path_lab_wait(a, 1100, 1300, 1400, b, there);
        path_lab_wait(m, 1200, 1500, 1800, a, here);
        ck_assert_str_eq(
                path_lab_walk(m, 1000, 2000),
                "1000-1200 m run, 1200-1300 ..b run, 1300-1400 .a ready, 1400-1500 .a run, 1500-1800 m ready, "
                "1800-2000 m run");
}
END_TEST

/* The last waker counts: what it did before it waited itself overlapped with that, and is no cause. */
START_TEST(test_stays_on_the_last_waker)
{
        path_lab_wait(a, 1300, 1600, 1600, b, there);
        path_lab_wait(m, 1100, 1800, 1800, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1100 m run, 1100-1600 ..b run, 1600-1800 .a run, 1800-2000 m run");
}
END_TEST

/* The first thread's own work before its wait is on the path, unless it is asked to be left out. */
START_TEST(test_strict)
{
        path_lab_wait(m, 1500, 1800, 1800, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000), "1000-1500 m run, 1500-1800 .a run, 1800-2000 m run");
        path_lab.walk.is_strict = true;
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000), "1000-1800 .a run, 1800-2000 m run");
}
END_TEST

/* A chain is followed no further back than to where the first wait began. */
START_TEST(test_clipped_to_the_wait)
{
        path_lab_wait(b, 500, 1250, 1250, c, there);
        path_lab_wait(a, 700, 1300, 1300, b, there);
        path_lab_wait(m, 1200, 1500, 1500, a, here);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 2000),
                "0-1200 m run, 1200-1250 ...c run, 1250-1300 ..b run, 1300-1500 .a run, 1500-2000 m run");
}
END_TEST

/* Three threads come to a barrier, the last one wakes the others. */
START_TEST(test_barrier)
{
        path_lab_wait(m, 1200, 1700, 1700, b, here);
        path_lab_wait(a, 1400, 1700, 1710, b, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 1800), "1000-1200 m run, 1200-1700 .b run, 1700-1800 m run");
        ck_assert_str_eq(path_lab_walk(a, 1000, 1800),
                         "1000-1400 a run, 1400-1700 .b run, 1700-1710 a ready, 1710-1800 a run");
        ck_assert_str_eq(path_lab_walk(b, 1000, 1800), "1000-1800 b run");
}
END_TEST

/* ------------------------------------------------------------------ late */

/* m waits for a from 1500 to 1900; what a lost before that, more than m, it makes up for in the wait. */
START_TEST(test_late)
{
        path_lab_preempt(a, 1100, 1300);
        path_lab_wait(m, 1500, 1900, 1900, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1500 m run, 1500-1700 .a late, 1700-1900 .a run, 1900-2000 m run");
        /* no loss before the time that is asked for */
        ck_assert_str_eq(path_lab_walk(m, 1250, 2000),
                         "1250-1500 m run, 1500-1550 .a late, 1550-1900 .a run, 1900-2000 m run");
}
END_TEST

START_TEST(test_both_were_late)
{
        path_lab_preempt(a, 1100, 1300);
        path_lab_preempt(m, 1200, 1350);
        path_lab_wait(m, 1500, 1900, 1900, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1200 m run, 1200-1350 m preempted, 1350-1500 m run, 1500-1550 .a late, "
                         "1550-1900 .a run, 1900-2000 m run");
}
END_TEST

/* It is late by what it runs, and not by the time; a wait of its own ends that. */
START_TEST(test_late_and_preempted_again)
{
        path_lab_preempt(a, 1100, 1300);
        path_lab_preempt(a, 1550, 1600);
        path_lab_wait(a, 1650, 1700, 1700, b, there);
        path_lab_wait(m, 1500, 1900, 1900, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1500 m run, 1500-1700 ..b run, 1700-1900 .a run, 1900-2000 m run");
        ck_assert_str_eq(path_lab_walk(m, 1000, 1640),
                         "1000-1500 m run, 1500-1550 .a late, 1550-1600 .a preempted, 1600-1640 .a late");
}
END_TEST

/* It did not make a late what its CPU did before it had work, nor what a thread of its process did. */
START_TEST(test_not_late)
{
        uint32_t own = path_lab_thread("own", 1);

        path_lab_preempt(a, 1050, 1100);
        path_lab_wait(a, 1150, 1200, 1250, m, there);
        path_lab_wait(m, 1500, 1900, 1900, a, here);
        path_lab_out(own, 900, 0);
        path_lab_in(own, 1420);
        path_lab_out(own, 1450, 0);
        path_lab_preempt(a, 1420, 1450);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1500 m run, 1500-1550 .a late, 1550-1900 .a run, 1900-2000 m run");
}
END_TEST

/* ------------------------------------------------------------------ joins */

/* Waits for three results in one place: what ended the last one counts for the whole time. */
static void add_join(uint32_t second)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_wait(m, 201000, 300000, 300000, b, second);
        path_lab_wait(m, 301000, 900000, 900000, c, here);
}

START_TEST(test_join)
{
        add_join(here);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-900000 .c run, 900000-1000000 m run");
        /* as far as it lies in the window */
        ck_assert_str_eq(path_lab_walk(m, 250000, 1000000), "250000-900000 .c run, 900000-1000000 m run");
        ck_assert_str_eq(path_lab_walk(m, 200500, 1000000),
                         "200500-201000 m run, 201000-900000 .c run, 900000-1000000 m run");
}
END_TEST

START_TEST(test_join_of_unknown_places)
{
        add_join(0);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-900000 .c run, 900000-1000000 m run");
}
END_TEST

START_TEST(test_no_join_in_another_place)
{
        add_join(there);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-200000 .a run, 200000-201000 m run, 201000-300000 .b run, "
                         "300000-301000 m run, 301000-900000 .c run, 900000-1000000 m run");
}
END_TEST

/* Who woke a thread in between asked it for something: the next wait is for that. */
START_TEST(test_no_join_where_it_woke_another)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_wait(m, 201000, 900000, 900000, c, here);
        path_lab_wait(b, 150000, 200500, 200600, m, there);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-200000 .a run, 200000-201000 m run, 201000-900000 .c run, "
                         "900000-1000000 m run");
}
END_TEST

/* At other times it may. */
START_TEST(test_join_where_it_woke_another_before)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_wait(m, 201000, 900000, 900000, c, here);
        path_lab_wait(b, 50000, 99000, 99000, m, there);
        path_lab_wait(b, 150000, 900100, 900100, m, there);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-900000 .c run, 900000-1000000 m run");
}
END_TEST

START_TEST(test_join_where_it_hardly_ran)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_wait(m, 400000, 900000, 900000, c, here); /* 200 us are no more than a look */
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-900000 .c run, 900000-1000000 m run");
}
END_TEST

START_TEST(test_no_join_where_it_ran_longer)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_wait(m, 400001, 900000, 900000, c, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-200000 .a run, 200000-400001 m run, 400001-900000 .c run, "
                         "900000-1000000 m run");
}
END_TEST

/* A preemption in between is no wait, and no work either. */
START_TEST(test_join_over_a_preemption)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_preempt(m, 250000, 700000);
        path_lab_wait(m, 800000, 900000, 900000, c, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-900000 .c run, 900000-1000000 m run");
}
END_TEST

/* Nor if both halves of the work between two waits are too much together. */
START_TEST(test_no_join_over_much_work)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_preempt(m, 310000, 700000);
        path_lab_wait(m, 800000, 900000, 900000, c, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-200000 .a run, 200000-310000 m run, "
                         "310000-700000 m preempted, 700000-800000 m run, 800000-900000 .c run, "
                         "900000-1000000 m run");
}
END_TEST

START_TEST(test_no_join_with_sleep)
{
        static const char *const separate = "0-100000 m run, 100000-200000 .a run, 200000-201000 m run, "
                                            "201000-900000 .c run, 900000-1000000 m run";

        PATH_LAB_EVENT(m, 100000, SWITCH_OUT, 0, 0, TRACE_WAIT_UNINTERRUPTIBLE, here, TRACE_STACK_COMPLETE);
        path_lab_wake(m, 200000, a);
        path_lab_in(m, 200000);
        path_lab_wait(m, 201000, 900000, 900000, c, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000), separate);
}
END_TEST

/* A wait without a known end is not joined with those before. */
START_TEST(test_no_join_without_a_waker)
{
        path_lab_wait(m, 100000, 200000, 200000, a, here);
        path_lab_wait(m, 201000, 900000, 900000, 0, here);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-200000 .a run, 200000-201000 m run, 201000-900000 m timer, "
                         "900000-1000000 m run");
}
END_TEST

/* Each wait for a lock has a holder of its own. */
START_LOOP_TEST(test_no_join_of_locks, 0, 2)
{
        uint32_t lock = path_lab_lock("lock"), at = here;

        if (_i == 0) {
                at = path_lab_kernel(path_lab_call(path_lab_function("take"), "pthread_mutex_lock"),
                                     "futex_wait");
        } else {
                PATH_LAB_EVENT(m, 99000, LOCK_WAIT, lock);
                PATH_LAB_EVENT(m, 200000, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(m, 200000, LOCK_RELEASE, lock);
                PATH_LAB_EVENT(m, 200900, LOCK_WAIT, lock);
                PATH_LAB_EVENT(m, 900000, LOCK_OBTAIN, lock);
        }
        path_lab_wait(m, 100000, 200000, 200000, a, at);
        path_lab_wait(m, 201000, 900000, 900000, c, at);
        ck_assert_str_eq(path_lab_walk(m, 0, 1000000),
                         "0-100000 m run, 100000-200000 .a run, 200000-201000 m run, 201000-900000 .c run, "
                         "900000-1000000 m run");
}
END_TEST

#define JOINED ", 1630-2278 .a run, 2278-2280 m run"

START_TEST(test_join_is_bounded)
{
        for (uint64_t i = 0; i < 2 * PATH_WALK_JOIN_MAX; i++)
                path_lab_wait(m, 1000 + 10 * i, 1008 + 10 * i, 1008 + 10 * i, a, here);
        (void)path_lab_walk(m, 0, 1000 + 20 * PATH_WALK_JOIN_MAX);
        /* the last ones are one, then those before, and the rest */
        ck_assert_uint_eq(path_lab.walk.n_joins_cut, 1);
        ck_assert_str_eq(path_lab.text + strlen(path_lab.text) - strlen(JOINED), JOINED);
}
END_TEST

/* A thread that looks each 10 ns whether another one is done waits for that one, however long it takes. */
START_TEST(test_timeouts_of_a_join_are_many)
{
        uint64_t end_ns = 1000 + 10 * 20 * PATH_WALK_JOIN_MAX;

        for (uint64_t t = 1000; t < end_ns; t += 10)
                path_lab_wait(m, t, t + 8, t + 8, 0, here);
        path_lab_wait(m, end_ns, end_ns + 8, end_ns + 8, a, here);
        (void)path_lab_walk(m, 900, end_ns + 10);
        ck_assert_uint_eq(path_lab.walk.n_joins_cut, 0);
        ck_assert_str_eq(path_lab.text, "900-1000 m run, 1000-13808 .a run, 13808-13810 m run");
}
END_TEST

/* ------------------------------------------------------------------ locks */

/* m waits for a lock that a holds, then b; c ends the wait but never had the lock. */
START_TEST(test_holders_in_parts)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 1000, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1400, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(b, 1450, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(b, 1800, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(m, 1200, LOCK_WAIT, lock);
        PATH_LAB_EVENT(m, 1830, LOCK_OBTAIN, lock);
        path_lab_wait(m, 1210, 1820, 1825, c, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1210 m run, 1210-1400 .a run, 1400-1450 m lock, 1450-1800 .b run, "
                         "1800-1820 m lock, 1820-1825 m ready, 1825-2000 m run");
}
END_TEST

/* Who released it wakes the thread a moment later: that is still the holder's. */
START_TEST(test_holder_wakes_after_the_release)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 1000, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1800, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(m, 1200, LOCK_WAIT, lock);
        PATH_LAB_EVENT(m, 1830, LOCK_OBTAIN, lock);
        path_lab_wait(m, 1210, 1820, 1825, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1210 m run, 1210-1820 .a run, 1820-1825 m ready, 1825-2000 m run");
}
END_TEST

/* The waits for it end by timeouts, as those for the GIL do: the holder counts. */
START_TEST(test_lock_by_timeouts)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 1000, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1900, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(m, 1100, LOCK_WAIT, lock);
        for (uint64_t t = 1100; t < 1800; t += 200)
                path_lab_wait(m, t, t + 150, t + 160, 0, here);
        path_lab_wait(m, 1900, 1920, 1920, a, here);
        PATH_LAB_EVENT(m, 1930, LOCK_OBTAIN, lock);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1100 m run, 1100-1250 .a run, 1250-1260 m ready, 1260-1300 m run, "
                         "1300-1450 .a run, 1450-1460 m ready, 1460-1500 m run, 1500-1650 .a run, "
                         "1650-1660 m ready, 1660-1700 m run, 1700-1850 .a run, 1850-1860 m ready, "
                         "1860-1900 m run, 1900-1920 .a run, 1920-2000 m run");
}
END_TEST

/* The lock was free: the waker counts, not who held it at other times. */
START_TEST(test_lock_was_free)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 500, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1100, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(m, 1200, LOCK_WAIT, lock);
        path_lab_wait(m, 1210, 1820, 1825, b, here);
        PATH_LAB_EVENT(m, 1830, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1850, LOCK_OBTAIN, lock);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1210 m run, 1210-1820 .b run, 1820-1825 m ready, 1825-2000 m run");
}
END_TEST

/* Readers before and after it began to wait; the thread that waits to write has read all the time. */
START_TEST(test_readers)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(m, 200, LOCK_OBTAIN, lock, 1);
        PATH_LAB_EVENT(a, 1300, LOCK_OBTAIN, lock, 1);
        PATH_LAB_EVENT(b, 500, LOCK_OBTAIN, lock, 1);
        PATH_LAB_EVENT(b, 600, LOCK_RELEASE, lock, 1);
        PATH_LAB_EVENT(m, 1200, LOCK_WAIT, lock, 0);
        PATH_LAB_EVENT(a, 1500, LOCK_RELEASE, lock, 1);
        path_lab_wait(m, 1210, 1820, 1820, c, here);
        PATH_LAB_EVENT(m, 1830, LOCK_OBTAIN, lock, 0);
        ck_assert_str_eq(
                path_lab_walk(m, 1000, 2000),
                "1000-1210 m run, 1210-1300 m lock, 1300-1500 .a run, 1500-1820 m lock, 1820-2000 m run");
}
END_TEST

/* A thread that has the lock waits for something else. */
START_TEST(test_wait_outside_of_the_lock)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 500, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(m, 1000, LOCK_WAIT, lock);
        PATH_LAB_EVENT(m, 1100, LOCK_OBTAIN, lock);
        path_lab_wait(m, 1210, 1820, 1825, b, here);
        ck_assert_str_eq(path_lab_walk(m, 1150, 2000),
                         "1150-1210 m run, 1210-1820 .b run, 1820-1825 m ready, 1825-2000 m run");
}
END_TEST

/* A waker that waited for a lock: its holder counts back to where the first wait began. */
START_TEST(test_holder_of_a_waker)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(b, 1310, LOCK_OBTAIN, lock); /* told a moment after it has the lock */
        PATH_LAB_EVENT(b, 1600, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(a, 1290, LOCK_WAIT, lock);
        path_lab_wait(a, 1300, 1600, 1600, 0, there);
        PATH_LAB_EVENT(a, 1610, LOCK_OBTAIN, lock);
        path_lab_wait(m, 1100, 1800, 1800, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1100 m run, 1100-1600 ..b run, 1600-1800 .a run, 1800-2000 m run");
}
END_TEST

/* ------------------------------------------------------------------ threads that begin */

START_TEST(test_creator)
{
        uint32_t child = path_lab_new_thread("child", 1, 10, 0, 1400);

        path_lab_in(child, 1450);
        path_lab_wait(a, 1300, 1800, 1800, child, here);
        /* m made it, for m is the first thread of its process */
        ck_assert_str_eq(path_lab_walk(a, 1000, 2000),
                         "1000-1300 a run, 1300-1400 ..m run, 1400-1450 .child preempted, "
                         "1450-1800 .child run, 1800-2000 a run");
}
END_TEST

START_TEST(test_creator_of_a_process)
{
        uint32_t child = path_lab_new_thread("child", 1, 20, 1, 1400);
        uint32_t other = path_lab_new_thread("other", 1, 20, 1, 1500);

        path_lab_in(child, 1450);
        path_lab_in(other, 1550);
        path_lab_wait(a, 1300, 1800, 1800, child, here);
        path_lab_wait(b, 1300, 1800, 1800, other, here);
        ck_assert_str_eq(path_lab_walk(a, 1000, 2000),
                         "1000-1300 a run, 1300-1400 ..m run, 1400-1450 .child preempted, "
                         "1450-1800 .child run, 1800-2000 a run");
        ck_assert_str_eq(path_lab_walk(b, 1000, 2000),
                         "1000-1300 b run, 1300-1400 ...m run, 1400-1450 ..child preempted, "
                         "1450-1500 ..child run, 1500-1550 .other preempted, 1550-1800 .other run, "
                         "1800-2000 b run");
}
END_TEST

START_TEST(test_unknown_creator)
{
        uint32_t child = path_lab_new_thread("child", 1, 20, 0, 1400);

        path_lab_in(child, 1450);
        path_lab_wait(m, 1300, 1800, 1800, child, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1300 m run, 1300-1400 .child unborn, 1400-1450 .child preempted, "
                         "1450-1800 .child run, 1800-2000 m run");
}
END_TEST

/* The first thread of the process waited: another one made the new thread, which is not known. */
START_TEST(test_no_creator_while_it_waits)
{
        uint32_t child = path_lab_new_thread("child", 1, 10, 0, 1400);

        path_lab_in(child, 1450);
        path_lab_wait(m, 1300, 1800, 1800, child, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1300 m run, 1300-1400 .child unborn, 1400-1450 .child preempted, "
                         "1450-1800 .child run, 1800-2000 m run");
}
END_TEST

/* ------------------------------------------------------------------ fibers */

/* A fiber that a runs, then b; in between it waits.  Its other waits are those of the thread that runs it. */
static uint32_t add_fiber(void)
{
        uint32_t f = path_lab_fiber("f");

        PATH_LAB_EVENT(a, 1000, FIBER_ENTER, f);
        PATH_LAB_EVENT(a, 1200, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(b, 1500, FIBER_ENTER, f);
        path_lab_wait(b, 1600, 1700, 1710, c, here);
        PATH_LAB_EVENT(b, 1900, FIBER_LEAVE, 0);
        return f;
}

START_LOOP_TEST(test_fiber, 0, 2)
{
        uint32_t f = add_fiber();

        path_lab.by_thread = _i == 1;
        ck_assert_str_eq(path_lab_walk(f, 1000, 1900),
                         "1000-1200 f run, 1200-1500 .b run, 1500-1600 f run, 1600-1700 .c run, "
                         "1700-1710 b ready, 1710-1900 f run");
        ck_assert_str_eq(path_lab_walk(b, 1000, 2000),
                         "1000-1500 b run, 1500-1600 f run, 1600-1700 .c run, 1700-1710 b ready, "
                         "1710-1900 f run, 1900-2000 b run");
}
END_TEST

/* The streams of the threads come in the other order. */
START_TEST(test_fiber_backwards)
{
        uint32_t f = path_lab_fiber("f");

        PATH_LAB_EVENT(c, 1000, FIBER_ENTER, f);
        PATH_LAB_EVENT(c, 1200, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(b, 1500, FIBER_ENTER, f);
        PATH_LAB_EVENT(b, 1600, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(c, 1650, FIBER_ENTER, f);
        PATH_LAB_EVENT(c, 1700, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(a, 1800, FIBER_ENTER, f);
        path_lab.by_thread = true;
        ck_assert_str_eq(path_lab_walk(f, 1000, 1900),
                         "1000-1200 f run, 1200-1500 .b run, 1500-1600 f run, 1600-1650 .c run, "
                         "1650-1700 f run, 1700-1800 .a run, 1800-1900 f run");
}
END_TEST

/* Its thread waits in it: the path stays at what ended that, also before the thread entered it. */
START_TEST(test_fiber_of_a_waker)
{
        uint32_t f = path_lab_fiber("f");

        PATH_LAB_EVENT(a, 1000, FIBER_ENTER, f);
        PATH_LAB_EVENT(a, 1200, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(b, 1500, FIBER_ENTER, f);
        path_lab_wait(b, 1600, 1700, 1710, c, here);
        PATH_LAB_EVENT(b, 1900, FIBER_LEAVE, 0);
        path_lab_wait(m, 1100, 1850, 1850, b, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 1900),
                         "1000-1100 m run, 1100-1700 ..c run, 1700-1710 .b ready, 1710-1850 .f run, "
                         "1850-1900 m run");
}
END_TEST

/* A fiber has the lock: the path stays at what its thread waited for, also before the thread entered it. */
START_TEST(test_fiber_that_holds_a_lock)
{
        uint32_t f = path_lab_fiber("f"), lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 1000, FIBER_ENTER, f);
        PATH_LAB_EVENT(f, 1050, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1200, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(b, 1500, FIBER_ENTER, f);
        path_lab_wait(b, 1600, 1700, 1710, c, here);
        PATH_LAB_EVENT(f, 1800, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(b, 1900, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(m, 1090, LOCK_WAIT, lock);
        path_lab_wait(m, 1100, 1800, 1800, b, there);
        PATH_LAB_EVENT(m, 1810, LOCK_OBTAIN, lock);
        ck_assert_str_eq(path_lab_walk(m, 1000, 1900),
                         "1000-1100 m run, 1100-1700 ..c run, 1700-1710 .b ready, 1710-1800 .f run, "
                         "1800-1900 m run");
}
END_TEST

/* Fibers that claim to run each other, or to run threads. */
START_TEST(test_fibers_in_a_circle)
{
        uint32_t f = path_lab_fiber("f"), g = path_lab_fiber("g");

        PATH_LAB_EVENT(f, 1100, FIBER_ENTER, g);
        PATH_LAB_EVENT(g, 1200, FIBER_ENTER, f);
        PATH_LAB_EVENT(f, 1300, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(m, 1100, FIBER_ENTER, m);
        PATH_LAB_EVENT(a, 1100, FIBER_ENTER, m);
        ck_assert_str_eq(path_lab_walk(f, 1000, 2000), "1000-2000 f run");
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000), "1000-2000 m run");
}
END_TEST

/* ------------------------------------------------------------------ what no recorded thread ended */

START_TEST(test_ends)
{
        static const struct {
                const char *kernel, *waker, *told;
        } cases[] = {
                { "do_nanosleep", NULL, "timer" },        { "io_schedule", NULL, "disk" },
                { "io_schedule", "kworker/1:0", "disk" }, { "sk_wait_data", NULL, "network" },
                { "futex_wait", NULL, "timer" },          { "futex_wait", "other", "program" },
                { "pipe_read", NULL, "unknown" },
        };
        char expected[128];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                uint64_t at = 10000 * (i + 1);

                path_lab_out(m, at, path_lab_kernel(path_lab_function("f"), cases[i].kernel));
                path_lab_wake_by(m, at + 500, cases[i].waker);
                path_lab_in(m, at + 510);
        }
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                int at = 10000 * (int)(i + 1);

                (void)snprintf(expected, sizeof(expected), "%d-%d m %s, %d-%d m ready", at, at + 500,
                               cases[i].told, at + 500, at + 510);
                ck_assert_str_eq(path_lab_walk(m, (uint64_t)at, (uint64_t)at + 510), expected);
        }
}
END_TEST

/* A packet that is delivered, below @entry, in the time of whichever thread is there. */
static uint32_t delivery(const char *entry)
{
        static const char *const functions[] = { "__local_bh_enable_ip", "do_softirq", "net_rx_action",
                                                 "process_backlog", "sock_def_readable" };
        uint32_t stack = path_lab_kernel(0, entry);

        for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
                stack = path_lab_kernel(stack, functions[i]);
        return stack;
}

static void wait_for_packet(uint32_t thread, uint32_t below, uint32_t stack, uint32_t at)
{
        path_lab_out(thread, 1200, at);
        PATH_LAB_EVENT(thread, 1500, WAKEUP, 0, 0, 0, stack, TRACE_STACK_COMPLETE, below);
        path_lab_in(thread, 1510);
}

/* The sender of a packet to this machine is a step like others; the victim of an interrupt is none. */
/* Who is moved to another CPU could run: that is the machine's time, as for who is preempted. */
START_TEST(test_moved_to_another_cpu)
{
        path_lab_out(m, 1200, 0);
        path_lab_wake_by(m, 1500, "migration/0");
        path_lab_in(m, 1600);
        path_lab_wait(a, 1700, 1900, 1900, m, there);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000), "1000-1200 m run, 1200-1600 m ready, 1600-2000 m run");
}
END_TEST

START_TEST(test_loopback)
{
        uint32_t at = path_lab_kernel(path_lab_call(path_lab_function("ask"), "read"), "sk_wait_data");
        uint32_t threads[8];

        wait_for_packet(m, a, delivery("tcp_sendmsg"), at);
        wait_for_packet(c, a, delivery("asm_common_interrupt"), at);
        path_lab_wait(b, 1200, 1500, 1510, a, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 1600),
                         "1000-1200 m run, 1200-1500 .a run, 1500-1510 m ready, 1510-1600 m run");
        ck_assert_uint_eq(path_lab.walk.chains.n_items, 1);
        ck_assert_uint_eq(path_walk_link(&path_lab.walk, 1)->how, PATH_HOW_SENT);
        ck_assert_uint_eq(path_walk_link(&path_lab.walk, 1)->stack, at);
        (void)path_lab_walk(b, 1000, 1600);
        ck_assert_uint_eq(path_walk_link(&path_lab.walk, 2)->how, PATH_HOW_WOKEN);
        ck_assert_uint_eq(path_chains_threads(&path_lab.walk, 2, threads), 1);
        ck_assert_uint_eq(threads[0], b);
        ck_assert_str_eq(path_lab_walk(c, 1000, 1600),
                         "1000-1200 c run, 1200-1500 c network, 1500-1510 c ready, 1510-1600 c run");
}
END_TEST

/* Without wake-ups it is known that the thread waited, and that is all. */
START_TEST(test_without_wakeups)
{
        path_lab_out(m, 1200, here);
        path_lab_in(m, 1500);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1200 m run, 1200-1500 m unknown, 1500-2000 m run");
}
END_TEST

/* A wake-up by itself is no other thread's. */
START_TEST(test_woken_by_itself)
{
        path_lab_wait(m, 1200, 1500, 1510, m, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1200 m run, 1200-1510 m unknown, 1510-2000 m run");
}
END_TEST

START_TEST(test_ended_thread)
{
        uint32_t lock = path_lab_lock("lock");

        PATH_LAB_EVENT(a, 1100, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 1200, THREAD_EXIT, 0);
        PATH_LAB_EVENT(a, 1210, SWITCH_OUT, 1, 0, TRACE_WAIT_ENDED);
        PATH_LAB_EVENT(m, 1290, LOCK_WAIT, lock);
        path_lab_wait(m, 1300, 1500, 1500, 0, 0);
        PATH_LAB_EVENT(m, 1510, LOCK_OBTAIN, lock);
        ck_assert_str_eq(path_lab_walk(m, 1150, 1600),
                         "1150-1300 m run, 1300-1500 .a unknown, 1500-1600 m run");
}
END_TEST

/* A sleep that was over before the wait began does not count: the waiter did other things then. */
START_TEST(test_slept_before_the_wait)
{
        path_lab_wait(a, 1100, 1300, 1300, 0, here);
        path_lab_wait(b, 1350, 1500, 1500, a, there);
        path_lab_wait(m, 1050, 1700, 1700, b, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1050 m run, 1050-1300 .b run, 1300-1500 ..a run, "
                         "1500-1700 .b run, 1700-2000 m run");
}
END_TEST

START_TEST(test_slept_during_the_wait)
{
        path_lab_wait(a, 1100, 1400, 1400, 0, here);
        path_lab_wait(b, 1350, 1500, 1500, a, there);
        path_lab_wait(m, 1050, 1700, 1700, b, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1050 m run, 1050-1100 ..a run, 1100-1400 ..a timer, 1400-1500 ..a run, "
                         "1500-1700 .b run, 1700-2000 m run");
}
END_TEST

/* As in records that came too late: each woke the other one while it waited itself. */
START_TEST(test_wakers_that_waited)
{
        path_lab_wait(a, 1100, 1400, 1410, b, there);
        path_lab_wait(b, 1200, 1500, 1510, a, there);
        path_lab_wait(m, 1050, 1600, 1600, b, here);
        ck_assert_str_eq(path_lab_walk(m, 1000, 2000),
                         "1000-1050 m run, 1050-1200 .b run, 1200-1400 .b thread, 1400-1410 ..a ready, "
                         "1410-1500 ..a run, 1500-1510 .b ready, 1510-1600 .b run, 1600-2000 m run");
}
END_TEST
