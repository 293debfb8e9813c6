/* SPDX-License-Identifier: MIT */
/*
 * export/shared/live_blocks.h - how large the blocks of memory are that a program has now
 *
 * Way of the data:  trace_walk (MEMORY_ALLOC, MEMORY_FREE) -> [live_blocks] -> export_firefox
 *
 * A free does not say how much.  Memory: 48 bytes for each living block, up to LIVE_BLOCKS_MAX; further
 * blocks are unknown when they are freed.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_LIVE_BLOCKS_H
#define EXPORT_SHARED_LIVE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_BLOCKS_MAX (UINT32_C(1) << 22)

struct live_block {
        uint64_t address;
        uint64_t size_bytes;
        uint32_t process; /* 0 = the place is empty */
        uint32_t pool;    /* string */
};

struct live_blocks {
        struct live_block *slots; /* heap; open addressing, the search ends at an empty one */
        size_t n_slots;           /* a power of two, or 0 */
        size_t n_used;
};

/* Zero-initialised is empty and valid. */
void live_blocks_deinit(struct live_blocks *b);

/* An earlier block at that address is gone.  Returns 0 or -ENOMEM. */
int live_blocks_add(struct live_blocks *b, const struct live_block *block);

/* Returns whether there was one; its size then. */
bool live_blocks_remove(struct live_blocks *b, const struct live_block *block, uint64_t *ret_size_bytes);

#endif /* EXPORT_SHARED_LIVE_BLOCKS_H */
