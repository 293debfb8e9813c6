/* SPDX-License-Identifier: MIT */
#include "base/boot_number.h"

#include <stddef.h>

#define DIGITS 32

static int find_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct boot_number boot_number_of(struct text_view id)
{
        struct boot_number number = { .high = 0 };
        unsigned n = 0;

        for (size_t i = 0; i < id.n_bytes; i++) {
                int digit = find_digit(id.bytes[i]);

                if (id.bytes[i] == '-')
                        continue;
                if (digit < 0 || n == DIGITS)
                        return (struct boot_number){ .high = 0 };
                if (n < DIGITS / 2)
                        number.high = number.high << 4 | (unsigned)digit;
                else
                        number.low = number.low << 4 | (unsigned)digit;
                n++;
        }
        return n == DIGITS ? number : (struct boot_number){ .high = 0 };
}
