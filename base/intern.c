/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

#include "base/array.h"
#include "base/large_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 64

void intern_init(struct intern *t, size_t item_bytes, uint32_t n_items_max)
{
        assert(n_items_max <= INTERN_ITEMS_MAX);
        *t = (struct intern){
                .item_bytes = item_bytes,
                .n_items_max = n_items_max ? n_items_max : INTERN_ITEMS_MAX,
        };
}

void intern_deinit(struct intern *t)
{
        free(t->items);
        free(t->ends);
        free(t->slots);
        *t = (struct intern){ .item_bytes = t->item_bytes,
                              .n_items_max = t->n_items_max,
                              .items_bytes_max = t->items_bytes_max };
}

const void *intern_get(const struct intern *t, uint32_t id, size_t *ret_bytes)
{
        size_t begin;

        assert(id >= 1 && id <= t->n_items);
        if (t->item_bytes != 0) {
                if (ret_bytes)
                        *ret_bytes = t->item_bytes;
                return t->items + (id - 1) * t->item_bytes;
        }
        begin = id == 1 ? 0 : t->ends[id - 2];
        if (ret_bytes)
                *ret_bytes = t->ends[id - 1] - begin;
        return t->items + begin;
}

static uint32_t hash_of(const void *bytes, size_t n_bytes)
{
        return (uint32_t)XXH3_64bits(bytes, n_bytes);
}

static bool equals(const struct intern *t, uint32_t id, const void *bytes, size_t n_bytes)
{
        size_t known_bytes;
        const void *known = intern_get(t, id, &known_bytes);

        return known_bytes == n_bytes && (n_bytes == 0 || memcmp(known, bytes, n_bytes) == 0);
}

/*
 * The slot that holds an equal item, or the empty slot where it belongs.  Compares hashes before bytes.
 */
static uint64_t *slot_of(const struct intern *t, uint32_t hash, const void *bytes, size_t n_bytes)
{
        size_t mask = t->n_slots - 1;
        size_t at = hash & mask;

        while (t->slots[at] != 0 &&
               (t->slots[at] >> 32 != hash || !equals(t, (uint32_t)t->slots[at], bytes, n_bytes)))
                at = (at + 1) & mask;
        return &t->slots[at];
}

static uint64_t slot_value(uint32_t hash, uint32_t id)
{
        return (uint64_t)hash << 32 | id;
}

/* Moves the hashes into a larger table; the items themselves are not touched. */
static int grow(struct intern *t, size_t n_slots)
{
        uint64_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        large_memory_hint(slots, n_slots * sizeof(*slots));
        for (size_t i = 0; i < t->n_slots; i++) {
                size_t at = (size_t)(t->slots[i] >> 32) & (n_slots - 1);

                if (t->slots[i] == 0)
                        continue;
                while (slots[at] != 0)
                        at = (at + 1) & (n_slots - 1);
                slots[at] = t->slots[i];
        }
        free(t->slots);
        t->slots = slots;
        t->n_slots = n_slots;
        return 0;
}

/* Brings the hash table up to date, and leaves room for one more item: it is at most half full then. */
static int hash_all(struct intern *t)
{
        size_t wanted = t->n_slots ? t->n_slots : FIRST_SLOTS;
        int r = 0;

        while (wanted / 2 < (size_t)t->n_items - t->n_emptied + 1)
                wanted *= 2;
        if (wanted != t->n_slots)
                r = grow(t, wanted);
        while (r == 0 && t->n_hashed < t->n_items) {
                size_t n_bytes;
                const void *bytes = intern_get(t, t->n_hashed + 1, &n_bytes);
                uint32_t hash = hash_of(bytes, n_bytes);

                *slot_of(t, hash, bytes, n_bytes) = slot_value(hash, ++t->n_hashed);
        }
        return r;
}

uint32_t intern_find(const struct intern *t, const void *bytes, size_t n_bytes)
{
        return t->n_slots ? (uint32_t)*slot_of(t, hash_of(bytes, n_bytes), bytes, n_bytes) : 0;
}

