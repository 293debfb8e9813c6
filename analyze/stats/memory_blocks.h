/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/memory_blocks.h - the blocks of memory that are in use, by pool and address
 *
 * Way of the data:  event_walk -> memory_stats -> [memory_blocks]
 *
 * A hash table.  It keeps as many freed blocks as are in use, and an eighth of `n_max` besides, so that a
 * second free is distinguished from one of an address that was never seen.  At most `n_max` blocks in all.
 */
#ifndef ANALYZE_STATS_MEMORY_BLOCKS_H
#define ANALYZE_STATS_MEMORY_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* 40 bytes each, in a table that is at most three quarters full and grows with need: 640 MiB. */
#define MEMORY_BLOCKS_MAX (UINT32_C(3) << 22)

struct memory_block {
        uint64_t address, size_bytes;
        uint64_t time_ns;
        uint32_t pool;       /* 1 .. : of memory_stats; 0 = an empty place */
        uint32_t site;       /* which allocated it; 0 = it is freed */
        uint32_t generation; /* of the pool: an older one was discarded */
        uint32_t reserved;
};

struct memory_blocks {
        struct memory_block *slots; /* heap */
        size_t n_slots;             /* a power of two, or 0 */
        uint32_t n_blocks;          /* also freed ones */
        uint32_t n_live;
        uint32_t n_max;
        uint64_t seed; /* of the hash; the results do not depend on it */
};

/* @n_max: 0 = MEMORY_BLOCKS_MAX. */
void memory_blocks_init(struct memory_blocks *b, uint32_t n_max);
void memory_blocks_deinit(struct memory_blocks *b);

/* Borrowed until the next memory_blocks_add(); NULL if it is unknown. */
struct memory_block *memory_blocks_find(const struct memory_blocks *b, uint32_t pool, uint64_t address);

/*
 * memory_blocks_add() - the block of an address, new or known
 * Forgets freed blocks when there is no room.  @ret_block: a new one has `site` 0.
 * Returns 0, -ENOMEM, -EOVERFLOW: `n_max` blocks are in use.
 */
int memory_blocks_add(struct memory_blocks *b, uint32_t pool, uint64_t address,
                      struct memory_block **ret_block);

#endif /* ANALYZE_STATS_MEMORY_BLOCKS_H */
