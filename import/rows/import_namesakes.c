/* SPDX-License-Identifier: MIT */
#include "import/rows/import_namesakes.h"

#include <stdlib.h>

void import_namesakes_init(struct import_namesakes *n)
{
        *n = (struct import_namesakes){ .n_of = NULL };
        intern_init(&n->ids, sizeof(struct import_namesake), 0);
}

void import_namesakes_deinit(struct import_namesakes *n)
{
        intern_deinit(&n->ids);
        free(n->n_of);
}

int import_namesakes_find(struct import_namesakes *n, uint64_t number, uint64_t who, uint32_t *ret_index)
{
        const struct import_namesake all = { .number = number }, one = { number, who | 1 };
        uint32_t id_of_all, id;
        int r = intern_add_row(&n->ids, &all, &n->n_of, &n->capacity, sizeof(*n->n_of), &id_of_all);

        if (r >= 0)
                r = intern_add_row(&n->ids, &one, &n->n_of, &n->capacity, sizeof(*n->n_of), &id);
        if (r < 0)
                return r;
        if (r == 1)
                n->n_of[id - 1] = n->n_of[id_of_all - 1]++;
        *ret_index = n->n_of[id - 1];
        return 0;
}
