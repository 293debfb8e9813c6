/* SPDX-License-Identifier: MIT */
/*
 * base/child_end.c: a child that ends by itself is waited for; one that is stopped, or hangs, is killed
 */
#include "base/child_end.h"

#include "base/clock.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS (30 * 1000)

static pid_t child_that(void (*does)(void))
{
        pid_t pid = fork();

        if (pid == 0) {
                does();
                _exit(0);
        }
        ck_assert_int_gt(pid, 0);
        return pid;
}

static void wait_for_ever(void)
{
        (void)signal(SIGTERM, SIG_IGN);
        while (true)
                (void)pause();
}

static void stop_itself(void)
{
        (void)raise(SIGSTOP);
}

static void nap(void)
{
        (void)usleep(20000);
}

static void expect_reaped(pid_t pid)
{
        ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD);
}

START_TEST(test_one_that_ends)
{
        pid_t pid = child_that(nap);
        uint64_t began_ns = clock_raw_ns();

        child_end_within(pid, LONG_MS);
        expect_reaped(pid);
        ck_assert_uint_lt(clock_raw_ns() - began_ns, UINT64_C(1000000) * LONG_MS / 2);
}
END_TEST

START_TEST(test_one_that_hangs)
{
        pid_t pid = child_that(wait_for_ever);

        child_end_within(pid, 10);
        expect_reaped(pid);
}
END_TEST

START_TEST(test_one_that_is_stopped)
{
        pid_t pid = child_that(stop_itself);

        ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
        child_end_within(pid, 10);
        expect_reaped(pid);
}
END_TEST
