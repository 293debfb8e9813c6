/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/monotonic_clock.c: a reading of CLOCK_MONOTONIC becomes what CLOCK_MONOTONIC_RAW was
 * then, within a microsecond
 */
#include "base/clock.h"
#include "instrument/tick_clock.h"
#include "sampler/kernel/monotonic_clock.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define TOLERATED_NS 1000

static uint64_t monotonic_ns(void)
{
        struct timespec t;

        ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &t), 0);
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* However long the machine takes, the readings of the other clock before and after are bounds. */
START_TEST(test_readings_between_two_pairs_are_right)
{
        struct tick_clock *clock = calloc(1, sizeof(*clock));
        uint64_t before[100], ticks[100], after[100];

        ck_assert_ptr_nonnull(clock);
        monotonic_clock_pair(clock);
        for (size_t i = 0; i < 100; i++) {
                before[i] = clock_raw_ns();
                ticks[i] = monotonic_ns();
                after[i] = clock_raw_ns();
        }
        monotonic_clock_pair(clock);
        for (size_t i = 0; i < 100; i++) {
                uint64_t tolerated_ns = TOLERATED_NS + tick_clock_error_ns(clock);

                ck_assert_uint_ge(tick_clock_to_ns(clock, ticks[i]) + tolerated_ns, before[i]);
                ck_assert_uint_le(tick_clock_to_ns(clock, ticks[i]), after[i] + tolerated_ns);
        }
        free(clock);
}
END_TEST

/*
 * NTP makes it run 500 parts in a million faster, the most that it does, from the
 * middle on; pairs 1 ms apart.
 */
START_TEST(test_a_clock_that_is_slewed_is_followed)
{
        struct tick_clock *clock = calloc(1, sizeof(*clock));
        uint64_t last_ns = 0;

        ck_assert_ptr_nonnull(clock);
        for (uint64_t ms = 0; ms <= 20; ms++) {
                uint64_t fast = ms > 10 ? (ms - 10) * 500 : 0; /* ns that it is ahead */

                tick_clock_add(clock, 5 * NS_PER_S + ms * NS_PER_MS + fast, 9 * NS_PER_S + ms * NS_PER_MS,
                               20);
        }
        for (uint64_t us = 0; us <= 20000; us++) {
                uint64_t fast = us > 10000 ? (us - 10000) / 2 : 0;
                uint64_t wanted_ns = 9 * NS_PER_S + us * NS_PER_US;
                uint64_t ns = tick_clock_to_ns(clock, 5 * NS_PER_S + us * NS_PER_US + fast);

                ck_assert_uint_le(ns > wanted_ns ? ns - wanted_ns : wanted_ns - ns, TOLERATED_NS);
                ck_assert_uint_ge(ns, last_ns);
                last_ns = ns;
        }
        free(clock);
}
END_TEST