int intern_append(struct intern *t, const void *bytes, size_t n_bytes)
{
        size_t used;
        int r;

        assert(t->item_bytes == 0 || t->item_bytes == n_bytes);
        if (t->n_items >= t->n_items_max || __builtin_add_overflow(t->items_used_bytes, n_bytes, &used))
                return -EOVERFLOW;
        if (t->items_bytes_max != 0 && used > t->items_bytes_max)
                return -EOVERFLOW;
        /* At least one byte, so that the empty string has an address. */
        r = array_reserve(&t->items, &t->items_capacity_bytes, used ? used : 1, 1);
        if (r < 0)
                return r;
        if (t->item_bytes == 0) {
                r = array_reserve(&t->ends, &t->ends_capacity, (size_t)t->n_items + 1, sizeof(*t->ends));
                if (r < 0)
                        return r;
                t->ends[t->n_items] = used;
        }
        if (n_bytes > 0)
                memcpy(t->items + t->items_used_bytes, bytes, n_bytes);
        t->items_used_bytes = used;
        t->n_items++;
        return 0;
}

void intern_empty(struct intern *t, uint32_t first_id, uint32_t n)
{
        size_t begin, n_bytes;

        assert(t->item_bytes == 0 && first_id >= 1 && n <= t->n_items && first_id - 1 <= t->n_items - n);
        if (n == 0)
                return;
        begin = first_id == 1 ? 0 : t->ends[first_id - 2];
        n_bytes = t->ends[first_id + n - 2] - begin;
        memmove(t->items + begin, t->items + begin + n_bytes, t->items_used_bytes - begin - n_bytes);
        t->items_used_bytes -= n_bytes;
        for (uint32_t id = first_id; id < first_id + n; id++)
                t->ends[id - 1] = begin;
        for (uint32_t id = first_id + n; id <= t->n_items; id++)
                t->ends[id - 1] -= n_bytes;
        if (t->n_hashed == first_id - 1) {
                t->n_hashed += n;
                t->n_emptied += n;
        }
}

/* Makes room in the hash table for one item more. */
static int prepare(struct intern *t)
{
        size_t n_wanted = (size_t)t->n_items - t->n_emptied + 1;

        return t->n_hashed < t->n_items || t->n_slots / 2 < n_wanted ? hash_all(t) : 0;
}

/* Adds an item that is not in the table; @slot: the empty slot where it belongs. */
static int put(struct intern *t, uint64_t *slot, uint32_t hash, const void *bytes, size_t n_bytes,
               uint32_t *ret_id)
{
        int r = intern_append(t, bytes, n_bytes);

        if (r < 0)
                return r;
        *slot = slot_value(hash, t->n_items);
        t->n_hashed = t->n_items;
        *ret_id = t->n_items;
        return 1;
}

int intern_add(struct intern *t, const void *bytes, size_t n_bytes, uint32_t *ret_id)
{
        uint32_t hash = hash_of(bytes, n_bytes);
        int r = prepare(t);
        uint64_t *slot;

        if (r < 0)
                return r;
        slot = slot_of(t, hash, bytes, n_bytes);
        if (*slot != 0) {
                *ret_id = (uint32_t)*slot;
                return 0;
        }
        return put(t, slot, hash, bytes, n_bytes, ret_id);
}

int intern_add_row(struct intern *t, const void *item, void *rows, size_t *capacity, size_t row_bytes,
                   uint32_t *ret_id)
{
        uint8_t *first;
        int r = array_reserve(rows, capacity, (size_t)t->n_items + 1, row_bytes);

        if (r < 0)
                return r;
        r = intern_add(t, item, t->item_bytes, ret_id);
        if (r == 1) {
                memcpy(&first, rows, sizeof(first)); /* as in array_reserve() */
                memset(first + (*ret_id - 1) * row_bytes, 0, row_bytes);
        }
        return r;
}

int intern_add_new(struct intern *t, const void *bytes, size_t n_bytes, uint32_t *ret_id)
{
        uint32_t hash = hash_of(bytes, n_bytes);
        int r = prepare(t);
        size_t at;

        if (r < 0)
                return r;
        for (at = hash & (t->n_slots - 1); t->slots[at] != 0;)
                at = (at + 1) & (t->n_slots - 1);
        return put(t, &t->slots[at], hash, bytes, n_bytes, ret_id);
}
