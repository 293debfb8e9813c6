/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_inside.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

void why_inside_deinit(struct why_inside *s)
{
        free(s->zones);
        free(s->slots);
        *s = (struct why_inside){ .zones = NULL };
}

/* The slot of a location, or the empty one where it belongs; at most half of them are in use. */
static uint32_t *find_slot(const struct why_inside *s, uint32_t location)
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
                *find_slot(s, s->zones[s->n_zones - 1].location) = 0;
                s->n_zones--;
        }
        s->n_left_out = 0;
}

static int grow_slots(struct why_inside *s)
{
        size_t n_slots = s->n_slots != 0 ? 2 * s->n_slots : FIRST_SLOTS;
        uint32_t *slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        free(s->slots);
        s->slots = slots;
        s->n_slots = n_slots;
        for (size_t i = 0; i < s->n_zones; i++)
                *find_slot(s, s->zones[i].location) = (uint32_t)i + 1;
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
        int r = s->n_slots / 2 > s->n_zones ? 0 : grow_slots(s);

        if (r < 0)
                return r;
        slot = find_slot(s, location);
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
