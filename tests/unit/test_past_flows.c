/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_timeouts.c, path_walk.c: a wait that no thread ended goes on at the thread that handed
 * over, in a flow, what was taken after it; no other wait does
 */
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

static uint32_t m, other, third; /* threads */
static uint32_t here, asleep_in; /* stacks in which a thread waits */

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("m", 0);
        other = path_lab_thread("other", 1);
        third = path_lab_thread("third", 2);
        here = path_lab_kernel(path_lab_function("wait_here"), "eventfd_read");
        asleep_in = path_lab_kernel(path_lab_call(path_lab_function("poll_it"), "nanosleep"), "do_nanosleep");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static void say(uint32_t thread, uint64_t time_ns, uint64_t phase)
{
        PATH_LAB_EVENT(thread, time_ns, FLOW, 0, 7, phase);
}

static void nap(uint32_t thread, uint64_t out_ns, uint64_t in_ns)
{
        path_lab_wait(thread, out_ns, in_ns, in_ns, 0, asleep_in);
}

/* A program that is not recorded passes the work on, and its interrupt wakes the thread. */
START_TEST(test_interrupt)
{
        say(other, 400000, TRACE_FLOW_BEGIN);
        path_lab_wait(m, 20000, 510000, 512000, 0, here);
        say(m, 513000, TRACE_FLOW_END);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 600000),
                "0-20000 m run, 20000-400000 .other run, 400000-510000 m unknown, 510000-512000 m ready, "
                "512000-600000 m run");
        /* a part of the time is a part of the same path */
        ck_assert_str_eq(path_lab_walk(m, 30000, 450000), "30000-400000 .other run, 400000-450000 m unknown");
        ck_assert_str_eq(path_lab_walk(m, 450000, 511000), "450000-510000 m unknown, 510000-511000 m ready");
}
END_TEST

/* A thread that looks again and again waited all the time, and only the last nap was too long. */
START_TEST(test_polls)
{
        for (uint64_t at = 20000; at < 500000; at += 60000)
                nap(m, at, at + 59000);
        say(other, 450000, TRACE_FLOW_BEGIN);
        say(other, 451000, TRACE_FLOW_STEP);
        say(m, 500500, TRACE_FLOW_END);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 600000),
                "0-20000 m run, 20000-451000 .other run, 451000-499000 m timer, 499000-600000 m run");
}
END_TEST

/* The thread that handed over had waited itself: the path goes on as after any other wait. */
START_TEST(test_chain)
{
        path_lab_wait(other, 10000, 300000, 301000, third, here);
        say(other, 400000, TRACE_FLOW_BEGIN);
        nap(m, 20000, 410000);
        say(m, 410500, TRACE_FLOW_STEP);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 420000),
                "0-20000 m run, 20000-300000 ..third run, 300000-301000 .other ready, 301000-400000 .other "
                "run, 400000-410000 m timer, 410000-420000 m run");
}
END_TEST

static const char asleep[] = "0-20000 m run, 20000-510000 m timer, 510000-600000 m run";

/* Work that was there before did not end the wait. */
START_TEST(test_there_before)
{
        say(other, 19000, TRACE_FLOW_BEGIN);
        nap(m, 20000, 510000);
        say(m, 513000, TRACE_FLOW_END);
        ck_assert_str_eq(path_lab_walk(m, 0, 600000), asleep);
}
END_TEST

/* Nor did work that came after it, of the thread itself, or that is taken after another wait. */
START_TEST(test_not_for_it)
{
        nap(m, 20000, 510000);
        say(m, 511000, TRACE_FLOW_BEGIN);
        say(m, 511500, TRACE_FLOW_STEP);
        say(other, 512000, TRACE_FLOW_STEP);
        say(m, 513000, TRACE_FLOW_END);
        PATH_LAB_EVENT(third, 300000, FLOW, 0, 8, TRACE_FLOW_BEGIN);
        path_lab_wait(m, 700000, 800000, 800000, 0, here);
        PATH_LAB_EVENT(m, 801000, FLOW, 0, 8, TRACE_FLOW_END);
        ck_assert_str_eq(path_lab_walk(m, 0, 600000), asleep);
        ck_assert_str_eq(path_lab_walk(m, 690000, 810000),
                         "690000-700000 m run, 700000-800000 m unknown, 800000-810000 m run");
}
END_TEST

/* A thread that woke it ended the wait, whatever a flow says. */
START_TEST(test_waker)
{
        say(other, 400000, TRACE_FLOW_BEGIN);
        path_lab_wait(m, 20000, 510000, 510000, third, here);
        say(m, 513000, TRACE_FLOW_END);
        ck_assert_str_eq(path_lab_walk(m, 0, 600000),
                         "0-20000 m run, 20000-510000 .third run, 510000-600000 m run");
}
END_TEST

/* loop test: flows that follow each other without end are held in bounded memory, and change nothing else */
START_LOOP_TEST(test_many, 0, 2)
{
        for (uint64_t i = 1; i <= 20000; i++) {
                PATH_LAB_EVENT(other, 30000 + i, FLOW, 0, 100 + i, TRACE_FLOW_BEGIN);
                if (_i == 1)
                        PATH_LAB_EVENT(third, 60000 + i, FLOW, 0, 100 + i, TRACE_FLOW_END);
        }
        say(other, 400000, TRACE_FLOW_BEGIN);
        nap(m, 20000, 510000);
        say(m, 513000, TRACE_FLOW_END);
        ck_assert_str_eq(
                path_lab_walk(m, 0, 600000),
                "0-20000 m run, 20000-400000 .other run, 400000-510000 m timer, 510000-600000 m run");
        ck_assert_uint_lt(path_lab.past.used_bytes, 10000);
}
END_TEST
