/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/drain_pace.c: no ring is more than half full when it is looked at again,
 * if it goes on like this
 */
#include "base/clock.h"
#include "sampler/pace/drain_pace.h"
#include "tests/unit/unit_test.h"

#define MIB (UINT64_C(1) << 20)

/* Cycles @step_ns apart, in each of which a ring gives @n_bytes; the rest after the last. */
static uint64_t rest_after(unsigned n_cycles, uint64_t step_ns, uint64_t ring_bytes, uint64_t n_bytes)
{
        struct drain_pace p;

        drain_pace_init(&p);
        for (unsigned i = 1; i <= n_cycles; i++) {
                drain_pace_begin(&p, NS_PER_S + i * step_ns);
                drain_pace_add(&p, ring_bytes, 0, n_bytes);
        }
        return drain_pace_rest_ns(&p);
}

START_TEST(test_busy)
{
        /* A quarter of the ring in a millisecond: half of it in two. */
        ck_assert_uint_eq(rest_after(20, NS_PER_MS, MIB, MIB / 4), 2 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, 16 * MIB, 8 * MIB), 10 * NS_PER_MS);
        /* It was full: there was too much even for the whole time. */
        ck_assert_uint_le(rest_after(20, 2 * NS_PER_MS, MIB, MIB), NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 0, MIB, MIB), 0);
        ck_assert_uint_eq(rest_after(20, NS_PER_MS, 0, 100), 0);
}
END_TEST

/* A ring that nothing came from may be filled from now on; the more it can take, the longer it can wait. */
START_TEST(test_quiet)
{
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, MIB, 0), 5 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, 320 * UINT64_C(20000), 0), 10 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, 1024 * MIB, 0), 25 * NS_PER_MS);
        ck_assert_uint_eq(rest_after(20, 10 * NS_PER_MS, UINT64_MAX, UINT64_MAX), 5 * NS_PER_MS);
}
END_TEST

/* Spare memory lets a thread at rest wait longer, and changes nothing for one that writes. */
START_TEST(test_spare)
{
        struct drain_pace p;

        drain_pace_init(&p);
        for (unsigned i = 1; i <= 20; i++) {
                drain_pace_begin(&p, NS_PER_S + i * NS_PER_MS);
                drain_pace_add(&p, MIB, 1024 * MIB, 0);
        }
        ck_assert_uint_eq(drain_pace_rest_ns(&p), 25 * NS_PER_MS);
        for (unsigned i = 21; i <= 40; i++) {
                drain_pace_begin(&p, NS_PER_S + i * NS_PER_MS);
                drain_pace_add(&p, MIB, 1024 * MIB, MIB / 4);
        }
        ck_assert_uint_eq(drain_pace_rest_ns(&p), 2 * NS_PER_MS);
}
END_TEST

START_TEST(test_many_rings)
{
        struct drain_pace p;

        drain_pace_init(&p);
        for (unsigned i = 1; i <= 10; i++) {
                drain_pace_begin(&p, NS_PER_S + i * 2 * NS_PER_MS);
                drain_pace_add(&p, 16 * MIB, 0, 0);
                drain_pace_add(&p, MIB, 0, MIB / 4); /* the one that counts */
                drain_pace_add(&p, 16 * MIB, 0, MIB);
        }
        ck_assert_uint_eq(drain_pace_rest_ns(&p), 4 * NS_PER_MS);
}
END_TEST

/* After a burst the rests grow slowly; without any ring they do too. */
START_TEST(test_bursts)
{
        uint64_t now_ns = NS_PER_S, before_ns;
        struct drain_pace p;

        drain_pace_init(&p);
        drain_pace_begin(&p, now_ns);
        drain_pace_begin(&p, now_ns += NS_PER_MS);
        drain_pace_add(&p, 1024 * MIB, 0, 1024 * MIB);
        ck_assert_uint_eq(drain_pace_rest_ns(&p), NS_PER_MS / 2);
        for (int i = 0; i < 4; i++) {
                before_ns = drain_pace_rest_ns(&p);
                drain_pace_begin(&p, now_ns += NS_PER_MS);
                ck_assert_uint_eq(drain_pace_rest_ns(&p), 2 * before_ns + NS_PER_MS);
        }
        for (int i = 0; i < 10; i++)
                drain_pace_begin(&p, now_ns += NS_PER_MS);
        ck_assert_uint_eq(drain_pace_rest_ns(&p), 25 * NS_PER_MS);
}
END_TEST
