/* SPDX-License-Identifier: MIT */
/*
 * export/shared/protobuf_writer.c: the bytes are those of the encoding; lengths are right
 * however long a message gets
 */
#include "export/shared/protobuf_writer.h"

#include "base/bytes.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static void expect(const struct byte_buffer *b, const char *bytes, size_t n_bytes)
{
        ck_assert(!b->failed);
        ck_assert_uint_eq(b->used_bytes, n_bytes);
        ck_assert_mem_eq(b->data, bytes, n_bytes);
}

START_TEST(test_fields)
{
        struct byte_buffer b = { .data = NULL };

        protobuf_writer_put_number(&b, 1, 150);
        protobuf_writer_put_signed(&b, 2, -1);
        protobuf_writer_put_fixed64(&b, 3, 1);
        protobuf_writer_put_double(&b, 4, 1.0);
        protobuf_writer_put_words(&b, 16, "hi");
        protobuf_writer_put_bytes(&b, 5, "\0\xff", 2);
        expect(&b,
               "\x08\x96\x01"
               "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
               "\x19\1\0\0\0\0\0\0\0"
               "\x21\0\0\0\0\0\0\xf0\x3f"
               "\x82\x01\2hi"
               "\x2a\2\0\xff",
               3 + 11 + 9 + 9 + 5 + 4);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_text_is_utf8)
{
        struct byte_buffer b = { .data = NULL };

        protobuf_writer_put_text(&b, 1, "a\xff\xc3\xa9\xc3", 5);
        protobuf_writer_put_text(&b, 1, NULL, 0);
        expect(&b,
               "\x0a\x09"
               "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd"
               "\x0a\0",
               13);
        byte_buffer_deinit(&b);
}
END_TEST

static const size_t lengths[] = { 0, 1, 2, 126, 127, 128, 129, 16383, 16384, 16385, 2097151, 2097152 };

/* loop test: a message in a message, with something after both */
START_LOOP_TEST(test_lengths, 0, sizeof(lengths) / sizeof(lengths[0]))
{
        size_t n = lengths[_i];
        struct byte_buffer b = { .data = NULL };
        struct byte_reader in;
        uint8_t *filling = malloc(n + 1);
        size_t outer = protobuf_writer_begin(&b, 1);
        size_t inner = protobuf_writer_begin(&b, 2);

        ck_assert_ptr_nonnull(filling);
        for (size_t i = 0; i < n; i++)
                filling[i] = (uint8_t)(i * 7);
        byte_buffer_add(&b, filling, n);
        protobuf_writer_end(&b, inner);
        protobuf_writer_put_number(&b, 3, 9);
        protobuf_writer_end(&b, outer);
        protobuf_writer_put_number(&b, 4, 8);

        in = byte_reader_of(b.data, b.used_bytes);
        ck_assert_uint_eq(bytes_u8(&in), 1 << 3 | 2);
        ck_assert_uint_eq(bytes_varint(&in), in.left - 2);
        ck_assert_uint_eq(bytes_u8(&in), 2 << 3 | 2);
        ck_assert_uint_eq(bytes_varint(&in), n);
        ck_assert_mem_eq(bytes_take(&in, n), filling, n);
        ck_assert_uint_eq(bytes_u8(&in), 3 << 3);
        ck_assert_uint_eq(bytes_u8(&in), 9);
        ck_assert_uint_eq(bytes_u8(&in), 4 << 3);
        ck_assert_uint_eq(bytes_u8(&in), 8);
        ck_assert_uint_eq(in.left, 0);
        free(filling);
        byte_buffer_deinit(&b);
}
END_TEST
