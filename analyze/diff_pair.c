/* SPDX-License-Identifier: MIT */
/*
 * A run of a program is not a bag of independent samples: it has phases, and for a while the machine is slower.  So
 * blocks of neighbouring slices are drawn, not samples, and each from its own neighbourhood (the local block bootstrap
 * of Paparoditis and Politis), so that a phase stays where it is.  A draw is one for all items of a recording.
 */
#include "analyze/diff_pair.h"

#include "analyze/diff_run.h"
#include "analyze/diff_shift.h"
#include "analyze/student_t.h"
#include "analyze/weighted_median.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* In fewer slices than these an item's variance cannot be seen in them. */
#define N_SLICES_MIN 8

/* Fewer items do not tell how much items scatter. */
#define N_SCATTER_MIN 5

/* What is expected of runs in general counts as much as so many items. */
#define SCATTER_PRIOR 4

/* A replicate in which nothing of an item was drawn has this share of it, not none: there is no logarithm of 0. */
#define SHARE_MIN 0.01

/* The median of |x| of a normal distribution, in standard deviations. */
#define NORMAL_MEDIAN 0.6744897501960817

/* One side of one item. */
struct series {
        const double *sums, *counts; /* by slice; counts NULL = the sum alone is the value */
        double value;                /* of the whole recording, by the same rule */
};

struct judged {
        uint32_t item;
        struct series before, after;
        double drawn; /* change of the last replicate, with that of the whole */
        double shift_variance;
        double sum, squares; /* over replicates, of `change - shift` */
};

struct resampling {
        const struct diff_pair *pair;
        struct judged *judged; /* heap */
        uint32_t n_judged;
        struct diff_shift shift;
        uint32_t reference_at[DIFF_REFERENCES_MAX]; /* of the shift's owners: index in `judged` */
        double whole_sum, whole_squares;
        uint64_t state;
};

static uint32_t draw(struct resampling *r, uint32_t n)
{
        r->state ^= r->state << 13;
        r->state ^= r->state >> 7;
        r->state ^= r->state << 17;
        return (uint32_t)(((r->state >> 32) * n) >> 32);
}

/* How often each slice is in the replicate. */
static void draw_slices(struct resampling *r, double *times)
{
        for (uint32_t i = 0; i < DIFF_SLICES; i++)
                times[i] = 0;
        for (uint32_t at = 0; at < DIFF_SLICES; at += DIFF_PAIR_BLOCK) {
                uint32_t first = at > DIFF_PAIR_NEAR ? at - DIFF_PAIR_NEAR : 0;
                uint32_t last = at + DIFF_PAIR_NEAR;
                uint32_t start;

                if (last > DIFF_SLICES - DIFF_PAIR_BLOCK)
                        last = DIFF_SLICES - DIFF_PAIR_BLOCK;
                start = first + draw(r, last - first + 1);
                for (uint32_t i = 0; i < DIFF_PAIR_BLOCK; i++)
                        times[start + i] += 1;
        }
}

static double replicate(const struct series *s, const double *times)
{
        double sum = 0, count = 0, value;

        for (uint32_t i = 0; i < DIFF_SLICES; i++)
                sum += times[i] * s->sums[i];
        if (!s->counts)
                return fmax(sum, SHARE_MIN * s->value);
        for (uint32_t i = 0; i < DIFF_SLICES; i++)
                count += times[i] * s->counts[i];
        value = count > 0 ? sum / count : 0;
        return fmax(value, SHARE_MIN * s->value);
}

static struct series series_of(const struct diff_pair *pair, const struct diff_item *item, bool before)
{
        const struct diff_run *run = before ? pair->before : pair->after;
        const struct diff_slices *slices =
                diff_run_sum(run, before ? item->key_before : item->key_after).slices;
        struct series s = { .value = diff_item_value(item, run, &pair->basis, before) };

