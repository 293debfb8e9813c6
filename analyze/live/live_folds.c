/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_folds.h"

#include "analyze/live/live_rows.h"
#include "analyze/live/live_stats.h"

#include <stdlib.h>

/* The call stack that a key of the window names; waits have keys of another kind than samples. */
static uint32_t stack_of_key(uint64_t key, bool is_wait)
{
        return is_wait ? live_wait_stack(key) : (uint32_t)(key - 1);
}

/* Few short waits have a call stack; the others are skipped. */
static int add(const struct live_folds *f, const struct live_rows *of, bool is_wait,
               struct python_parts *parts)
{
        const struct live_stats *s = of->stats;
        struct live_cell *cells = NULL;
        struct live_sum others;
        int n = live_window_collect(is_wait ? &s->waits : &s->samples, s->now_ns, of->all, &cells, &others);

        for (int i = 0; i < n; i++) {
                uint32_t stack = stack_of_key(cells[i].key, is_wait);

                if (stack != 0 || !is_wait)
                        python_stacks_add(&f->python, s->dictionary, stack, cells[i].sum.sum, parts);
        }
        free(cells);
        return n < 0 ? n : 0;
}

int live_folds_init(struct live_folds *f, const struct live_rows *of, bool of_waits)
{
        struct python_parts samples = { .all = 0 }, waits = { .all = 0 };
        int r;

        *f = (struct live_folds){ .folds = NULL };
        r = of->shows_native ? 0 : python_stacks_init(&f->python, of->stats->dictionary);
        if (r < 0 || !f->python.innermost)
                return r;
        r = add(f, of, false, &samples);
        if (r == 0 && of_waits)
                r = add(f, of, true, &waits);
        if (r == 0 && (python_parts_are_most(&samples) || python_parts_are_most(&waits)))
                f->folds = &f->python;
        return r;
}

void live_folds_deinit(struct live_folds *f)
{
        python_stacks_deinit(&f->python);
        f->folds = NULL;
}
