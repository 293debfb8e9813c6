/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_steps.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Between the logarithms of what both cost. */
#define COST_DISTANCE_MAX 0.15

/* The fewest samples, or zones, before and after: with fewer, costs may agree by chance. */
#define COUNT_MIN 15

enum likeness { LIKE_NOTHING, LIKE_COST, LIKE_MOVED };

struct candidates {
        size_t at[DIFF_RENAMES_MAX]; /* indexes of items, the heaviest first */
        uint32_t n;
};

static double share_of(const struct diff_item *item)
{
        return item->key_before != 0 ? item->share_before : item->share_after;
}

static void insert(struct candidates *c, const struct diff_item *items, size_t index)
{
        uint32_t at = c->n;

        while (at > 0 && share_of(&items[c->at[at - 1]]) < share_of(&items[index]))
                at--;
        if (at == DIFF_RENAMES_MAX)
                return;
        if (c->n < DIFF_RENAMES_MAX)
                c->n++;
        for (uint32_t i = c->n - 1; i > at; i--)
                c->at[i] = c->at[i - 1];
        c->at[at] = index;
}

/* The share of the longer name that is equal at the beginning and at the end. */
static double common_share(struct text_view a, struct text_view b)
{
        size_t shorter = a.n_bytes < b.n_bytes ? a.n_bytes : b.n_bytes;
        size_t longer = a.n_bytes < b.n_bytes ? b.n_bytes : a.n_bytes;
        size_t head = 0, tail = 0;

        while (head < shorter && a.bytes[head] == b.bytes[head])
                head++;
        while (head + tail < shorter && a.bytes[a.n_bytes - 1 - tail] == b.bytes[b.n_bytes - 1 - tail])
                tail++;
        return longer > 0 ? (double)(head + tail) / (double)longer : 0;
}

static bool costs_the_same(const struct diff_item *gone, const struct diff_item *new)
{
        return gone->n_before >= COUNT_MIN &&
               new->n_after >= COUNT_MIN &&fabs(log(new->value_after / gone->value_before)) <=
                       COST_DISTANCE_MAX;
}

/*
 * Whether both are in one place: functions of one module and caller, zones in one function, or waits of one
 * call.
 */
static bool is_in_same_place(const struct diff_item *gone, const struct diff_item *new,
                             const struct diff_key *a, const struct diff_key *b)
{
        if (a->module != b->module)
                return false;
        if (gone->kind == DIFF_FUNCTION)
                return gone->caller_before == new->caller_after;
        return (gone->kind == DIFF_WAIT || a->file == b->file) && a->function == b->function;
}

static enum likeness compare(const struct diff_names *names, const struct diff_item *gone,
                             const struct diff_item *new)
{
        const struct diff_key *a = diff_names_key(names, gone->key_before);
        const struct diff_key *b = diff_names_key(names, new->key_after);
        struct text_view name_a = diff_names_string(names, a->name),
                         name_b = diff_names_string(names, b->name);

        if (gone->kind != new->kind || gone->kind == DIFF_CALL || gone->is_kernel || new->is_kernel)
                return LIKE_NOTHING;
        if (a->name == b->name) {
                /*
                 * Two functions of one name and module that are still separate items are different
                 * functions.
                 */
                if (gone->kind == DIFF_FUNCTION && a->module == b->module)
                        return LIKE_NOTHING;
                /* Everything without a name has the same label. */
                return name_a.n_bytes > 0 && name_a.bytes[0] == '[' ? LIKE_NOTHING : LIKE_MOVED;
        }
        return is_in_same_place(gone, new, a, b) && costs_the_same(gone, new) &&
                               common_share(name_a, name_b) >= 0.5
                       ? LIKE_COST
                       : LIKE_NOTHING;
}

/* If several candidates fit, none of them is taken for the partner. */
static bool is_only(const struct diff_names *names, const struct diff_item *items,
                    const struct candidates *gone, const struct candidates *new,
                    const struct diff_item *pair[2], enum likeness wanted)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < gone->n; i++)
                n += items[gone->at[i]].key_after == 0 &&
                     compare(names, &items[gone->at[i]], pair[1]) == wanted;
        for (uint32_t i = 0; i < new->n; i++)
                n += items[new->at[i]].key_after != 0 &&
                     compare(names, pair[0], &items[new->at[i]]) == wanted;
        return n == 2;
}

static void join(struct diff_item *gone, struct diff_item *new)
{
        gone->key_after = new->key_after;
        gone->caller_after = new->caller_after;
        gone->n_after = new->n_after;
        gone->value_after = new->value_after;
        gone->total_after = new->total_after;
        gone->share_after = new->share_after;
        gone->is_outer = gone->is_outer || new->is_outer;
        gone->is_outside = gone->is_outside || new->is_outside;
        new->key_after = 0;
}

void diff_renames_find(const struct diff_names *names, struct diff_item *items, size_t n_items)
{
        struct candidates gone = { .n = 0 }, new = { .n = 0 };

        for (size_t i = 0; i < n_items; i++)
                if (items[i].key_before == 0)
                        insert(&new, items, i);
                else if (items[i].key_after == 0)
                        insert(&gone, items, i);
        for (enum likeness wanted = LIKE_MOVED; wanted > LIKE_NOTHING; wanted--)
                for (uint32_t i = 0; i < gone.n; i++)
                        for (uint32_t j = 0; j < new.n; j++) {
                                struct diff_item *a = &items[gone.at[i]], *b = &items[new.at[j]];

                                if (a->key_after == 0 && b->key_after != 0 &&
                                    compare(names, a, b) == wanted &&
                                    is_only(names, items, &gone, &new, (const struct diff_item *[2]){ a, b },
                                            wanted))
                                        join(a, b);
                        }
}
