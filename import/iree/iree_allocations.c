/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_allocations.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

void iree_allocations_deinit(struct iree_allocations *a)
{
        free(a->slots);
        *a = (struct iree_allocations){ .slots = NULL };
}

void iree_allocations_clear(struct iree_allocations *a)
{
        if (a->slots)
                memset(a->slots, 0, a->n_slots * sizeof(*a->slots));
        a->n_used = 0;
}

static bool is_same(const struct iree_allocation *a, const struct iree_allocation *b)
{
        return a->id == b->id && a->device == b->device && a->memory == b->memory;
}

/* Where an allocation belongs if nothing else were there. */
static size_t home_of(const struct iree_allocations *a, const struct iree_allocation *allocation)
{
        uint64_t h = allocation->id ^ (uint64_t)allocation->device << 40 ^ (uint64_t)allocation->memory << 61;

        h *= UINT64_C(0x9e3779b97f4a7c15);
        return (size_t)(h >> 20) & (a->n_slots - 1);
}

/* The slot that it has, or the free one that it would get. */
static size_t find_slot(const struct iree_allocations *a, const struct iree_allocation *allocation)
{
        size_t i = home_of(a, allocation);

        while (a->slots[i].is_used && !is_same(&a->slots[i], allocation))
                i = (i + 1) & (a->n_slots - 1);
        return i;
}

static int grow(struct iree_allocations *a)
{
        struct iree_allocations larger = { .n_slots = a->n_slots ? 2 * a->n_slots : SLOTS_MIN };

        larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
        if (!larger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < a->n_slots; i++)
                if (a->slots[i].is_used)
                        larger.slots[find_slot(&larger, &a->slots[i])] = a->slots[i];
        larger.n_used = a->n_used;
        free(a->slots);
        *a = larger;
        return 0;
}

int iree_allocations_add(struct iree_allocations *a, const struct iree_allocation *allocation,
                         uint64_t *ret_before)
{
        size_t i;

        if (2 * (a->n_used + 1) > a->n_slots) {
                int r = a->n_used >= IREE_ALLOCATIONS_MAX ? -EOVERFLOW : grow(a);

                if (r < 0)
                        return r;
        }
        i = find_slot(a, allocation);
        if (a->slots[i].is_used) {
                *ret_before = a->slots[i].n_bytes;
                a->slots[i].n_bytes = allocation->n_bytes;
                return 1;
        }
        a->slots[i] = *allocation;
        a->slots[i].is_used = 1;
        a->n_used++;
        return 0;
}

int iree_allocations_take(struct iree_allocations *a, const struct iree_allocation *allocation,
                          uint64_t *ret_n_bytes)
{
        size_t hole, i;

        if (a->n_slots == 0)
                return 0;
        hole = find_slot(a, allocation);
        if (!a->slots[hole].is_used)
                return 0;
        *ret_n_bytes = a->slots[hole].n_bytes;
        a->n_used--;
        /* Those after the hole that would have been put there move into it: no search ends early. */
        for (i = (hole + 1) & (a->n_slots - 1); a->slots[i].is_used; i = (i + 1) & (a->n_slots - 1)) {
                size_t from_home = (i - home_of(a, &a->slots[i])) & (a->n_slots - 1);

                if (from_home < ((i - hole) & (a->n_slots - 1)))
                        continue;
                a->slots[hole] = a->slots[i];
                hole = i;
        }
        a->slots[hole].is_used = 0;
        return 1;
}
