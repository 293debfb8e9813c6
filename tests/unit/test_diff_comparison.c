/* SPDX-License-Identifier: MIT */
/* analyze/diff_comparison.c, diff_pair.c, diff_sets.c, diff_renames.c: what changed is told from what differs by chance */
#include "analyze/diff_comparison.h"
#include "analyze/diff_run.h"
#include "analyze/function_table.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_FUNCTIONS 8
#define N_RUNS_MAX  10
#define SAMPLES     100 /* of a function, in a slice */

/* Runs of a program with eight functions and two zones, whose names are letters. */
struct lab {
        struct trace_builder *builder; /* heap; for its strings */
        struct diff_names names;
        struct diff_run runs[N_RUNS_MAX];
        const struct diff_run *list[N_RUNS_MAX];
        struct diff_comparison comparison;
        struct diff_options options;
        uint64_t random;
};

static void lab_init(struct lab *l)
{
        *l = (struct lab){ .options = diff_options_default(), .random = 7 };
        l->builder = malloc(sizeof(*l->builder));
        ck_assert_ptr_nonnull(l->builder);
        trace_builder_init(l->builder);
        diff_names_init(&l->names);
        for (int i = 0; i < N_RUNS_MAX; i++)
                l->list[i] = &l->runs[i];
}

static void lab_deinit(struct lab *l)
{
        for (int i = 0; i < N_RUNS_MAX; i++)
                diff_run_deinit(&l->runs[i]);
        diff_comparison_deinit(&l->comparison);
        diff_names_deinit(&l->names);
        trace_builder_deinit(l->builder);
        free(l->builder);
}

static uint64_t random_below(struct lab *l, uint64_t n)
{
        return (fixed_random_next(&l->random) >> 32) % n;
}

static uint32_t function_key(struct lab *l, const char *name, const char *module)
{
        struct function function = { .kind = FUNCTION_NAMED };
        uint32_t key;

        function.name = trace_builder_string(l->builder, name);
        function.module = trace_builder_string(l->builder, module);
        ck_assert_int_eq(diff_names_add_function(&l->names, &l->builder->dictionary, &function, &key), 0);
        return key;
}

static uint32_t letter_key(struct lab *l, int index)
{
        char name[2] = { (char)('a' + index), '\0' };

        return function_key(l, name, "prog");
}

static uint32_t zone_key(struct lab *l, const char *name)
{
        struct trace_location row = { .name = trace_builder_string(l->builder, name) };
        uint32_t key;

        ck_assert_int_eq(diff_names_add_zone(&l->names, &l->builder->dictionary, &row, &key), 0);
        return key;
}

/* Samples of a function in a slice: about @n, as they fall. */
static void add_samples(struct lab *l, int run, uint32_t key, uint32_t slice, double n)
{
        uint32_t n_samples = (uint32_t)(n + (double)random_below(l, 1000) / 1000);

        for (uint32_t i = 0; i < n_samples; i++) {
                ck_assert_int_eq(diff_run_add_sample(&l->runs[run], key, slice, 10), 0);
                l->runs[run].n_samples++;
                l->runs[run].weight += 10;
        }
}

/* From 1 - @width to 1 + @width. */
static double about_one(struct lab *l, double width)
{
        return 1 + width * ((double)random_below(l, 2001) / 1000 - 1);
}

/*
 * A run that is @speed times as long, and in which function @slower is @factor times as long.  Slices differ by a
 * tenth, all functions alike: the machine is busy.
 */
static void add_run(struct lab *l, int run, double speed, int slower, double factor)
{
        l->runs[run].has_switches = true;
        l->runs[run].duration_ns = 1000000000;
        for (uint32_t slice = 0; slice < DIFF_SLICES; slice++) {
                double busy = about_one(l, 0.1);

                for (int i = 0; i < N_FUNCTIONS; i++)
                        add_samples(l, run, letter_key(l, i), slice,
                                    SAMPLES * busy * speed * about_one(l, 0.02) * (i == slower ? factor : 1));
        }
}

