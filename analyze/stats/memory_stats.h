/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/memory_stats.h - a program's allocations and frees -> memory in use, the peak, leaks
 *
 * Way of the data:  event_walk -> [memory_stats] -> memory_view
 *
 * A site is where memory comes from: a callstack if there is one, else the zone path.  Memory: the
 * blocks in use up to MEMORY_BLOCKS_MAX, MEMORY_STATS_SITES_MAX sites and MEMORY_STATS_POOLS_MAX pools;
 * more are counted.
 */
#ifndef ANALYZE_STATS_MEMORY_STATS_H
#define ANALYZE_STATS_MEMORY_STATS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct event_walk;
struct loaded_trace;
struct ordered_event;
struct trace_dictionary;
struct trace_filter;

/* 40 bytes each, in a table that is at most three quarters full and grows with need: 640 MiB. */
#define MEMORY_BLOCKS_MAX (UINT32_C(3) << 22)

#define MEMORY_STATS_SITES_MAX (UINT32_C(1) << 20)
#define MEMORY_STATS_POOLS_MAX (UINT32_C(1) << 16)

struct memory_block {
        uint64_t address, size_bytes;
        uint64_t time_ns;
        uint32_t pool;       /* 1 .. : of memory_stats; 0 = an empty place */
        uint32_t site;       /* the site that allocated it; 0 = it is freed */
        uint32_t generation; /* of the pool; blocks of an older one were discarded */
        uint32_t reserved;
};

/*
 * The blocks of memory that are in use, by pool and address: a hash table.  It keeps as many freed blocks as
 * are in use, and an eighth of `n_max` besides, so that a second free is distinguished from one of an address
 * that was never seen.  At most `n_max` blocks in all.
 */
struct memory_blocks {
        struct memory_block *slots; /* heap */
        size_t n_slots;             /* a power of two, or 0 */
        uint32_t n_blocks;          /* also freed ones */
        uint32_t n_live;
        uint32_t n_max;
        uint64_t seed; /* of the hash; does not change the results */
};

/* The same address means other memory in another process.  Compared as bytes. */
struct memory_pool_key {
        uint32_t process; /* in PROCESSES */
        uint32_t name;    /* string; 0 = the main one */
};

struct memory_pool {
        uint64_t live_bytes, n_live; /* now; at the end: never freed */
        uint64_t peak_bytes, n_at_peak, peak_ns;
        uint64_t allocated_bytes, n_allocations, n_frees, n_discards;
        uint64_t largest_bytes;     /* of one allocation */
        uint64_t n_freed_twice;     /* frees of blocks that are free already */
        uint64_t n_freed_unknown;   /* frees of blocks that were never allocated, as far as is known */
        uint64_t n_freed_inherited; /* frees of blocks that a parent process allocated before a fork */
        uint64_t n_allocated_over;  /* allocations at an address that is in use: its free is missing */
        uint64_t n_untracked;       /* allocations beyond a limit: they are in `allocated_bytes` alone */
        uint64_t first_ns, last_ns;
        uint32_t generation;
};

/* Compared as bytes. */
struct memory_site_key {
        uint32_t pool;        /* id of `pool_keys` */
        uint32_t stack, path; /* one of the two */
};

struct memory_site {
        uint64_t n_allocations, allocated_bytes;
        uint64_t n_live, live_bytes;
        /* when the oldest block still in use at the end was allocated; see memory_stats_finish() */
        uint64_t first_live_ns;
        uint32_t generation; /* the generation of the pool to which n_live and live_bytes belong */
};

struct memory_stats {
        struct memory_blocks blocks;
        const struct trace_dictionary *dictionary; /* borrowed: whose threads are whose */
        struct intern pool_keys;                   /* struct memory_pool_key */
        struct memory_pool *pools;                 /* heap; by id of pool_keys - 1 */
        struct intern site_keys;                   /* struct memory_site_key */
        struct memory_site *sites;                 /* heap; by id of site_keys - 1 */
        size_t pools_capacity, sites_capacity;
        uint64_t n_pools_lost; /* events of pools beyond MEMORY_STATS_POOLS_MAX */
        uint64_t n_discarded;  /* blocks that were in use in discarded pools, and are still in `blocks` */
        bool has_stacks;       /* of any event */
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

/* @n_blocks_max: 0 = MEMORY_BLOCKS_MAX. */
void memory_stats_init(struct memory_stats *s, const struct trace_dictionary *dictionary,
                       uint32_t n_blocks_max);
void memory_stats_deinit(struct memory_stats *s);

/*
 * Events of the ops MEMORY_ALLOC, _FREE and _DISCARD in the order of time.  Returns 0 or -ENOMEM.
 * @ret_pool:  may be NULL; the pool of the event, or 0: it is beyond MEMORY_STATS_POOLS_MAX
 */
int memory_stats_add(struct memory_stats *s, const struct ordered_event *event, uint32_t *ret_pool);
void memory_stats_finish(struct memory_stats *s);

/* For a whole trace: as lock_stats_take(). */
int memory_stats_take(struct memory_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct event_walk *walk, struct error *err);

#endif /* ANALYZE_STATS_MEMORY_STATS_H */
