/* SPDX-License-Identifier: MIT */
#include "import/file/json_pull.h"

#include <errno.h>
#include <string.h>

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c = (char)(c | 0x20);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u; -1 if they are none. */
static int32_t take_unit(const char *at, const char *end)
{
        int32_t unit = 0;

        if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
                return -1;
        for (int i = 2; i < 6; i++) {
                int digit = digit_of(at[i]);

                if (digit < 0)
                        return -1;
                unit = unit << 4 | digit;
        }
        return unit;
}

static void add_utf8(struct byte_buffer *b, uint32_t c)
{
        if (c < 0x80) {
                byte_buffer_add_u8(b, (uint8_t)c);
                return;
        }
        if (c < 0x800) {
                byte_buffer_add_u8(b, (uint8_t)(0xc0 | c >> 6));
        } else {
                if (c < 0x10000) {
                        byte_buffer_add_u8(b, (uint8_t)(0xe0 | c >> 12));
                } else {
                        byte_buffer_add_u8(b, (uint8_t)(0xf0 | c >> 18));
                        byte_buffer_add_u8(b, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
                }
                byte_buffer_add_u8(b, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        }
        byte_buffer_add_u8(b, (uint8_t)(0x80 | (c & 0x3f)));
}

/* Appends what \uXXXX at @at means, or both halves of a surrogate pair; returns how many bytes that was. */
static size_t add_unit(struct byte_buffer *b, const char *at, const char *end)
{
        int32_t unit = take_unit(at, end), low;

        if (unit < 0) {
                byte_buffer_add_u8(b, '\\');
                return 1;
        }
        if (unit < 0xd800 || unit > 0xdfff) {
                add_utf8(b, (uint32_t)unit);
                return 6;
        }
        low = take_unit(at + 6, end);
        if (unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff) {
                add_utf8(b, 0xfffd);
                return 6;
        }
        add_utf8(b, 0x10000 + ((uint32_t)unit - 0xd800) * 0x400 + ((uint32_t)low - 0xdc00));
        return 12;
}

static size_t add_escape(struct byte_buffer *b, const char *at, const char *end)
{
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char *letter;

        if (end - at < 2 || at[1] == 'u')
                return add_unit(b, at, end);
        letter = memchr(letters, at[1], sizeof(letters) - 1);
        if (!letter) {
                byte_buffer_add_u8(b, '\\');
                return 1;
        }
        byte_buffer_add_u8(b, (uint8_t)meanings[letter - letters]);
        return 2;
}

int json_pull_string(struct text_view text, struct byte_buffer *room, struct text_view *ret_text)
{
        const char *at = text.bytes, *end;

        if (text.n_bytes == 0 || !memchr(at, '\\', text.n_bytes)) {
                *ret_text = text;
                return 0;
        }
        end = at + text.n_bytes;
        byte_buffer_clear(room);
        while (at < end) {
                const char *escape = memchr(at, '\\', (size_t)(end - at));

                byte_buffer_add(room, at, (size_t)((escape ? escape : end) - at));
                at = escape ? escape + add_escape(room, escape, end) : end;
        }
        if (room->failed)
                return -ENOMEM;
        *ret_text = (struct text_view){ (const char *)room->data, room->used_bytes };
        return 0;
}