static void compare(struct lab *l, uint32_t n_before, uint32_t n_after)
{
        diff_comparison_deinit(&l->comparison);
        ck_assert_int_eq(
                diff_comparison_init(&l->comparison, &l->names, l->list, n_before, n_after, &l->options), 0);
}

static const struct diff_item *find(const struct lab *l, uint32_t key)
{
        for (size_t i = 0; i < l->comparison.n_items; i++)
                if (l->comparison.items[i].key_before == key || l->comparison.items[i].key_after == key)
                        return &l->comparison.items[i];
        ck_abort_msg("no item %u", key);
        return NULL;
}

START_TEST(test_pair_without_change)
{
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 1, -1, 1);
        add_run(&l, 1, 1, -1, 1);
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], N_FUNCTIONS + 1);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        for (int i = 0; i < N_FUNCTIONS; i++)
                ck_assert_double_lt(fabs(find(&l, letter_key(&l, i))->change), 0.01);
        lab_deinit(&l);
}
END_TEST

/* The machine is 8 % slower as well, which is nobody's change. */
START_TEST(test_pair_with_change)
{
        const struct diff_item *item;
        struct lab l;
        double low, high;

        lab_init(&l);
        add_run(&l, 0, 1, -1, 1);
        add_run(&l, 1, 1.08, 2, 1.05);
        compare(&l, 1, 1);
        item = find(&l, letter_key(&l, 2));
        ck_assert(item->is_significant);
        ck_assert_double_eq_tol(item->change, log(1.05), 0.01);
        ck_assert_double_eq_tol(item->raw, log(1.05 * 1.08), 0.01);
        diff_comparison_interval(item->change, item->se, item->df, &low, &high);
        ck_assert_double_lt(low, 0.05);
        ck_assert_double_gt(high, 0.05);
        ck_assert_uint_eq(l.comparison.n_significant, 1);
        ck_assert_double_eq_tol(l.comparison.wholes[DIFF_FUNCTION].change, log(1.08), 0.01);
        ck_assert_double_eq_tol(diff_comparison_worst(&l.comparison, &item), 0.05, 0.01);
        ck_assert_ptr_eq(item, find(&l, letter_key(&l, 2)));
        lab_deinit(&l);
}
END_TEST

/* Faster is no reason to fail. */
START_TEST(test_faster_is_not_worse)
{
        const struct diff_item *item;
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 1, 2, 1.1);
        add_run(&l, 1, 1, -1, 1);
        compare(&l, 1, 1);
        ck_assert(find(&l, letter_key(&l, 2))->is_significant);
        ck_assert_double_le(diff_comparison_worst(&l.comparison, &item), 0);
        lab_deinit(&l);
}
END_TEST

/* What varies from slice to slice is not known from two runs, however many samples there are. */
START_TEST(test_noise_within_a_run_counts)
{
        uint32_t key;
        struct lab l;

        lab_init(&l);
        key = function_key(&l, "noisy", "prog");
        for (int run = 0; run < 2; run++) {
                add_run(&l, run, 1, -1, 1);
                for (uint32_t slice = 0; slice < DIFF_SLICES; slice++)
                        add_samples(&l, run, key, slice,
                                    random_below(&l, 8) == 0 ? 8 * SAMPLES * (1 + run * 0.1) : 0);
        }
        compare(&l, 1, 1);
        ck_assert(!find(&l, key)->is_significant);
        ck_assert_double_gt(find(&l, key)->se, 0.1);
        lab_deinit(&l);
}
END_TEST

/* Runs differ by up to 6 % as wholes, and a function by up to 1 % beside that. */
static void add_sets(struct lab *l, double factor)
{
        for (int run = 0; run < 10; run++) {
                add_run(l, run, about_one(l, 0.06), 1, about_one(l, 0.01) * (run >= 5 ? factor : 1));
        }
}

