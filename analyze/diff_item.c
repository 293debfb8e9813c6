/* SPDX-License-Identifier: MIT */
#include "analyze/diff_item.h"

#include "analyze/diff_run.h"

#include <math.h>

static uint32_t key_of(const struct diff_item *item, bool before)
{
        return before ? item->key_before : item->key_after;
}

double diff_item_value(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before)
{
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));
        double whole = item->kind == DIFF_ZONE && basis->wall ? sum.wall_ns : sum.cpu;

        if (basis->per_unit)
                return run->n_units > 0 ? whole / (double)run->n_units : 0;
        if (item->kind == DIFF_FUNCTION)
                return whole;
        return sum.n > 0 ? whole / (double)sum.n : 0;
}

double diff_item_count_variance(const struct diff_item *item, const struct diff_run *run,
                                const struct diff_basis *basis, bool before)
{
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));
        double n = (double)sum.n, mean, squares, variance;

        if (sum.n == 0)
                return HUGE_VAL;
        if (item->kind == DIFF_FUNCTION || sum.n < 2)
                return 1 / n;
        mean = (basis->wall ? sum.wall_ns : sum.cpu) / n;
        squares = (basis->wall ? sum.wall_squares : sum.cpu_squares) / n;
        if (mean <= 0)
                return HUGE_VAL;
        variance = (squares - mean * mean) / (mean * mean) / (n - 1);
        return variance > 0 ? variance : 0;
}

uint32_t diff_items_references(const struct diff_item *items, size_t n_items, enum diff_kind kind,
                               uint32_t *ret)
{
        uint32_t n = 0;

        for (size_t i = 0; i < n_items && i <= UINT32_MAX; i++) {
                uint32_t at = n;

                if (items[i].kind != kind || items[i].doubt != DIFF_JUDGED || items[i].is_outer ||
                    items[i].is_kernel)
                        continue;
                while (at > 0 && items[ret[at - 1]].share_before < items[i].share_before)
                        at--;
                if (at == DIFF_REFERENCES_MAX)
                        continue;
                if (n < DIFF_REFERENCES_MAX)
                        n++;
                for (uint32_t j = n - 1; j > at; j--)
                        ret[j] = ret[j - 1];
                ret[at] = (uint32_t)i;
        }
        return n;
}
