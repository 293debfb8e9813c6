/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_objects.c: each kind of entry of a line table, and tables that make no sense
 */
#include "sampler/python/python_objects.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>

#define ENTRY(kind, units) (uint8_t)(0x80 | (kind) << 3 | ((units)-1))

START_TEST(test_each_kind)
{
        static const uint8_t table[] = {
                ENTRY(0, 1),  0x12,                 /* short: the same line; bytes 0 and 1 */
                ENTRY(12, 2), 3,        9,          /* one line: + 2; 2 .. 5 */
                ENTRY(13, 1), 5,                    /* no columns: - 2; 6 and 7 */
                ENTRY(14, 8), 0x40 | 8, 2, 0, 1, 2, /* long: + 68, in two parts; 8 .. 23 */
                ENTRY(15, 1),                       /* none; 24 and 25 */
                ENTRY(10, 1), 1,        2,          /* one line: + 0; 26 and 27 */
        };
        static const struct {
                uint64_t code_off;
                uint32_t line;
        } cases[] = { { 0, 100 }, { 1, 100 },  { 2, 102 }, { 5, 102 },  { 6, 100 },  { 7, 100 },
                      { 8, 168 }, { 23, 168 }, { 24, 0 },  { 26, 168 }, { 27, 168 }, { 28, 0 } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                ck_assert_uint_eq(python_lines_find(table, sizeof(table), 100, cases[i].code_off),
                                  cases[i].line);
}
END_TEST

/*
 * Every cut of a table, and tables of any bytes: an answer, and no byte is read past the end (as
 * sanitizers see).
 */
START_TEST(test_damage_does_no_harm)
{
        uint8_t table[64];
        uint32_t state = 20261122;

        for (int round = 0; round < 2000; round++) {
                for (size_t i = 0; i < sizeof(table); i++) {
                        state = state * 1664525 + 1013904223;
                        table[i] = (uint8_t)(state >> 24);
                }
                (void)python_lines_find(table + sizeof(table) - round % 64, (size_t)round % 64, 1,
                                        state >> 20);
        }
        ck_assert_uint_eq(python_lines_find(table, 0, 7, 0), 0);
}
END_TEST
