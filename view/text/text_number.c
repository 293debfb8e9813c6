/* SPDX-License-Identifier: MIT */
#include "view/text/text_number.h"

#include <inttypes.h>
#include <stdbool.h>
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

/* Shows @value, given in the first of @units, with three digits in the unit that fits. */
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

static bool ends_with(const char *bytes, size_t n_bytes, const char *end)
{
        size_t n = strlen(end);

        return n_bytes > n && memcmp(bytes + n_bytes - n, end, n) == 0;
}

/* The plural is the first word that ends with an s: "context switches lost". */
static size_t find_plural(const char *words)
{
        size_t end = 0;

        while (words[end] != '\0') {
                end += strcspn(words + end, " :,");
                if (end > 0 && words[end - 1] == 's')
                        return end;
                if (words[end] != ' ')
                        return 0;
                end++;
        }
        return 0;
}

struct text_counted text_number_counted(uint64_t count, const char *words)
{
        size_t end = count == 1 ? find_plural(words) : 0;
        size_t n_cut = end == 0 ? 0 : ends_with(words, end, "ches") ? 2 : 1;
        struct text_counted out;

        (void)snprintf(out.text, sizeof(out.text), "%s %.*s%s", text_number_count(count).text,
                       (int)(end - n_cut), words, words + end);
        return out;
}
