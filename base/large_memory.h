/* SPDX-License-Identifier: MIT */
/*
 * base/large_memory.h - large pages for large data that is read at random
 *
 * Way of the data:  array, byte_buffer, intern, unwind_table -> [large_memory] -> kernel
 *
 * A table of some megabytes has more pages than the processor remembers the
 * addresses of, so that each look costs another walk through the page tables, and each
 * page costs an interrupt when it is first touched.  With pages of two mebibytes there are few.
 * Where the kernel has none to give, or is told not to, nothing changes.
 */
#ifndef BASE_LARGE_MEMORY_H
#define BASE_LARGE_MEMORY_H

#include <stddef.h>

/*
 * Asks for large pages for those of a block that lie in it whole.  Before it is touched, or
 * it is too late for most.
 */
void large_memory_hint(void *block, size_t n_bytes);

/* As malloc(3); a block that has room for large pages begins with one. */
void *large_memory_new(size_t n_bytes);

#endif /* BASE_LARGE_MEMORY_H */
