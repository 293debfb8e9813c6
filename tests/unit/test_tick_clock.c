/* SPDX-License-Identifier: MIT */
/*
 * instrument/tick_clock.c: exact at every pair, never backwards, no overflow, and right about
 * this machine's counter
 */
#include "base/clock.h"
#include "instrument/client_abi.h"
#include "instrument/tick_clock.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct tick_clock c; /* too large for a stack; each test runs alone */

static void clock_of(uint32_t kind)
{
        memset(&c, 0, sizeof(c));
        c.kind = kind;
}

START_TEST(test_lines_between_pairs)
{
        clock_of(CLIENT_ABI_CLOCK_TSC);
        tick_clock_add(&c, 1000, 500, 3);
        tick_clock_add(&c, 2000, 1000, 2); /* half a nanosecond a tick */
        tick_clock_add(&c, 3000, 3000, 1); /* two */
        ck_assert_uint_eq(tick_clock_to_ns(&c, 1000), 500);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 1500), 750);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 2000), 1000);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 2500), 2000);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 3000), 3000);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 3400), 3500); /* 1.25 all in all */
        ck_assert_uint_eq(tick_clock_to_ns(&c, 800), 250);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 0), 0); /* before time began */
        ck_assert_uint_eq(tick_clock_error_ns(&c), 3);
}
END_TEST

START_TEST(test_bad_pairs_are_passed_over)
{
        clock_of(CLIENT_ABI_CLOCK_TSC);
        tick_clock_add(&c, 1000, 1000, 0);
        tick_clock_add(&c, 1000, 2000, 99);
        tick_clock_add(&c, 2000, 1000, 99);
        tick_clock_add(&c, 500, 500, 99);
        tick_clock_add(&c, 2000, 2000, 0);
        ck_assert_uint_eq(c.n_pairs, 2);
        ck_assert_uint_eq(tick_clock_error_ns(&c), 0);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 1500), 1500);
}
END_TEST

START_TEST(test_nanoseconds_are_themselves)
{
        ck_assert_int_eq(tick_clock_init(&c, CLIENT_ABI_CLOCK_MONOTONIC_RAW, NULL), 0);
        tick_clock_pair(&c);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 12345), 12345);
        ck_assert_uint_eq(tick_clock_to_ns(&c, UINT64_MAX), UINT64_MAX);
        ck_assert_uint_eq(tick_clock_error_ns(&c), 0);
}
END_TEST

/* The line that is kept at hand is given up where it ends, and when a new pair says more about it. */
START_TEST(test_line_at_hand)
{
        clock_of(CLIENT_ABI_CLOCK_TSC);
        tick_clock_add(&c, 1000, 1000, 0);
        tick_clock_add(&c, 2000, 2000, 0);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 3000), 3000); /* carried on */
        ck_assert_uint_eq(tick_clock_to_ns(&c, 4000), 4000);
        tick_clock_add(&c, 3000, 4000, 0);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 2500), 3000);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 2999), 3998);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 3000), 4000);
        ck_assert_uint_eq(tick_clock_to_ns(&c, 1500), 1500); /* the line before */
        ck_assert_uint_eq(tick_clock_to_ns(&c, 2500), 3000);
        ck_assert_uint_eq(tick_clock_to_ns(&c, UINT64_MAX), UINT64_MAX); /* it fits no more */
        ck_assert_uint_eq(tick_clock_to_ns(&c, 3001), 4001);
}
END_TEST

START_TEST(test_unknown_clock)
{
        ck_assert_int_eq(tick_clock_init(&c, 0, NULL), -ENOTSUP);
        ck_assert_int_eq(tick_clock_init(&c, 99, NULL), -ENOTSUP);
}
END_TEST

/* Slow and fast counters, far from their pairs, up to the last tick: saturates, never wraps. */
START_TEST(test_extremes)
{
        uint64_t last = 0;

        clock_of(CLIENT_ABI_CLOCK_RDTIME);
        tick_clock_add(&c, UINT64_C(1) << 62, UINT64_C(1) << 61, 0);
        tick_clock_add(&c, (UINT64_C(1) << 62) + 1, (UINT64_C(1) << 62), 0);
        tick_clock_add(&c, UINT64_MAX - 1, UINT64_MAX - 1, 0);
        for (int shift = 64; shift >= 0; shift--) {
                uint64_t ticks = shift == 64 ? 0 : UINT64_MAX >> shift;
                uint64_t ns = tick_clock_to_ns(&c, ticks);

                ck_assert_uint_ge(ns, last);
                last = ns;
        }
}
END_TEST

/* A clock that wanders and is measured with noise, over more pairs than are kept. */
START_TEST(test_never_backwards)
{
        uint64_t ticks = 1000000, ns = 1000, seed = 1, last = 0;

        clock_of(CLIENT_ABI_CLOCK_TSC);
        for (int i = 0; i < 3 * TICK_CLOCK_PAIRS_MAX; i++) {
                seed = seed * UINT64_C(6364136223846793005) + 1;
                ticks += 1 + (seed >> 40);
                ns += 1 + (seed >> 41) + (seed >> 58);
                tick_clock_add(&c, ticks, ns, 0);
        }
        ck_assert_uint_eq(c.n_pairs, TICK_CLOCK_PAIRS_MAX);
        ck_assert_uint_eq(tick_clock_to_ns(&c, ticks), ns);
        for (size_t i = 0; i < TICK_CLOCK_PAIRS_MAX; i++)
                ck_assert_uint_eq(tick_clock_to_ns(&c, c.pairs[i].ticks), c.pairs[i].ns);
        for (uint64_t at = c.pairs[0].ticks - 5000; at < c.pairs[2].ticks; at += 1 + (at & 1023)) {
                uint64_t now = tick_clock_to_ns(&c, at);

                ck_assert_uint_ge(now, last);
                last = now;
        }
}
END_TEST

/* Measured here: what a tick is converted to lies between two readings of the kernel's clock around it. */
START_TEST(test_this_machine)
{
        int n_inside = 0;

        if (tick_clock_init(&c, tick_source_kind(), NULL) != 0)
                return; /* no counter on this architecture: test_unknown_clock says what follows */
        ck_assert_uint_ge(c.n_pairs, 1);
        for (int i = 0; i < 100; i++) {
                uint64_t before = clock_raw_ns();
                uint64_t ticks = tick_source_read();
                uint64_t after = clock_raw_ns();
                uint64_t ns, slack;

                tick_clock_pair(&c);
                ns = tick_clock_to_ns(&c, ticks);
                slack = tick_clock_error_ns(&c) + 100;
                n_inside += ns + slack >= before && ns <= after + slack;
        }
        ck_assert_int_eq(n_inside, 100);
}
END_TEST