START_TEST(test_sets)
{
        struct lab l;

        lab_init(&l);
        add_sets(&l, 1);
        compare(&l, 5, 5);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], N_FUNCTIONS + 1);
        lab_deinit(&l);

        lab_init(&l);
        add_sets(&l, 1.04);
        compare(&l, 5, 5);
        ck_assert(find(&l, letter_key(&l, 1))->is_significant);
        ck_assert_uint_eq(l.comparison.n_significant, 1);
        ck_assert_double_eq_tol(find(&l, letter_key(&l, 1))->change, log(1.04), 0.015);
        ck_assert_double_lt(find(&l, letter_key(&l, 1))->df, 9);
        lab_deinit(&l);
}
END_TEST

/* One run against several: it is taken to vary as they do. */
START_TEST(test_one_against_several)
{
        struct lab l;

        lab_init(&l);
        for (int run = 0; run < 5; run++)
                add_run(&l, run, 1, 0, run == 4 ? 1.2 : 1);
        compare(&l, 4, 1);
        ck_assert(find(&l, letter_key(&l, 0))->is_significant);
        ck_assert_double_eq(find(&l, letter_key(&l, 0))->df, 3);
        lab_deinit(&l);
}
END_TEST

START_TEST(test_new_gone_renamed)
{
        uint32_t gone, new, moved, moved_to, renamed, renamed_to, rare;
        struct lab l;

        lab_init(&l);
        gone = function_key(&l, "parse_all", "prog");
        new = function_key(&l, "unlike", "prog");
        moved = function_key(&l, "helper", "liba.so.1");
        moved_to = function_key(&l, "helper", "libb.so.1");
        renamed = function_key(&l, "list_sort(int)", "prog");
        renamed_to = function_key(&l, "list_sort(long)", "prog");
        rare = function_key(&l, "rare", "prog");
        add_run(&l, 0, 1, -1, 1);
        add_run(&l, 1, 1, -1, 1);
        for (uint32_t slice = 0; slice < DIFF_SLICES; slice++) {
                add_samples(&l, 0, gone, slice, SAMPLES);
                add_samples(&l, 0, moved, slice, SAMPLES);
                add_samples(&l, 0, renamed, slice, SAMPLES);
                add_samples(&l, 1, new, slice, 3 * SAMPLES);
                add_samples(&l, 1, moved_to, slice, SAMPLES);
                add_samples(&l, 1, renamed_to, slice, SAMPLES);
        }
        add_samples(&l, 0, rare, 0, 5);
        add_samples(&l, 1, rare, 0, 15);
        compare(&l, 1, 1);
        ck_assert_int_eq(find(&l, gone)->doubt, DIFF_ONE_SIDED);
        ck_assert_uint_eq(find(&l, gone)->key_after, 0);
        ck_assert_uint_eq(find(&l, new)->key_before, 0);
        ck_assert_uint_eq(find(&l, moved)->key_after, moved_to);
        ck_assert_uint_eq(find(&l, renamed)->key_after, renamed_to);
        ck_assert_int_eq(find(&l, renamed)->doubt, DIFF_JUDGED);
        ck_assert_int_eq(find(&l, rare)->doubt, DIFF_TOO_SMALL);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        lab_deinit(&l);
}
END_TEST

