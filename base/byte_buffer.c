/* SPDX-License-Identifier: MIT */
#include "base/byte_buffer.h"

#include "base/large_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256

void byte_buffer_deinit(struct byte_buffer *b)
{
        free(b->data);
        *b = (struct byte_buffer){ .data = NULL };
}

void byte_buffer_clear(struct byte_buffer *b)
{
        b->used_bytes = 0;
        b->failed = false;
}

static uint8_t *grow(struct byte_buffer *b, size_t n)
{
        size_t wanted;
        size_t grown = b->capacity_bytes ? b->capacity_bytes : FIRST_BYTES;
        uint8_t *data;

        if (b->failed || __builtin_add_overflow(b->used_bytes, n, &wanted))
                goto fail;
        while (grown < wanted)
                if (__builtin_mul_overflow(grown, (size_t)2, &grown))
                        goto fail;
        data = realloc(b->data, grown);
        if (!data)
                goto fail;
        large_memory_hint(data, grown);
        b->data = data;
        b->capacity_bytes = grown;
        return b->data + b->used_bytes;

fail:
        b->failed = true;
        return NULL;
}

uint8_t *byte_buffer_reserve(struct byte_buffer *b, size_t n)
{
        /* It is called for each field of each event that is written: most often there is room. */
        if (b->data && n <= b->capacity_bytes - b->used_bytes && !b->failed)
                return b->data + b->used_bytes;
        return grow(b, n);
}

void byte_buffer_add(struct byte_buffer *b, const void *data, size_t n)
{
        uint8_t *at = byte_buffer_reserve(b, n);

        if (!at || n == 0)
                return;
        memcpy(at, data, n);
        b->used_bytes += n;
}

static void add_little_endian(struct byte_buffer *b, uint64_t v, size_t n)
{
        uint8_t *at = byte_buffer_reserve(b, n);

        if (!at)
                return;
        for (size_t i = 0; i < n; i++)
                at[i] = (uint8_t)(v >> (8 * i));
        b->used_bytes += n;
}

size_t byte_buffer_add_vformat(struct byte_buffer *b, const char *format, va_list args)
{
        va_list again;
        uint8_t *at = NULL;
        int n;

        va_copy(again, args);
        n = vsnprintf(NULL, 0, format, again);
        va_end(again);
        if (n >= 0)
                at = byte_buffer_reserve(b, (size_t)n + 1);
        if (!at) {
                b->failed = true;
                return 0;
        }
        (void)vsnprintf((char *)at, (size_t)n + 1, format, args);
        b->used_bytes += (size_t)n;
        return (size_t)n;
}

void byte_buffer_add_format(struct byte_buffer *b, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        (void)byte_buffer_add_vformat(b, format, args);
        va_end(args);
}

void byte_buffer_add_u16(struct byte_buffer *b, uint16_t v)
{
        add_little_endian(b, v, 2);
}

void byte_buffer_add_u32(struct byte_buffer *b, uint32_t v)
{
        add_little_endian(b, v, 4);
}

void byte_buffer_add_u64(struct byte_buffer *b, uint64_t v)
{
        add_little_endian(b, v, 8);
}

void byte_buffer_put_varint_slow(struct byte_buffer *b, uint64_t v)
{
        uint8_t *at = b->data + b->used_bytes;
        size_t n = 0;

        while (v >= 0x80) {
                at[n++] = (uint8_t)(v | 0x80);
                v >>= 7;
        }
        at[n++] = (uint8_t)v;
        b->used_bytes += n;
}

void byte_buffer_add_varint_slow(struct byte_buffer *b, uint64_t v)
{
        if (byte_buffer_reserve(b, BYTE_BUFFER_VARINT_BYTES))
                byte_buffer_put_varint_slow(b, v);
}
