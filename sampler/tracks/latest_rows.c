/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/latest_rows.h"

#include "base/array.h"
#include "format/trace_dictionary.h"

#include <stdlib.h>
#include <string.h>

void latest_rows_init(struct latest_rows *l, struct trace_dictionary *dictionary, enum trace_table table,
                      size_t row_bytes)
{
        *l = (struct latest_rows){ .dictionary = dictionary, .table = table, .row_bytes = row_bytes };
        intern_init(&l->keys, sizeof(struct latest_key), 0);
}

void latest_rows_deinit(struct latest_rows *l)
{
        intern_deinit(&l->keys);
        free(l->ids);
        l->ids = NULL;
        l->capacity = 0;
}

int latest_rows_add(struct latest_rows *l, struct latest_key key, const void *row)
{
        uint32_t at = intern_find(&l->keys, &key, sizeof(key));
        uint32_t id = 0;
        int r;

        if (at != 0 &&
            memcmp(trace_dictionary_row(l->dictionary, l->table, l->ids[at - 1]), row, l->row_bytes) == 0)
                return 0;
        r = array_reserve(&l->ids, &l->capacity, (size_t)l->keys.n_items + 1, sizeof(*l->ids));
        if (r == 0)
                r = trace_dictionary_add(l->dictionary, l->table, row, &id);
        if (r == 0 && at == 0)
                r = intern_add(&l->keys, &key, sizeof(key), &at);
        if (r < 0)
                return r;
        l->ids[at - 1] = id;
        return 0;
}

uint32_t latest_rows_find(const struct latest_rows *l, struct latest_key key)
{
        uint32_t at = intern_find(&l->keys, &key, sizeof(key));

        return at == 0 ? 0 : l->ids[at - 1];
}
