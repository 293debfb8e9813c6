/* SPDX-License-Identifier: MIT */
#include "export/shared/json_out.h"

#include "view/text/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 48 /* of the longest, with a point */

int json_out_init(struct json_out *j, FILE *out)
{
        *j = (struct json_out){ .out = out, .buffer = malloc(JSON_OUT_BUFFER_BYTES) };
        if (!j->buffer)
                j->code = -ENOMEM;
        return j->code;
}

void json_out_deinit(struct json_out *j)
{
        free(j->buffer);
        *j = (struct json_out){ .code = -ENOMEM };
}

static void flush(struct json_out *j)
{
        if (j->code == 0 && j->used_bytes > 0 && fwrite(j->buffer, 1, j->used_bytes, j->out) != j->used_bytes)
                j->code = errno > 0 ? -errno : -EIO;
        j->used_bytes = 0;
}

/* Returns the place for @n more bytes, at most a buffer's size; NULL after a failure. */
static char *room(struct json_out *j, size_t n)
{
        if (j->code < 0)
                return NULL;
        if (JSON_OUT_BUFFER_BYTES - j->used_bytes < n)
                flush(j);
        return j->code < 0 ? NULL : j->buffer + j->used_bytes;
}

static void put(struct json_out *j, const char *bytes, size_t n_bytes)
{
        while (n_bytes > 0) {
                size_t n = n_bytes < JSON_OUT_BUFFER_BYTES ? n_bytes : JSON_OUT_BUFFER_BYTES;
                char *at = room(j, n);

                if (!at)
                        return;
                memcpy(at, bytes, n);
                j->used_bytes += n;
                bytes += n;
                n_bytes -= n;
        }
}

static void put_byte(struct json_out *j, char byte)
{
        char *at = room(j, 1);

        if (at) {
                *at = byte;
                j->used_bytes++;
        }
}

static void begin_value(struct json_out *j)
{
        if (j->needs_comma)
                put_byte(j, ',');
        j->needs_comma = true;
}

void json_out_open(struct json_out *j, char bracket)
{
        begin_value(j);
        put_byte(j, bracket);
        j->needs_comma = false;
}

void json_out_close(struct json_out *j, char bracket)
{
        put_byte(j, bracket);
        j->needs_comma = true;
}

void json_out_key(struct json_out *j, const char *key)
{
        json_out_words(j, key);
        put_byte(j, ':');
        j->needs_comma = false;
}

void json_out_key_string(struct json_out *j, const char *bytes, size_t n_bytes)
{
        json_out_string(j, bytes, n_bytes);
        put_byte(j, ':');
        j->needs_comma = false;
}

/*
 * Writes a character that is not ASCII and that a terminal would not show, or a byte of none.  Returns the
 * number of its bytes.
 */
