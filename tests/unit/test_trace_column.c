/* SPDX-License-Identifier: MIT */
/*
 * format/trace_column.c: numbers come back in each encoding; a list of columns is exactly as long as its body
 */
#include "format/trace_column.h"

#include "base/error.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_VALUES 5000

/* loop test: encoding by encoding */
START_LOOP_TEST(test_numbers_come_back, 0, TRACE_ENCODING_FIXED64 + 1)
{
        struct byte_buffer column = { .data = NULL };
        unsigned encoding = (unsigned)_i;
        uint64_t state = 3;
        uint64_t previous = 0;
        struct byte_reader in;

        for (int i = 0; i < N_VALUES; i++)
                trace_column_add(&column, encoding, &previous, fixed_random_magnitude(&state));
        in = byte_reader_of(column.data, column.used_bytes);
        state = 3;
        previous = 0;
        for (int i = 0; i < N_VALUES; i++)
                ck_assert_uint_eq(trace_column_next(&in, encoding, &previous),
                                  fixed_random_magnitude(&state));
        ck_assert(bytes_all_used(&in));
        (void)trace_column_next(&in, encoding, &previous);
        ck_assert(in.short_read);
        byte_buffer_deinit(&column);
}
END_TEST

/*
 * Delta columns are small: a number near the one before takes one byte, in both directions and over the end.
 */
START_TEST(test_delta_is_short_and_wraps)
{
        static const uint64_t values[] = { 10, 0, UINT64_MAX, 5, 6 };
        struct byte_buffer column = { .data = NULL };
        uint64_t previous = 0;

        for (size_t i = 0; i < 5; i++)
                trace_column_add(&column, TRACE_ENCODING_DELTA, &previous, values[i]);
        ck_assert_uint_eq(column.used_bytes, 5);
        ck_assert_mem_eq(column.data, "\x14\x13\x01\x0c\x02", 5);
        byte_buffer_deinit(&column);
}
END_TEST

START_TEST(test_texts_come_back)
{
        static const uint8_t bytes[] = { 3, 'a', '\0', 'c', 0, 2, 'd' };
        struct byte_buffer column = { .data = NULL };
        struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));
        const char *text;
        uint64_t n_bytes;

        text = trace_column_next_text(&in, &n_bytes);
        ck_assert_uint_eq(n_bytes, 3);
        ck_assert_mem_eq(text, "a\0c", 3);
        trace_column_add_text(&column, text, n_bytes);
        text = trace_column_next_text(&in, &n_bytes);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_eq(n_bytes, 0);
        trace_column_add_text(&column, text, n_bytes);
        ck_assert_uint_eq(column.used_bytes, 5);
        ck_assert_mem_eq(column.data, bytes, 5);
        ck_assert_ptr_null(trace_column_next_text(&in, &n_bytes));
        ck_assert(in.short_read);
        byte_buffer_deinit(&column);
}
END_TEST

/* 3 columns: 5 with "ab", 900 with nothing, 6 with "c" */
static const uint8_t list_bytes[] = { 3, 5, 2, 0x84, 0x07, 0, 6, 1, 'a', 'b', 'c' };

START_TEST(test_list)
{
        struct byte_reader body = byte_reader_of(list_bytes, sizeof(list_bytes));
        struct trace_column_entry entry;
        struct trace_column_list list;

        ck_assert_int_eq(trace_column_list_init(&list, body, NULL), 0);
        ck_assert_int_eq(trace_column_list_next(&list, &entry, NULL), 1);
        ck_assert_uint_eq(entry.column, 5);
        ck_assert_uint_eq(entry.bytes.left, 2);
        ck_assert_mem_eq(entry.bytes.at, "ab", 2);
        ck_assert_int_eq(trace_column_list_next(&list, &entry, NULL), 1);
        ck_assert_uint_eq(entry.column, 900);
        ck_assert_uint_eq(entry.bytes.left, 0);
        ck_assert_int_eq(trace_column_list_next(&list, &entry, NULL), 1);
        ck_assert_uint_eq(entry.column, 6);
        ck_assert_mem_eq(entry.bytes.at, "c", 1);
        ck_assert_int_eq(trace_column_list_next(&list, &entry, NULL), 0);
        ck_assert_int_eq(trace_column_list_next(&list, &entry, NULL), 0);
}
END_TEST

static int walk(const uint8_t *bytes, size_t n_bytes, struct error *err)
{
        struct trace_column_entry entry;
        struct trace_column_list list;
        int r = trace_column_list_init(&list, byte_reader_of(bytes, n_bytes), err);

        if (r < 0)
                return r;
        while ((r = trace_column_list_next(&list, &entry, err)) == 1)
                ck_assert(entry.bytes.at >= bytes && entry.bytes.at + entry.bytes.left <= bytes + n_bytes);
        return r;
}

START_TEST(test_list_of_any_other_length_is_refused)
{
        uint8_t longer[sizeof(list_bytes) + 1] = { 0 };

        for (size_t i = 0; i < sizeof(list_bytes); i++) {
                struct error err = ERROR_NONE;

                longer[i] = list_bytes[i];
                ck_assert_int_eq(walk(list_bytes, i, &err), -EBADMSG);
                ck_assert_uint_gt(strlen(err.text), 0);
        }
        ck_assert_int_eq(walk(longer, sizeof(list_bytes), NULL), 0);
        ck_assert_int_eq(walk(longer, sizeof(longer), NULL), -EBADMSG);
}
END_TEST

START_TEST(test_huge_numbers_are_refused)
{
        static const uint8_t huge_count[] = {
                0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1, 1
        };
        static const uint8_t huge_length[] = { 1,    7,    0xff, 0xff, 0xff, 0xff, 0xff,
                                               0xff, 0xff, 0xff, 0xff, 1,    1 };

        ck_assert_int_eq(walk(huge_count, sizeof(huge_count), NULL), -EBADMSG);
        ck_assert_int_eq(walk(huge_length, sizeof(huge_length), NULL), -EBADMSG);
        ck_assert_int_eq(walk((const uint8_t[]){ 0 }, 1, NULL), 0);
}
END_TEST
