/* SPDX-License-Identifier: MIT */
#include "import/file/decimal_time.h"

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

bool decimal_time_parse(struct text_view text, uint64_t scale, uint64_t *ret_ns)
{
        const char *at = text.bytes, *end;
        uint64_t whole = 0, part = 0, unit = scale;
        bool has_digits = false;

        if (text.n_bytes == 0)
                return false;
        end = at + text.n_bytes;
        for (; at < end && is_digit(*at); at++, has_digits = true)
                if (__builtin_mul_overflow(whole, 10, &whole) ||
                    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
                        return false;
        if (at < end && *at == '.') {
                for (at++; at < end && is_digit(*at); at++, has_digits = true) {
                        if (unit == 1) {
                                /* The first digit that is too many rounds. */
                                part += *at >= '5';
                                unit = 0;
                        } else if (unit > 1) {
                                unit /= 10;
                                part += (uint64_t)(*at - '0') * unit;
                        }
                }
        }
        if (!has_digits || at != end || __builtin_mul_overflow(whole, scale, &whole) ||
            __builtin_add_overflow(whole, part, &whole))
                return false;
        *ret_ns = whole;
        return true;
}
