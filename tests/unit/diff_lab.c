/* SPDX-License-Identifier: MIT */
#include "tests/unit/diff_lab.h"

#include "analyze/samples/function_table.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>

void diff_lab_init(struct diff_lab *l)
{
        *l = (struct diff_lab){ .options = diff_options_default(), .random = 7 };
        l->builder = malloc(sizeof(*l->builder));
        ck_assert_ptr_nonnull(l->builder);
        trace_builder_init(l->builder);
        diff_names_init(&l->names);
        for (int i = 0; i < DIFF_LAB_RUNS; i++)
                l->list[i] = &l->runs[i];
}

void diff_lab_deinit(struct diff_lab *l)
{
        for (int i = 0; i < DIFF_LAB_RUNS; i++)
                diff_run_deinit(&l->runs[i]);
        diff_comparison_deinit(&l->comparison);
        diff_names_deinit(&l->names);
        trace_builder_deinit(l->builder);
        free(l->builder);
}

static uint64_t random_below(struct diff_lab *l, uint64_t n)
{
        return (fixed_random_next(&l->random) >> 32) % n;
}

uint32_t diff_lab_function_key(struct diff_lab *l, const char *name, const char *module)
{
        struct function function = { .kind = FUNCTION_NAMED };
        uint32_t key;

        function.name = trace_builder_string(l->builder, name);
        function.module = trace_builder_string(l->builder, module);
        ck_assert_int_eq(diff_names_add_function(&l->names, &l->builder->dictionary, &function, NULL, &key),
                         0);
        return key;
}

uint32_t diff_lab_letter_key(struct diff_lab *l, int index)
{
        char name[2] = { (char)('a' + index), '\0' };

        return diff_lab_function_key(l, name, "prog");
}

uint32_t diff_lab_zone_key(struct diff_lab *l, const char *name)
{
        struct trace_location row = { .name = trace_builder_string(l->builder, name) };
        uint32_t key;

        ck_assert_int_eq(diff_names_add_zone(&l->names, &l->builder->dictionary, &row, &key), 0);
        return key;
}

void diff_lab_add_samples(struct diff_lab *l, int run, uint32_t key, double n)
{
        uint64_t n_samples = (uint64_t)(n + 0.5);

        if (n_samples == 0)
                return;
        ck_assert_int_eq(diff_run_add_sample(&l->runs[run], key, 10 * (double)n_samples, 0), 0);
        l->runs[run].sums[key - 1].n += n_samples - 1;
        l->runs[run].n_samples += n_samples;
        l->runs[run].weight += 10 * (double)n_samples;
}

void diff_lab_add_zones(struct diff_lab *l, int run, uint32_t key, uint32_t n, double ns)
{
        for (uint32_t i = 0; i < n; i++) {
                ck_assert_int_eq(diff_run_add_zone(&l->runs[run], key, ns, ns, ns), 0);
                l->runs[run].n_zones++;
        }
}

double diff_lab_normal(struct diff_lab *l)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += (double)random_below(l, 1000001) / 1000000;
        return sum;
}

/* A run in which each function varies by @noise, and function @slower takes @factor times as long. */
void diff_lab_add_run(struct diff_lab *l, int run, double noise, int slower, double factor)
{
        l->runs[run].has_switches = true;
        l->runs[run].duration_ns = 1000000000;
        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                diff_lab_add_samples(l, run, diff_lab_letter_key(l, i),
                                     (i == DIFF_LAB_HOT ? DIFF_LAB_HOT_SAMPLES : DIFF_LAB_SAMPLES) *
                                             exp(noise * diff_lab_normal(l)) * (i == slower ? factor : 1));
}

/* The runs again, with other numbers. */
void diff_lab_forget_runs(struct diff_lab *l)
{
        for (int i = 0; i < DIFF_LAB_RUNS; i++)
                diff_run_deinit(&l->runs[i]);
}

/* @n runs, then @n in which @slower takes @factor times as long. */
void diff_lab_add_sets(struct diff_lab *l, int n, double noise, int slower, double factor)
{
        diff_lab_forget_runs(l);
        for (int run = 0; run < 2 * n; run++)
                diff_lab_add_run(l, run, noise, run < n ? -1 : slower, factor);
}

void diff_lab_compare(struct diff_lab *l, uint32_t n_before, uint32_t n_after)
{
        diff_comparison_deinit(&l->comparison);
        ck_assert_int_eq(
                diff_comparison_init(&l->comparison, &l->names, l->list, n_before, n_after, &l->options), 0);
}

const struct diff_item *diff_lab_find(const struct diff_lab *l, uint32_t key)
{
        for (size_t i = 0; i < l->comparison.n_items; i++)
                if (l->comparison.items[i].key_before == key || l->comparison.items[i].key_after == key)
                        return &l->comparison.items[i];
        ck_abort_msg("no item %u", key);
        return NULL;
}
