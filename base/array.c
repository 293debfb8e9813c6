/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include "base/large_memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ITEMS 8

int array_reserve(void *items, size_t *capacity, size_t wanted, size_t item_bytes)
{
        size_t grown = *capacity > SIZE_MAX / 2 ? wanted : *capacity * 2;
        size_t n_bytes;
        void *block, *grown_block;

        if (wanted <= *capacity)
                return 0;
        if (grown < wanted)
                grown = wanted;
        if (grown < FIRST_ITEMS)
                grown = FIRST_ITEMS;
        if (__builtin_mul_overflow(grown, item_bytes, &n_bytes))
                return -ENOMEM;

        memcpy(&block, items, sizeof(block)); /* @items is a T **: every object pointer has this form */
        grown_block = realloc(block, n_bytes);
        if (!grown_block)
                return -ENOMEM;
        large_memory_hint(grown_block, n_bytes);
        memcpy(items, &grown_block, sizeof(grown_block));
        *capacity = grown;
        /* cppcheck-suppress memleak ; *@items has it now */
        return 0;
}

int array_extend(void *items, size_t *capacity, size_t n_items, size_t wanted, size_t item_bytes)
{
        unsigned char *block;
        int r = array_reserve(items, capacity, wanted, item_bytes);

        if (r < 0 || wanted <= n_items)
                return r;
        memcpy(&block, items, sizeof(block));
        memset(block + n_items * item_bytes, 0, (wanted - n_items) * item_bytes);
        return 0;
}

size_t array_count_to(const void *items, size_t n_items, size_t item_bytes, size_t field_at, uint64_t value)
{
        const unsigned char *bytes = items;
        size_t low = 0, high = n_items;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                uint64_t found;

                memcpy(&found, bytes + middle * item_bytes + field_at, sizeof(found));
                if (found <= value)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int array_reach(void *items, size_t *capacity, uint32_t *n_items, uint32_t wanted, size_t item_bytes)
{
        int r;

        if (wanted <= *n_items)
                return 0;
        r = array_extend(items, capacity, *n_items, wanted, item_bytes);
        if (r == 0)
                *n_items = wanted;
        return r;
}
