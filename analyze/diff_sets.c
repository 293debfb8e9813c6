/* SPDX-License-Identifier: MIT */
#include "analyze/diff_sets.h"

#include "analyze/diff_run.h"
#include "analyze/diff_shift.h"
#include "analyze/student_t.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct comparing {
        const struct diff_sets *sets;
        uint32_t n_runs;
        double *means;             /* heap; by item: of the logarithms of all runs */
        struct diff_shift *shifts; /* heap; by run */
        struct diff_shift between; /* of all items' changes between the sets: how far they agree */
        double *numbers;           /* heap; by run, of the item in question */
};

/* Numbers of the two sets -> change and how sure it is. */
struct verdict {
        double change, se, df;
};

static double log_value(const struct comparing *c, const struct diff_item *item, uint32_t run)
{
        return log(diff_item_value(item, c->sets->runs[run], &c->sets->basis, run < c->sets->n_before));
}

static void find_moments(const double *numbers, uint32_t n, double *ret_mean, double *ret_variance)
{
        double sum = 0, squares = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += numbers[i];
        for (uint32_t i = 0; i < n; i++)
                squares += (numbers[i] - sum / n) * (numbers[i] - sum / n);
        *ret_mean = sum / n;
        *ret_variance = n > 1 ? squares / (n - 1) : 0;
}

static struct verdict compare_sets(const struct comparing *c)
{
        uint32_t n_before = c->sets->n_before, n_after = c->sets->n_after;
        double mean_before, mean_after, before, after, both;
        struct verdict v;

        find_moments(c->numbers, n_before, &mean_before, &before);
        find_moments(c->numbers + n_before, n_after, &mean_after, &after);
        v.change = mean_after - mean_before;
        if (n_before == 1)
                before = after;
        if (n_after == 1)
                after = before;
        before /= n_before;
        after /= n_after;
        both = before + after;
        v.se = fmax(sqrt(both), DIFF_SETS_SE_MIN);
        if (n_before == 1 || n_after == 1)
                v.df = n_before + n_after - 2;
        else
                v.df = both > 0 ? both * both /
                                          (before * before / (n_before - 1) + after * after / (n_after - 1))
                                : n_before + n_after - 2;
        return v;
}

static void set_reference(const struct comparing *c, struct diff_shift *s, uint32_t index,
                          const struct diff_item *item)
{
        double allowance = item->is_kernel ? c->sets->allowance.kernel : c->sets->allowance.item;
        double variance = 0;

        for (uint32_t run = 0; run < c->n_runs; run++)
                variance += diff_item_count_variance(item, c->sets->runs[run], &c->sets->basis,
                                                     run < c->sets->n_before);
        /* What differs between runs is seen in them: nothing is allowed for. */
        diff_shift_set(s, index, variance / c->n_runs + allowance * allowance, 0);
}

/* How much faster or slower each run was than the mean of all. */
static void find_shifts(struct comparing *c, const struct diff_item *items, size_t n_items)
{
        for (uint32_t run = 0; run < c->n_runs; run++) {
                struct diff_shift *s = &c->shifts[run];
                double changes[DIFF_REFERENCES_MAX];

                diff_shift_init(s, items, n_items, c->sets->kind, c->sets->allowance.whole);
                for (uint32_t i = 0; i < s->n; i++) {
                        const struct diff_item *item = &items[s->owners[i]];

                        set_reference(c, s, i, item);
                        changes[i] = log_value(c, item, run) - c->means[s->owners[i]];
                }
                diff_shift_ask(s, changes);
        }
}

static void find_agreement(struct comparing *c, const struct diff_item *items, size_t n_items)
{
        double changes[DIFF_REFERENCES_MAX];

        diff_shift_init(&c->between, items, n_items, c->sets->kind, c->sets->allowance.whole);
        for (uint32_t i = 0; i < c->between.n; i++) {
                const struct diff_item *item = &items[c->between.owners[i]];

                set_reference(c, &c->between, i, item);
                for (uint32_t run = 0; run < c->n_runs; run++)
                        c->numbers[run] = log_value(c, item, run);
                changes[i] = compare_sets(c).change;
        }
        diff_shift_ask(&c->between, changes);
}

static void judge_item(const struct comparing *c, struct diff_item *item, uint32_t index)
{
        struct verdict v;

        for (uint32_t run = 0; run < c->n_runs; run++)
                c->numbers[run] = log_value(c, item, run);
        item->raw = compare_sets(c).change;
        for (uint32_t run = 0; run < c->n_runs; run++)
                c->numbers[run] -= diff_shift_find(&c->shifts[run], index);
        v = compare_sets(c);
        item->change = v.change;
        item->se = sqrt(v.se * v.se + diff_shift_variance(&c->between, index));
        item->df = v.df;
        item->p = student_t_two_sided(item->change / item->se, v.df);
}

static struct diff_whole judge_whole(const struct comparing *c)
{
        struct diff_whole whole = { .is_known = true, .n_items = c->shifts[0].n };
        struct verdict v;

        for (uint32_t run = 0; run < c->n_runs; run++)
                c->numbers[run] = diff_shift_find(&c->shifts[run], DIFF_SHIFT_NOBODY);
        v = compare_sets(c);
        whole.change = v.change;
        whole.se = v.se;
        whole.df = v.df;
        whole.p = student_t_two_sided(v.change / v.se, v.df);
        return whole;
}

static void find_means(struct comparing *c, const struct diff_item *items, size_t n_items)
{
        for (size_t i = 0; i < n_items; i++) {
                if (items[i].kind != c->sets->kind || items[i].doubt != DIFF_JUDGED)
                        continue;
                for (uint32_t run = 0; run < c->n_runs; run++)
                        c->means[i] += log_value(c, &items[i], run) / c->n_runs;
        }
}

int diff_sets_judge(const struct diff_sets *sets, struct diff_item *items, size_t n_items,
                    struct diff_whole *ret_whole)
{
        struct comparing c = { .sets = sets, .n_runs = sets->n_before + sets->n_after };
        struct diff_whole whole = { .p = 1, .df = 1 };
        int r = -ENOMEM;

        c.means = calloc(n_items + 1, sizeof(*c.means));
        c.shifts = calloc(c.n_runs, sizeof(*c.shifts));
        c.numbers = calloc(c.n_runs, sizeof(*c.numbers));
        if (!c.means || !c.shifts || !c.numbers)
                goto fail;
        find_means(&c, items, n_items);
        find_shifts(&c, items, n_items);
        find_agreement(&c, items, n_items);
        if (c.shifts[0].n > 0)
                whole = judge_whole(&c);
        for (size_t i = 0; i < n_items; i++)
                if (items[i].kind == sets->kind && items[i].doubt == DIFF_JUDGED)
                        judge_item(&c, &items[i], (uint32_t)i);
        *ret_whole = whole;
        r = 0;
fail:
        free(c.means);
        free(c.shifts);
        free(c.numbers);
        return r;
}
