/* SPDX-License-Identifier: MIT */
#include "analyze/stats/memory_stats.h"

#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#define SLOTS_MIN     1024
#define ANCESTORS_MAX 64 /* parents of a process that are followed, fork by fork */

/* ------------------------------------------------------------------ blocks */

void memory_blocks_init(struct memory_blocks *b, uint32_t n_max)
{
        *b = (struct memory_blocks){ .n_max = n_max != 0 ? n_max : MEMORY_BLOCKS_MAX };
        /* Without a random seed, an attacker could make a trace whose addresses all hash to one place. */
        if (getrandom(&b->seed, sizeof(b->seed), GRND_NONBLOCK) < 0)
                b->seed = (uintptr_t)b;
}

void memory_blocks_deinit(struct memory_blocks *b)
{
        free(b->slots);
        b->slots = NULL;
        b->n_slots = 0;
}

/* The finalizer of MurmurHash3: addresses have few bits that differ. */
static uint64_t mix(uint64_t h)
{
        h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
        return h ^ (h >> 33);
}

/* Where the block is, or where it would be. */
static struct memory_block *find_slot(struct memory_block *slots, size_t n_slots, uint64_t seed,
                                      const struct memory_block *wanted)
{
        size_t i = (size_t)mix(wanted->address ^ ((uint64_t)wanted->pool << 48) ^ seed) & (n_slots - 1);

        while (slots[i].pool != 0 && (slots[i].pool != wanted->pool || slots[i].address != wanted->address))
                i = (i + 1) & (n_slots - 1);
        return &slots[i];
}

struct memory_block *memory_blocks_find(const struct memory_blocks *b, uint32_t pool, uint64_t address)
{
        struct memory_block wanted = { .pool = pool, .address = address };
        struct memory_block *slot;

        if (b->n_slots == 0)
                return NULL;
        slot = find_slot(b->slots, b->n_slots, b->seed, &wanted);
        return slot->pool != 0 ? slot : NULL;
}

/* Copies the blocks into a table of another size, with or without the freed ones. */
static int rebuild(struct memory_blocks *b, size_t n_slots, bool keeps_freed)
{
        struct memory_block *slots = calloc(n_slots, sizeof(*slots));
        uint32_t n_blocks = 0;

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < b->n_slots; i++) {
                const struct memory_block *block = &b->slots[i];

                if (block->pool == 0 || (block->site == 0 && !keeps_freed))
                        continue;
                *find_slot(slots, n_slots, b->seed, block) = *block;
                n_blocks++;
        }
        free(b->slots);
        b->slots = slots;
        b->n_slots = n_slots;
        b->n_blocks = n_blocks;
        return 0;
}

static int make_slots(struct memory_blocks *b)
{
        if (b->n_slots == 0)
                return rebuild(b, SLOTS_MIN, true);
        /* Freed blocks must not cost more memory than the blocks in use. */
        if (b->n_blocks - b->n_live > b->n_live + b->n_max / 8)
                return rebuild(b, b->n_slots, false);
        if (b->n_blocks >= b->n_max) {
                /*
                 * The table is not rebuilt for each block: that would cost the square of the number of
                 * events.
                 */
                if (b->n_live > b->n_max - b->n_max / 8)
                        return -EOVERFLOW;
                return rebuild(b, b->n_slots, false);
        }
        return b->n_blocks + b->n_blocks / 3 >= b->n_slots ? rebuild(b, b->n_slots * 2, true) : 0;
}

int memory_blocks_add(struct memory_blocks *b, uint32_t pool, uint64_t address,
                      struct memory_block **ret_block)
{
        struct memory_block wanted = { .pool = pool, .address = address };
        struct memory_block *slot = memory_blocks_find(b, pool, address);
        int r;

        if (!slot) {
                r = make_slots(b);
                if (r < 0)
                        return r;
                slot = find_slot(b->slots, b->n_slots, b->seed, &wanted);
                *slot = wanted;
                b->n_blocks++;
        }
        *ret_block = slot;
        return 0;
}

/* ------------------------------------------------------------------ pools and sites */

void memory_stats_init(struct memory_stats *s, const struct trace_dictionary *dictionary,
                       uint32_t n_blocks_max)
{
        *s = (struct memory_stats){ .dictionary = dictionary };
        memory_blocks_init(&s->blocks, n_blocks_max);
        intern_init(&s->pool_keys, sizeof(struct memory_pool_key), MEMORY_STATS_POOLS_MAX);
        intern_init(&s->site_keys, sizeof(struct memory_site_key), MEMORY_STATS_SITES_MAX);
}

void memory_stats_deinit(struct memory_stats *s)
{
        memory_blocks_deinit(&s->blocks);
        intern_deinit(&s->pool_keys);
        intern_deinit(&s->site_keys);
        free(s->pools);
        free(s->sites);
        s->pools = NULL;
        s->sites = NULL;
}

