/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_steps.h"

#include <math.h>
#include <stdbool.h>

#define TINY 1e-9

/* The runs of one side. */
struct side {
        const struct diff_number *of;
        uint32_t n;
};

static struct side side_of(const struct diff_numbers *numbers, bool before)
{
        return before ? (struct side){ numbers->of, numbers->n_before }
                      : (struct side){ numbers->of + numbers->n_before, numbers->n_after };
}

static bool has_enough(struct side side, uint64_t n_min)
{
        for (uint32_t i = 0; i < side.n; i++)
                if (side.of[i].n < n_min || !(side.of[i].value > 0))
                        return false;
        return true;
}

/* Counts have Poisson bounds, even a count of 0, if the cost of one is known. */
static bool has_bounds(struct side side)
{
        for (uint32_t i = 0; i < side.n; i++)
                if (!(side.of[i].one > 0))
                        return false;
        return true;
}

enum diff_basis_of_judgement diff_judgement_basis(const struct diff_numbers *numbers)
{
        struct side before = side_of(numbers, true), after = side_of(numbers, false);
        bool enough_before = has_enough(before, numbers->n_min);
        bool enough_after = has_enough(after, numbers->n_min);

        if (enough_before && enough_after)
                return DIFF_BY_BOTH;
        if (enough_before && has_bounds(after))
                return DIFF_BY_FEW_AFTER;
        return enough_after && has_bounds(before) ? DIFF_BY_FEW_BEFORE : DIFF_BY_NOTHING;
}

/* How far lost samples may move a side, as differences of logarithms. */
struct lost_range {
        double up, down;
};

static struct lost_range take_logs(struct side side, double *logs)
{
        struct lost_range range = { 0, 0 };

        for (uint32_t i = 0; i < side.n; i++) {
                double value = side.of[i].value;

                logs[i] = log(value);
                range.up += log(side.of[i].high / value) / side.n;
                range.down += log(value / fmax(side.of[i].low, TINY * value)) / side.n;
        }
        return range;
}

/*
 * The part of a number that surely belongs to the item: without lost samples, and without those that may be
 * another item's.
 */
static double surely_of(const struct diff_number *number)
{
        return number->low - number->moved;
}

/* Assumes that uncertain samples caused the difference. */
static void judge_steady(const struct diff_numbers *numbers, struct diff_verdict *v)
{
        const struct diff_number *of = numbers->of;
        const struct diff_number *dear = v->change > 0 ? &of[1] : &of[0],
                                 *cheap = v->change > 0 ? &of[0] : &of[1];
        struct diff_steady steady = {
                .low = cheap->high,
                .high = surely_of(dear),
                .far = numbers->steady_noises * numbers->noise,
                .variance = dear->spread + cheap->spread,
                .df = fmin(DIFF_STEADY_DF, (double)dear->n + (double)cheap->n - 2),
        };

        diff_test_steady(v, &steady);
}

static struct diff_verdict judge_both(const struct diff_numbers *numbers)
{
        const struct diff_number *of = numbers->of;
        double *logs = numbers->logs;
        struct lost_range before = take_logs(side_of(numbers, true), logs);
        struct lost_range after = take_logs(side_of(numbers, false), logs + numbers->n_before);
        struct diff_verdict v;

        if (numbers->n_before == 1 && numbers->n_after == 1)
                v = diff_test_pair(logs[0], logs[1], diff_test_prior(numbers->noise, of[0].variance),
                                   diff_test_prior(numbers->noise, of[1].variance));
        else
                v = diff_test_sets(logs, numbers->n_before, numbers->n_after);
        if (before.up + before.down + after.up + after.down > 0)
                diff_test_widen(&v, after.down + before.up, after.up + before.down);
        if (numbers->n_before == 1 && numbers->n_after == 1 && numbers->steady_noises > 0)
                judge_steady(numbers, &v);
        return v;
}

/*
 * Assumes that the smaller side has as many as its bound allows, and that the two runs differ by as much as
 * runs usually do.
 */
static void judge_few_steady(const struct diff_numbers *numbers, const struct diff_number *dear, double far,
                             struct diff_verdict *v)
{
        struct diff_steady steady = {
                .low = far,
                .high = surely_of(dear),
                .far = numbers->steady_noises * numbers->noise,
                .variance = dear->spread,
                .df = fmin(DIFF_STEADY_DF, (double)dear->n - 1),
        };

        diff_test_steady(v, &steady);
        v->p = fmin(v->p + DIFF_FEW_TAIL, 1);
}

/*
 * The smaller side's variance is unknown: the bound of its largest run is used for all of its runs.  If all
 * of its runs counted 0, they share one Poisson count of 0, and vary as the larger side does.
 */
static struct diff_verdict judge_few(const struct diff_numbers *numbers, bool is_after)
{
        struct side large = side_of(numbers, is_after), small = side_of(numbers, !is_after);
        struct diff_few few = { .logs = numbers->logs, .n = large.n, .is_after = is_after };
        double one = 0, variance = 0, high = 0;
        struct diff_verdict v;
        uint64_t n = 0;

        few.lost = take_logs(large, numbers->logs).down;
        for (uint32_t i = 0; i < large.n; i++)
                variance += large.of[i].variance / large.n;
        few.prior = diff_test_prior(numbers->noise, variance);
        for (uint32_t i = 0; i < small.n; i++)
                n += small.of[i].n;
        few.n_few = n == 0 ? small.n : 1;
        for (uint32_t i = 0; i < small.n; i++) {
                const struct diff_number *number = &small.of[i];
                double more = diff_test_count_far(number->n) - (double)number->n;

                few.far = fmax(few.far, number->high + number->one * more / few.n_few);
                few.mean += number->value / small.n;
                few.low += number->low / small.n;
                high += number->high / small.n;
                one = fmax(one, number->one);
        }
        few.high = high + one * (diff_test_count_high(n) - (double)n) / small.n;
        few.low *= n > 0 ? diff_test_count_low(n) / (double)n : 0;
        v = diff_test_few(&few);
        if (numbers->is_few_steady && large.n == 1 && small.n == 1)
                judge_few_steady(numbers, large.of, few.far, &v);
        return v;
}

struct diff_verdict diff_judgement_of(const struct diff_numbers *numbers, enum diff_basis_of_judgement basis)
{
        return basis == DIFF_BY_BOTH ? judge_both(numbers) : judge_few(numbers, basis == DIFF_BY_FEW_AFTER);
}
