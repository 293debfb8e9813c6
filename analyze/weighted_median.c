/* SPDX-License-Identifier: MIT */
#include "analyze/weighted_median.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
        const struct weighted_value *x = a, *y = b;

        if (x->value != y->value)
                return x->value < y->value ? -1 : 1;
        return x->owner < y->owner ? -1 : x->owner > y->owner;
}

void weighted_values_sort(struct weighted_value *values, size_t n)
{
        if (n > 1)
                qsort(values, n, sizeof(*values), compare);
}

double weighted_median_without(const struct weighted_value *values, size_t n, uint32_t owner)
{
        double whole = 0, sum = 0, lower = 0;
        int at_half = 0;

        for (size_t i = 0; i < n; i++)
                if (values[i].owner != owner)
                        whole += values[i].weight;
        for (size_t i = 0; i < n; i++) {
                if (values[i].owner == owner || values[i].weight <= 0)
                        continue;
                if (at_half)
                        return (lower + values[i].value) / 2;
                sum += values[i].weight;
                if (sum > whole / 2)
                        return values[i].value;
                lower = values[i].value;
                at_half = sum >= whole / 2;
        }
        return lower;
}
