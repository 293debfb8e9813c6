/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_durations.c: the share of the longest durations is found, also among more than are kept
 */
#include "analyze/path/path_durations.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>

static struct path_durations d;

static void teardown(void)
{
        path_durations_deinit(&d);
}

UNIT_TEST_PLAN(.teardown = teardown);

START_TEST(test_slowest)
{
        for (uint64_t ns = 1; ns <= 100; ns++)
                ck_assert_int_eq(path_durations_add(&d, ns, 0.5), 0);
        ck_assert_uint_eq(path_durations_slowest(&d, 0.01), 100);
        ck_assert_uint_eq(path_durations_slowest(&d, 0.05), 96);
        ck_assert_uint_eq(path_durations_slowest(&d, 0.051), 95);
        ck_assert_uint_eq(path_durations_slowest(&d, 0.0001), 100);
        ck_assert_uint_eq(path_durations_slowest(&d, 1), 1);
}
END_TEST

START_TEST(test_none)
{
        ck_assert_uint_eq(path_durations_slowest(&d, 0.5), 0);
}
END_TEST

/* Three million durations from 0 to 1 ms: the slowest hundredth is those over 990 us. */
START_TEST(test_many)
{
        uint64_t random = 42;
        double found;

        for (int i = 0; i < 3000000; i++) {
                uint64_t ns = fixed_random_next(&random) % 1000000;

                ck_assert_int_eq(
                        path_durations_add(&d, ns, (double)(fixed_random_next(&random) >> 11) * 0x1p-53), 0);
        }
        ck_assert_uint_le(d.n, PATH_DURATIONS_MAX);
        ck_assert_uint_ge(d.n, PATH_DURATIONS_MAX / 2);
        found = (double)path_durations_slowest(&d, 0.01);
        ck_assert_msg(fabs(found - 990000) < 1000, "%f", found);
}
END_TEST

/* Those that are all chosen alike leave no choice: what there is room for counts. */
START_TEST(test_equal_chances)
{
        for (uint32_t i = 0; i < PATH_DURATIONS_MAX + 10; i++)
                ck_assert_int_eq(path_durations_add(&d, 7, 0), 0);
        ck_assert_uint_eq(d.n, PATH_DURATIONS_MAX);
        ck_assert_uint_eq(path_durations_slowest(&d, 0.5), 7);
}
END_TEST
