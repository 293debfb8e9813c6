/* SPDX-License-Identifier: MIT */
/* base/array.c: room for what was asked, contents kept, few copies, and no size that wraps around */
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
