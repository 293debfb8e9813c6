/* SPDX-License-Identifier: MIT */
/* base/number_map.c: a map and a bitmap do what a plain array does; a map stays small */
#include "base/number_map.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define N_NUMBERS 3000

static char values[N_NUMBERS];
static const uint32_t steps[] = { 1, 2, 64, 4096, 1000003 };

START_LOOP_TEST(test_map, 0, sizeof(steps) / sizeof(steps[0]))
{
        struct number_map map = { .slots = NULL };
        bool there[N_NUMBERS] = { false };
        uint64_t state = 7;
        size_t n_there = 0, n_seen = 0, at = 0;

        ck_assert_ptr_null(number_map_find(&map, 1));
        number_map_remove(&map, 1);
        for (int i = 0; i < 40000; i++) {
                /* many, then few, then many */
                size_t k = fixed_random_next(&state) % (i / 10000 % 2 ? 20 : N_NUMBERS);
                uint32_t number = (uint32_t)k * steps[_i];

                if (there[k]) {
                        ck_assert_ptr_eq(number_map_find(&map, number), &values[k]);
                        number_map_remove(&map, number);
                } else {
                        ck_assert_ptr_null(number_map_find(&map, number));
                        ck_assert_int_eq(number_map_reserve(&map), 0);
                        number_map_put(&map, number, &values[k]);
                }
                there[k] = !there[k];
                n_there += there[k] ? 1 : SIZE_MAX;
                ck_assert_uint_eq(map.n_items, n_there);
        }
        for (size_t k = 0; k < N_NUMBERS; k++)
                ck_assert_ptr_eq(number_map_find(&map, (uint32_t)k * steps[_i]),
                                 there[k] ? &values[k] : NULL);
        for (char *value; (value = number_map_next(&map, &at)) != NULL; n_seen++) {
                ck_assert(there[value - values]);
                there[value - values] = false;
        }
        ck_assert_uint_eq(n_seen, n_there);
        number_map_deinit(&map);
}
END_TEST

/* A million numbers, one after the other: the map has room for those that are there at a time. */
START_TEST(test_map_stays_small)
{
        struct number_map map = { .slots = NULL };

        for (uint32_t i = 1; i <= 1000000; i++) {
                ck_assert_int_eq(number_map_reserve(&map), 0);
                number_map_put(&map, i, values);
                if (i > 20)
                        number_map_remove(&map, i - 20);
        }
        ck_assert_uint_eq(map.n_items, 20);
        ck_assert_uint_eq(map.n_slots, 64);
        number_map_deinit(&map);
}
END_TEST

START_LOOP_TEST(test_set, 0, sizeof(steps) / sizeof(steps[0]))
{
        bool there[N_NUMBERS] = { false };
        struct number_bitmap set;
        uint64_t state = 3;

        number_bitmap_init(&set);
        for (int i = 0; i < 20000; i++) {
                size_t k = fixed_random_next(&state) % N_NUMBERS;
                uint32_t number = (uint32_t)k * steps[_i];

                ck_assert_int_eq(number_bitmap_has(&set, number), there[k]);
                if (i % 3 == 0)
                        number_bitmap_remove(&set, number);
                else
                        ck_assert_int_eq(number_bitmap_add(&set, number), 0);
                there[k] = i % 3 != 0;
        }
        ck_assert(!number_bitmap_has(&set, UINT32_MAX));
        ck_assert_int_eq(number_bitmap_add(&set, UINT32_MAX), 0);
        ck_assert(number_bitmap_has(&set, UINT32_MAX));
        number_bitmap_deinit(&set);
}
END_TEST