        s.sums = item->kind == DIFF_ZONE && pair->basis.wall ? slices->wall_ns : slices->cpu;
        if (pair->basis.per_unit)
                s.counts = run->units;
        else if (item->kind == DIFF_ZONE)
                s.counts = slices->n;
        return s;
}

static double allowance_of(const struct diff_pair *pair, const struct diff_item *item)
{
        return item->is_kernel ? pair->allowance.kernel : pair->allowance.item;
}

static double by_counts(const struct diff_pair *pair, const struct diff_item *item)
{
        return diff_item_count_variance(item, pair->before, &pair->basis, true) +
               diff_item_count_variance(item, pair->after, &pair->basis, false);
}

static int find_judged(struct resampling *r, const struct diff_item *items, size_t n_items)
{
        const struct diff_pair *pair = r->pair;

        r->judged = calloc(n_items + 1, sizeof(*r->judged));
        if (!r->judged)
                return -ENOMEM;
        for (size_t i = 0; i < n_items; i++) {
                if (items[i].kind != pair->kind || items[i].doubt != DIFF_JUDGED)
                        continue;
                r->judged[r->n_judged].item = (uint32_t)i;
                r->judged[r->n_judged].before = series_of(pair, &items[i], true);
                r->judged[r->n_judged].after = series_of(pair, &items[i], false);
                r->n_judged++;
        }
        diff_shift_init(&r->shift, items, n_items, pair->kind, pair->allowance.whole);
        for (uint32_t i = 0; i < r->shift.n; i++) {
                const struct diff_item *item = &items[r->shift.owners[i]];
                double allowance = allowance_of(pair, item);

                for (uint32_t j = 0; j < r->n_judged; j++)
                        if (r->judged[j].item == r->shift.owners[i])
                                r->reference_at[i] = j;
                diff_shift_set(&r->shift, i, by_counts(pair, item), allowance * allowance);
        }
        return 0;
}

/* Asks about the changes that are in `drawn`. */
static void ask(struct resampling *r)
{
        double changes[DIFF_REFERENCES_MAX];

        for (uint32_t i = 0; i < r->shift.n; i++)
                changes[i] = r->judged[r->reference_at[i]].drawn;
        diff_shift_ask(&r->shift, changes);
}

static void resample(struct resampling *r)
{
        double before[DIFF_SLICES], after[DIFF_SLICES], whole;

        draw_slices(r, before);
        draw_slices(r, after);
        for (uint32_t i = 0; i < r->n_judged; i++) {
                struct judged *j = &r->judged[i];

                j->drawn = log(replicate(&j->after, after) / replicate(&j->before, before));
        }
        ask(r);
        for (uint32_t i = 0; i < r->n_judged; i++) {
                struct judged *j = &r->judged[i];
                double change = j->drawn - diff_shift_find(&r->shift, j->item);

                j->sum += change;
                j->squares += change * change;
        }
        whole = diff_shift_find(&r->shift, DIFF_SHIFT_NOBODY);
        r->whole_sum += whole;
        r->whole_squares += whole * whole;
}

static double variance_of(double sum, double squares)
{
        double mean = sum / DIFF_PAIR_REPLICATES;
        double variance = squares / DIFF_PAIR_REPLICATES - mean * mean;

        return variance > 0 ? variance : 0;
}

static uint32_t n_slices_of(const struct series *s)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < DIFF_SLICES; i++)
                n += s->sums[i] > 0;
        return n;
}

/* What is all in a few slices is drawn as a whole or not at all: no variance is seen where there may be any. */
static double spread_variance(const struct diff_pair *pair, const struct judged *j,
                              const struct diff_item *item)
{
        double variance = variance_of(j->sum, j->squares);

        if (n_slices_of(&j->before) >= N_SLICES_MIN && n_slices_of(&j->after) >= N_SLICES_MIN)
                return variance;
        return fmax(variance, by_counts(pair, item));
}

