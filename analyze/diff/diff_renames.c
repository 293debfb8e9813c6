/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_renames.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Between the logarithms of what both cost, for names that are merely alike. */
#define COST_DISTANCE_MAX 0.15

enum likeness { LIKE_NOTHING, LIKE_PARTS, LIKE_PARAMETERS, LIKE_MOVED };

struct candidates {
        size_t at[DIFF_RENAMES_MAX]; /* indexes of items, the heaviest first */
        uint32_t n;
};

static double diff_renames_share_of(const struct diff_item *item)
{
        return item->key_before != 0 ? item->share_before : item->share_after;
}

static void insert(struct candidates *c, const struct diff_item *items, size_t index)
{
        uint32_t at = c->n;

        while (at > 0 && diff_renames_share_of(&items[c->at[at - 1]]) < diff_renames_share_of(&items[index]))
                at--;
        if (at == DIFF_RENAMES_MAX)
                return;
        if (c->n < DIFF_RENAMES_MAX)
                c->n++;
        for (uint32_t i = c->n - 1; i > at; i--)
                c->at[i] = c->at[i - 1];
        c->at[at] = index;
}

static bool are_equal(struct text_view a, struct text_view b)
{
        return a.n_bytes == b.n_bytes && (a.n_bytes == 0 || memcmp(a.bytes, b.bytes, a.n_bytes) == 0);
}

static struct text_view without_parameters(struct text_view s)
{
        size_t n = 0;

        while (n < s.n_bytes && (n == 0 || (s.bytes[n] != '(' && s.bytes[n] != '<')))
                n++;
        s.n_bytes = n;
        return s;
}

/* Equal bytes at the beginning and at the end, of the longer name. */
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

static enum likeness diff_renames_compare(const struct diff_names *names, const struct diff_item *gone,
                                          const struct diff_item *new)
{
        const struct diff_key *a = diff_names_key(names, gone->key_before);
        const struct diff_key *b = diff_names_key(names, new->key_after);
        struct text_view name_a = diff_names_string(names, a->name),
                         name_b = diff_names_string(names, b->name);

        if (gone->kind != new->kind || gone->is_kernel || new->is_kernel)
                return LIKE_NOTHING;
        if (a->name == b->name)
                /* All that has no name is called alike. */
                return name_a.n_bytes > 0 && name_a.bytes[0] == '[' ? LIKE_NOTHING : LIKE_MOVED;
        if (a->module != b->module || a->file != b->file)
                return LIKE_NOTHING;
        if (are_equal(without_parameters(name_a), without_parameters(name_b)))
                return LIKE_PARAMETERS;
        if (fabs(log(new->share_after / gone->share_before)) <= COST_DISTANCE_MAX &&
            common_share(name_a, name_b) >= 0.5)
                return LIKE_PARTS;
        return LIKE_NOTHING;
}

static void diff_renames_join(struct diff_item *gone, struct diff_item *new)
{
        gone->key_after = new->key_after;
        gone->n_after = new->n_after;
        gone->value_after = new->value_after;
        gone->share_after = new->share_after;
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
                                    diff_renames_compare(names, a, b) == wanted)
                                        diff_renames_join(a, b);
                        }
}
