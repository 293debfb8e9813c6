/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 1024

void live_blocks_deinit(struct live_blocks *b)
{
        free(b->slots);
        *b = (struct live_blocks){ .n_slots = 0 };
}

/* Addresses are multiples of 16 or more, so the hash uses the well-mixed upper bits of a product. */
static size_t home_of(const struct live_blocks *b, const struct live_block *block)
{
        uint64_t hash = (block->address ^ (uint64_t)block->process << 48 ^ (uint64_t)block->pool << 32) *
                        UINT64_C(0x9e3779b97f4a7c15);

        return (size_t)(hash >> 32) & (b->n_slots - 1);
}

/* The place of a block, or the empty one where it would be.  There always is an empty one. */
static struct live_block *find(const struct live_blocks *b, const struct live_block *block)
{
        size_t i = home_of(b, block);

        while (b->slots[i].process != 0 &&
               (b->slots[i].address != block->address || b->slots[i].process != block->process ||
                b->slots[i].pool != block->pool))
                i = (i + 1) & (b->n_slots - 1);
        return &b->slots[i];
}

static int grow(struct live_blocks *b)
{
        struct live_blocks larger = { .n_slots = b->n_slots > 0 ? 2 * b->n_slots : SLOTS_FIRST };

        larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
        if (!larger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < b->n_slots; i++)
                if (b->slots[i].process != 0)
                        *find(&larger, &b->slots[i]) = b->slots[i];
        larger.n_used = b->n_used;
        free(b->slots);
        *b = larger;
        return 0;
}

int live_blocks_add(struct live_blocks *b, const struct live_block *block)
{
        struct live_block *slot;

        if (2 * (b->n_used + 1) > b->n_slots && b->n_used < LIVE_BLOCKS_MAX && grow(b) < 0)
                return -ENOMEM;
        slot = find(b, block);
        if (slot->process == 0) {
                if (b->n_used >= LIVE_BLOCKS_MAX)
                        return 0;
                b->n_used++;
        }
        *slot = *block;
        return 0;
}

/* Moves later blocks up into the hole, unless a block would then be in front of its home slot. */
static void close_hole(struct live_blocks *b, size_t hole)
{
        size_t mask = b->n_slots - 1;

        for (size_t i = (hole + 1) & mask; b->slots[i].process != 0; i = (i + 1) & mask) {
                size_t home = home_of(b, &b->slots[i]);

                if (((i - home) & mask) < ((i - hole) & mask))
                        continue;
                b->slots[hole] = b->slots[i];
                hole = i;
        }
        b->slots[hole] = (struct live_block){ .process = 0 };
}

bool live_blocks_remove(struct live_blocks *b, const struct live_block *block, uint64_t *ret_size_bytes)
{
        struct live_block *slot = b->n_slots > 0 ? find(b, block) : NULL;

        if (!slot || slot->process == 0)
                return false;
        *ret_size_bytes = slot->size_bytes;
        close_hole(b, (size_t)(slot - b->slots));
        b->n_used--;
        return true;
}
