/* SPDX-License-Identifier: MIT */
#include "view/text/utf8.h"

#include "base/byte_buffer.h"

#include <stdio.h>
#include <string.h>

size_t utf8_decode(const char *bytes, size_t n_bytes, uint32_t *ret_character)
{
        static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* by number of bytes */
        uint8_t first = (uint8_t)bytes[0];
        uint32_t character;
        size_t wanted;

        if (first < 0x80) {
                *ret_character = first;
                return 1;
        }
        if (first >= 0xc2 && first < 0xe0)
                wanted = 2;
        else if (first >= 0xe0 && first < 0xf0)
                wanted = 3;
        else if (first >= 0xf0 && first < 0xf5)
                wanted = 4;
        else
                return 0;
        if (n_bytes < wanted)
                return 0;
        character = first & (0x7fU >> wanted);
        for (size_t i = 1; i < wanted; i++) {
                uint8_t byte = (uint8_t)bytes[i];

                if ((byte & 0xc0) != 0x80)
                        return 0;
                character = character << 6 | (byte & 0x3fU);
        }
        if (character < smallest[wanted] || character > 0x10ffff ||
            (character >= 0xd800 && character <= 0xdfff))
                return 0;
        *ret_character = character;
        return wanted;
}

void utf8_add_clean(struct byte_buffer *out, const char *bytes, size_t n_bytes)
{
        size_t begin = 0; /* of the characters that were not copied yet */

        for (size_t i = 0; i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(bytes + i, n_bytes - i, &character);

                if (length == 0) {
                        byte_buffer_add(out, bytes + begin, i - begin);
                        byte_buffer_add(out, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
                        begin = i + 1;
                }
                i += length != 0 ? length : 1;
        }
        byte_buffer_add(out, bytes + begin, n_bytes - begin);
}

bool utf8_is_safe(uint32_t character)
{
        static const struct {
                uint32_t first, last;
        } unsafe[] = {
                { 0x00, 0x1f },       /* control characters */
                { 0x7f, 0x9f },       /* delete, and the control characters of 8 bits */
                { 0x061c, 0x061c },   /* marks of direction ... */
                { 0x200b, 0x200f },   /* ... and without width */
                { 0x2028, 0x202e },   /* separators of lines, embedding and overriding of direction */
                { 0x2060, 0x206f },   /* isolating of direction, invisible operators */
                { 0xfeff, 0xfeff },   /* byte order mark */
                { 0xfff9, 0xfffb },   /* annotations */
                { 0xe0000, 0xe0fff }, /* tags */
        };

        for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
                if (character >= unsafe[i].first && character <= unsafe[i].last)
                        return false;
        return true;
}

size_t utf8_escape_json(uint32_t character, char ret_escape[UTF8_ESCAPE_BYTES])
{
        uint32_t above = character - 0x10000;
        int n = character < 0x10000
                        ? snprintf(ret_escape, UTF8_ESCAPE_BYTES, "\\u%04x", (unsigned)character)
                        : snprintf(ret_escape, UTF8_ESCAPE_BYTES, "\\u%04x\\u%04x",
                                   (unsigned)(0xd800 + (above >> 10)), (unsigned)(0xdc00 + (above & 0x3ff)));

        return (size_t)n;
}
