/* SPDX-License-Identifier: MIT */
/* symbolize/elf/address_map.c: a lookup gives the innermost range, as a search through all ranges would */
#include "symbolize/elf/address_map.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define N_RANGES  40
#define N_ADDRESS 100

START_TEST(test_empty_map_holds_nothing)
{
        struct address_map map = { .ranges = NULL };

        ck_assert_int_eq(address_map_build(&map), 0);
        ck_assert_uint_eq(address_map_find(&map, 0), ADDRESS_MAP_NONE);
        ck_assert_uint_eq(address_map_find(&map, UINT64_MAX), ADDRESS_MAP_NONE);
        address_map_deinit(&map);
}
END_TEST

START_TEST(test_nested_ranges_and_gaps)
{
        struct address_map map = { .ranges = NULL };
        static const struct {
                uint64_t address;
                uint32_t value;
        } wanted[] = {
                { 9, ADDRESS_MAP_NONE },
                { 10, 1 },
                { 19, 1 },
                { 20, 2 },
                { 24, 2 },
                { 25, 3 },
                { 29, 3 },
                { 30, 1 },
                { 39, 1 },
                { 40, ADDRESS_MAP_NONE },
                { 50, 4 },
                { 59, 4 },
                { 60, ADDRESS_MAP_NONE },
        };

        ck_assert_int_eq(address_map_add(&map, 50, 60, 4), 0);
        ck_assert_int_eq(address_map_add(&map, 10, 40, 1), 0);
        ck_assert_int_eq(address_map_add(&map, 25, 30, 3), 0);
        ck_assert_int_eq(address_map_add(&map, 20, 30, 2), 0);
        ck_assert_int_eq(address_map_add(&map, 70, 70, 5), 0);
        ck_assert_int_eq(address_map_add(&map, 80, 75, 6), 0);
        ck_assert_int_eq(address_map_build(&map), 0);
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
                ck_assert_uint_eq(address_map_find(&map, wanted[i].address), wanted[i].value);
        ck_assert_uint_eq(address_map_find_next(&map, 0), 10);
        ck_assert_uint_eq(address_map_find_next(&map, 10), 20);
        ck_assert_uint_eq(address_map_find_next(&map, 30), 50); /* over the gap */
        ck_assert_uint_eq(address_map_find_next(&map, 50), UINT64_MAX);
        ck_assert_uint_eq(address_map_find(&map, 70), ADDRESS_MAP_NONE);
        ck_assert_uint_eq(address_map_find(&map, 77), ADDRESS_MAP_NONE);
        address_map_deinit(&map);
}
END_TEST

/* The rule of the header, by trying all ranges. */
static uint32_t search(const struct address_map_range *ranges, uint64_t address)
{
        const struct address_map_range *best = NULL;

        for (size_t i = 0; i < N_RANGES; i++) {
                const struct address_map_range *r = &ranges[i];

                if (address < r->start || address >= r->end)
                        continue;
                if (!best || r->start > best->start || (r->start == best->start && r->end <= best->end))
                        best = r;
        }
        return best ? best->value : ADDRESS_MAP_NONE;
}

/* loop test: one seed a run */
START_LOOP_TEST(test_any_ranges, 0, 50)
{
        struct address_map_range ranges[N_RANGES];
        struct address_map map = { .ranges = NULL };
        unsigned seed = (unsigned)_i;

        for (uint32_t i = 0; i < N_RANGES; i++) {
                ranges[i].start = (uint64_t)rand_r(&seed) % N_ADDRESS;
                ranges[i].end = ranges[i].start + (uint64_t)rand_r(&seed) % 20;
                ranges[i].value = i;
                ck_assert_int_eq(address_map_add(&map, ranges[i].start, ranges[i].end, i), 0);
        }
        ck_assert_int_eq(address_map_build(&map), 0);
        for (uint64_t address = 0; address < N_ADDRESS + 30; address++)
                ck_assert_uint_eq(address_map_find(&map, address), search(ranges, address));
        address_map_deinit(&map);
}
END_TEST

START_TEST(test_ranges_at_the_end_of_the_address_space)
{
        struct address_map map = { .ranges = NULL };

        ck_assert_int_eq(address_map_add(&map, UINT64_MAX - 8, UINT64_MAX, 7), 0);
        ck_assert_int_eq(address_map_build(&map), 0);
        ck_assert_uint_eq(address_map_find(&map, UINT64_MAX - 1), 7);
        ck_assert_uint_eq(address_map_find(&map, UINT64_MAX), ADDRESS_MAP_NONE);
        address_map_deinit(&map);
}
END_TEST