static size_t put_unsafe(struct json_out *j, const char *bytes, size_t n_bytes)
{
        char escape[UTF8_ESCAPE_BYTES];
        uint32_t character;
        size_t length = utf8_decode(bytes, n_bytes, &character);

        if (length == 0) {
                put(j, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
                return 1;
        }
        put(j, escape, utf8_escape_json(character, escape));
        return length;
}

/* Writes a character of ASCII that must be escaped in a JSON string. */
static void put_escaped(struct json_out *j, unsigned char byte)
{
        static const char digits[] = "0123456789abcdef";
        char escape[6] = { '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };

        switch (byte) {
        case '"':
                put(j, "\\\"", 2);
                break;
        case '\\':
                put(j, "\\\\", 2);
                break;
        case '\n':
                put(j, "\\n", 2);
                break;
        case '\t':
                put(j, "\\t", 2);
                break;
        default:
                put(j, escape, sizeof(escape));
                break;
        }
}

/* The number of bytes at the start of @bytes that go into a string as they are. */
static size_t plain_bytes(const char *bytes, size_t n_bytes)
{
        size_t n = 0;

        while (n < n_bytes) {
                unsigned char byte = (unsigned char)bytes[n];
                uint32_t character;
                size_t length = 1;

                if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f)
                        break;
                if (byte >= 0x80)
                        length = utf8_decode(bytes + n, n_bytes - n, &character);
                if (length == 0 || (byte >= 0x80 && !utf8_is_safe(character)))
                        break;
                n += length;
        }
        return n;
}

void json_out_string(struct json_out *j, const char *bytes, size_t n_bytes)
{
        begin_value(j);
        put_byte(j, '"');
        while (n_bytes > 0) {
                size_t n = plain_bytes(bytes, n_bytes);

                put(j, bytes, n);
                if (n < n_bytes && (unsigned char)bytes[n] >= 0x80)
                        n += put_unsafe(j, bytes + n, n_bytes - n);
                else if (n < n_bytes)
                        put_escaped(j, (unsigned char)bytes[n++]);
                bytes += n;
                n_bytes -= n;
        }
        put_byte(j, '"');
}

void json_out_words(struct json_out *j, const char *words)
{
        begin_value(j);
        put_byte(j, '"');
        put(j, words, strlen(words));
        put_byte(j, '"');
}

/* Writes decimal digits that end before @end; returns where they begin. */
static char *digits_of(char *end, uint64_t number)
{
        do {
                *--end = (char)('0' + number % 10);
                number /= 10;
        } while (number > 0);
        return end;
}

void json_out_number(struct json_out *j, uint64_t number)
{
        char text[NUMBER_BYTES];
        char *end = text + sizeof(text);
        char *start = digits_of(end, number);

        begin_value(j);
        put(j, start, (size_t)(end - start));
}

void json_out_signed(struct json_out *j, int64_t number)
{
        char text[NUMBER_BYTES];
        char *end = text + sizeof(text);
        char *start = digits_of(end, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);

        if (number < 0)
                *--start = '-';
        begin_value(j);
        put(j, start, (size_t)(end - start));
}

void json_out_real(struct json_out *j, double real)
{
        char text[NUMBER_BYTES];
        int n;

        if (!isfinite(real)) {
                json_out_null(j);
                return;
        }
        n = snprintf(text, sizeof(text), "%.15g", real);
        if (strtod(text, NULL) < real || strtod(text, NULL) > real)
                n = snprintf(text, sizeof(text), "%.17g", real);
        begin_value(j);
        put(j, text, (size_t)n);
}

void json_out_decimal(struct json_out *j, uint64_t value, unsigned n_digits)
{
        char text[NUMBER_BYTES];
        char *end = text + sizeof(text);
        char *start = end;
        char *point;

        for (unsigned i = 0; i < n_digits; i++) {
                *--start = (char)('0' + value % 10);
                value /= 10;
        }
        point = start;
        while (end > point && end[-1] == '0') /* zeros at the end say nothing */
                end--;
        if (end > point)
                *--start = '.';
        start = digits_of(start, value);
        begin_value(j);
        put(j, start, (size_t)(end - start));
}

void json_out_bool(struct json_out *j, bool value)
{
        begin_value(j);
        put(j, value ? "true" : "false", value ? 4 : 5);
}

void json_out_null(struct json_out *j)
{
        begin_value(j);
        put(j, "null", 4);
}

void json_out_line(struct json_out *j)
{
        put_byte(j, '\n');
}

void json_out_pair_words(struct json_out *j, const char *key, const char *words)
{
        json_out_key(j, key);
        json_out_words(j, words);
}

void json_out_pair_string(struct json_out *j, const char *key, const char *bytes, size_t n_bytes)
{
        json_out_key(j, key);
        json_out_string(j, bytes, n_bytes);
}

void json_out_pair_number(struct json_out *j, const char *key, uint64_t number)
{
        json_out_key(j, key);
        json_out_number(j, number);
}

void json_out_pair_id(struct json_out *j, const char *key, uint64_t id)
{
        char text[24];

        if (id <= UINT64_C(1) << 53) {
                json_out_pair_number(j, key, id);
                return;
        }
        (void)snprintf(text, sizeof(text), "%" PRIu64, id);
        json_out_pair_words(j, key, text);
}

int json_out_finish(struct json_out *j)
{
        flush(j);
        if (j->code == 0 && fflush(j->out) != 0)
                j->code = errno > 0 ? -errno : -EIO;
        return j->code;
}
