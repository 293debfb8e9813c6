/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/earlier_spaces.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void earlier_spaces_deinit(struct earlier_spaces *e)
{
        for (size_t i = 0; i < e->n_items; i++)
                address_space_deinit(&e->items[i].space);
        free(e->items);
        *e = (struct earlier_spaces){ .items = NULL };
}

/* Gives its memory to the next one. */
static struct address_space forget_oldest(struct earlier_spaces *e)
{
        struct address_space space = e->items[0].space;

        e->forgotten_ns = e->items[0].until_ns;
        e->n_ranges -= space.n_ranges;
        memmove(e->items, e->items + 1, --e->n_items * sizeof(*e->items));
        return space;
}

int earlier_spaces_keep(struct earlier_spaces *e, const struct address_space *space, uint64_t until_ns)
{
        struct earlier_space item = { .until_ns = until_ns };
        int r;

        while (e->n_items > 0 &&
               (e->n_items == EARLIER_SPACES_MAX || e->n_ranges + space->n_ranges > EARLIER_RANGES_MAX)) {
                address_space_deinit(&item.space);
                item.space = forget_oldest(e);
        }
        if (space->n_ranges > EARLIER_RANGES_MAX) {
                address_space_deinit(&item.space);
                e->forgotten_ns = until_ns;
                return 0;
        }
        r = array_reserve(&e->items, &e->capacity, e->n_items + 1, sizeof(*e->items));
        if (r == 0)
                r = address_space_copy(&item.space, space);
        if (r < 0) {
                address_space_deinit(&item.space);
                return r;
        }
        e->items[e->n_items++] = item;
        e->n_ranges += space->n_ranges;
        return 0;
}

/*
 * Records are applied in the order of time, so the earliest space that was still valid then is the right
 * one.
 */
struct address_space *earlier_spaces_find(struct earlier_spaces *e, uint64_t time_ns)
{
        struct address_space *found = NULL;

        if (time_ns < e->forgotten_ns)
                return &e->empty;
        for (size_t i = e->n_items; i > 0 && e->items[i - 1].until_ns > time_ns; i--)
                found = &e->items[i - 1].space;
        return found;
}
