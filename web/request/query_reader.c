/* SPDX-License-Identifier: MIT */
#include "web/request/query_reader.h"

#include "base/error.h"
#include "view/text/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

void query_reader_init(struct query_reader *q, const char *query, size_t n_bytes)
{
        *q = (struct query_reader){ .at = query, .end = query + n_bytes };
}

void query_reader_deinit(struct query_reader *q)
{
        byte_buffer_deinit(&q->value);
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Returns the byte at @at and, in @ret_n, the number of characters that encode it; -1 = an invalid escape,
 * or a byte 0.
 */
static int decode_byte(const char *at, const char *end, size_t *ret_n)
{
        int high, low, byte;

        *ret_n = 1;
        if (*at == '+')
                return ' ';
        if (*at != '%')
                return *at != '\0' ? (unsigned char)*at : -1;
        if (end - at < 3)
                return -1;
        high = hex_digit(at[1]);
        low = hex_digit(at[2]);
        byte = high < 0 || low < 0 ? -1 : high * 16 + low;
        *ret_n = 3;
        return byte != 0 ? byte : -1;
}

static bool is_utf8(const uint8_t *bytes, size_t n_bytes)
{
        uint32_t character;

        while (n_bytes > 0) {
                size_t n = utf8_decode((const char *)bytes, n_bytes, &character);

                if (n == 0)
                        return false;
                bytes += n;
                n_bytes -= n;
        }
        return true;
}

static int decode_value(struct query_reader *q, const char *at, const char *end, struct error *err)
{
        byte_buffer_clear(&q->value);
        while (at < end) {
                size_t n;
                int byte = decode_byte(at, end, &n);

                if (byte < 0)
                        return error_set(err, -EINVAL, "a value is not well encoded");
                byte_buffer_add_u8(&q->value, (uint8_t)byte);
                at += n;
        }
        if (!q->value.failed && !is_utf8(q->value.data, q->value.used_bytes))
                return error_set(err, -EINVAL, "a value is not UTF-8");
        byte_buffer_add_u8(&q->value, '\0');
        return q->value.failed ? error_set(err, -ENOMEM, "no memory for a request") : 0;
}

int query_reader_next(struct query_reader *q, struct text_view *ret_name, struct text_view *ret_value,
                      struct error *err)
{
        const char *end, *equals;
        int r;

        if (q->at >= q->end)
                return 0;
        end = memchr(q->at, '&', (size_t)(q->end - q->at));
        if (!end)
                end = q->end;
        equals = memchr(q->at, '=', (size_t)(end - q->at));
        if (!equals)
                return error_set(err, -EINVAL, "a parameter has no value");
        r = decode_value(q, equals + 1, end, err);
        if (r < 0)
                return r;
        *ret_name = (struct text_view){ q->at, (size_t)(equals - q->at) };
        *ret_value = (struct text_view){ (const char *)q->value.data, q->value.used_bytes - 1 };
        q->at = end < q->end ? end + 1 : end;
        return 1;
}

int query_number(struct text_view value, uint64_t max, uint64_t *ret_number)
{
        uint64_t number = 0;

        if (value.n_bytes == 0)
                return -EINVAL;
        for (size_t i = 0; i < value.n_bytes; i++) {
                if (value.bytes[i] < '0' || value.bytes[i] > '9' ||
                    __builtin_mul_overflow(number, UINT64_C(10), &number) ||
                    __builtin_add_overflow(number, (uint64_t)(value.bytes[i] - '0'), &number) || number > max)
                        return -EINVAL;
        }
        *ret_number = number;
        return 0;
}

int query_number_list(struct text_view value, uint32_t *ret_numbers, size_t n_max, struct error *err)
{
        const char *at = value.bytes, *end = value.bytes + value.n_bytes;
        size_t n = 0;

        for (;;) {
                const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
                struct text_view one = { at, (size_t)((comma ? comma : end) - at) };
                uint64_t number;

                if (n == n_max)
                        return error_set(err, -EINVAL, "a list has more than %zu numbers", n_max);
                if (query_number(one, UINT32_MAX, &number) < 0)
                        return error_set(err, -EINVAL, "a list has something that is not a number");
                ret_numbers[n++] = (uint32_t)number;
                if (!comma)
                        return (int)n;
                at = comma + 1;
        }
}
