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

void json_put_hex(struct byte_buffer *b, uint64_t number)
{
        static const char digits[] = "0123456789abcdef";
        char text[16];

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = digits[number >> (60 - 4 * i) & 15];
        byte_buffer_add(b, text, sizeof(text));
}
