/* SPDX-License-Identifier: MIT */
#include "base/large_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES ((size_t)1 << 21) /* on the usual machines; another size does no harm */

void large_memory_hint(void *block, size_t n_bytes)
{
        uintptr_t begin = ((uintptr_t)block + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
        uintptr_t end = ((uintptr_t)block + n_bytes) & ~(PAGE_BYTES - 1);

        if (n_bytes >= PAGE_BYTES && begin < end)
                (void)madvise((uint8_t *)block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
}

void *large_memory_new(size_t n_bytes)
{
        size_t rounded = (n_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
        void *block;

        /* Rounding up a smaller block would waste too much memory. */
        if (n_bytes < PAGE_BYTES || rounded < n_bytes)
                return malloc(n_bytes);
        block = aligned_alloc(PAGE_BYTES, rounded);
        if (block)
                large_memory_hint(block, rounded);
        return block;
}
