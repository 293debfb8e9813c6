/* SPDX-License-Identifier: MIT */
/* symbolize/elf/code_extent.c: code goes on to the instruction that nothing passes, and never further */
#include "symbolize/elf/code_extent.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define CODE_BYTES_MAX 64

/* Each is followed by code of another function; how many of its bytes are known to go on. */
static const struct {
        const char *bytes; /* hexadecimal */
        size_t n_known;
} codes[] = {
        { "c3 90 c3", 1 },
        { "90 c3 90", 2 },
        /* mov …(%rip),%rax; mov %fs:(%rax),%r11; jmp *0x1c28(%r11): bytes of operands are no instructions */
        { "48 8b 05 c3 e9 eb cc 64 4c 8b 18 41 ff a3 28 1c 00 00 66 2e 0f 1f 84 00", 18 },
        /* A loop, and a short jump over a ret. */
        { "48 89 f8 48 83 fa 08 72 03 31 c0 c3 f3 48 a5 83 e2 07 c3 90", 19 },
        /* jae, far: to another function.  Then movabs, test, ret. */
        { "0f 83 10 00 00 00 48 b8 c3 c3 c3 c3 c3 c3 c3 c3 f6 c1 c3 c3 90", 20 },
        { "66 b8 c3 c3 66 81 c0 c3 c3 f7 07 c3 c3 c3 c3 eb 10 90", 18 }, /* shorter immediates */
        { "c5 f9 6f 04 24 c4 e3 79 0f c1 c3 c5 f8 77 62 f1 7c 48 28 07 0f 0b c3", 22 }, /* vectors; ud2 */
        { "c4 e2 75 b8 c2 c4 e2 7d 18 44 24 c3 c3 90", 13 }, /* vfmadd231ps; vbroadcastss -0x3d(%rsp),%ymm0 */
        { "b8 0f 00 00 00 0f 05 f4 90", 8 },
        { "90 06 c3", 1 },    /* no instruction */
        { "48 8b 05 00", 0 }, /* cut */
        { "0f", 0 },
        { "66 66 66", 0 },
        { "c4 e3", 0 },
};

static size_t read_bytes(const char *text, uint8_t *bytes)
{
        size_t n = 0;

        for (char *end; *text; text = end)
                bytes[n++] = (uint8_t)strtoul(text, &end, 16);
        return n;
}

START_LOOP_TEST(test_known_ends, 0, sizeof(codes) / sizeof(codes[0]))
{
        uint8_t bytes[CODE_BYTES_MAX];
        size_t n = read_bytes(codes[_i].bytes, bytes);

        ck_assert_uint_eq(code_extent_count_x86(bytes, n), codes[_i].n_known);
}
END_TEST

/* Any bytes, cut anywhere: never more than there are, and nothing after them is looked at. */
START_TEST(test_any_bytes)
{
        srand(1);
        for (int round = 0; round < 20000; round++) {
                size_t n = (size_t)rand() % 24;
                uint8_t *bytes = malloc(n > 0 ? n : 1); /* to the byte, for AddressSanitizer */

                ck_assert_ptr_nonnull(bytes);
                for (size_t i = 0; i < n; i++)
                        bytes[i] = (uint8_t)rand();
                ck_assert_uint_le(code_extent_count_x86(bytes, n), n);
                free(bytes);
        }
}
END_TEST
