/* SPDX-License-Identifier: MIT */
#include "import/rows/import_lanes.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

void import_lanes_deinit(struct import_lanes *l)
{
        for (uint32_t i = 0; i < l->n_lanes; i++)
                free(l->lanes[i].open);
        free(l->lanes);
        free(l->ends);
        *l = (struct import_lanes){ .lanes = NULL };
}

int import_lanes_add(struct import_lanes *l, uint32_t last, uint32_t thread, uint32_t *ret_lane)
{
        if (array_reserve(&l->lanes, &l->lanes_capacity, (size_t)l->n_lanes + 1, sizeof(*l->lanes)) < 0)
                return -ENOMEM;
        l->lanes[l->n_lanes++] = (struct import_lane){ .thread = thread };
        if (last != 0)
                l->lanes[last - 1].next = l->n_lanes;
        *ret_lane = l->n_lanes;
        return 0;
}

/* A lane without zones is the second choice of a span whose parent may be open on another one. */
static enum import_fit fit_by_parent(const struct import_lanes *l, uint32_t first, uint64_t end_ns,
                                     uint32_t parent, uint32_t *ret_lane)
{
        uint32_t n = 0, empty = 0;

        for (uint32_t at = first; at != 0; at = l->lanes[at - 1].next, n++) {
                const struct import_lane *lane = &l->lanes[at - 1];
                const struct import_open *top = lane->n_open ? &lane->open[lane->n_open - 1] : NULL;

                *ret_lane = at;
                if (top && top->id == parent && parent != 0 && top->end_ns >= end_ns)
                        return lane->n_open < IMPORT_NESTED_MAX ? IMPORT_FIT_NESTED : IMPORT_FIT_TOO_DEEP;
                if (!top && empty == 0)
                        empty = at;
        }
        if (empty == 0)
                return n < IMPORT_LANES_MAX ? IMPORT_FIT_NONE : IMPORT_FIT_TOO_MANY;
        *ret_lane = empty;
        return IMPORT_FIT_NESTED;
}

enum import_fit import_lanes_fit(const struct import_lanes *l, uint32_t first, uint64_t end_ns,
                                 struct import_nesting nesting, uint32_t *ret_lane)
{
        uint32_t n = 0;

        if (nesting.id != 0)
                return fit_by_parent(l, first, end_ns, nesting.parent, ret_lane);

        for (uint32_t at = first; at != 0; at = l->lanes[at - 1].next, n++) {
                const struct import_lane *lane = &l->lanes[at - 1];

                *ret_lane = at;
                if (lane->n_open == 0)
                        return IMPORT_FIT_NESTED;
                if (lane->open[lane->n_open - 1].end_ns >= end_ns)
                        return lane->n_open < IMPORT_NESTED_MAX ? IMPORT_FIT_NESTED : IMPORT_FIT_TOO_DEEP;
        }
        return n < IMPORT_LANES_MAX ? IMPORT_FIT_NONE : IMPORT_FIT_TOO_MANY;
}

/* If ends are equal, the zone that was opened later ends first: it is the inner one. */
static bool is_earlier(const struct import_end *a, const struct import_end *b)
{
        return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->sequence > b->sequence;
}

static void rise(struct import_lanes *l, size_t at)
{
        struct import_end end = l->ends[at];

        for (; at > 0 && is_earlier(&end, &l->ends[(at - 1) / 2]); at = (at - 1) / 2)
                l->ends[at] = l->ends[(at - 1) / 2];
        l->ends[at] = end;
}

static void sink(struct import_lanes *l, struct import_end end)
{
        size_t at = 0;

        for (;;) {
                size_t child = 2 * at + 1;

                if (child + 1 < l->n_ends && is_earlier(&l->ends[child + 1], &l->ends[child]))
                        child++;
                if (child >= l->n_ends || !is_earlier(&l->ends[child], &end))
                        break;
                l->ends[at] = l->ends[child];
                at = child;
        }
        l->ends[at] = end;
}

int import_lanes_open(struct import_lanes *l, uint32_t lane, uint64_t end_ns, uint32_t id)
{
        struct import_lane *to = &l->lanes[lane - 1];

        if (to->n_open == to->capacity &&
            array_reserve(&to->open, &to->capacity, to->n_open + 1, sizeof(*to->open)) < 0)
                return -ENOMEM;
        if (l->n_ends == l->ends_capacity &&
            array_reserve(&l->ends, &l->ends_capacity, l->n_ends + 1, sizeof(*l->ends)) < 0)
                return -ENOMEM;
        to->open[to->n_open++] = (struct import_open){ end_ns, id };
        l->ends[l->n_ends++] = (struct import_end){ end_ns, l->sequence++, lane - 1 };
        rise(l, l->n_ends - 1);
        return 0;
}

bool import_lanes_end(struct import_lanes *l, uint64_t now_ns, uint32_t *ret_thread, uint64_t *ret_end_ns)
{
        struct import_lane *lane;

        if (!import_lanes_has_end(l, now_ns))
                return false;
        lane = &l->lanes[l->ends[0].lane];
        lane->n_open--;
        *ret_thread = lane->thread;
        *ret_end_ns = l->ends[0].end_ns;
        l->n_ends--;
        if (l->n_ends > 0)
                sink(l, l->ends[l->n_ends]);
        return true;
}
