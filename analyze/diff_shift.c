/* SPDX-License-Identifier: MIT */
#include "analyze/diff_shift.h"

#include <math.h>

/* A median needs that many times the numbers of a mean: pi / 2. */
#define MEDIAN_VARIANCE 1.5707963267948966

/* The median of |x| of a normal distribution, in standard deviations. */
#define NORMAL_MEDIAN 0.6744897501960817

/* Nobody's, but not left out either. */
#define PRIOR (UINT32_MAX - 1)

void diff_shift_init(struct diff_shift *s, const struct diff_item *items, size_t n_items, enum diff_kind kind,
                     double allowance)
{
        *s = (struct diff_shift){ .prior_allowance = allowance * allowance };
        s->n = diff_items_references(items, n_items, kind, s->owners);
}

void diff_shift_set(struct diff_shift *s, uint32_t index, double by_counts, double allowance)
{
        s->weights[index] = 1 / (by_counts + allowance);
        s->allowances[index] = allowance;
}

void diff_shift_ask(struct diff_shift *s, const double *changes)
{
        double weight = 0;

        for (uint32_t i = 0; i < s->n; i++)
                s->values[i] = (struct weighted_value){ changes[i], s->weights[i], s->owners[i] };
        for (uint32_t i = 0; i < s->n; i++)
                weight += s->weights[i];
        s->prior_weight = 1 / s->prior_allowance;
        if (s->n > 0 && s->prior_weight > weight / s->n)
                s->prior_weight = weight / s->n;
        s->values[s->n] = (struct weighted_value){ 0, s->prior_weight, PRIOR };
        weighted_values_sort(s->values, s->n + 1);
}

double diff_shift_find(const struct diff_shift *s, uint32_t owner)
{
        return weighted_median_without(s->values, s->n + 1, owner);
}

/* With so many items, what is expected of runs in general says nothing about how far these agree. */
#define N_PRIOR_MAX 4

/* The median distance of a few values may be small by chance. */
#define N_MEDIAN_MIN 9

/* The mean of the squares. */
static double find_mean_spread(const struct diff_shift *s, uint32_t owner)
{
        double middle = diff_shift_find(s, owner), sum = 0, weight = 0;

        for (uint32_t i = 0; i <= s->n; i++) {
                const struct weighted_value *v = &s->values[i];

                if (v->owner == owner || (v->owner == PRIOR && s->n >= N_PRIOR_MAX))
                        continue;
                sum += v->weight * (v->value - middle) * (v->value - middle);
                weight += v->weight;
        }
        return sum / weight;
}

/*
 * How far the values lie from their median, as a variance.  Of many values that of the normal distribution that would
 * have their median distance, so that a few that did change do not count.
 */
static double find_spread(const struct diff_shift *s, uint32_t owner)
{
        struct weighted_value distances[DIFF_REFERENCES_MAX + 1];
        double middle = diff_shift_find(s, owner), distance;

        if (s->n < N_MEDIAN_MIN)
                return find_mean_spread(s, owner);
        for (uint32_t i = 0; i <= s->n; i++) {
                distances[i] = s->values[i];
                distances[i].value = fabs(s->values[i].value - middle);
        }
        weighted_values_sort(distances, s->n + 1);
        distance = weighted_median_without(distances, s->n + 1, owner) / NORMAL_MEDIAN;
        return distance * distance;
}

double diff_shift_variance(const struct diff_shift *s, uint32_t owner)
{
        double weight = s->prior_weight, squares = weight * weight, sum = squares * s->prior_allowance;

        for (uint32_t i = 0; i < s->n; i++)
                if (s->owners[i] != owner) {
                        weight += s->weights[i];
                        sum += s->weights[i] * s->weights[i] * s->allowances[i];
                        squares += s->weights[i] * s->weights[i];
                }
        return MEDIAN_VARIANCE * fmax(sum, find_spread(s, owner) * squares) / (weight * weight);
}
