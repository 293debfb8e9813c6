/* SPDX-License-Identifier: MIT */
/*
 * w_diff_fix [FIXED=0] [N_ITEMS=24000] [DIGESTS=60]
 *
 * Truth: digest() does the same work in every run.  Without FIXED add_item() walks through the list for each
 * item that it appends, so that it takes about as long as the rest; with it append() knows the last item, and
 * add_item() never runs.
 */
#include "tests/workloads/burn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define STEPS_OF_DIGEST 2000000

struct item {
        struct item *next;
        uint64_t value;
};

static __attribute__((noinline)) void add_item(struct item *first, struct item *item)
{
        while (first->next)
                first = first->next;
        first->next = item;
}

static __attribute__((noinline)) struct item *append(struct item *last, struct item *item)
{
        last->next = item;
        return item;
}

static __attribute__((noinline)) uint64_t digest(uint64_t x)
{
        for (uint64_t i = 0; i < STEPS_OF_DIGEST; i++)
                x = x * UINT64_C(6364136223846793005) + i;
        return x;
}

int main(int argc, char **argv)
{
        bool is_fixed = burn_argument(argc, argv, 1, 0) > 0;
        size_t n_items = (size_t)burn_argument(argc, argv, 2, 24000);
        uint64_t n_digests = (uint64_t)burn_argument(argc, argv, 3, 60), x = 1;
        struct item *items = calloc(n_items + 1, sizeof(*items)), *last = items;

        if (!items)
                return 2;
        for (size_t i = 1; i <= n_items; i++) {
                items[i].value = i;
                if (is_fixed)
                        last = append(last, &items[i]);
                else
                        add_item(items, &items[i]);
        }
        for (uint64_t i = 0; i < n_digests; i++)
                x = digest(x);
        x += items[n_items].value + (uint64_t)(last != items);
        free(items);
        return x == 1; /* so that none of it is left out */
}
