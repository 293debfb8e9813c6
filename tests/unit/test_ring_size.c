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
        { { 9973, 1, 16384, 256, UINT64_C(1) << 33 }, 1U << 20 },
        { { 9973, 1, 16384, 256, 1 }, 1U << 17 },
        /* All together at most 256 MiB, on as many CPUs as there are. */
        { { 997, 1, 32768, 32, 0 }, 1U << 23 },
        { { 997, 1, 16384, 64, 0 }, 1U << 22 },
        { { 9973, 1, 16384, 64, 0 }, 1U << 22 },
        { { 997, 1, 16384, 1024, 0 }, 1U << 18 },
        { { 99, 1, 0, 1024, 0 }, 1U << 18 },
        { { 997, 1, 16384, 65536, 0 }, 1U << 17 },
};

/* Copies are halved until a ring lasts for a tenth of a second, and no further than to 4 KiB. */
static const struct {
        struct ring_size_wanted wanted;
        uint32_t copy_bytes;
} copies[] = {
        { { 997, 1, 32768, 2, 0 }, 32768 },  { { 9973, 1, 16384, 2, 0 }, 16384 },
        { { 997, 1, 16384, 64, 0 }, 16384 }, { { 997, 1, 16384, 128, 0 }, 16384 },
        { { 997, 1, 16384, 256, 0 }, 8192 }, { { 997, 1, 16384, 1024, 0 }, 4096 },
        { { 9973, 1, 16384, 16, 0 }, 8192 }, { { 9973, 1, 16384, 1024, 0 }, 4096 },
        { { 0, 1, 16384, 1024, 0 }, 16384 }, /* by period */
        { { 9973, 1, 0, 1024, 0 }, 0 },
};

/* loop test */
START_LOOP_TEST(test_copies, 0, sizeof(copies) / sizeof(copies[0]))
{
        const struct ring_size_wanted *wanted = &copies[_i].wanted;
        size_t ring_bytes = ring_size_find(wanted);
        uint32_t copy_bytes = ring_size_copy(wanted, ring_bytes);

        ck_assert_uint_eq(copy_bytes, copies[_i].copy_bytes);
        if (copy_bytes > 4096 && wanted->rate_hz > 0)
                ck_assert_uint_ge(ring_bytes, wanted->rate_hz * (512 + copy_bytes) / 10);
}
END_TEST

/* The trackers' rings: by rights, and all together 64 MiB, or 256 where the whole machine is recorded. */
START_TEST(test_tracker)
{
        ck_assert_uint_eq(ring_size_of_tracker(false, false, 2), 1U << 17);
        ck_assert_uint_eq(ring_size_of_tracker(true, false, 2), 1U << 21);
        ck_assert_uint_eq(ring_size_of_tracker(true, false, 128), 1U << 19);
        ck_assert_uint_eq(ring_size_of_tracker(true, false, 65536), 1U << 17);
        ck_assert_uint_eq(ring_size_of_tracker(true, true, 2), 1U << 22);
        ck_assert_uint_eq(ring_size_of_tracker(true, true, 512), 1U << 19);
}
END_TEST

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
