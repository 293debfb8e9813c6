/* SPDX-License-Identifier: MIT */
/* base/byte_buffer.c: what is added is there, in order; a failure sticks and writes nothing more */
#include "base/byte_buffer.h"

#include "base/bytes.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define N_ADDS 20000

/* Adds a number in one of its forms, chosen by @form. */
static void add_number(struct byte_buffer *b, unsigned form, uint64_t value)
{
        switch (form) {
        case 0:
                byte_buffer_add_u8(b, (uint8_t)value);
                break;
        case 1:
                byte_buffer_add_u16(b, (uint16_t)value);
                break;
        case 2:
                byte_buffer_add_u32(b, (uint32_t)value);
                break;
        case 3:
                byte_buffer_add_u64(b, value);
                break;
        case 4:
                byte_buffer_add_varint(b, value);
                break;
        default:
                byte_buffer_add(b, &value, sizeof(value));
        }
}

static void expect_number(struct byte_reader *in, unsigned form, uint64_t value)
{
        switch (form) {
        case 0:
                ck_assert_uint_eq(bytes_u8(in), (uint8_t)value);
                break;
        case 1:
                ck_assert_uint_eq(bytes_u16(in), (uint16_t)value);
                break;
        case 2:
                ck_assert_uint_eq(bytes_u32(in), (uint32_t)value);
                break;
        case 3:
                ck_assert_uint_eq(bytes_u64(in), value);
                break;
        case 4:
                ck_assert_uint_eq(bytes_varint(in), value);
                break;
        default:
                ck_assert_mem_eq(bytes_take(in, sizeof(value)), &value, sizeof(value));
        }
}

START_TEST(test_everything_comes_back_in_order)
{
        struct byte_buffer b = { .data = NULL };
        struct byte_reader in;
        uint64_t state = 11;

        for (int i = 0; i < N_ADDS; i++) {
                unsigned form = (unsigned)(fixed_random_next(&state) % 6);

                add_number(&b, form, fixed_random_magnitude(&state));
        }
        ck_assert(!b.failed);
        ck_assert_uint_le(b.used_bytes, b.capacity_bytes);

        in = byte_reader_of(b.data, b.used_bytes);
        state = 11;
        for (int i = 0; i < N_ADDS; i++) {
                unsigned form = (unsigned)(fixed_random_next(&state) % 6);

                expect_number(&in, form, fixed_random_magnitude(&state));
        }
        ck_assert(bytes_all_used(&in));
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_reserve_gives_room_where_the_end_is)
{
        struct byte_buffer b = { .data = NULL };
        uint8_t *at;

        byte_buffer_add(&b, "abc", 3);
        at = byte_buffer_reserve(&b, 100000);
        ck_assert_ptr_eq(at, b.data + 3);
        memset(at, 'x', 100000);
        ck_assert_uint_eq(b.used_bytes, 3);
        ck_assert_mem_eq(b.data, "abc", 3);
        byte_buffer_deinit(&b);
}
END_TEST

/* Words as long as they are, without the NUL of printf. */
START_TEST(test_words)
{
        struct byte_buffer b = { .data = NULL };
        char name[1000];

        memset(name, 'n', sizeof(name));
        byte_buffer_add_format(&b, "%d %s", 12, "zones");
        byte_buffer_add_format(&b, "%s", "");
        byte_buffer_add_format(&b, "%.*s", (int)sizeof(name), name);
        ck_assert_uint_eq(b.used_bytes, 8 + sizeof(name));
        ck_assert_mem_eq(b.data, "12 zonesn", 9);
        byte_buffer_deinit(&b);
}
END_TEST

/* NULL means out of memory, so no room in an empty buffer must still be somewhere. */
START_TEST(test_reserve_of_nothing_is_no_failure)
{
        struct byte_buffer b = { .data = NULL };

        byte_buffer_add(&b, NULL, 0);
        ck_assert_uint_eq(b.used_bytes, 0);
        byte_buffer_deinit(&b);
        ck_assert_ptr_nonnull(byte_buffer_reserve(&b, 0));
        ck_assert(!b.failed);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_clear_keeps_the_memory)
{
        struct byte_buffer b = { .data = NULL };
        const uint8_t *data;

        byte_buffer_add_u64(&b, 1);
        data = b.data;
        byte_buffer_clear(&b);
        ck_assert_uint_eq(b.used_bytes, 0);
        byte_buffer_add_u64(&b, 2);
        ck_assert_ptr_eq(b.data, data);
        byte_buffer_deinit(&b);
        ck_assert_ptr_null(b.data);
        ck_assert_uint_eq(b.capacity_bytes, 0);
}
END_TEST

/* loop test: a room that no machine has, asked for in an empty and in a used buffer */
START_LOOP_TEST(test_failure_sticks, 0, 2)
{
        struct byte_buffer b = { .data = NULL };
        uint64_t room = 1;

        if (_i == 1)
                byte_buffer_add(&b, "abc", 3);
        ck_assert_ptr_null(byte_buffer_reserve(&b, SIZE_MAX));
        ck_assert(b.failed);
        for (unsigned form = 0; form < 6; form++)
                add_number(&b, form, 5);
        add_number(&b, 4, UINT64_MAX);
        byte_buffer_add(&b, &room, sizeof(room));
        ck_assert_ptr_null(byte_buffer_reserve(&b, 1));
        ck_assert(b.failed);
        ck_assert_uint_eq(b.used_bytes, _i == 1 ? 3 : 0);
        if (_i == 1)
                ck_assert_mem_eq(b.data, "abc", 3);

        byte_buffer_clear(&b);
        byte_buffer_add_u8(&b, 7);
        ck_assert(!b.failed);
        ck_assert_uint_eq(b.used_bytes, 1);
        byte_buffer_deinit(&b);
}
END_TEST
