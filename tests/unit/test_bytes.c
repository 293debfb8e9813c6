/* SPDX-License-Identifier: MIT */
/* base/bytes.h: every number comes back at every length, and nothing is read past the end */
#include "base/bytes.h"

#include "base/byte_buffer.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

/* The bytes in a block of their own size, so that the sanitizer sees a read past them. */
static uint8_t *copy_exactly(const uint8_t *bytes, size_t n)
{
        uint8_t *copy = malloc(n > 0 ? n : 1);

        ck_assert_ptr_nonnull(copy);
        for (size_t i = 0; i < n; i++)
                copy[i] = bytes[i];
        return copy;
}

START_TEST(test_little_endian_at_any_address)
{
        static const uint8_t bytes[] = { 0xee, 1, 2, 0, 0xff, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x8d };
        struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));

        ck_assert_uint_eq(bytes_u8(&in), 0xee);
        ck_assert_uint_eq(bytes_u16(&in), 0x0201);
        ck_assert_uint_eq(bytes_u32(&in), 0x0403ff00);
        ck_assert_uint_eq(bytes_u64(&in), UINT64_C(0x0c0b0a0908070605));
        ck_assert(!bytes_all_used(&in));
        ck_assert_uint_eq(bytes_u8(&in), 0x8d);
        ck_assert(bytes_all_used(&in));
}
END_TEST

START_TEST(test_short_read_sticks_and_moves_nothing)
{
        static const uint8_t bytes[] = { 1, 2, 3 };
        struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));

        ck_assert_uint_eq(bytes_u32(&in), 0);
        ck_assert(in.short_read);
        ck_assert_uint_eq(in.left, 3);
        ck_assert_uint_eq(bytes_u8(&in), 0);
        ck_assert_uint_eq(bytes_varint(&in), 0);
        ck_assert_ptr_null(bytes_take(&in, 0));
        ck_assert_uint_eq(in.left, 3);
        ck_assert(!bytes_all_used(&in));
}
END_TEST

START_TEST(test_take_of_all_ones_is_refused)
{
        static const uint8_t bytes[] = { 1, 2, 3 };
        struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));

        ck_assert_ptr_eq(bytes_take(&in, 2), bytes);
        ck_assert_ptr_null(bytes_take(&in, SIZE_MAX));
        ck_assert(in.short_read);
}
END_TEST

/*
 * loop test: numbers of every bit length come back, take the bytes that they must, and are short at every cut
 */
START_LOOP_TEST(test_varint_of_every_length, 0, 65)
{
        unsigned n_bits = (unsigned)_i;
        uint64_t low = n_bits == 0 ? 0 : UINT64_C(1) << (n_bits - 1);
        uint64_t values[2] = { low, n_bits == 0 ? 0 : low | (low - 1) };

        for (size_t v = 0; v < 2; v++) {
                struct byte_buffer out = { .data = NULL };
                size_t n_bytes = n_bits == 0 ? 1 : (n_bits + 6) / 7;

                byte_buffer_add_varint(&out, values[v]);
                ck_assert_uint_eq(out.used_bytes, n_bytes);
                for (size_t cut = 0; cut <= n_bytes; cut++) {
                        uint8_t *bytes = copy_exactly(out.data, cut);
                        struct byte_reader in = byte_reader_of(bytes, cut);
                        uint64_t got = bytes_varint(&in);

                        ck_assert_uint_eq(got, cut == n_bytes ? values[v] : 0);
                        ck_assert_int_eq(in.short_read, cut < n_bytes);
                        free(bytes);
                }
                byte_buffer_deinit(&out);
        }
}
END_TEST

START_TEST(test_varint_over_64_bits_is_refused)
{
        static const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
        static const uint8_t bit_65[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 };
        static const uint8_t long_zero[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 };
        struct byte_reader in = byte_reader_of(most, sizeof(most));

        ck_assert_uint_eq(bytes_varint(&in), UINT64_MAX);
        ck_assert(bytes_all_used(&in));
        in = byte_reader_of(bit_65, sizeof(bit_65));
        ck_assert_uint_eq(bytes_varint(&in), 0);
        ck_assert(in.short_read);
        in = byte_reader_of(long_zero, sizeof(long_zero));
        ck_assert_uint_eq(bytes_varint(&in), 0);
        ck_assert(in.short_read);
}
END_TEST

START_TEST(test_sleb128)
{
        static const struct {
                uint8_t bytes[10];
                size_t n_bytes;
                int64_t value;
        } cases[] = {
                { { 0x00 }, 1, 0 },
                { { 0x3f }, 1, 63 },
                { { 0x40 }, 1, -64 },
                { { 0x7f }, 1, -1 },
                { { 0xc0, 0x00 }, 2, 64 },
                { { 0xff, 0x7f }, 2, -1 },
                { { 0x80, 0x80, 0x01 }, 3, 1 << 14 },
                { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00 }, 10, INT64_MAX },
                { { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f }, 10, INT64_MIN },
        };
        static const uint8_t too_long[11] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 };
        struct byte_reader in = byte_reader_of(too_long, sizeof(too_long));

        ck_assert_int_eq(bytes_sleb128(&in), 0);
        ck_assert(in.short_read);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                in = byte_reader_of(cases[i].bytes, cases[i].n_bytes);
                ck_assert_int_eq(bytes_sleb128(&in), cases[i].value);
                ck_assert(bytes_all_used(&in));
                in = byte_reader_of(cases[i].bytes, cases[i].n_bytes - 1);
                ck_assert_int_eq(bytes_sleb128(&in), 0);
                ck_assert(in.short_read);
        }
}
END_TEST

START_TEST(test_zigzag)
{
        uint64_t state = 7;

        ck_assert_uint_eq(zigzag_encode(0), 0);
        ck_assert_uint_eq(zigzag_encode(-1), 1);
        ck_assert_uint_eq(zigzag_encode(1), 2);
        ck_assert_uint_eq(zigzag_encode(INT64_MAX), UINT64_MAX - 1);
        ck_assert_uint_eq(zigzag_encode(INT64_MIN), UINT64_MAX);
        ck_assert_int_eq(zigzag_decode(UINT64_MAX), INT64_MIN);
        for (int i = 0; i < 1000; i++) {
                uint64_t value = fixed_random_magnitude(&state);

                ck_assert_uint_eq(zigzag_encode(zigzag_decode(value)), value);
        }
}
END_TEST
