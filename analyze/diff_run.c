/* SPDX-License-Identifier: MIT */
#include "analyze/diff_run.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void diff_run_deinit(struct diff_run *run)
{
        diff_run_drop_slices(run);
        free(run->sums);
        *run = (struct diff_run){ .sums = NULL };
}

void diff_run_drop_slices(struct diff_run *run)
{
        for (uint32_t i = 0; i < run->n_sums; i++) {
                free(run->sums[i].slices);
                run->sums[i].slices = NULL;
        }
}

struct diff_sum diff_run_sum(const struct diff_run *run, uint32_t key)
{
        if (key == 0 || key > run->n_sums)
                return (struct diff_sum){ .n = 0 };
        return run->sums[key - 1];
}

/* The sum of a key, with slices if there may be more of them; NULL without memory. */
static struct diff_sum *find_sum(struct diff_run *run, uint32_t key)
{
        struct diff_sum *sum;

        assert(key != 0);
        if (key > run->n_sums) {
                if (array_reserve(&run->sums, &run->capacity, key, sizeof(*run->sums)) < 0)
                        return NULL;
                memset(run->sums + run->n_sums, 0, (key - run->n_sums) * sizeof(*run->sums));
                run->n_sums = key;
        }
        sum = &run->sums[key - 1];
        if (sum->slices || (sum->n > 0 && run->n_sliced >= DIFF_RUN_SLICED_MAX))
                return sum;
        if (run->n_sliced >= DIFF_RUN_SLICED_MAX) {
                run->n_unsliced++;
                return sum;
        }
        sum->slices = calloc(1, sizeof(*sum->slices));
        if (!sum->slices)
                return NULL;
        run->n_sliced++;
        return sum;
}

int diff_run_add_sample(struct diff_run *run, uint32_t key, uint32_t slice, double weight)
{
        struct diff_sum *sum = find_sum(run, key);

        assert(slice < DIFF_SLICES);
        if (!sum)
                return -ENOMEM;
        sum->n++;
        sum->cpu += weight;
        if (sum->slices) {
                sum->slices->cpu[slice] += weight;
                sum->slices->n[slice] += 1;
        }
        return 0;
}

int diff_run_add_zone(struct diff_run *run, uint32_t key, uint32_t slice, double cpu_ns, double wall_ns,
                      double self_ns)
{
        struct diff_sum *sum = find_sum(run, key);

        assert(slice < DIFF_SLICES);
        if (!sum)
                return -ENOMEM;
        sum->n++;
        sum->cpu += cpu_ns;
        sum->wall_ns += wall_ns;
        sum->self_ns += self_ns;
        sum->cpu_squares += cpu_ns * cpu_ns;
        sum->wall_squares += wall_ns * wall_ns;
        if (sum->slices) {
                sum->slices->cpu[slice] += cpu_ns;
                sum->slices->wall_ns[slice] += wall_ns;
                sum->slices->n[slice] += 1;
        }
        return 0;
}
