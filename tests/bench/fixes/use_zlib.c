/* SPDX-License-Identifier: MIT */
/* Sums 600 MB with zlib's crc32() and compresses 4 MB. */
#include "zlib.h"

#include <stdlib.h>

#define BYTES ((size_t)1 << 20)

int main(void)
{
        unsigned char *from = malloc(BYTES), *to = malloc(2 * BYTES);
        uLong sum = 0;

        if (!from || !to)
                return 1;
        for (size_t i = 0; i < BYTES; i++)
                from[i] = (unsigned char)((i * 2654435761u >> 13) % 61 + 32);
        for (int i = 0; i < 600; i++)
                sum += crc32(0, from, BYTES);
        for (int i = 0; i < 4; i++) {
                uLongf n = 2 * BYTES;

                compress2(to, &n, from, BYTES, 1);
                sum += n;
        }
        free(from);
        free(to);
        return sum == 1;
}
