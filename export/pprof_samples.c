/* SPDX-License-Identifier: MIT */
#include "export/pprof_samples.h"

#include "base/array.h"

#include <stdlib.h>

void pprof_samples_init(struct pprof_samples *s)
{
        *s = (struct pprof_samples){ .sums = NULL };
        intern_init(&s->keys, sizeof(struct pprof_key), 0);
}

void pprof_samples_deinit(struct pprof_samples *s)
{
        intern_deinit(&s->keys);
        free(s->sums);
        pprof_samples_init(s);
}

int pprof_samples_find(struct pprof_samples *s, const struct pprof_key *key, struct pprof_sums **ret_sums)
{
        uint32_t id;
        int r = array_reserve(&s->sums, &s->capacity, (size_t)s->keys.n_items + 1, sizeof(*s->sums));

        if (r < 0)
                return r;
        r = intern_add(&s->keys, key, sizeof(*key), &id);
        if (r < 0)
                return r;
        if (r == 1)
                s->sums[id - 1] = (struct pprof_sums){ .values = { 0 } };
        *ret_sums = &s->sums[id - 1];
        return 0;
}
