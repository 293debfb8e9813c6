/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_durations.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct path_duration {
        uint64_t ns;
        double chance;
};

void path_durations_deinit(struct path_durations *d)
{
        free(d->items);
        *d = (struct path_durations){ .items = NULL };
}

/* Those with a chance below this are kept. */
static double limit_of(const struct path_durations *d)
{
        return ldexp(1, -(int)d->n_halved);
}

static void halve(struct path_durations *d)
{
        size_t n = 0;

        d->n_halved++;
        for (size_t i = 0; i < d->n; i++)
                if (d->items[i].chance < limit_of(d))
                        d->items[n++] = d->items[i];
        d->n = n;
}

int path_durations_add(struct path_durations *d, uint64_t ns, double chance)
{
        while (d->n == PATH_DURATIONS_MAX && d->n_halved < 63)
                halve(d);
        if (d->n == PATH_DURATIONS_MAX || chance >= limit_of(d))
                return 0;
        if (array_reserve(&d->items, &d->capacity, d->n + 1, sizeof(*d->items)) < 0)
                return -ENOMEM;
        d->items[d->n++] = (struct path_duration){ .ns = ns, .chance = chance };
        return 0;
}

/* The longest first. */
static int compare(const void *a, const void *b)
{
        const struct path_duration *left = a, *right = b;

        return (left->ns < right->ns) - (left->ns > right->ns);
}

uint64_t path_durations_slowest(struct path_durations *d, double share)
{
        size_t n = (size_t)ceil((double)d->n * share);

        if (n == 0)
                return 0;
        qsort(d->items, d->n, sizeof(*d->items), compare);
        return d->items[n <= d->n ? n - 1 : d->n - 1].ns;
}
