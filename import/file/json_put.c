/* SPDX-License-Identifier: MIT */
#include "import/file/json_put.h"

#include "base/byte_buffer.h"

#include <math.h>
#include <string.h>

#define ESCAPE_BYTES_MAX 6 /* \u0000 */

void json_put_string(struct byte_buffer *b, struct text_view text, size_t n_bytes_max)
{
        if (text.n_bytes > n_bytes_max)
                text.n_bytes = n_bytes_max;
        byte_buffer_add_u8(b, '"');
        for (size_t i = 0; i < text.n_bytes; i++) {
                unsigned char c = (unsigned char)text.bytes[i];

                if (c == '"' || c == '\\')
                        byte_buffer_add_u8(b, '\\');
                if (c < ' ')
                        byte_buffer_add_format(b, "\\u%04x", c);
                else
                        byte_buffer_add_u8(b, c);
        }
        byte_buffer_add_u8(b, '"');
}

/* Where a text that is cut off there has no piece of an escape at its end. */
static size_t find_cut(const char *bytes, size_t n)
{
        for (size_t i = n - ESCAPE_BYTES_MAX; i < n; i++)
                if (bytes[i] == '\\')
                        n = i;
        while (n > 0 && bytes[n - 1] == '\\')
                n--;
        return n;
}

void json_put_escaped(struct byte_buffer *b, struct text_view text, size_t n_bytes_max)
{
        if (text.n_bytes > n_bytes_max)
                text.n_bytes = n_bytes_max < ESCAPE_BYTES_MAX ? 0 : find_cut(text.bytes, n_bytes_max);
        byte_buffer_add_u8(b, '"');
        byte_buffer_add(b, text.bytes, text.n_bytes);
        byte_buffer_add_u8(b, '"');
}

void json_put_double(struct byte_buffer *b, uint64_t bits)
{
        double value;

        memcpy(&value, &bits, sizeof(value));
        if (isfinite(value))
                byte_buffer_add_format(b, "%.17g", value);
        else
                byte_buffer_add(b, "null", 4);
}

static size_t count_digits(struct text_view text, size_t at)
{
        size_t n = 0;

        while (at + n < text.n_bytes && text.bytes[at + n] >= '0' && text.bytes[at + n] <= '9')
                n++;
        return n;
}

/* -12.5e+3, without zeros before its digits. */
static bool is_number(struct text_view text)
{
        size_t at = text.n_bytes > 0 && text.bytes[0] == '-', n = count_digits(text, at);

        if (n == 0 || (n > 1 && text.bytes[at] == '0'))
                return false;
        at += n;
        if (at < text.n_bytes && text.bytes[at] == '.') {
                n = count_digits(text, at + 1);
                if (n == 0)
                        return false;
                at += 1 + n;
        }
        if (at < text.n_bytes && (text.bytes[at] | 0x20) == 'e') {
                at++;
                at += at < text.n_bytes && (text.bytes[at] == '+' || text.bytes[at] == '-');
                n = count_digits(text, at);
                if (n == 0)
                        return false;
                at += n;
        }
        return at == text.n_bytes;
}

void json_put_number(struct byte_buffer *b, struct text_view number)
{
        if (is_number(number))
                byte_buffer_add(b, number.bytes, number.n_bytes);
        else
                byte_buffer_add(b, "null", 4);
}

void json_put_base64(struct byte_buffer *b, struct text_view bytes, size_t n_bytes_max)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        size_t n_bytes = bytes.n_bytes < n_bytes_max ? bytes.n_bytes : n_bytes_max;

        for (size_t i = 0; i < n_bytes; i += 3) {
                const size_t n_left = n_bytes - i;
                uint32_t three = (uint32_t)(unsigned char)bytes.bytes[i] << 16;

                if (n_left > 1)
                        three |= (uint32_t)(unsigned char)bytes.bytes[i + 1] << 8;
                if (n_left > 2)
                        three |= (unsigned char)bytes.bytes[i + 2];
                for (size_t j = 0; j < 4; j++)
                        byte_buffer_add_u8(b,
                                           j <= n_left ? (uint8_t)digits[three >> (18 - 6 * j) & 63] : '=');
        }
}

void json_put_hex(struct byte_buffer *b, uint64_t number)
{
        static const char digits[] = "0123456789abcdef";
        char text[16];

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = digits[number >> (60 - 4 * i) & 15];
        byte_buffer_add(b, text, sizeof(text));
}
