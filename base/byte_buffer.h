/* SPDX-License-Identifier: MIT */
/*
 * base/byte_buffer.h - a growing buffer that encoders write into
 *
 * Way of the data:  every encoder -> [byte_buffer] -> chunk body -> file
 *
 * The counterpart of base/bytes.h: little endian, varints are unsigned LEB128.
 * Sticky like it: when memory runs out, `failed` is set and later writes do
 * nothing, so an encoder writes its fields in a row and looks once at the end.
 * Zero-initialised is empty and valid.
 */
#ifndef BASE_BYTE_BUFFER_H
#define BASE_BYTE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTE_BUFFER_VARINT_BYTES 10 /* of the longest */

struct byte_buffer {
        uint8_t *data;     /* heap, owned; NULL while empty */
        size_t used_bytes; /* written so far */
        size_t capacity_bytes;
        bool failed; /* memory ran out: later writes did nothing */
};

/* Frees what the buffer owns and makes it empty and valid. */
void byte_buffer_deinit(struct byte_buffer *b);

/* Forgets the contents and the failure, keeps the memory. */
void byte_buffer_clear(struct byte_buffer *b);

/* Makes room for @n more bytes.  Returns where they will lie, or NULL when out of memory (sticky). */
uint8_t *byte_buffer_reserve(struct byte_buffer *b, size_t n);

void byte_buffer_add(struct byte_buffer *b, const void *data, size_t n);
/* printf, without the NUL. */
void byte_buffer_add_format(struct byte_buffer *b, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* The same; returns how many bytes that were. */
size_t byte_buffer_add_vformat(struct byte_buffer *b, const char *format, va_list args)
        __attribute__((format(printf, 2, 0)));
void byte_buffer_add_u16(struct byte_buffer *b, uint16_t v);
void byte_buffer_add_u32(struct byte_buffer *b, uint32_t v);
void byte_buffer_add_u64(struct byte_buffer *b, uint64_t v);
void byte_buffer_add_varint_slow(struct byte_buffer *b, uint64_t v);
void byte_buffer_put_varint_slow(struct byte_buffer *b, uint64_t v);

static inline void byte_buffer_add_u8(struct byte_buffer *b, uint8_t v)
{
        bool has_room = b->used_bytes < b->capacity_bytes && !b->failed;
        uint8_t *at = has_room ? b->data + b->used_bytes : byte_buffer_reserve(b, 1);

        if (!at)
                return;
        *at = v;
        b->used_bytes++;
}

/* Appends a varint for which the caller has reserved BYTE_BUFFER_VARINT_BYTES. */
static inline void byte_buffer_put_varint(struct byte_buffer *b, uint64_t v)
{
        uint8_t *at = b->data + b->used_bytes;
        unsigned more = v >= 0x80;

        if (v >= 0x4000) {
                byte_buffer_put_varint_slow(b, v);
                return;
        }
        /*
         * Writes both bytes, whether the second counts or not: lengths of times alternate between one byte
         * and two, which no processor can predict.
         */
        b->used_bytes += 1 + more;
        at[0] = (uint8_t)(v | more << 7);
        at[1] = (uint8_t)(v >> 7);
}

/* Inline, because most values take one or two bytes. */
static inline void byte_buffer_add_varint(struct byte_buffer *b, uint64_t v)
{
        if (b->capacity_bytes - b->used_bytes >= BYTE_BUFFER_VARINT_BYTES && !b->failed)
                byte_buffer_put_varint(b, v);
        else
                byte_buffer_add_varint_slow(b, v);
}

#endif /* BASE_BYTE_BUFFER_H */
