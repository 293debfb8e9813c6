/* SPDX-License-Identifier: MIT */
#include "analyze/stats/memory_blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#define SLOTS_MIN 1024

void memory_blocks_init(struct memory_blocks *b, uint32_t n_max)
{
        *b = (struct memory_blocks){ .n_max = n_max != 0 ? n_max : MEMORY_BLOCKS_MAX };
        /* Without a random seed, a trace could be made whose addresses all hash to one place. */
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

static int make_room(struct memory_blocks *b)
{
        if (b->n_slots == 0)
                return rebuild(b, SLOTS_MIN, true);
        /* A program that frees what it allocates must not cost more memory than it uses. */
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
                r = make_room(b);
                if (r < 0)
                        return r;
                slot = find_slot(b->slots, b->n_slots, b->seed, &wanted);
                *slot = wanted;
                b->n_blocks++;
        }
        *ret_block = slot;
        return 0;
}
