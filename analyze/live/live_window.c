/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_window.h"

#include <errno.h>
#include <stdlib.h>

#define CELLS_FIRST 64

void live_window_deinit(struct live_window *w)
{
        for (size_t i = 0; i < LIVE_SLOTS_AND_ALL; i++)
                free(w->slots[i].cells);
        *w = (struct live_window){ .slots = { { .second = 0 } } };
}

static size_t hash(uint64_t key, size_t n_cells)
{
        return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (n_cells - 1);
}

/* The cell of a key or, if it has none, a free cell; there always is a free one. */
static struct live_cell *cell_of(struct live_cell *cells, size_t n_cells, uint64_t key)
{
        size_t i = hash(key, n_cells);

        while (cells[i].key != 0 && cells[i].key != key)
                i = (i + 1) & (n_cells - 1);
        return &cells[i];
}

/* Twice the room.  Returns 0 or -ENOMEM. */
static int enlarge(struct live_slot *slot)
{
        size_t n_cells = slot->n_cells ? 2 * slot->n_cells : CELLS_FIRST;
        struct live_cell *cells = calloc(n_cells, sizeof(*cells));

        if (!cells)
                return -ENOMEM;
        for (size_t i = 0; i < slot->n_cells; i++)
                if (slot->cells[i].key != 0)
                        *cell_of(cells, n_cells, slot->cells[i].key) = slot->cells[i];
        free(slot->cells);
        slot->cells = cells;
        slot->n_cells = n_cells;
        return 0;
}

/* The sum of a key in a slot; NULL without memory. */
static struct live_sum *live_slot_sum(struct live_slot *slot, uint64_t key)
{
        struct live_cell *cell;

        if (2 * slot->n_used >= slot->n_cells && slot->n_used < LIVE_KEYS_MAX && enlarge(slot) < 0)
                return NULL;
        cell = cell_of(slot->cells, slot->n_cells, key);
        if (cell->key == key)
                return &cell->sum;
        if (slot->n_used == LIVE_KEYS_MAX)
                return &slot->others;
        cell->key = key;
        slot->n_used++;
        return &cell->sum;
}

static void empty_slot(struct live_slot *slot, uint64_t second)
{
        for (size_t i = 0; i < slot->n_cells && slot->n_used > 0; i++)
                slot->cells[i] = (struct live_cell){ .key = 0 };
        slot->n_used = 0;
        slot->others = (struct live_sum){ .n = 0 };
        slot->second = second;
}

int live_window_add(struct live_window *w, uint64_t time_ns, uint64_t key, uint64_t amount)
{
        uint64_t second = live_slot_second(time_ns);
        struct live_slot *slots[2] = { &w->slots[second % LIVE_SLOTS], &w->slots[LIVE_SLOT_ALL] };

        if (slots[0]->second != second)
                empty_slot(slots[0], second);
        slots[1]->second = 1;
        for (int i = 0; i < 2; i++) {
                struct live_sum *sum = live_slot_sum(slots[i], key);

                if (!sum)
                        return -ENOMEM;
                live_sum_add(sum, amount);
        }
        return 0;
}

/* Adds the sums of @slot to @into, a separate slot that has room for the sums of several slots. */
static int merge(struct live_slot *into, const struct live_slot *slot)
{
        live_sum_merge(&into->others, &slot->others);
        for (size_t i = 0; i < slot->n_cells; i++) {
                struct live_cell *cell;

                if (slot->cells[i].key == 0)
                        continue;
                if (2 * into->n_used >= into->n_cells && enlarge(into) < 0)
                        return -ENOMEM;
                cell = cell_of(into->cells, into->n_cells, slot->cells[i].key);
                into->n_used += cell->key == 0;
                cell->key = slot->cells[i].key;
                live_sum_merge(&cell->sum, &slot->cells[i].sum);
        }
        return 0;
}

int live_window_collect(const struct live_window *w, uint64_t now_ns, bool all, struct live_cell **ret_cells,
                        struct live_sum *ret_others)
{
        struct live_slot sums = { .second = 0 };
        size_t n = 0;

        for (size_t i = 0; i < LIVE_SLOTS_AND_ALL; i++) {
                bool is_wanted = all ? i == LIVE_SLOT_ALL
                                     : i < LIVE_SLOTS && live_slot_is_recent(w->slots[i].second, now_ns);

                if (is_wanted && merge(&sums, &w->slots[i]) < 0) {
                        free(sums.cells);
                        return -ENOMEM;
                }
        }
        for (size_t i = 0; i < sums.n_cells; i++)
                if (sums.cells[i].key != 0)
                        sums.cells[n++] = sums.cells[i];
        *ret_cells = sums.cells;
        *ret_others = sums.others;
        return (int)n;
}