/* Returns 0, -ENOMEM, -EOVERFLOW. */
static int find_pool(struct memory_stats *s, const struct ordered_event *event, uint32_t *ret_id)
{
        const struct trace_thread *thread = trace_dictionary_row(s->dictionary, TRACE_TABLE_THREADS,
                                                                 event->thread);
        const struct memory_pool_key key = { .process = thread->process, .name = event->subject };
        int r = intern_add(&s->pool_keys, &key, sizeof(key), ret_id);

        if (r != 1)
                return r;
        if (array_reserve(&s->pools, &s->pools_capacity, *ret_id, sizeof(*s->pools)) < 0)
                return -ENOMEM;
        s->pools[*ret_id - 1] = (struct memory_pool){ .first_ns = event->time_ns };
        return 0;
}

/* Finds a site, and resets its blocks in use if they are of an older generation. */
static int find_site(struct memory_stats *s, uint32_t pool, const struct ordered_event *event,
                     uint32_t *ret_id)
{
        struct memory_site_key key = { .pool = pool,
                                       .stack = event->stack,
                                       .path = event->stack != 0 ? 0 : event->path };
        int r = intern_add(&s->site_keys, &key, sizeof(key), ret_id);
        struct memory_site *site;

        if (r < 0)
                return r;
        if (r == 1) {
                if (array_reserve(&s->sites, &s->sites_capacity, *ret_id, sizeof(*s->sites)) < 0)
                        return -ENOMEM;
                s->sites[*ret_id - 1] = (struct memory_site){ .n_allocations = 0 };
        }
        site = &s->sites[*ret_id - 1];
        if (site->generation != s->pools[pool - 1].generation) {
                site->generation = s->pools[pool - 1].generation;
                site->n_live = site->live_bytes = 0;
        }
        return 0;
}

static bool is_live(const struct memory_stats *s, const struct memory_block *block)
{
        return block->site != 0 && block->generation == s->pools[block->pool - 1].generation;
}

/* Takes a block out of use; the sums lack a discarded one already. */
static void drop(struct memory_stats *s, struct memory_block *block)
{
        struct memory_pool *pool = &s->pools[block->pool - 1];

        if (is_live(s, block)) {
                struct memory_site *site = &s->sites[block->site - 1];

                pool->live_bytes -= block->size_bytes;
                pool->n_live--;
                site->live_bytes -= block->size_bytes;
                site->n_live--;
        }
        if (block->site != 0)
                s->blocks.n_live--;
        block->site = 0;
}

static void note_peak(struct memory_pool *pool, uint64_t time_ns)
{
        if (pool->live_bytes <= pool->peak_bytes)
                return;
        pool->peak_bytes = pool->live_bytes;
        pool->n_at_peak = pool->n_live;
        pool->peak_ns = time_ns;
}

/* Sums of hostile sizes must not overflow: sizes that would overflow them are left out. */
static bool fits(const struct memory_pool *pool, uint64_t size_bytes)
{
        uint64_t sum;

        return !__builtin_add_overflow(pool->allocated_bytes, size_bytes, &sum);
}

/* Removes discarded blocks, but not so often that the cost is the square of the number of events. */
static bool make_room(struct memory_stats *s)
{
        if (s->n_discarded < s->blocks.n_max / 8)
                return false;
        s->n_discarded = 0;
        for (size_t i = 0; i < s->blocks.n_slots; i++)
                if (s->blocks.slots[i].pool != 0 && !is_live(s, &s->blocks.slots[i]))
                        drop(s, &s->blocks.slots[i]);
        return true;
}

static int allocate(struct memory_stats *s, uint32_t pool_id, const struct ordered_event *event)
{
        struct memory_pool *pool = &s->pools[pool_id - 1];
        uint64_t size_bytes = event->value[1];
        struct memory_block *block;
        uint32_t site_id = 0;
        int r = fits(pool, size_bytes) ? find_site(s, pool_id, event, &site_id) : -EOVERFLOW;

        pool->n_allocations++;
        if (r == 0) {
                pool->allocated_bytes += size_bytes;
                pool->largest_bytes = size_bytes > pool->largest_bytes ? size_bytes : pool->largest_bytes;
                s->sites[site_id - 1].n_allocations++;
                s->sites[site_id - 1].allocated_bytes += size_bytes;
                r = memory_blocks_add(&s->blocks, pool_id, event->value[0], &block);
                if (r == -EOVERFLOW && make_room(s))
                        r = memory_blocks_add(&s->blocks, pool_id, event->value[0], &block);
        }
        if (r == -EOVERFLOW) {
                pool->n_untracked++;
                return 0;
        }
        if (r < 0)
                return r;
        pool->n_allocated_over += is_live(s, block);
        drop(s, block);
        block->size_bytes = size_bytes;
        block->time_ns = event->time_ns;
        block->site = site_id;
        block->generation = pool->generation;
        s->blocks.n_live++;
        pool->live_bytes += size_bytes;
        pool->n_live++;
        s->sites[site_id - 1].live_bytes += size_bytes;
        s->sites[site_id - 1].n_live++;
        note_peak(pool, event->time_ns);
        return 0;
}

