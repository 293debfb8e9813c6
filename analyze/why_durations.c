/* SPDX-License-Identifier: MIT */
#include "analyze/why_durations.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

void why_durations_deinit(struct why_durations *d)
{
        histogram_deinit(&d->all);
        free(d->exact);
        *d = (struct why_durations){ .exact = NULL };
}

int why_durations_add(struct why_durations *d, uint64_t duration_ns)
{
        int r = histogram_add(&d->all, duration_ns);

        if (r < 0 || d->all.n_values > WHY_DURATIONS_EXACT_MAX)
                return r;
        r = array_reserve(&d->exact, &d->capacity, d->n_exact + 1, sizeof(*d->exact));
        if (r < 0)
                return r;
        d->exact[d->n_exact++] = duration_ns;
        d->is_sorted = false;
        return 0;
}

static int compare(const void *a, const void *b)
{
        uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

        return (left > right) - (left < right);
}

static bool sort(struct why_durations *d)
{
        if (d->all.n_values > d->n_exact)
                return false;
        if (!d->is_sorted && d->n_exact > 1)
                qsort(d->exact, d->n_exact, sizeof(*d->exact), compare);
        d->is_sorted = true;
        return true;
}

uint64_t why_durations_quantile(struct why_durations *d, double share)
{
        size_t rank;

        if (!sort(d))
                return histogram_quantile(&d->all, share);
        if (d->n_exact == 0)
                return 0;
        rank = (size_t)ceil(fmin(fmax(share, 0), 1) * (double)d->n_exact);
        return d->exact[rank != 0 ? rank - 1 : 0];
}

uint64_t why_durations_slowest(struct why_durations *d, double share)
{
        size_t n_slow;

        if (!sort(d))
                return histogram_quantile(&d->all, 1 - share);
        if (d->n_exact == 0)
                return 0;
        /* At least one; 1e-9 so that 1 % of 1000 is not 11 because of how 0.01 is rounded. */
        n_slow = (size_t)ceil(fmin(fmax(share, 0), 1) * (double)d->n_exact - 1e-9);
        return d->exact[d->n_exact - (n_slow != 0 ? n_slow : 1)];
}
