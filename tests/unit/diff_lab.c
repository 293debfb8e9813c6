/* SPDX-License-Identifier: MIT */
#include "tests/unit/diff_lab.h"

#include "analyze/samples/function_table.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>

struct diff_lab lab;

void diff_lab_init(void)
{
        lab = (struct diff_lab){ .options = diff_options_default(), .random = 7 };
        lab.builder = malloc(sizeof(*lab.builder));
        ck_assert_ptr_nonnull(lab.builder);
        trace_builder_init(lab.builder);
        diff_names_init(&lab.names);
        for (int i = 0; i < DIFF_LAB_RUNS; i++)
                lab.list[i] = &lab.runs[i];
}

void diff_lab_deinit(void)
{
        for (int i = 0; i < DIFF_LAB_RUNS; i++)
                diff_run_deinit(&lab.runs[i]);
        diff_comparison_deinit(&lab.comparison);
        diff_names_deinit(&lab.names);
        trace_builder_deinit(lab.builder);
        free(lab.builder);
}

static uint64_t random_below(uint64_t n)
{
        return (fixed_random_next(&lab.random) >> 32) % n;
}

uint32_t diff_lab_function_key(const char *name, const char *module)
{
        struct function function = { .kind = FUNCTION_NAMED };
        uint32_t key;

        function.name = trace_builder_string(lab.builder, name);
        function.module = trace_builder_string(lab.builder, module);
        ck_assert_int_eq(diff_names_add_function(&lab.names, &lab.builder->dictionary, &function, NULL, &key),
                         0);
        return key;
}

uint32_t diff_lab_key(const char *name)
{
        return diff_lab_function_key(name, "prog");
}

uint32_t diff_lab_letter_key(int index)
{
        char name[2] = { (char)('a' + index), '\0' };

        return diff_lab_key(name);
}

uint32_t diff_lab_zone_key(const char *name)
{
        struct trace_location row = { .name = trace_builder_string(lab.builder, name) };
        uint32_t key;

        ck_assert_int_eq(diff_names_add_zone(&lab.names, &lab.builder->dictionary, &row, &key), 0);
        return key;
}

void diff_lab_add_samples(int run, uint32_t key, double n)
{
        uint64_t n_samples = (uint64_t)(n + 0.5);

        if (n_samples == 0)
                return;
        ck_assert_int_eq(diff_run_add_sample(&lab.runs[run], key, 10 * (double)n_samples, 0), 0);
        lab.runs[run].sums[key - 1].n += n_samples - 1;
        lab.runs[run].n_samples += n_samples;
        lab.runs[run].weight += 10 * (double)n_samples;
}

void diff_lab_add_letters(int run, double n)
{
        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                diff_lab_add_samples(run, diff_lab_letter_key(i), n);
}

void diff_lab_add_zones(int run, uint32_t key, uint32_t n, double ns)
{
        for (uint32_t i = 0; i < n; i++) {
                ck_assert_int_eq(diff_run_add_zone(&lab.runs[run], key, ns, ns, ns), 0);
                lab.runs[run].n_zones++;
        }
}

double diff_lab_normal(void)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += (double)random_below(1000001) / 1000000;
        return sum;
}

/* A run in which each function varies by @noise, and function @slower takes @factor times as long. */
void diff_lab_add_run(int run, double noise, int slower, double factor)
{
        lab.runs[run].has_switches = true;
        lab.runs[run].duration_ns = 1000000000;
        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                diff_lab_add_samples(run, diff_lab_letter_key(i),
                                     (i == DIFF_LAB_HOT ? DIFF_LAB_HOT_SAMPLES : DIFF_LAB_SAMPLES) *
                                             exp(noise * diff_lab_normal()) * (i == slower ? factor : 1));
}

/* The runs again, with other numbers. */
void diff_lab_forget_runs(void)
{
        for (int i = 0; i < DIFF_LAB_RUNS; i++)
                diff_run_deinit(&lab.runs[i]);
}

/* @n runs, then @n in which @slower takes @factor times as long. */
void diff_lab_add_sets(int n, double noise, int slower, double factor)
{
        diff_lab_forget_runs();
        for (int run = 0; run < 2 * n; run++)
                diff_lab_add_run(run, noise, run < n ? -1 : slower, factor);
}

void diff_lab_compare(uint32_t n_before, uint32_t n_after)
{
        diff_comparison_deinit(&lab.comparison);
        ck_assert_int_eq(
                diff_comparison_init(&lab.comparison, &lab.names, lab.list, n_before, n_after, &lab.options),
                0);
}

const struct diff_item *diff_lab_find(uint32_t key)
{
        for (size_t i = 0; i < lab.comparison.n_items; i++)
                if (lab.comparison.items[i].key_before == key || lab.comparison.items[i].key_after == key)
                        return &lab.comparison.items[i];
        ck_abort_msg("no item %u", key);
        return NULL;
}

const struct diff_item *diff_lab_letter(int index)
{
        return diff_lab_find(diff_lab_letter_key(index));
}