/*
 * Whether an ancestor of the process allocated the block: a fork copies memory, and each process frees its
 * copy.
 */
static bool is_inherited(const struct memory_stats *s, uint32_t pool_id, uint64_t address)
{
        struct memory_pool_key key = *(const struct memory_pool_key *)intern_get(&s->pool_keys, pool_id,
                                                                                 NULL);

        for (unsigned n = 0; n < ANCESTORS_MAX; n++) {
                const struct trace_process *process = trace_dictionary_row(
                        s->dictionary, TRACE_TABLE_PROCESSES, key.process);
                uint32_t pool;

                if (process->parent == 0)
                        return false;
                key.process = process->parent;
                pool = intern_find(&s->pool_keys, &key, sizeof(key));
                if (pool != 0 && memory_blocks_find(&s->blocks, pool, address))
                        return true;
        }
        return false;
}

static void release(struct memory_stats *s, uint32_t pool_id, const struct ordered_event *event)
{
        struct memory_pool *pool = &s->pools[pool_id - 1];
        struct memory_block *block = memory_blocks_find(&s->blocks, pool_id, event->value[0]);

        pool->n_frees++;
        if (!block && !is_inherited(s, pool_id, event->value[0]))
                pool->n_freed_unknown++;
        else if (!block)
                pool->n_freed_inherited++;
        else if (!is_live(s, block))
                pool->n_freed_twice++;
        if (block)
                drop(s, block);
}

/* Discards all blocks at once, however many there are: blocks of an older generation are not in use. */
static void discard(struct memory_stats *s, struct memory_pool *pool)
{
        s->n_discarded += pool->n_live;
        pool->n_discards++;
        pool->generation++;
        pool->live_bytes = pool->n_live = 0;
}

int memory_stats_add(struct memory_stats *s, const struct ordered_event *event, uint32_t *ret_pool)
{
        uint32_t id;
        int r = find_pool(s, event, &id);

        if (ret_pool)
                *ret_pool = r < 0 ? 0 : id;
        if (r == -EOVERFLOW) {
                s->n_pools_lost++;
                return 0;
        }
        if (r < 0)
                return r;
        s->has_stacks |= event->stack != 0;
        s->pools[id - 1].last_ns = event->time_ns;
        if (event->op == TRACE_OP_MEMORY_ALLOC)
                return allocate(s, id, event);
        if (event->op == TRACE_OP_MEMORY_FREE)
                release(s, id, event);
        else
                discard(s, &s->pools[id - 1]);
        return 0;
}

void memory_stats_finish(struct memory_stats *s)
{
        for (uint32_t i = 0; i < s->site_keys.n_items; i++) {
                const struct memory_site_key *key = intern_get(&s->site_keys, i + 1, NULL);

                if (s->sites[i].generation != s->pools[key->pool - 1].generation)
                        s->sites[i].n_live = s->sites[i].live_bytes = 0;
                s->sites[i].first_live_ns = UINT64_MAX;
        }
        for (size_t i = 0; i < s->blocks.n_slots; i++) {
                const struct memory_block *block = &s->blocks.slots[i];

                if (block->pool != 0 && is_live(s, block) &&
                    block->time_ns < s->sites[block->site - 1].first_live_ns)
                        s->sites[block->site - 1].first_live_ns = block->time_ns;
        }
}

/* ------------------------------------------------------------------ a trace */

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        int r = memory_stats_add(context, event, NULL);

        return r < 0 ? error_set(err, r, "adding up memory: out of memory") : 0;
}

int memory_stats_take(struct memory_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct event_walk *walk, struct error *err)
{
        struct event_walk_request request = {
                .ops = EVENT_WALK_OP(TRACE_OP_MEMORY_ALLOC) | EVENT_WALK_OP(TRACE_OP_MEMORY_FREE) |
                       EVENT_WALK_OP(TRACE_OP_MEMORY_DISCARD),
                .take = take_event,
                .context = s,
                .wants_paths = true,
        };
        int r;

        memory_stats_init(s, trace->dictionary, 0);
        r = event_walk_take(walk, trace, filter, &request, err);
        if (r == 0)
                memory_stats_finish(s);
        return r;
}
