/* SPDX-License-Identifier: MIT */
/*
 * base/bytes.h - the only way hyprof looks into bytes that it did not make
 *
 * Way of the data:  file, ring, region -> [bytes] -> every decoder
 *
 * A struct byte_reader walks a buffer of the caller.  Numbers are little endian
 * and may lie at any address.  The reader is sticky: a read that asks for more
 * than is left sets `short_read`, returns 0 and moves nothing, so a decoder
 * reads its fields in a row and looks once at the end.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_reader {
        const uint8_t *at; /* next byte; borrowed, outlives the reader */
        size_t left;       /* bytes from `at` to the end */
        bool short_read;   /* a read did not fit, or a varint was malformed */
};

static inline struct byte_reader byte_reader_of(const void *data, size_t data_bytes)
{
        return (struct byte_reader){ .at = (const uint8_t *)data, .left = data_bytes };
}

/* Steps over the next @n bytes and returns where they begin; NULL and sticky if fewer are left. */
static inline const uint8_t *bytes_take(struct byte_reader *r, size_t n)
{
        const uint8_t *at = r->at;

        if (r->short_read || n > r->left) {
                r->short_read = true;
                return NULL;
        }
        r->at += n;
        r->left -= n;
        return at;
}

static inline uint8_t bytes_u8(struct byte_reader *r)
{
        const uint8_t *p = bytes_take(r, 1);

        return p ? *p : 0;
}

static inline uint16_t bytes_u16(struct byte_reader *r)
{
        const uint8_t *p = bytes_take(r, 2);

        return p ? (uint16_t)((uint32_t)p[0] | (uint32_t)p[1] << 8) : 0;
}

static inline uint32_t bytes_u32(struct byte_reader *r)
{
        const uint8_t *p = bytes_take(r, 4);

        return p ? (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

static inline uint64_t bytes_u64(struct byte_reader *r)
{
        const uint8_t *p = bytes_take(r, 8);

        /* Written out, because compilers make one load of this form, but not of a loop. */
        return p ? (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
                               (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
                               (uint64_t)p[7] << 56
                 : 0;
}

/* An unsigned LEB128 number of at most 64 bits; sticky if it is longer or cut off. */
static inline uint64_t bytes_varint_long(struct byte_reader *r)
{
        uint64_t v = 0;

        for (unsigned shift = 0; shift < 64; shift += 7) {
                uint8_t byte;

                if (r->left == 0 || r->short_read)
                        break;
                byte = *r->at;
                r->at++;
                r->left--;
                if (shift == 63 && byte > 1)
                        break;
                v |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return v;
        }
        r->short_read = true;
        return 0;
}

/*
 * The same.  Reads both bytes of a short number, whether the second counts or not: lengths of times alternate
 * between one byte and two, which no processor can predict.
 */
static inline uint64_t bytes_varint(struct byte_reader *r)
{
        if (r->left >= 2 && !r->short_read) {
                unsigned first = r->at[0], second = r->at[1], more = first >> 7;

                if (!(more & second >> 7)) {
                        r->at += 1 + more;
                        r->left -= 1 + more;
                        return (first & 0x7f) | (second << 7 & (0U - more));
                }
        }
        return bytes_varint_long(r);
}

/* A signed LEB128 number of at most 64 bits, as DWARF has it; sticky if it is longer or cut off. */
static inline int64_t bytes_sleb128(struct byte_reader *r)
{
        uint64_t v = 0;

        for (unsigned shift = 0; shift < 64; shift += 7) {
                uint8_t byte;

                if (r->left == 0 || r->short_read)
                        break;
                byte = *r->at;
                r->at++;
                r->left--;
                v |= (uint64_t)(byte & 0x7f) << shift;
                if (byte & 0x80)
                        continue;
                if (byte & 0x40 && shift < 57)
                        v |= UINT64_MAX << (shift + 7);
                return (int64_t)v;
        }
        r->short_read = true;
        return 0;
}

/* Signed numbers travel as varints of their zigzag form: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ... */
static inline uint64_t zigzag_encode(int64_t v)
{
        return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t zigzag_decode(uint64_t v)
{
        return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* True if every byte was read and none was missing: the usual last line of a decoder. */
static inline bool bytes_all_used(const struct byte_reader *r)
{
        return !r->short_read && r->left == 0;
}

#endif /* BASE_BYTES_H */
