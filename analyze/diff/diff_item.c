/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_item.h"

#include "analyze/diff/diff_run.h"

#include <math.h>

/*
 * Samples at equal distances vary less than random ones: their variance is smaller by at most this factor.
 */
#define SPREAD_BELOW_COUNTS 4

static uint32_t key_of(const struct diff_item *item, bool before)
{
        return before ? item->key_before : item->key_after;
}

double diff_item_value(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before)
{
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));
        double one, all;

        if (basis->per_unit && run->n_units == 0)
                return 0;
        if (!diff_kind_is_zone(item->kind))
                return basis->per_unit ? sum.cpu / (double)run->n_units : sum.cpu;
        one = basis->wall ? sum.typical_wall.mean : sum.typical_cpu.mean;
        all = one * (double)sum.n;
        return basis->per_unit ? all / (double)run->n_units : one;
}

double diff_item_total(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before)
{
        double value = diff_item_value(item, run, basis, before);
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));

        if (item->kind == DIFF_KERNEL && !basis->per_unit)
                return sum.wall_ns;
        if (item->kind == DIFF_CALL && sum.n > 0)
                return value * sum.wall_ns / (double)sum.n;
        return !diff_kind_is_zone(item->kind) || basis->per_unit ? value : value * (double)sum.n;
}

void diff_item_bounds(const struct diff_item *item, const struct diff_run *run,
                      const struct diff_basis *basis, bool before, double *ret_low, double *ret_high)
{
        double value = diff_item_value(item, run, basis, before);
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));
        double per = basis->per_unit ? (double)run->n_units : 1;

        *ret_low = *ret_high = value;
        if (item->kind == DIFF_FUNCTION && per > 0) {
                *ret_low = (sum.cpu - sum.added) / per;
                *ret_high = fmax(value, *ret_low + run->unsampled.lost_weight / per);
        } else if (item->kind == DIFF_ZONE) {
                *ret_low = value * (1 - run->lost.share);
                *ret_high = value / (1 - run->lost.share);
        }
}

double diff_item_count_variance(const struct diff_item *item, const struct diff_run *run,
                                const struct diff_basis *basis, bool before)
{
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));

        if (sum.n == 0)
                return HUGE_VAL;
        if (item->kind == DIFF_WAIT)
                return sum.cpu > 0 ? sum.squares / (sum.cpu * sum.cpu) : HUGE_VAL;
        if (!diff_kind_is_zone(item->kind))
                return 1 / (double)sum.n;
        return basis->wall ? sum.typical_wall.variance : sum.typical_cpu.variance;
}

/* How much the waited time varies between parts of the recording. */
static double waits_spread(const struct diff_sum *sum)
{
        double all = 0, squares = 0;

        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                all += sum->blocks[i];
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                squares += (sum->blocks[i] - all / DIFF_RUN_BLOCKS) *
                           (sum->blocks[i] - all / DIFF_RUN_BLOCKS);
        squares *= DIFF_RUN_BLOCKS / (DIFF_RUN_BLOCKS - 1.0);
        return all > 0 ? squares / (all * all) : HUGE_VAL;
}

/* Parts of a recording need not have equally many samples, so the function's share of each is compared. */
double diff_item_spread_variance(const struct diff_item *item, const struct diff_run *run,
                                 const struct diff_basis *basis, bool before)
{
        double by_counts = diff_item_count_variance(item, run, basis, before), squares = 0, share, all = 0;
        struct diff_sum sum = diff_run_sum(run, key_of(item, before));

        if (item->kind == DIFF_WAIT && sum.n != 0 && !item->is_sleep)
                return fmax(by_counts, waits_spread(&sum));
        if (item->kind != DIFF_FUNCTION || sum.n == 0)
                return by_counts;
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                all += (double)run->blocks[i];
        if (!(all > 0))
                return HUGE_VAL;
        share = (double)sum.n / all;
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++) {
                double far = sum.blocks[i] - share * (double)run->blocks[i];

                squares += far * far;
        }
        squares *= DIFF_RUN_BLOCKS / (DIFF_RUN_BLOCKS - 1.0);
        return fmax(by_counts / SPREAD_BELOW_COUNTS, squares / (double)sum.n / (double)sum.n);
}
