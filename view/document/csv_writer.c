/* SPDX-License-Identifier: MIT */
#include "view/document/csv_writer.h"

#include "view/text/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define DIGITS_MAX   20 /* of a number of 64 bits */

void csv_writer_init(struct csv_writer *w, FILE *out, char separator)
{
        *w = (struct csv_writer){ .out = out, .separator = separator };
}

void csv_writer_deinit(struct csv_writer *w)
{
        byte_buffer_deinit(&w->buffer);
}

static void flush(struct csv_writer *w)
{
        if (w->buffer.failed && w->code == 0)
                w->code = -ENOMEM;
        errno = 0;
        if (w->code == 0 && w->buffer.used_bytes != 0 &&
            fwrite(w->buffer.data, 1, w->buffer.used_bytes, w->out) != w->buffer.used_bytes)
                w->code = errno != 0 ? -errno : -EIO;
        byte_buffer_clear(&w->buffer);
}

/* Makes room for @n bytes, after the separator behind the previous field. */
static uint8_t *begin_field(struct csv_writer *w, size_t n)
{
        uint8_t *at;

        if (w->buffer.used_bytes >= BUFFER_BYTES)
                flush(w);
        at = byte_buffer_reserve(&w->buffer, n + 1);
        if (!at)
                return NULL;
        if (w->in_row) {
                *at++ = (uint8_t)w->separator;
                w->buffer.used_bytes++;
        }
        w->in_row = true;
        return at;
}

/* The ways in which a field may have to be written. */
enum { PLAIN, QUOTED, FOREIGN };

/*
 * As spreadsheets see it, some of which take wide forms of these characters like the plain ones.  A tab or a
 * carriage return, after which they look for a formula as well, is escaped: the text then begins with '\\'.
 */
static bool is_formula(const struct csv_writer *w, const char *bytes, size_t n_bytes)
{
        static const char *const first[] = { "=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20" };

        for (size_t i = 0; w->is_safe && i < sizeof(first) / sizeof(first[0]); i++) {
                size_t n = strlen(first[i]);

                if (n_bytes >= n && memcmp(bytes, first[i], n) == 0)
                        return true;
        }
        return false;
}

static int classify(const struct csv_writer *w, const char *bytes, size_t n_bytes)
{
        int found = PLAIN;

        for (size_t i = 0; i < n_bytes; i++) {
                uint8_t byte = (uint8_t)bytes[i];

                if (byte >= 0x7f || byte < ' ')
                        return FOREIGN;
                if (byte == '"' || bytes[i] == w->separator)
                        found = QUOTED;
        }
        return is_formula(w, bytes, n_bytes) ? QUOTED : found;
}

/* Escapes a character that is invisible or would end a line within the field. */
static void put_escaped(struct csv_writer *w, uint32_t character)
{
        char escaped[16];
        int n = snprintf(escaped, sizeof(escaped), character < 0x80 ? "\\x%02x" : "\\u{%x}",
                         (unsigned)character);

        byte_buffer_add(&w->buffer, escaped, (size_t)n);
}

/*
 * Writes a quoted field: quotes are doubled, invalid characters and those that end C strings are replaced,
 * control characters are escaped.
 */
static void put_quoted(struct csv_writer *w, const char *bytes, size_t n_bytes)
{
        byte_buffer_add_u8(&w->buffer, '"');
        if (is_formula(w, bytes, n_bytes))
                byte_buffer_add_u8(&w->buffer, '\'');
        for (size_t i = 0; i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(bytes + i, n_bytes - i, &character);

                if (length == 0 || character == 0)
                        byte_buffer_add(&w->buffer, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
                else if (!utf8_is_safe(character))
                        put_escaped(w, character);
                else
                        byte_buffer_add(&w->buffer, bytes + i, length);
                if (bytes[i] == '"')
                        byte_buffer_add_u8(&w->buffer, '"');
                i += length != 0 ? length : 1;
        }
        byte_buffer_add_u8(&w->buffer, '"');
}

void csv_writer_put_bytes(struct csv_writer *w, const char *bytes, size_t n_bytes)
{
        bool plain = classify(w, bytes, n_bytes) == PLAIN;
        uint8_t *at = begin_field(w, plain ? n_bytes : 0);

        if (!at)
                return;
        if (!plain) {
                put_quoted(w, bytes, n_bytes);
        } else if (n_bytes != 0) {
                memcpy(at, bytes, n_bytes);
                w->buffer.used_bytes += n_bytes;
        }
}

void csv_writer_put_words(struct csv_writer *w, const char *words)
{
        csv_writer_put_bytes(w, words, strlen(words));
}

static void put_digits(struct csv_writer *w, uint64_t number, bool negative)
{
        uint8_t digits[DIGITS_MAX + 1];
        size_t first = sizeof(digits);
        uint8_t *at = begin_field(w, sizeof(digits));

        if (!at)
                return;
        do {
                digits[--first] = (uint8_t)('0' + number % 10);
                number /= 10;
        } while (number != 0);
        if (negative)
                digits[--first] = '-';
        memcpy(at, digits + first, sizeof(digits) - first);
        w->buffer.used_bytes += sizeof(digits) - first;
}

void csv_writer_put_number(struct csv_writer *w, uint64_t number)
{
        put_digits(w, number, false);
}

void csv_writer_put_signed(struct csv_writer *w, int64_t number)
{
        put_digits(w, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
}

void csv_writer_put_real(struct csv_writer *w, double real, int n_digits)
{
        char text[64];
        int n = snprintf(text, sizeof(text), "%.*g", n_digits, real);
        uint8_t *at = begin_field(w, sizeof(text));

        if (!at || n < 0)
                return;
        memcpy(at, text, (size_t)n);
        w->buffer.used_bytes += (size_t)n;
}

void csv_writer_put_empty(struct csv_writer *w)
{
        (void)begin_field(w, 0);
}

void csv_writer_end_row(struct csv_writer *w)
{
        byte_buffer_add_u8(&w->buffer, '\n');
        w->in_row = false;
}

int csv_writer_finish(struct csv_writer *w)
{
        flush(w);
        return w->code;
}