/*
 * The scatter of the other items beyond what varies within the recordings.  By medians: a few items that did change do not
 * count for it, but if most have, nothing can be said of any.  A variance.
 */
static double find_scatter(const struct resampling *r, const struct diff_item *items, uint32_t owner)
{
        struct weighted_value squares[DIFF_REFERENCES_MAX], variances[DIFF_REFERENCES_MAX];
        uint32_t n = 0;
        double middle, scatter, allowance = r->pair->allowance.item;

        for (uint32_t i = 0; i < r->shift.n; i++) {
                const struct judged *j = &r->judged[r->reference_at[i]];
                const struct diff_item *item = &items[j->item];

                if (item->is_kernel || j->item == owner)
                        continue;
                squares[n] = (struct weighted_value){ fabs(item->change), 1, n };
                variances[n] = (struct weighted_value){ spread_variance(r->pair, j, item), 1, n };
                n++;
        }
        if (n < N_SCATTER_MIN)
                return 0;
        weighted_values_sort(squares, n);
        weighted_values_sort(variances, n);
        middle = weighted_median_without(squares, n, WEIGHTED_MEDIAN_NOBODY) / NORMAL_MEDIAN;
        scatter = fmax(middle * middle - weighted_median_without(variances, n, WEIGHTED_MEDIAN_NOBODY), 0);
        return (SCATTER_PRIOR * allowance * allowance + n * scatter) / (SCATTER_PRIOR + n);
}

static void find_changes(struct resampling *r, struct diff_item *items)
{
        for (uint32_t i = 0; i < r->n_judged; i++)
                r->judged[i].drawn = log(r->judged[i].after.value / r->judged[i].before.value);
        ask(r);
        for (uint32_t i = 0; i < r->n_judged; i++) {
                struct diff_item *item = &items[r->judged[i].item];

                item->raw = r->judged[i].drawn;
                item->change = item->raw - diff_shift_find(&r->shift, r->judged[i].item);
                r->judged[i].shift_variance = diff_shift_variance(&r->shift, r->judged[i].item);
        }
}

static void judge(struct resampling *r, struct diff_item *items)
{
        for (uint32_t i = 0; i < r->n_judged; i++) {
                struct diff_item *item = &items[r->judged[i].item];
                double scatter = find_scatter(r, items, r->judged[i].item);
                double allowance = allowance_of(r->pair, item);

                item->se = sqrt(spread_variance(r->pair, &r->judged[i], item) +
                                fmax(allowance * allowance, scatter) + r->judged[i].shift_variance);
                item->df = DIFF_PAIR_DF;
                item->p = student_t_two_sided(item->change / item->se, item->df);
        }
}

int diff_pair_judge(const struct diff_pair *pair, struct diff_item *items, size_t n_items,
                    struct diff_whole *ret_whole)
{
        struct resampling r = { .pair = pair, .state = UINT64_C(0x9e3779b97f4a7c15) };
        struct diff_whole whole = { .df = DIFF_PAIR_DF, .p = 1 };
        double shift_variance;
        int result = find_judged(&r, items, n_items);

        if (result == 0 && r.n_judged > 0) {
                find_changes(&r, items);
                whole.change = diff_shift_find(&r.shift, DIFF_SHIFT_NOBODY);
                shift_variance = diff_shift_variance(&r.shift, DIFF_SHIFT_NOBODY);
                for (int i = 0; i < DIFF_PAIR_REPLICATES; i++)
                        resample(&r);
                judge(&r, items);
                whole.n_items = r.shift.n;
                whole.is_known = true;
                whole.se = sqrt(variance_of(r.whole_sum, r.whole_squares) + shift_variance +
                                pair->allowance.whole * pair->allowance.whole);
                whole.p = student_t_two_sided(whole.change / whole.se, whole.df);
        }
        free(r.judged);
        if (result == 0)
                *ret_whole = whole;
        return result;
}
