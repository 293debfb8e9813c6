/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_chains.h"

#include "analyze/path/path_names.h"
#include "analyze/path/path_sums.h"

#include <errno.h>
#include <stdlib.h>

uint32_t path_chains_threads(const struct path_walk *walk, uint32_t chain, uint32_t *threads)
{
        uint32_t n = 0;

        while (chain != 0 && n <= PATH_WALK_DEPTH_MAX) {
                const struct path_link *link = path_walk_link(walk, chain);

                threads[n++] = link->thread;
                chain = link->parent;
        }
        return n;
}

static struct path_chain_key key_of(const struct path_walk *walk, const struct path_names *names,
                                    uint32_t chain)
{
        uint32_t threads[PATH_WALK_DEPTH_MAX + 1], n = path_chains_threads(walk, chain, threads);
        struct path_chain_key key = { .n = 0 };

        for (uint32_t i = 0; i < n; i++) {
                uint32_t group = path_names_group(names, threads[i]);
                bool repeats = false;

                for (uint32_t k = 0; k < key.n; k++)
                        repeats |= key.groups[k] == group;

                if (!repeats)
                        key.groups[key.n++] = group;
        }
        return key;
}

static int compare(const void *a, const void *b)
{
        const struct path_chain *left = a, *right = b;

        return (left->ns < right->ns) - (left->ns > right->ns);
}

int path_chains_take(struct path_chains *c, const struct path_walk *walk, const struct path_names *names,
                     const struct path_sums *sums)
{
        struct intern keys;
        int r = 0;

        *c = (struct path_chains){ .items = NULL };
        intern_init(&keys, sizeof(struct path_chain_key), 0);
        for (uint32_t chain = 1; chain < sums->n_chains && r >= 0; chain++) {
                const struct path_chain_key key = key_of(walk, names, chain);
                uint32_t id;

                if (!(sums->chains_ns[chain] > 0))
                        continue;
                r = intern_add_row(&keys, &key, &c->items, &c->capacity, sizeof(*c->items), &id);
                if (r < 0)
                        break;
                c->items[id - 1].key = key;
                c->items[id - 1].ns += sums->chains_ns[chain];
        }
        c->n = keys.n_items;
        intern_deinit(&keys);
        if (c->n > 1)
                qsort(c->items, c->n, sizeof(*c->items), compare);
        return r < 0 ? r : 0;
}

void path_chains_deinit(struct path_chains *c)
{
        free(c->items);
        *c = (struct path_chains){ .items = NULL };
}
