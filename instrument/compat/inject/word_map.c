/* SPDX-License-Identifier: MIT */
/*
 * An open table in which each key lies in or after the place of its hash, without a gap between.  A key
 * that is taken out leaves no mark: the keys after it move up.
 */
#include "instrument/compat/inject/word_map.h"

#include <stdlib.h>

#define FIRST_PLACES 64

static size_t home_of(const struct word_map *m, struct word_key key)
{
        uint64_t mixed = (key.a ^ (key.b << 32 | key.b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

        return (size_t)(mixed >> 32 ^ mixed) & (m->n_places - 1);
}

/* The place of the key, or the free one where it belongs; there is one. */
static struct word_place *place_of(const struct word_map *m, struct word_key key)
{
        size_t at = home_of(m, key);

        while (m->places[at].value && (m->places[at].key.a != key.a || m->places[at].key.b != key.b))
                at = (at + 1) & (m->n_places - 1);
        return &m->places[at];
}

static bool make_room(struct word_map *m)
{
        struct word_map larger = { .n_places = m->n_places ? 2 * m->n_places : FIRST_PLACES };

        if (4 * (m->n_used + 1) <= 3 * m->n_places)
                return true;
        larger.places = calloc(larger.n_places, sizeof(*larger.places));
        if (!larger.places)
                return m->n_used + 1 < m->n_places;
        for (size_t i = 0; i < m->n_places; i++)
                if (m->places[i].value)
                        *place_of(&larger, m->places[i].key) = m->places[i];
        free(m->places);
        m->places = larger.places;
        m->n_places = larger.n_places;
        return true;
}

/* Moves the keys up that a gap would cut off from their home. */
static void close_gap(struct word_map *m, size_t gap)
{
        size_t mask = m->n_places - 1;

        for (size_t at = (gap + 1) & mask; m->places[at].value; at = (at + 1) & mask) {
                if (((at - home_of(m, m->places[at].key)) & mask) < ((at - gap) & mask))
                        continue;
                m->places[gap] = m->places[at];
                gap = at;
        }
        m->places[gap].value = NULL;
        m->n_used--;
}

void *word_map_find(struct word_map *m, struct word_key key)
{
        void *value = NULL;

        if (!inject_lock(&m->lock))
                return NULL;
        if (m->n_places > 0)
                value = place_of(m, key)->value;
        inject_unlock(&m->lock);
        return value;
}

static void *put(struct word_map *m, struct word_key key, void *value, bool replace)
{
        struct word_place *place;

        if (!value || !inject_lock(&m->lock))
                return NULL;
        if (make_room(m)) {
                place = place_of(m, key);
                m->n_used += !place->value;
                if (replace || !place->value)
                        *place = (struct word_place){ .key = key, .value = value };
                value = place->value;
        } else {
                value = NULL;
        }
        inject_unlock(&m->lock);
        return value;
}

bool word_map_put(struct word_map *m, struct word_key key, void *value)
{
        return put(m, key, value, true) != NULL;
}

void *word_map_keep(struct word_map *m, struct word_key key, void *value)
{
        return put(m, key, value, false);
}

void *word_map_take(struct word_map *m, struct word_key key)
{
        void *value = NULL;

        if (!inject_lock(&m->lock))
                return NULL;
        if (m->n_places > 0) {
                struct word_place *place = place_of(m, key);

                value = place->value;
                if (value)
                        close_gap(m, (size_t)(place - m->places));
        }
        inject_unlock(&m->lock);
        return value;
}

/* A key that moves up into the gap comes from behind it: it has not been taken yet. */
void *word_map_take_next(struct word_map *m, size_t *place)
{
        void *value = NULL;

        if (!inject_lock(&m->lock))
                return NULL;
        while (*place < m->n_places && !m->places[*place].value)
                ++*place;
        if (*place < m->n_places) {
                value = m->places[*place].value;
                close_gap(m, *place);
        }
        inject_unlock(&m->lock);
        return value;
}
