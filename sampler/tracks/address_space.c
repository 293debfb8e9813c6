/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/address_space.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void address_space_init(struct address_space *s)
{
        *s = (struct address_space){ .ranges = NULL };
}

void address_space_deinit(struct address_space *s)
{
        free(s->ranges);
        address_space_init(s);
}

void address_space_clear(struct address_space *s)
{
        s->n_ranges = 0;
        s->generation = 0;
}

/* Finds the first range that ends after @avma; n_ranges if there is no such range. */
static size_t first_behind(const struct address_space *s, uint64_t avma)
{
        size_t low = 0, high = s->n_ranges;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (s->ranges[middle].end_avma > avma)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

/* Replaces the @n_old ranges from @at on by @n_new; there is room for them. */
static void replace(struct address_space *s, size_t at, size_t n_old, const struct address_range *new,
                    size_t n_new)
{
        memmove(s->ranges + at + n_new, s->ranges + at + n_old,
                (s->n_ranges - at - n_old) * sizeof(*s->ranges));
        memcpy(s->ranges + at, new, n_new * sizeof(*new));
        s->n_ranges += n_new;
        s->n_ranges -= n_old;
}

/* The kernel reports a change of protection as a mapping as well; JIT compilers change it all the time. */
static bool is_there(const struct address_space *s, size_t at, const struct address_range *range)
{
        const struct address_range *old = at < s->n_ranges ? &s->ranges[at] : NULL;

        return old && old->start_avma <= range->start_avma && range->end_avma <= old->end_avma &&
               old->module == range->module &&
               range->start_avma - old->start_avma == range->file_offset_bytes - old->file_offset_bytes;
}

int address_space_add(struct address_space *s, const struct address_range *range)
{
        struct address_range pieces[3]; /* the rest below the new range, the new range, the rest above it */
        size_t n_pieces = 0;
        size_t first = first_behind(s, range->start_avma);
        size_t behind = first;
        int r;

        if (range->start_avma >= range->end_avma || is_there(s, first, range))
                return 0;
        r = array_reserve(&s->ranges, &s->capacity, s->n_ranges + 2, sizeof(*s->ranges));
        if (r < 0)
                return r;

        while (behind < s->n_ranges && s->ranges[behind].start_avma < range->end_avma)
                behind++;
        if (behind > first && s->ranges[first].start_avma < range->start_avma) {
                pieces[n_pieces] = s->ranges[first];
                pieces[n_pieces++].end_avma = range->start_avma;
        }
        pieces[n_pieces++] = *range;
        if (behind > first && s->ranges[behind - 1].end_avma > range->end_avma) {
                pieces[n_pieces] = s->ranges[behind - 1];
                pieces[n_pieces].file_offset_bytes += range->end_avma - pieces[n_pieces].start_avma;
                pieces[n_pieces++].start_avma = range->end_avma;
        }
        replace(s, first, behind - first, pieces, n_pieces);
        s->generation = 0;
        return 0;
}

bool address_space_covers(const struct address_space *s, const struct address_range *range)
{
        size_t first = first_behind(s, range->start_avma);

        return range->start_avma < range->end_avma && first < s->n_ranges &&
               s->ranges[first].start_avma < range->end_avma && !is_there(s, first, range);
}

int address_space_copy(struct address_space *s, const struct address_space *from)
{
        int r;

        address_space_clear(s);
        r = array_reserve(&s->ranges, &s->capacity, from->n_ranges, sizeof(*s->ranges));
        if (r < 0)
                return r;
        if (from->n_ranges > 0)
                memcpy(s->ranges, from->ranges, from->n_ranges * sizeof(*s->ranges));
        s->n_ranges = from->n_ranges;
        s->generation = from->generation;
        return 0;
}

bool address_space_is_same(const struct address_space *s, const struct address_space *other)
{
        if (s->n_ranges != other->n_ranges)
                return false;
        for (size_t i = 0; i < s->n_ranges; i++) {
                const struct address_range *a = &s->ranges[i], *b = &other->ranges[i];

                if (a->start_avma != b->start_avma || a->end_avma != b->end_avma || a->module != b->module ||
                    a->file_offset_bytes != b->file_offset_bytes)
                        return false;
        }
        return true;
}

bool address_space_overlaps(const struct address_space *s, uint64_t start_avma, uint64_t end_avma)
{
        size_t at = first_behind(s, start_avma);

        return at < s->n_ranges && s->ranges[at].start_avma < end_avma;
}

const struct address_range *address_space_find(const struct address_space *s, uint64_t avma)
{
        size_t at = first_behind(s, avma);

        return at < s->n_ranges && s->ranges[at].start_avma <= avma ? &s->ranges[at] : NULL;
}

/* ------------------------------------------------------------------ as they were a moment ago */

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
