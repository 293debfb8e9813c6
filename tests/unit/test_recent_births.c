/* SPDX-License-Identifier: MIT */
/* sampler/tracks/recent_births.c: two births within half a second are many, in any order */
#include "base/clock.h"
#include "sampler/tracks/recent_births.h"
#include "tests/unit/unit_test.h"

START_TEST(test_many)
{
        struct recent_births b = { .latest_ns = { 0 } };
        uint64_t now_ns = 1000 * NS_PER_S;

        ck_assert(!recent_births_are_many(&b, now_ns));
        recent_births_note(&b, now_ns);
        ck_assert(!recent_births_are_many(&b, now_ns));
        recent_births_note(&b, now_ns - RECENT_BIRTHS_NS / 2);
        ck_assert(recent_births_are_many(&b, now_ns));
        ck_assert(recent_births_are_many(&b, now_ns + RECENT_BIRTHS_NS / 2 - 1));
        ck_assert(!recent_births_are_many(&b, now_ns + RECENT_BIRTHS_NS / 2));
}
END_TEST

/* An older one, from another CPU's ring, does not take the place of a newer one. */
START_TEST(test_order)
{
        struct recent_births b = { .latest_ns = { 0 } };
        uint64_t now_ns = 1000 * NS_PER_S;

        recent_births_note(&b, now_ns);
        recent_births_note(&b, now_ns - 1);
        recent_births_note(&b, now_ns - 2 * RECENT_BIRTHS_NS);
        ck_assert(recent_births_are_many(&b, now_ns));
        recent_births_note(&b, now_ns + RECENT_BIRTHS_NS);
        ck_assert(!recent_births_are_many(&b, now_ns + RECENT_BIRTHS_NS));
        recent_births_note(&b, now_ns + RECENT_BIRTHS_NS);
        ck_assert(recent_births_are_many(&b, now_ns + RECENT_BIRTHS_NS));
}
END_TEST
