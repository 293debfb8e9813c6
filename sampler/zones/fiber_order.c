/* SPDX-License-Identifier: MIT */
#include "sampler/zones/zone_merge.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>

void fiber_order_init(struct fiber_order *o)
{
        *o = (struct fiber_order){ .capacity = 0 };
}

void fiber_order_deinit(struct fiber_order *o)
{
        free(o->waiting);
        fiber_order_init(o);
}

static bool is_before(const struct waiting_slot *a, const struct waiting_slot *b)
{
        return a->enter_ns != b->enter_ns ? a->enter_ns < b->enter_ns : a->slot < b->slot;
}

int fiber_order_add(struct fiber_order *o, struct waiting_slot waiting)
{
        size_t at = o->n_waiting;
        int r = array_reserve(&o->waiting, &o->capacity, o->n_waiting + 1, sizeof(*o->waiting));

        if (r < 0)
                return r;
        for (; at > 0 && is_before(&waiting, &o->waiting[(at - 1) / 2]); at = (at - 1) / 2)
                o->waiting[at] = o->waiting[(at - 1) / 2];
        o->waiting[at] = waiting;
        o->n_waiting++;
        return 0;
}

int fiber_order_next(struct fiber_order *o, struct waiting_slot *ret_waiting)
{
        struct waiting_slot last;
        size_t at = 0;

        if (o->n_waiting == 0)
                return 0;
        *ret_waiting = o->waiting[0];
        last = o->waiting[--o->n_waiting];
        for (size_t below = 1; below < o->n_waiting; below = 2 * at + 1) {
                if (below + 1 < o->n_waiting && is_before(&o->waiting[below + 1], &o->waiting[below]))
                        below++;
                if (!is_before(&o->waiting[below], &last))
                        break;
                o->waiting[at] = o->waiting[below];
                at = below;
        }
        o->waiting[at] = last;
        return 1;
}
