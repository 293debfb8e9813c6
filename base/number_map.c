/* SPDX-License-Identifier: MIT */
#include "base/number_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64
#define MULTIPLIER  UINT32_C(2654435769) /* 2^32 by the golden ratio: spreads consecutive numbers */

/* ---- the map ------------------------------------------------------------------------------------------- */

void number_map_deinit(struct number_map *m)
{
        free(m->slots);
        *m = (struct number_map){ .slots = NULL };
}

static size_t first_slot(const struct number_map *m, uint32_t number)
{
        uint32_t hash = number * MULTIPLIER;

        return (hash ^ hash >> 16) & (m->n_slots - 1);
}

/* The slot of a number, or the empty one where it belongs. */
static size_t slot_of(const struct number_map *m, uint32_t number)
{
        size_t at = first_slot(m, number);

        while (m->slots[at].value && m->slots[at].number != number)
                at = (at + 1) & (m->n_slots - 1);
        return at;
}

void *number_map_find(const struct number_map *m, uint32_t number)
{
        return m->n_slots > 0 ? m->slots[slot_of(m, number)].value : NULL;
}

int number_map_reserve(struct number_map *m)
{
        struct number_map larger = { .n_slots = m->n_slots > 0 ? 2 * m->n_slots : FIRST_SLOTS };

        if (2 * (m->n_items + 1) <= m->n_slots)
                return 0;
        larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
        if (!larger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < m->n_slots; i++)
                if (m->slots[i].value)
                        number_map_put(&larger, m->slots[i].number, m->slots[i].value);
        free(m->slots);
        *m = larger;
        return 0;
}

void number_map_put(struct number_map *m, uint32_t number, void *value)
{
        m->slots[slot_of(m, number)] = (struct number_entry){ number, value };
        m->n_items++;
}

/* Entries that passed over the slot on their way move up, so that none is cut off. */
void number_map_remove(struct number_map *m, uint32_t number)
{
        size_t mask = m->n_slots - 1, hole = m->n_slots > 0 ? slot_of(m, number) : 0;

        if (m->n_slots == 0 || !m->slots[hole].value)
                return;
        m->n_items--;
        for (size_t at = (hole + 1) & mask; m->slots[at].value; at = (at + 1) & mask) {
                size_t distance = (at - first_slot(m, m->slots[at].number)) & mask;

                if (distance < ((at - hole) & mask))
                        continue;
                m->slots[hole] = m->slots[at];
                hole = at;
        }
        m->slots[hole].value = NULL;
}

void *number_map_next(const struct number_map *m, size_t *at)
{
        while (*at < m->n_slots)
                if (m->slots[(*at)++].value)
                        return m->slots[*at - 1].value;
        return NULL;
}

/* ---- the bitmap ---------------------------------------------------------------------------------------- */

#define WORD_BITS 64
#define PAGE_BITS (64 * WORD_BITS)

void number_bitmap_init(struct number_bitmap *s)
{
        *s = (struct number_bitmap){ .bits = NULL };
        intern_init(&s->pages, sizeof(uint32_t), 0);
}

void number_bitmap_deinit(struct number_bitmap *s)
{
        intern_deinit(&s->pages);
        free(s->bits);
        number_bitmap_init(s);
}

static uint64_t *word_of(const struct number_bitmap *s, uint32_t page_id, uint32_t number)
{
        return &s->bits[page_id - 1].words[number % PAGE_BITS / WORD_BITS];
}

static uint64_t bit_of(uint32_t number)
{
        return UINT64_C(1) << number % WORD_BITS;
}

int number_bitmap_add(struct number_bitmap *s, uint32_t number)
{
        uint32_t page = number / PAGE_BITS, id;
        int r = intern_add_row(&s->pages, &page, &s->bits, &s->capacity, sizeof(*s->bits), &id);

        if (r >= 0)
                *word_of(s, id, number) |= bit_of(number);
        return r < 0 ? -ENOMEM : 0;
}

static uint32_t find_page(const struct number_bitmap *s, uint32_t number)
{
        uint32_t page = number / PAGE_BITS;

        return intern_find(&s->pages, &page, sizeof(page));
}

void number_bitmap_remove(struct number_bitmap *s, uint32_t number)
{
        uint32_t id = find_page(s, number);

        if (id != 0)
                *word_of(s, id, number) &= ~bit_of(number);
}

bool number_bitmap_has(const struct number_bitmap *s, uint32_t number)
{
        uint32_t id = find_page(s, number);

        return id != 0 && (*word_of(s, id, number) & bit_of(number)) != 0;
}
