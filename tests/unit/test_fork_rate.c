/* SPDX-License-Identifier: MIT */
/* sampler/pace/fork_rate.c: two forks within half a second are many, in any order */
#include "base/clock.h"
#include "sampler/pace/fork_rate.h"
#include "sampler/pace/pace.h"
#include "tests/unit/unit_test.h"

START_TEST(test_many)
{
        struct fork_rate b = { .latest_ns = { 0 } };
        uint64_t now_ns = 1000 * NS_PER_S;

        ck_assert(!fork_rate_is_high(&b, now_ns));
        fork_rate_note(&b, now_ns);
        ck_assert(!fork_rate_is_high(&b, now_ns));
        fork_rate_note(&b, now_ns - PACE_FORKS_WINDOW_NS / 2);
        ck_assert(fork_rate_is_high(&b, now_ns));
        ck_assert(fork_rate_is_high(&b, now_ns + PACE_FORKS_WINDOW_NS / 2 - 1));
        ck_assert(!fork_rate_is_high(&b, now_ns + PACE_FORKS_WINDOW_NS / 2));
}
END_TEST

/* An older one, from another CPU's ring, does not take the place of a newer one. */
START_TEST(test_order)
{
        struct fork_rate b = { .latest_ns = { 0 } };
        uint64_t now_ns = 1000 * NS_PER_S;

        fork_rate_note(&b, now_ns);
        fork_rate_note(&b, now_ns - 1);
        fork_rate_note(&b, now_ns - 2 * PACE_FORKS_WINDOW_NS);
        ck_assert(fork_rate_is_high(&b, now_ns));
        fork_rate_note(&b, now_ns + PACE_FORKS_WINDOW_NS);
        ck_assert(!fork_rate_is_high(&b, now_ns + PACE_FORKS_WINDOW_NS));
        fork_rate_note(&b, now_ns + PACE_FORKS_WINDOW_NS);
        ck_assert(fork_rate_is_high(&b, now_ns + PACE_FORKS_WINDOW_NS));
}
END_TEST
