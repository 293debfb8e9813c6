/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_instances.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void why_instances_deinit(struct why_instances *s)
{
        free(s->items);
        free(s->rows);
        *s = (struct why_instances){ .items = NULL };
}

void why_draft_deinit(struct why_draft *d)
{
        free(d->rows);
        free(d->slots);
        *d = (struct why_draft){ .rows = NULL };
}

static size_t first_slot(const struct why_draft *d, uint32_t kind, uint32_t id)
{
        uint32_t hash = (id * UINT32_C(0x9e3779b1)) ^ (kind * UINT32_C(0x85ebca6b));

        return (hash ^ hash >> 15) & (d->n_slots - 1);
}

/*
 * Clears only the slots of the rows, each with the slots that follow without a gap, because the next draft
 * may be small.
 */
static void clear_slots(struct why_draft *d)
{
        if (d->n_slots == 0)
                return;
        for (size_t i = 0; i < d->n_rows; i++)
                for (size_t at = first_slot(d, d->rows[i].kind, d->rows[i].id); d->slots[at] != 0;
                     at = (at + 1) & (d->n_slots - 1))
                        d->slots[at] = 0;
}

void why_draft_clear(struct why_draft *d)
{
        clear_slots(d);
        d->n_rows = 0;
        d->n_left_out = 0;
}

static int compare(const void *a, const void *b)
{
        const struct why_row *left = a, *right = b;

        if (left->kind != right->kind)
                return left->kind < right->kind ? -1 : 1;
        return (left->id > right->id) - (left->id < right->id);
}

/* Sorts and joins rows, one for each kind and id: additions to a kept instance may repeat its rows. */
static void merge(struct why_draft *d)
{
        size_t n = 0;

        if (d->n_rows < 2)
                return;
        qsort(d->rows, d->n_rows, sizeof(*d->rows), compare);
        for (size_t i = 1; i < d->n_rows; i++) {
                if (compare(&d->rows[n], &d->rows[i]) != 0) {
                        d->rows[++n] = d->rows[i];
                        continue;
                }
                d->rows[n].n += d->rows[i].n;
                d->rows[n].amount += d->rows[i].amount;
        }
        d->n_rows = n + 1;
}

/* The slot of a row, or the empty one where it belongs; at most half of them are in use. */
static uint32_t *find_slot(const struct why_draft *d, uint32_t kind, uint32_t id)
{
        size_t at = first_slot(d, kind, id);

        while (d->slots[at] != 0 &&
               (d->rows[d->slots[at] - 1].kind != kind || d->rows[d->slots[at] - 1].id != id))
                at = (at + 1) & (d->n_slots - 1);
        return &d->slots[at];
}

static int grow_slots(struct why_draft *d)
{
        size_t n_slots = d->n_slots != 0 ? 2 * d->n_slots : 16;
        uint32_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        free(d->slots);
        d->slots = slots;
        d->n_slots = n_slots;
        for (size_t i = 0; i < d->n_rows; i++)
                *find_slot(d, d->rows[i].kind, d->rows[i].id) = (uint32_t)i + 1;
        return 0;
}

int why_draft_add(struct why_draft *d, enum why_kind kind, uint32_t id, uint64_t amount)
{
        uint32_t *slot;
        int r = d->n_slots / 2 > d->n_rows ? 0 : grow_slots(d);

        if (r < 0)
                return r;
        slot = find_slot(d, kind, id);
        if (*slot != 0) {
                d->rows[*slot - 1].n++;
                d->rows[*slot - 1].amount += amount;
                return 0;
        }
        if (d->n_rows >= WHY_DRAFT_ROWS_MAX) {
                d->n_left_out++;
                return 0;
        }
        r = array_reserve(&d->rows, &d->capacity, d->n_rows + 1, sizeof(*d->rows));
        if (r < 0)
                return r;
        d->rows[d->n_rows++] = (struct why_row){ .kind = kind, .id = id, .n = 1, .amount = amount };
        *slot = (uint32_t)d->n_rows;
        return 0;
}

