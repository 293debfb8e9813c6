/* SPDX-License-Identifier: MIT */
/*
 * base/large_memory.h - large pages for large data that is read at random
 *
 * Way of the data:  array, byte_buffer, intern, unwind_table -> [large_memory] -> kernel
 *
 * A table of some megabytes has more pages than the processor's TLB holds, so that each look-up costs a walk
 * through the page tables, and each page costs a page fault when it is first touched.  With pages of two
 * mebibytes there are few.  If the kernel has no large pages free, or they are turned off, nothing changes.
 */
#ifndef BASE_LARGE_MEMORY_H
#define BASE_LARGE_MEMORY_H

#include <stddef.h>

/*
 * Asks for large pages wherever a whole one fits into the block.  Call it before the block is touched.
 */
void large_memory_hint(void *block, size_t n_bytes);

/* As malloc(3); a block that is large enough for large pages begins at the start of one. */
void *large_memory_new(size_t n_bytes);

#endif /* BASE_LARGE_MEMORY_H */
