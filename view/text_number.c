/* SPDX-License-Identifier: MIT */
#include "view/text_number.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct text_number text_number_count(uint64_t count)
{
        struct text_number number = { .text = "" };
        char digits[24];
        size_t n_digits, used = 0;

        (void)snprintf(digits, sizeof(digits), "%" PRIu64, count);
        n_digits = strlen(digits);
        for (size_t i = 0; i < n_digits; i++) {
                if (i != 0 && (n_digits - i) % 3 == 0)
                        number.text[used++] = ',';
                number.text[used++] = digits[i];
        }
        return number;
}

/* @value in the first of @units, shown with three digits in the one that fits. */
static struct text_number in_units(double value, const char *const *units, unsigned last_unit)
{
        struct text_number number;
        unsigned unit = 0;
        int n_decimals;

        /* 999.5 would be shown as 1000: the larger unit says the same in fewer digits. */
        while (value >= 999.5 && unit < last_unit) {
                value /= 1000;
                unit++;
        }
        if (unit == 0)
                n_decimals = 0;
        else if (value < 9.995)
                n_decimals = 2;
        else
                n_decimals = value < 99.95 ? 1 : 0;
        (void)snprintf(number.text, sizeof(number.text), "%.*f %s", n_decimals, value, units[unit]);
        return number;
}

struct text_number text_number_duration(uint64_t duration_ns)
{
        static const char *const units[] = { "ns", "us", "ms", "s" };

        return in_units((double)duration_ns, units, 3);
}

struct text_number text_number_bytes(uint64_t n_bytes)
{
        static const char *const units[] = { "B", "KB", "MB", "GB" };

        return in_units((double)n_bytes, units, 3);
}

struct text_number text_number_short(uint64_t count)
{
        static const char *const units[] = { "", "K", "M", "G", "T", "P", "E" };
        struct text_number number = in_units((double)count, units, 6);
        size_t n = strlen(number.text);

        if (number.text[n - 1] == ' ')
                number.text[n - 1] = '\0';
        return number;
}

struct text_number text_number_share(double share)
{
        struct text_number number;

        (void)snprintf(number.text, sizeof(number.text), "%.1f%%", share * 100);
        return number;
}
