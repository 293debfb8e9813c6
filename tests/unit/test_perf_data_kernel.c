/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/perf_data_kernel.c: the kernel's build-id and symbols are found where
 * they are, and nowhere else
 */
#include "export/perf_data/perf_data_parts.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t notes[] = {
        /* of another type */
        4,
        0,
        0,
        0,
        2,
        0,
        0,
        0,
        9,
        0,
        0,
        0,
        'G',
        'N',
        'U',
        0,
        1,
        2,
        0,
        0,
        /* of another name */
        5,
        0,
        0,
        0,
        4,
        0,
        0,
        0,
        3,
        0,
        0,
        0,
        'X',
        'e',
        'n',
        's',
        0,
        0,
        0,
        0,
        1,
        2,
        3,
        4,
        /* the build-id */
        4,
        0,
        0,
        0,
        6,
        0,
        0,
        0,
        3,
        0,
        0,
        0,
        'G',
        'N',
        'U',
        0,
        10,
        11,
        12,
        13,
        14,
        15,
};

START_TEST(test_notes)
{
        uint8_t id[PERF_DATA_KERNEL_ID_MAX];

        ck_assert_uint_eq(perf_data_kernel_parse_notes(notes, sizeof(notes), id), 6);
        ck_assert_mem_eq(id, "\x0a\x0b\x0c\x0d\x0e\x0f", 6);
        for (size_t n = 0; n < sizeof(notes); n++) {
                uint8_t *cut = malloc(n + 1);

                ck_assert_ptr_nonnull(cut);
                memcpy(cut, notes, n);
                ck_assert_uint_eq(perf_data_kernel_parse_notes(cut, n, id), 0);
                free(cut);
        }
}
END_TEST

/* No length makes it read, or write, beyond the end. */
START_TEST(test_hostile_notes)
{
        uint8_t bytes[64], id[PERF_DATA_KERNEL_ID_MAX];

        for (size_t at = 0; at < 8; at++) {
                memset(bytes, 0, sizeof(bytes));
                memcpy(bytes, notes + sizeof(notes) - 22, 22);
                bytes[at] = 0xff;
                ck_assert_uint_eq(perf_data_kernel_parse_notes(bytes, sizeof(bytes), id), 0);
        }
}
END_TEST

START_TEST(test_symbols)
{
        static const char text[] = "ffffffff81000000 T _stext\n"
                                   "ffffffff81000010 T _text\n"
                                   "0000000000000123 t a_text\n"
                                   "ffffffff82000000 T _etext\t[module]\n"
                                   "nonsense\n"
                                   "\n"
                                   "ffffffff83000000 T _etext\n"
                                   "ffffffff84000000 T _end";
        size_t n = strlen(text);

        ck_assert_uint_eq(perf_data_kernel_parse_symbol(text, n, "_text"), 0xffffffff81000010);
        ck_assert_uint_eq(perf_data_kernel_parse_symbol(text, n, "_etext"), 0xffffffff83000000);
        ck_assert_uint_eq(perf_data_kernel_parse_symbol(text, n, "_nosuch"), 0);
        ck_assert_uint_eq(perf_data_kernel_parse_symbol(text, 0, "_text"), 0);
        for (size_t i = 0; i < n; i++) {
                char *cut = malloc(i + 1);

                ck_assert_ptr_nonnull(cut);
                memcpy(cut, text, i);
                (void)perf_data_kernel_parse_symbol(cut, i, "_end");
                free(cut);
        }
}
END_TEST
