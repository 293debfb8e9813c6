/* SPDX-License-Identifier: MIT */
/* base/array.c: room for what was asked, contents kept, new items zero, few copies, sizes that do not wrap */
#include "base/array.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define N_ITEMS 10000

START_TEST(test_grows_in_few_steps_and_keeps_the_items)
{
        uint64_t *items = NULL;
        size_t capacity = 0;
        size_t n_steps = 0;

        for (size_t i = 0; i < N_ITEMS; i++) {
                size_t before = capacity;

                ck_assert_int_eq(array_reserve(&items, &capacity, i + 1, sizeof(*items)), 0);
                ck_assert_uint_ge(capacity, i + 1);
                n_steps += capacity != before;
                items[i] = i * i;
        }
        for (size_t i = 0; i < N_ITEMS; i++)
                ck_assert_uint_eq(items[i], i * i);
        ck_assert_uint_le(n_steps, 14); /* 8 * 2^11 > 10000 */
        free(items);
}
END_TEST

START_TEST(test_enough_room_changes_nothing)
{
        uint32_t *items = NULL;
        const uint32_t *before;
        size_t capacity = 0;

        ck_assert_int_eq(array_reserve(&items, &capacity, 100, sizeof(*items)), 0);
        before = items;
        items[99] = 1;
        ck_assert_int_eq(array_reserve(&items, &capacity, 100, sizeof(*items)), 0);
        ck_assert_int_eq(array_reserve(&items, &capacity, 0, sizeof(*items)), 0);
        ck_assert_ptr_eq(items, before);
        ck_assert_uint_eq(capacity, 100);
        free(items);
}
END_TEST

/* The first items are kept, and the others are zero, whatever the memory had before. */
START_TEST(test_extends_with_zeros)
{
        uint32_t *items = NULL;
        size_t capacity = 0;

        ck_assert_int_eq(array_extend(&items, &capacity, 0, 3, sizeof(*items)), 0);
        ck_assert(items[0] == 0 && items[1] == 0 && items[2] == 0);
        ck_assert_uint_ge(capacity, 8);
        for (uint32_t i = 0; i < 8; i++)
                items[i] = i + 1;
        ck_assert_int_eq(array_extend(&items, &capacity, 2, 6, sizeof(*items)), 0);
        ck_assert(items[0] == 1 && items[1] == 2 && items[2] == 0 && items[5] == 0 && items[6] == 7);
        ck_assert_int_eq(array_extend(&items, &capacity, 2, 1, sizeof(*items)), 0);
        ck_assert(items[0] == 1 && items[1] == 2);
        ck_assert_int_eq(array_extend(&items, &capacity, 2, SIZE_MAX / 2, sizeof(*items)), -ENOMEM);
        free(items);
}
END_TEST

/* An array reaches a number of items once, and is never made shorter; without memory it stays. */
START_TEST(test_reaches_a_number)
{
        uint64_t *items = NULL;
        size_t capacity = 0;
        uint32_t n = 0;

        ck_assert_int_eq(array_reach(&items, &capacity, &n, 3, sizeof(*items)), 0);
        ck_assert_uint_eq(n, 3);
        ck_assert(items[0] == 0 && items[2] == 0);
        items[2] = 7;
        ck_assert_int_eq(array_reach(&items, &capacity, &n, 2, sizeof(*items)), 0);
        ck_assert_uint_eq(n, 3);
        ck_assert_int_eq(array_reach(&items, &capacity, &n, 5, sizeof(*items)), 0);
        ck_assert_uint_eq(n, 5);
        ck_assert(items[2] == 7 && items[3] == 0 && items[4] == 0);
        ck_assert_int_eq(array_reach(&items, &capacity, &n, UINT32_MAX, SIZE_MAX / 2), -ENOMEM);
        ck_assert_uint_eq(n, 5);
        free(items);
}
END_TEST

START_TEST(test_counts_items_up_to_a_value)
{
        const uint64_t items[][2] = { { 9, 0 }, { 8, 5 }, { 7, 5 }, { 6, UINT64_MAX } };
        size_t at = sizeof(items[0][0]);

        ck_assert_uint_eq(array_count_to(NULL, 0, 16, 0, 5), 0);
        ck_assert_uint_eq(array_count_to(items + 1, 3, sizeof(items[0]), at, 4), 0);
        ck_assert_uint_eq(array_count_to(items, 4, sizeof(items[0]), at, 4), 1);
        ck_assert_uint_eq(array_count_to(items, 4, sizeof(items[0]), at, 5), 3);
        ck_assert_uint_eq(array_count_to(items, 4, sizeof(items[0]), at, UINT64_MAX), 4);
}
END_TEST

START_TEST(test_impossible_size_leaves_the_array)
{
        uint64_t *items = NULL;
        const uint64_t *before;
        size_t capacity = 0;

        ck_assert_int_eq(array_reserve(&items, &capacity, 8, sizeof(*items)), 0);
        before = items;
        items[7] = 42;
        ck_assert_int_eq(array_reserve(&items, &capacity, SIZE_MAX / 8 + 2, sizeof(*items)), -ENOMEM);
        ck_assert_int_eq(array_reserve(&items, &capacity, SIZE_MAX, sizeof(*items)), -ENOMEM);
        ck_assert_ptr_eq(items, before);
        ck_assert_uint_eq(capacity, 8);
        ck_assert_uint_eq(items[7], 42);
        free(items);
}
END_TEST