/* Of a zone each instance counts; there may be more of them.  With a unit of work, its cost. */
START_TEST(test_zones)
{
        uint32_t steady, twice, few;
        struct lab l;

        lab_init(&l);
        steady = zone_key(&l, "steady");
        twice = zone_key(&l, "twice");
        few = zone_key(&l, "few");
        for (int run = 0; run < 2; run++) {
                l.runs[run].has_switches = true;
                l.runs[run].duration_ns = DIFF_SLICES * 4000;
                for (uint32_t i = 0; i < DIFF_SLICES * (uint32_t)(run + 1); i++) {
                        struct diff_run *r = &l.runs[run];
                        double ns = 1000 * about_one(&l, 0.02);

                        ck_assert_int_eq(diff_run_add_zone(r, steady, i % DIFF_SLICES, ns, ns, ns), 0);
                        ns *= run == 1 ? 2 : 1;
                        ck_assert_int_eq(diff_run_add_zone(r, twice, i % DIFF_SLICES, ns, ns, ns), 0);
                        r->n_zones += 2;
                        r->n_units++;
                        r->units[i % DIFF_SLICES] += 1;
                }
                for (uint32_t i = 0; i < 5; i++)
                        ck_assert_int_eq(diff_run_add_zone(&l.runs[run], few, i, 3000, 3000, 3000), 0);
        }
        for (int per_unit = 0; per_unit < 2; per_unit++) {
                l.options.basis.per_unit = per_unit != 0;
                compare(&l, 1, 1);
                ck_assert_double_eq_tol(find(&l, steady)->value_after, 1000, 10);
                ck_assert_double_eq_tol(find(&l, twice)->value_after, 2000, 20);
                ck_assert_double_eq_tol(find(&l, twice)->raw, log(2), 0.02);
                ck_assert(find(&l, twice)->is_significant);
                ck_assert_int_eq(find(&l, few)->doubt, DIFF_TOO_FEW);
                ck_assert_double_eq_tol(find(&l, few)->value_after,
                                        per_unit ? 5 * 3000.0 / (2 * DIFF_SLICES) : 3000, 0.001);
        }
        lab_deinit(&l);
}
END_TEST

START_TEST(test_only)
{
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 1, -1, 1);
        add_run(&l, 1, 1, 2, 1.5);
        l.options.only = "zones";
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], 0);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        l.options.only = "[cd]";
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], 2);
        ck_assert_uint_eq(l.comparison.n_significant, 1);
        lab_deinit(&l);
}
END_TEST

/* Recordings without anything, or with too many functions. */
START_TEST(test_little_and_much)
{
        struct lab l;

        lab_init(&l);
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], 0);
        add_run(&l, 1, 1, -1, 1);
        compare(&l, 1, 1);
        ck_assert(!l.comparison.has_kind[DIFF_FUNCTION] && l.comparison.any_kind[DIFF_FUNCTION]);
        ck_assert_uint_eq(l.comparison.n_items, 0);
        for (uint32_t key = 1; key <= DIFF_RUN_SLICED_MAX + 10; key++)
                ck_assert_int_eq(diff_run_add_sample(&l.runs[0], key, 0, 1), 0);
        ck_assert_uint_eq(l.runs[0].n_sliced, DIFF_RUN_SLICED_MAX);
        ck_assert_uint_eq(l.runs[0].n_unsliced, 10);
        ck_assert_uint_eq(diff_run_sum(&l.runs[0], DIFF_RUN_SLICED_MAX + 10).n, 1);
        ck_assert_uint_eq(diff_run_sum(&l.runs[0], DIFF_RUN_SLICED_MAX + 11).n, 0);
        ck_assert_uint_eq(diff_run_sum(&l.runs[0], 0).n, 0);
        lab_deinit(&l);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("analyze/diff_comparison");
        TCase *tc = tcase_create("comparison");
        SRunner *runner;
        int n_failed;

        tcase_set_timeout(tc, 60);
        tcase_add_test(tc, test_pair_without_change);
        tcase_add_test(tc, test_pair_with_change);
        tcase_add_test(tc, test_faster_is_not_worse);
        tcase_add_test(tc, test_noise_within_a_run_counts);
        tcase_add_test(tc, test_sets);
        tcase_add_test(tc, test_one_against_several);
        tcase_add_test(tc, test_new_gone_renamed);
        tcase_add_test(tc, test_zones);
        tcase_add_test(tc, test_only);
        tcase_add_test(tc, test_little_and_much);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
