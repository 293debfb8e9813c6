/* SPDX-License-Identifier: MIT */
#include "export/shared/protobuf_writer.h"

#include "view/text/utf8.h"

#include <string.h>

/* The lower three bits of a field's tag. */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_tag(struct byte_buffer *b, uint32_t field, enum wire_type type)
{
        byte_buffer_add_varint(b, (uint64_t)field << 3 | type);
}

void protobuf_writer_put_number(struct byte_buffer *b, uint32_t field, uint64_t number)
{
        put_tag(b, field, WIRE_VARINT);
        byte_buffer_add_varint(b, number);
}

void protobuf_writer_put_signed(struct byte_buffer *b, uint32_t field, int64_t number)
{
        protobuf_writer_put_number(b, field, (uint64_t)number);
}

void protobuf_writer_put_fixed64(struct byte_buffer *b, uint32_t field, uint64_t number)
{
        put_tag(b, field, WIRE_FIXED64);
        byte_buffer_add_u64(b, number);
}

void protobuf_writer_put_double(struct byte_buffer *b, uint32_t field, double number)
{
        uint64_t bits;

        memcpy(&bits, &number, sizeof(bits));
        protobuf_writer_put_fixed64(b, field, bits);
}

void protobuf_writer_put_bytes(struct byte_buffer *b, uint32_t field, const void *bytes, size_t n_bytes)
{
        put_tag(b, field, WIRE_BYTES);
        byte_buffer_add_varint(b, n_bytes);
        byte_buffer_add(b, bytes, n_bytes);
}

void protobuf_writer_put_words(struct byte_buffer *b, uint32_t field, const char *words)
{
        protobuf_writer_put_bytes(b, field, words, strlen(words));
}

void protobuf_writer_put_text(struct byte_buffer *b, uint32_t field, const char *bytes, size_t n_bytes)
{
        size_t begin = protobuf_writer_begin(b, field);

        utf8_add_clean(b, bytes, n_bytes);
        protobuf_writer_end(b, begin);
}

size_t protobuf_writer_begin(struct byte_buffer *b, uint32_t field)
{
        put_tag(b, field, WIRE_BYTES);
        return b->used_bytes;
}

void protobuf_writer_end(struct byte_buffer *b, size_t begin)
{
        size_t n_bytes = b->used_bytes - begin;
        size_t length_bytes = 1;

        if (b->failed)
                return;
        for (uint64_t rest = n_bytes >> 7; rest != 0; rest >>= 7)
                length_bytes++;
        if (!byte_buffer_reserve(b, length_bytes))
                return;
        memmove(b->data + begin + length_bytes, b->data + begin, n_bytes);
        for (size_t i = 0; i < length_bytes; i++)
                b->data[begin + i] = (uint8_t)((n_bytes >> (7 * i) & 0x7f) |
                                               (i + 1 < length_bytes ? 0x80 : 0));
        b->used_bytes += length_bytes;
}