int why_instances_add(struct why_instances *s, const struct why_instance *instance, struct why_draft *draft)
{
        size_t *n = instance->is_slow ? &s->n_slow : &s->n_typical;
        struct why_instance *item;
        int r;

        merge(draft);
        if (*n == WHY_INSTANCES_MAX || draft->n_rows > WHY_ROWS_MAX - s->n_rows) {
                s->n_left_out++;
                why_draft_clear(draft);
                return 0;
        }
        r = array_reserve(&s->items, &s->capacity, s->n_items + 1, sizeof(*s->items));
        if (r == 0)
                r = array_reserve(&s->rows, &s->rows_capacity, s->n_rows + draft->n_rows, sizeof(*s->rows));
        if (r < 0)
                return r;
        item = &s->items[s->n_items++];
        *item = *instance;
        item->first_row = s->n_rows;
        item->n_rows = draft->n_rows;
        if (draft->n_rows != 0)
                memcpy(s->rows + s->n_rows, draft->rows, draft->n_rows * sizeof(*draft->rows));
        s->n_rows += draft->n_rows;
        s->n_rows_left_out += draft->n_left_out;
        why_draft_clear(draft);
        ++*n;
        return 0;
}

/* Writes the rows of the instance anew after all others; the old rows stay, unused. */
int why_instances_extend(struct why_instances *s, struct why_instance *item, struct why_draft *draft)
{
        int r = 0;

        for (size_t i = 0; i < item->n_rows && r == 0; i++) {
                r = array_reserve(&draft->rows, &draft->capacity, draft->n_rows + 1, sizeof(*draft->rows));
                if (r == 0)
                        draft->rows[draft->n_rows++] = s->rows[item->first_row + i];
        }
        if (r < 0)
                return r;
        merge(draft);
        if (draft->n_rows > WHY_ROWS_MAX - s->n_rows) {
                s->n_rows_left_out += draft->n_rows - item->n_rows;
                why_draft_clear(draft);
                return 0;
        }
        r = array_reserve(&s->rows, &s->rows_capacity, s->n_rows + draft->n_rows, sizeof(*s->rows));
        if (r < 0)
                return r;
        if (draft->n_rows != 0)
                memcpy(s->rows + s->n_rows, draft->rows, draft->n_rows * sizeof(*draft->rows));
        item->first_row = s->n_rows;
        item->n_rows = draft->n_rows;
        s->n_rows += draft->n_rows;
        s->n_rows_left_out += draft->n_left_out;
        why_draft_clear(draft);
        return 0;
}

/* ------------------------------------------------------------------ zones inside */

#define FIRST_ZONE_SLOTS 64

void why_inside_deinit(struct why_inside *s)
{
        free(s->zones);
        free(s->slots);
        *s = (struct why_inside){ .zones = NULL };
}

/* The slot of a location, or the empty one where it belongs; at most half of them are in use. */
static uint32_t *find_zone_slot(const struct why_inside *s, uint32_t location)
{
        size_t at = location & (s->n_slots - 1); /* locations are dense: neighbours have slots of their own */

        while (s->slots[at] != 0 && s->zones[s->slots[at] - 1].location != location)
                at = (at + 1) & (s->n_slots - 1);
        return &s->slots[at];
}

/*
 * Clears only the slots in use, because the next instance may be a small one.  The last zone goes first, so
 * that each is found as it was added.
 */
void why_inside_clear(struct why_inside *s)
{
        while (s->n_zones > 0) {
                *find_zone_slot(s, s->zones[s->n_zones - 1].location) = 0;
                s->n_zones--;
        }
        s->n_left_out = 0;
}

static int grow_zone_slots(struct why_inside *s)
{
        size_t n_slots = s->n_slots != 0 ? 2 * s->n_slots : FIRST_ZONE_SLOTS;
        uint32_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        free(s->slots);
        s->slots = slots;
        s->n_slots = n_slots;
        for (size_t i = 0; i < s->n_zones; i++)
                *find_zone_slot(s, s->zones[i].location) = (uint32_t)i + 1;
        return 0;
}

static int add_location(struct why_inside *s, uint32_t location, uint32_t *slot)
{
        int r = array_reserve(&s->zones, &s->capacity, s->n_zones + 1, sizeof(*s->zones));

        if (r < 0)
                return r;
        s->zones[s->n_zones++] = (struct why_inside_zone){ .location = location };
        *slot = (uint32_t)s->n_zones;
        return 0;
}

int why_inside_add(struct why_inside *s, uint32_t location, uint64_t ns, uint64_t ran_ns)
{
        struct why_inside_zone *zone;
        uint32_t *slot;
        int r = s->n_slots / 2 > s->n_zones ? 0 : grow_zone_slots(s);

        if (r < 0)
                return r;
        slot = find_zone_slot(s, location);
        if (*slot == 0) {
                if (s->n_zones == WHY_INSIDE_ZONES_MAX) {
                        s->n_left_out++;
                        return 0;
                }
                r = add_location(s, location, slot);
                if (r < 0)
                        return r;
        }
        zone = &s->zones[*slot - 1];
        zone->n++;
        zone->ns += ns;
        zone->ran_ns += ran_ns;
        return 0;
}
