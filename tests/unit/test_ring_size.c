/* SPDX-License-Identifier: MIT */
/* sampler/kernel/ring_size.c: a ring holds a quarter of a second, within its limits, whatever is wanted */
#include "sampler/kernel/ring_size.h"
#include "tests/unit/unit_test.h"

#include <stdbool.h>

static const struct {
        struct ring_size_wanted wanted;
        size_t bytes;
} cases[] = {
        { { 997, 1, 0, 2, 0 }, 1U << 19 },
        { { 997, 1, 16384, 2, 0 }, 1U << 23 },
        { { 9973, 1, 16384, 2, 0 }, 1U << 25 },
        { { 99, 1, 16384, 2, 0 }, 1U << 19 },
        { { 997, 2, 16384, 2, 0 }, 1U << 24 },
        { { 0, 1, 16384, 2, 0 }, 1U << 25 }, /* by period: anything may come */
        { { 0, 1, 0, 2, 0 }, 1U << 21 },
        { { UINT64_MAX, UINT64_MAX, UINT64_MAX / 2, 2, 0 }, 1U << 25 },
        /* A sixteenth of the memory, of which each CPU has its share; but never less than the least. */
        { { 9973, 1, 16384, 2, UINT64_C(1) << 28 }, 1U << 23 },
        { { 9973, 1, 16384, 256, UINT64_C(1) << 33 }, 1U << 21 },
        { { 9973, 1, 16384, 256, 1 }, 1U << 19 },
};

/* loop test */
START_LOOP_TEST(test_find, 0, sizeof(cases) / sizeof(cases[0]))
{
        ck_assert_uint_eq(ring_size_find(&cases[_i].wanted), cases[_i].bytes);
}
END_TEST

/* The ring holds what is needed, unless that is more than the largest ring. */
START_TEST(test_need)
{
        struct ring_size_wanted wanted = { 997, 1, 32768, 2, 0 };

        ck_assert_uint_eq(ring_size_need(&wanted), 997 * (32768 + 512) / 4);
        ck_assert_uint_eq(ring_size_find(&wanted), 1U << 23);
        wanted.rate_hz = 9973; /* more than the largest ring has */
        ck_assert_uint_gt(ring_size_need(&wanted), ring_size_find(&wanted));
}
END_TEST

/* The allowed size is a power of two, and no more than was asked for. */
START_TEST(test_allowed)
{
        size_t bytes = ring_size_find_allowed(1U << 20, 1U << 16, 1);

        ck_assert_uint_le(bytes, 1U << 20);
        ck_assert_uint_ge(bytes, 1U << 15);
        ck_assert_uint_eq(bytes & (bytes - 1), 0);
        ck_assert_uint_gt(ring_size_machine_memory(), 1U << 20);
}
END_TEST
