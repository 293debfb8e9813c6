/* SPDX-License-Identifier: MIT */
/*
 * base/large_memory.c: blocks of every size are whole, large ones begin with a large page, and no
 * other memory is touched
 */
#include "base/large_memory.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_PAGE ((size_t)1 << 21)

START_TEST(test_blocks_are_whole)
{
        static const size_t sizes[] = { 1,          4096,           LARGE_PAGE - 1,
                                        LARGE_PAGE, LARGE_PAGE + 1, 3 * LARGE_PAGE - 8 };

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                uint8_t *block = large_memory_new(sizes[i]);

                ck_assert_ptr_nonnull(block);
                if (sizes[i] >= LARGE_PAGE)
                        ck_assert_uint_eq((uintptr_t)block % LARGE_PAGE, 0);
                memset(block, 0x5a, sizes[i]);
                ck_assert_uint_eq(block[sizes[i] - 1], 0x5a);
                block = realloc(block, sizes[i] / 2 + 1); /* as tables do that were made too long */
                ck_assert_ptr_nonnull(block);
                ck_assert_uint_eq(block[sizes[i] / 2], 0x5a);
                free(block);
        }
}
END_TEST

START_TEST(test_more_than_there_is)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        return; /* their allocators take it for an error of the program */
#endif
        volatile size_t n_bytes = SIZE_MAX; /* or the compiler says that it is too much */

        ck_assert_ptr_null(large_memory_new(n_bytes));
        ck_assert_ptr_null(large_memory_new(n_bytes - LARGE_PAGE));
}
END_TEST

/* Written bytes stay, wherever a block lies. */
START_TEST(test_a_hint_changes_nothing)
{
        size_t n_bytes = 4 * LARGE_PAGE;
        uint8_t *block = calloc(1, n_bytes);

        ck_assert_ptr_nonnull(block);
        for (size_t i = 0; i < n_bytes; i += 4096)
                block[i] = (uint8_t)(i / 4096);
        large_memory_hint(block + 1, n_bytes - 1);
        large_memory_hint(block, LARGE_PAGE / 2);
        large_memory_hint(block, 0);
        large_memory_hint(NULL, 0);
        for (size_t i = 0; i < n_bytes; i += 4096)
                ck_assert_uint_eq(block[i], (uint8_t)(i / 4096));
        free(block);
}
END_TEST
