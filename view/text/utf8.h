/* SPDX-License-Identifier: MIT */
/*
 * view/text/utf8.h - one character of UTF-8 out of bytes that may be anything
 *
 * Way of the data:  names of a trace -> [utf8] -> text_table, json_value, exports
 */
#ifndef VIEW_TEXT_UTF8_H
#define VIEW_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for invalid characters */

/*
 * utf8_decode() - the character at the start of @bytes
 * @n_bytes:        at least 1
 * @ret_character:  its code point
 * Returns the number of its bytes, 1 .. 4; 0 if the bytes do not start with a character: cut off,
 * longer than need be, a surrogate, beyond U+10FFFF.
 */
size_t utf8_decode(const char *bytes, size_t n_bytes, uint32_t *ret_character);

/*
 * Appends @bytes to @out, with U+FFFD for each byte that belongs to no character; @out tells whether memory
 * ran out.
 */
void utf8_add_clean(struct byte_buffer *out, const char *bytes, size_t n_bytes);

/*
 * utf8_is_safe() - whether a terminal shows a character as a character
 * False for what moves the cursor, changes modes, breaks lines or turns the direction of text.
 */
bool utf8_is_safe(uint32_t character);

/* A character by its number, as JSON has it in a string.  Returns the bytes of @ret_escape without NUL. */
#define UTF8_ESCAPE_BYTES 13 /* of two surrogates, and NUL */
size_t utf8_escape_json(uint32_t character, char ret_escape[UTF8_ESCAPE_BYTES]);

#endif /* VIEW_TEXT_UTF8_H */
