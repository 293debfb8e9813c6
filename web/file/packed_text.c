/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* it only reads its input */
#include "web/file/html_parts.h"

#include "base/byte_buffer.h"

#include <errno.h>
#include <stdint.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16) /* of zlib: with the head of gzip, which has no time */
#define LEVEL            6
#define MEMORY_LEVEL     8
#define PART_BYTES       (UINT32_C(1) << 30)
#define STEP_BYTES       (UINT32_C(1) << 20)

static void add_base64(struct byte_buffer *out, const uint8_t *bytes, size_t n)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        uint8_t *at = byte_buffer_reserve(out, (n + 2) / 3 * 4);

        for (size_t i = 0; at && i < n; i += 3) {
                uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                                 (i + 2 < n ? bytes[i + 2] : 0);

                *at++ = (uint8_t)digits[three >> 18];
                *at++ = (uint8_t)digits[three >> 12 & 63];
                *at++ = i + 1 < n ? (uint8_t)digits[three >> 6 & 63] : '=';
                *at++ = i + 2 < n ? (uint8_t)digits[three & 63] : '=';
                out->used_bytes += 4;
        }
}

static int add_gzip(struct byte_buffer *out, const uint8_t *bytes, size_t n_bytes)
{
        z_stream z = { .next_in = bytes };
        int r = Z_OK;

        if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
                return -ENOMEM;
        while (r == Z_OK) {
                uint8_t *at = byte_buffer_reserve(out, STEP_BYTES);

                if (!at)
                        break;
                if (z.avail_in == 0) {
                        z.avail_in = n_bytes < PART_BYTES ? (uInt)n_bytes : PART_BYTES;
                        n_bytes -= z.avail_in;
                }
                z.next_out = at;
                z.avail_out = STEP_BYTES;
                r = deflate(&z, n_bytes == 0 ? Z_FINISH : Z_NO_FLUSH);
                out->used_bytes += STEP_BYTES - z.avail_out;
        }
        (void)deflateEnd(&z);
        return r == Z_STREAM_END ? 0 : -ENOMEM;
}

int packed_text_add(struct byte_buffer *out, const void *bytes, size_t n_bytes)
{
        struct byte_buffer packed = { .data = NULL };
        int r = add_gzip(&packed, bytes, n_bytes);

        if (r == 0)
                add_base64(out, packed.data, packed.used_bytes);
        byte_buffer_deinit(&packed);
        return r < 0 || out->failed ? -ENOMEM : 0;
}
