/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_item.h"

#include "analyze/diff/diff_run.h"

#include <math.h>

static uint32_t diff_item_key_of(const struct diff_item *item, bool before)
{
        return before ? item->key_before : item->key_after;
}

double diff_item_value(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before)
{
        struct diff_sum sum = diff_run_sum(run, diff_item_key_of(item, before));
        double one, all;

        if (basis->per_unit && run->n_units == 0)
                return 0;
        if (item->kind == DIFF_FUNCTION)
                return basis->per_unit ? sum.cpu / (double)run->n_units : sum.cpu;
        one = basis->wall ? sum.typical_wall.mean : sum.typical_cpu.mean;
        all = one * (double)sum.n;
        return basis->per_unit ? all / (double)run->n_units : one;
}

double diff_item_count_variance(const struct diff_item *item, const struct diff_run *run,
                                const struct diff_basis *basis, bool before)
{
        struct diff_sum sum = diff_run_sum(run, diff_item_key_of(item, before));

        if (sum.n == 0)
                return HUGE_VAL;
        if (item->kind == DIFF_FUNCTION)
                return 1 / (double)sum.n;
        return basis->wall ? sum.typical_wall.variance : sum.typical_cpu.variance;
}
