/* SPDX-License-Identifier: MIT */
#include "analyze/why_instances.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void why_instances_deinit(struct why_instances *s)
{
        free(s->items);
        free(s->rows);
        *s = (struct why_instances){ .items = NULL };
}

void why_draft_deinit(struct why_draft *d)
{
        free(d->rows);
        *d = (struct why_draft){ .rows = NULL };
}

void why_draft_clear(struct why_draft *d)
{
        d->n_rows = 0;
        d->n_left_out = 0;
        d->is_full = false;
}

static int compare(const void *a, const void *b)
{
        const struct why_row *left = a, *right = b;

        if (left->kind != right->kind)
                return left->kind < right->kind ? -1 : 1;
        return (left->id > right->id) - (left->id < right->id);
}

/* One row for each kind and id. */
static void merge(struct why_draft *d)
{
        size_t n = 0;

        if (d->n_rows < 2)
                return;
        qsort(d->rows, d->n_rows, sizeof(*d->rows), compare);
        for (size_t i = 1; i < d->n_rows; i++) {
                if (compare(&d->rows[n], &d->rows[i]) != 0) {
                        d->rows[++n] = d->rows[i];
                        continue;
                }
                d->rows[n].n += d->rows[i].n;
                d->rows[n].amount += d->rows[i].amount;
        }
        d->n_rows = n + 1;
}

int why_draft_add(struct why_draft *d, enum why_kind kind, uint32_t id, uint64_t amount)
{
        int r;

        if (d->n_rows == WHY_DRAFT_ROWS_MAX && !d->is_full) {
                merge(d);
                /* Still over half: it would be sorted again and again. */
                d->is_full = d->n_rows > WHY_DRAFT_ROWS_MAX / 2;
        }
        if (d->is_full) {
                d->n_left_out++;
                return 0;
        }
        r = array_reserve(&d->rows, &d->capacity, d->n_rows + 1, sizeof(*d->rows));
        if (r < 0)
                return r;
        d->rows[d->n_rows++] = (struct why_row){ .kind = kind, .id = id, .n = 1, .amount = amount };
        return 0;
}

int why_instances_add(struct why_instances *s, const struct why_instance *instance, struct why_draft *draft)
{
        size_t *n = instance->is_slow ? &s->n_slow : &s->n_typical;
        struct why_instance *item;
        int r;

        merge(draft);
        if (*n == WHY_INSTANCES_MAX || draft->n_rows > WHY_ROWS_MAX - s->n_rows) {
                s->n_left_out++;
                why_draft_clear(draft);
                return 0;
        }
        r = array_reserve(&s->items, &s->capacity, s->n_items + 1, sizeof(*s->items));
        if (r == 0)
                r = array_reserve(&s->rows, &s->rows_capacity, s->n_rows + draft->n_rows, sizeof(*s->rows));
        if (r < 0)
                return r;
        item = &s->items[s->n_items++];
        *item = *instance;
        item->first_row = s->n_rows;
        item->n_rows = draft->n_rows;
        if (draft->n_rows != 0)
                memcpy(s->rows + s->n_rows, draft->rows, draft->n_rows * sizeof(*draft->rows));
        s->n_rows += draft->n_rows;
        s->n_rows_left_out += draft->n_left_out;
        why_draft_clear(draft);
        ++*n;
        return 0;
}

/* Its rows are written anew behind all others; the old ones stay, and are nobody's. */
int why_instances_extend(struct why_instances *s, struct why_instance *item, struct why_draft *draft)
{
        int r = 0;

        for (size_t i = 0; i < item->n_rows && r == 0; i++) {
                r = array_reserve(&draft->rows, &draft->capacity, draft->n_rows + 1, sizeof(*draft->rows));
                if (r == 0)
                        draft->rows[draft->n_rows++] = s->rows[item->first_row + i];
        }
        if (r < 0)
                return r;
        merge(draft);
        if (draft->n_rows > WHY_ROWS_MAX - s->n_rows) {
                s->n_rows_left_out += draft->n_rows - item->n_rows;
                why_draft_clear(draft);
                return 0;
        }
        r = array_reserve(&s->rows, &s->rows_capacity, s->n_rows + draft->n_rows, sizeof(*s->rows));
        if (r < 0)
                return r;
        if (draft->n_rows != 0)
                memcpy(s->rows + s->n_rows, draft->rows, draft->n_rows * sizeof(*draft->rows));
        item->first_row = s->n_rows;
        item->n_rows = draft->n_rows;
        s->n_rows += draft->n_rows;
        s->n_rows_left_out += draft->n_left_out;
        why_draft_clear(draft);
        return 0;
}
