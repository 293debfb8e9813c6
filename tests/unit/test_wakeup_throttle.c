/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/wakeup_throttle.c: bells fall silent where programs are started all the time, and stay
 * on for generated kernels
 */
#include "base/clock.h"
#include "sampler/pace/pace.h"
#include "sampler/pace/wakeup_throttle.h"
#include "tests/unit/unit_test.h"

static const uint64_t begin_ns = 1000 * NS_PER_S;

/* A program's start, as the bells of a CPU show it: fork, three mappings of the system's files, end. */
static bool start_program(struct wakeup_throttle *c, uint32_t pid, uint64_t now_ns)
{
        bool silent = false;

        for (int i = 0; i < 5; i++) {
                if (i > 0 && i < 4)
                        wakeup_throttle_note(c, pid, false, now_ns);
                silent = wakeup_throttle_decide(c, c->silent ? 0 : 1, now_ns);
        }
        return silent;
}

START_TEST(test_storm)
{
        struct wakeup_throttle c = { .silent = false };
        uint64_t now_ns = begin_ns;

        /* One start in a while is none. */
        for (uint32_t i = 0; i < 10; i++, now_ns += PACE_BELLS_WINDOW_NS)
                ck_assert(!start_program(&c, i, now_ns));
        for (uint32_t i = 0; i < 100; i++, now_ns += NS_PER_MS)
                ck_assert(start_program(&c, 100 + i, now_ns) || i < 2);
        /* It is over: the next window has few mappings. */
        now_ns += PACE_BELLS_WINDOW_NS;
        (void)wakeup_throttle_decide(&c, 0, now_ns);
        now_ns += PACE_BELLS_WINDOW_NS;
        ck_assert(!wakeup_throttle_decide(&c, 0, now_ns));
}
END_TEST

START_TEST(test_wait)
{
        struct wakeup_throttle c = { .silent = false };
        uint64_t now_ns = begin_ns;

        ck_assert_int_eq(wakeup_throttle_wait_ms(&c, now_ns), -1);
        for (uint32_t i = 0; i < 10; i++, now_ns += NS_PER_MS)
                (void)start_program(&c, i, now_ns);
        ck_assert_int_eq(wakeup_throttle_wait_ms(&c, now_ns), PACE_BELLS_POLL_MS);
        /* More urgent code may follow what was urgent. */
        wakeup_throttle_note(&c, 1000, true, now_ns);
        ck_assert_int_eq(wakeup_throttle_wait_ms(&c, now_ns), PACE_BELLS_URGENT_POLL_MS);
        ck_assert_int_eq(wakeup_throttle_wait_ms(&c, now_ns + PACE_BELLS_URGENT_NS - 1),
                         PACE_BELLS_URGENT_POLL_MS);
        ck_assert_int_eq(wakeup_throttle_wait_ms(&c, now_ns + PACE_BELLS_URGENT_NS), PACE_BELLS_POLL_MS);
}
END_TEST

START_TEST(test_threads_begin)
{
        struct wakeup_throttle c = { .silent = false };
        unsigned n_loud = 0;

        /* Forks and ends alone: silent for nearly all of the time. */
        for (uint64_t i = 0; i < 1000; i++)
                n_loud += !wakeup_throttle_decide(&c, c.silent ? 0 : 1, begin_ns + i * NS_PER_MS / 10);
        ck_assert_uint_le(n_loud, 100);
}
END_TEST

START_TEST(test_kernels)
{
        struct wakeup_throttle c = { .silent = false };

        /* Each bell has a kernel: never silent, however fast they come. */
        for (uint64_t i = 0; i < 10000; i++) {
                uint64_t now_ns = begin_ns + i * NS_PER_MS / 10;

                wakeup_throttle_note(&c, 7, true, now_ns);
                ck_assert(!wakeup_throttle_decide(&c, 1, now_ns));
        }
}
END_TEST

START_TEST(test_kernels_in_a_storm)
{
        struct wakeup_throttle c = { .silent = false };
        uint64_t now_ns = begin_ns;

        /* Programs that are made and run once (configure) are urgent, each by itself, and no pool. */
        for (uint32_t i = 0; i < 100; i++, now_ns += NS_PER_MS) {
                wakeup_throttle_note(&c, 100 + i, true, now_ns);
                ck_assert(start_program(&c, 100 + i, now_ns) || i < 3);
        }
        /* One process that maps kernel after kernel turns the bells on in spite of the others. */
        wakeup_throttle_note(&c, 7, true, now_ns);
        ck_assert(wakeup_throttle_decide(&c, 0, now_ns));
        now_ns += PACE_BELLS_WINDOW_NS;
        wakeup_throttle_note(&c, 7, true, now_ns);
        ck_assert(!wakeup_throttle_decide(&c, 0, now_ns));
        for (uint32_t i = 0; i < 100; i++, now_ns += NS_PER_MS)
                ck_assert(!start_program(&c, 300 + i, now_ns));
        /* Until it has been at rest for a while. */
        now_ns += PACE_BELLS_POOL_NS;
        for (uint32_t i = 0; i < 3; i++)
                (void)start_program(&c, 500 + i, now_ns);
        ck_assert(c.silent);
}
END_TEST

/* A window's time is free; beyond it each look is followed by a pause, and the next window is free again. */
START_TEST(test_pauses)
{
        struct wakeup_throttle c = { .silent = false };
        uint64_t cpu_ns = NS_PER_S, now_ns = begin_ns;

        for (int window = 0; window < 3; window++) {
                ck_assert_uint_eq(wakeup_throttle_pause_ns(&c, cpu_ns, now_ns), 0);
                cpu_ns += PACE_OPENER_TIME_NS - 1;
                ck_assert_uint_eq(wakeup_throttle_pause_ns(&c, cpu_ns, now_ns + PACE_OPENER_TIME_NS), 0);
                cpu_ns += NS_PER_US;
                ck_assert_uint_eq(wakeup_throttle_pause_ns(&c, cpu_ns, now_ns + PACE_OPENER_WINDOW_NS - 1),
                                  PACE_OPENER_PAUSE_TIMES * NS_PER_US);
                cpu_ns += PACE_OPENER_PAUSE_MAX_NS;
                ck_assert_uint_eq(wakeup_throttle_pause_ns(&c, cpu_ns, now_ns + PACE_OPENER_WINDOW_NS - 1),
                                  PACE_OPENER_PAUSE_MAX_NS);
                now_ns += PACE_OPENER_WINDOW_NS;
        }
}
END_TEST

/* Without a bell the collector is woken at once for what is urgent, and now and then for the rest. */
START_TEST(test_reports)
{
        struct wakeup_throttle c = { .silent = false };
        uint64_t now_ns = begin_ns;

        ck_assert(wakeup_throttle_report(&c, true, now_ns));
        now_ns += PACE_OPENER_REPORT_NS;
        ck_assert(!wakeup_throttle_report(&c, false, now_ns));
        for (int i = 0; i < 3; i++) {
                wakeup_throttle_note(&c, 7, false, now_ns);
                ck_assert(!wakeup_throttle_report(&c, false, now_ns - 1));
                ck_assert(wakeup_throttle_report(&c, false, now_ns));
                ck_assert(!wakeup_throttle_report(&c, false, now_ns));
                wakeup_throttle_note(&c, 7, true, now_ns + 1);
                ck_assert(wakeup_throttle_report(&c, false, now_ns + 1));
                now_ns += 1 + PACE_OPENER_REPORT_NS;
        }
}
END_TEST
