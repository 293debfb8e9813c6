/* SPDX-License-Identifier: MIT */
#include "sampler/merge/sample_thinning.h"

#include "base/array.h"
#include "base/saturating.h"
#include "sampler/events/event_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX (UINT32_C(1) << 16) /* samples of CPUs beyond are always taken */

void sample_thinning_deinit(struct sample_thinning *t)
{
        free(t->items);
        *t = (struct sample_thinning){ .items = NULL };
}

static int reserve(struct sample_thinning *t, size_t n_items)
{
        int r = array_reserve(&t->items, &t->capacity, n_items, sizeof(*t->items));

        if (r == 0 && n_items > t->n_items) {
                memset(t->items + t->n_items, 0, (n_items - t->n_items) * sizeof(*t->items));
                t->n_items = n_items;
        }
        return r;
}

int sample_thinning_take(struct sample_thinning *t, uint32_t cpu, uint32_t spec, uint32_t share,
                         uint64_t *weight)
{
        size_t at = (size_t)cpu * EVENT_REQUEST_SPECS_MAX + spec;
        struct thinned_samples *left_out;

        if (share <= 1 && t->n_left_out == 0)
                return 1;
        if (cpu >= CPUS_MAX || spec >= EVENT_REQUEST_SPECS_MAX)
                return 1;
        if (at >= t->n_items && reserve(t, at + 1) < 0)
                return -ENOMEM;
        left_out = &t->items[at];
        if (left_out->n + 1 < share) {
                left_out->n++;
                left_out->weight = saturating_add(left_out->weight, *weight);
                t->n_left_out++;
                return 0;
        }
        *weight = saturating_add(*weight, left_out->weight);
        *left_out = (struct thinned_samples){ .n = 0 };
        return 1;
}
