/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_run.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void diff_run_deinit(struct diff_run *run)
{
        diff_run_finish(run);
        free(run->sums);
        *run = (struct diff_run){ .sums = NULL };
}

void diff_run_finish(struct diff_run *run)
{
        for (uint32_t i = 0; i < run->n_sums; i++) {
                struct diff_sum *sum = &run->sums[i];

                if (!sum->spreads)
                        continue;
                sum->typical_cpu = diff_spread_typical(&sum->spreads->cpu);
                sum->typical_wall = diff_spread_typical(&sum->spreads->wall);
                free(sum->spreads);
                sum->spreads = NULL;
        }
}

struct diff_sum diff_run_sum(const struct diff_run *run, uint32_t key)
{
        if (key == 0 || key > run->n_sums)
                return (struct diff_sum){ .n = 0 };
        return run->sums[key - 1];
}

/* The sum of a key; NULL without memory. */
static struct diff_sum *diff_run_find(struct diff_run *run, uint32_t key)
{
        assert(key != 0);
        if (key > run->n_sums) {
                if (array_reserve(&run->sums, &run->capacity, key, sizeof(*run->sums)) < 0)
                        return NULL;
                memset(run->sums + run->n_sums, 0, (key - run->n_sums) * sizeof(*run->sums));
                run->n_sums = key;
        }
        return &run->sums[key - 1];
}

int diff_run_add_sample(struct diff_run *run, uint32_t key, double weight)
{
        struct diff_sum *sum = diff_run_find(run, key);

        if (!sum)
                return -ENOMEM;
        sum->n++;
        sum->cpu += weight;
        return 0;
}

/* The first instance's; a zone beyond the limit has none. */
static int diff_run_add_spreads(struct diff_run *run, struct diff_sum *sum)
{
        if (run->n_spread >= DIFF_RUN_ZONES_MAX) {
                run->n_unspread++;
                return 0;
        }
        sum->spreads = calloc(1, sizeof(*sum->spreads));
        if (!sum->spreads)
                return -ENOMEM;
        run->n_spread++;
        return 0;
}

int diff_run_add_zone(struct diff_run *run, uint32_t key, double cpu_ns, double wall_ns, double self_ns)
{
        struct diff_sum *sum = diff_run_find(run, key);

        if (!sum || (sum->n == 0 && diff_run_add_spreads(run, sum) < 0))
                return -ENOMEM;
        sum->n++;
        sum->cpu += cpu_ns;
        sum->wall_ns += wall_ns;
        sum->self_ns += self_ns;
        if (sum->spreads) {
                diff_spread_add(&sum->spreads->cpu, cpu_ns);
                diff_spread_add(&sum->spreads->wall, wall_ns);
        }
        return 0;
}
