/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_comparison.c, diff_renames.c: a real change is told from what differs by
 * chance, at each threshold
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/walk/function_table.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_FUNCTIONS 18
#define N_RUNS_MAX  16
#define HOT         0 /* this function has 43 % of the samples */
#define HOT_SAMPLES 7500
#define SAMPLES     500 /* of each of the others */

/* Runs of a program whose functions are letters. */
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

static void add_samples(struct lab *l, int run, uint32_t key, double n)
{
        uint64_t n_samples = (uint64_t)(n + 0.5);

        if (n_samples == 0)
                return;
        ck_assert_int_eq(diff_run_add_sample(&l->runs[run], key, 10 * (double)n_samples), 0);
        l->runs[run].sums[key - 1].n += n_samples - 1;
        l->runs[run].n_samples += n_samples;
        l->runs[run].weight += 10 * (double)n_samples;
}

static void add_zones(struct lab *l, int run, uint32_t key, uint32_t n, double ns)
{
        for (uint32_t i = 0; i < n; i++) {
                ck_assert_int_eq(diff_run_add_zone(&l->runs[run], key, ns, ns, ns), 0);
                l->runs[run].n_zones++;
        }
}

static double normal(struct lab *l)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += (double)random_below(l, 1000001) / 1000000;
        return sum;
}

/* A run in which each function varies by @noise, and function @slower takes @factor times as long. */
static void add_run(struct lab *l, int run, double noise, int slower, double factor)
{
        l->runs[run].has_switches = true;
        l->runs[run].duration_ns = 1000000000;
        for (int i = 0; i < N_FUNCTIONS; i++)
                add_samples(l, run, letter_key(l, i),
                            (i == HOT ? HOT_SAMPLES : SAMPLES) * exp(noise * normal(l)) *
                                    (i == slower ? factor : 1));
}

/* The runs again, with other numbers. */
static void forget_runs(struct lab *l)
{
        for (int i = 0; i < N_RUNS_MAX; i++)
                diff_run_deinit(&l->runs[i]);
}

/* @n runs, then @n in which @slower takes @factor times as long. */
static void add_sets(struct lab *l, int n, double noise, int slower, double factor)
{
        forget_runs(l);
        for (int run = 0; run < 2 * n; run++)
                add_run(l, run, noise, run < n ? -1 : slower, factor);
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

/* Of 18 functions and the whole, each with p below the level by chance now and then: Holm's correction. */
START_TEST(test_nothing_changed)
{
        static const struct {
                int n, n_draws;
                double alpha;
        } rows[] = { { 5, 200, 0.05 }, { 7, 10, 0.05 }, { 8, 200, 0.005 } };

        for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
                int n_false = 0, n = rows[row].n;
                struct lab l;

                lab_init(&l);
                for (int i = 0; i < rows[row].n_draws; i++) {
                        add_sets(&l, n, 0.03, -1, 1);
                        compare(&l, (uint32_t)n, (uint32_t)n);
                        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], N_FUNCTIONS);
                        ck_assert_double_eq(l.comparison.alpha, rows[row].alpha);
                        n_false += l.comparison.n_significant > 0;
                }
                /* Four standard deviations; without the correction it would be half of the draws. */
                ck_assert_double_le(n_false / (double)rows[row].n_draws,
                                    rows[row].alpha + 4 * sqrt(rows[row].alpha / rows[row].n_draws));
                lab_deinit(&l);
        }
}
END_TEST

/*
 * If two functions have the same share, the more certain one has half of the level; then the
 * other one has all of it.
 */
START_TEST(test_steps)
{
        struct lab l;
        double first, second;

        lab_init(&l);
        l.options.only = "[bc]";
        add_sets(&l, 3, 0, 1, 1.014);
        for (int run = 3; run < 6; run++)
                add_samples(&l, run, letter_key(&l, 2), 6);
        compare(&l, 3, 3);
        first = find(&l, letter_key(&l, 1))->verdict.p;
        second = find(&l, letter_key(&l, 2))->verdict.p;
        ck_assert_double_lt(first, second);
        ck_assert_double_gt(2 * first, second);
        ck_assert_double_lt(second, 0.5);
        l.options.alpha = 2.01 * first;
        compare(&l, 3, 3);
        ck_assert_uint_eq(l.comparison.n_significant, 2);
        l.options.alpha = 1.99 * first;
        compare(&l, 3, 3);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        lab_deinit(&l);
}
END_TEST

/* With the same p, what takes more of the time is significant first. */
START_TEST(test_weights)
{
        struct lab l;
        double p;

        lab_init(&l);
        l.options.only = "[ab]";
        add_sets(&l, 3, 0, 1, 1.006);
        for (int run = 3; run < 6; run++)
                add_samples(&l, run, letter_key(&l, HOT), 0.006 * HOT_SAMPLES);
        compare(&l, 3, 3);
        p = find(&l, letter_key(&l, HOT))->verdict.p;
        ck_assert_double_eq_tol(find(&l, letter_key(&l, 1))->verdict.p, p, 0.01 * p);
        l.options.alpha = 1.5 * p;
        compare(&l, 3, 3);
        ck_assert(find(&l, letter_key(&l, HOT))->is_significant);
        l.options.alpha = 1.2 * p;
        compare(&l, 3, 3);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        lab_deinit(&l);
}
END_TEST

/*
 * The function with most of the time is not taken for the whole: it is named, and no other
 * one, in either direction.
 */
START_TEST(test_hot_function)
{
        for (int is_up = 0; is_up < 2; is_up++) {
                const struct diff_item *item;
                struct lab l;
                double low, high;

                lab_init(&l);
                add_sets(&l, 5, 0.01, HOT, is_up ? 1.05 : 1 / 1.05);
                compare(&l, 5, 5);
                item = find(&l, letter_key(&l, HOT));
                ck_assert(item->is_significant);
                ck_assert_double_eq_tol(item->verdict.change, (is_up ? 1 : -1) * log(1.05), 0.02);
                diff_comparison_interval(&item->verdict, &low, &high);
                ck_assert_double_lt(low, expm1(item->verdict.change));
                ck_assert_double_gt(high, expm1(item->verdict.change));
                for (int i = 1; i < N_FUNCTIONS; i++)
                        ck_assert(!find(&l, letter_key(&l, i))->is_significant);
                ck_assert_ptr_eq(diff_comparison_leading(&l.comparison), item);
                if (is_up) {
                        ck_assert_double_eq_tol(diff_comparison_worst(&l.comparison, &item), 0.05, 0.02);
                        ck_assert_ptr_eq(item, find(&l, letter_key(&l, HOT)));
                } else {
                        ck_assert_double_le(diff_comparison_worst(&l.comparison, &item), 0);
                        ck_assert_ptr_null(item);
                }
                lab_deinit(&l);
        }
}
END_TEST

/* Everything 5 % slower, by little each: only the whole is certain, and counts. */
START_TEST(test_whole)
{
        const struct diff_item *item;
        struct lab l;

        lab_init(&l);
        for (int run = 0; run < 10; run++)
                for (int i = 0; i < N_FUNCTIONS; i++)
                        add_samples(&l, run, letter_key(&l, i),
                                    SAMPLES * (run < 5 ? 1 : 1.05) * (i % 5 == run % 5 ? 1.3 : 1));
        compare(&l, 5, 5);
        ck_assert(l.comparison.whole.is_judged && l.comparison.whole.is_significant);
        ck_assert_uint_eq(l.comparison.n_significant, 1);
        ck_assert_double_eq_tol(l.comparison.whole.verdict.change, log(1.05), 0.01);
        ck_assert_double_eq_tol(diff_comparison_worst(&l.comparison, &item), 0.05, 0.01);
        ck_assert_ptr_null(item);
        lab_deinit(&l);
}
END_TEST

/* One run against several: it is taken to vary as they do. */
START_TEST(test_one_against_several)
{
        struct lab l;

        lab_init(&l);
        for (int run = 0; run < 6; run++)
                add_run(&l, run, 0.005, 0, run == 5 ? 1.3 : 1);
        compare(&l, 5, 1);
        ck_assert(find(&l, letter_key(&l, 0))->is_significant);
        ck_assert_double_eq(find(&l, letter_key(&l, 0))->verdict.df, 4);
        lab_deinit(&l);
}
END_TEST

/* As two runs of one program differ: a function of few samples by half, the hot one by a few percent. */
START_TEST(test_pair_is_not_certain)
{
        const struct diff_item *item;
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 0, -1, 1);
        add_run(&l, 1, 0, HOT, 1.053);
        add_samples(&l, 0, function_key(&l, "small", "prog"), 200);
        add_samples(&l, 1, function_key(&l, "small", "prog"), 350);
        compare(&l, 1, 1);
        ck_assert_double_eq(l.comparison.alpha, 0.01);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        ck_assert_double_gt(l.comparison.whole.verdict.change, 0);
        ck_assert_double_eq(diff_comparison_worst(&l.comparison, &item), 0);
        /* By hand: the prior of 2.5 %, and what counts alone differ by. */
        item = diff_comparison_leading(&l.comparison);
        ck_assert_double_eq_tol(find(&l, function_key(&l, "small", "prog"))->verdict.se,
                                sqrt(2 * 0.025 * 0.025 + 1 / 200.0 + 1 / 350.0), 1e-9);
        ck_assert_ptr_eq(item, find(&l, letter_key(&l, HOT)));
        ck_assert_double_eq_tol(expm1(item->verdict.change), 0.053, 0.001);
        ck_assert_double_gt(diff_comparison_detectable(&l.comparison, item, 5, 5), 0.01);
        ck_assert_double_lt(diff_comparison_detectable(&l.comparison, item, 5, 5), 0.15);
        ck_assert_double_lt(diff_comparison_detectable(&l.comparison, item, 20, 20),
                            diff_comparison_detectable(&l.comparison, item, 5, 5));
        lab_deinit(&l);
}
END_TEST

START_TEST(test_pair_of_what_is_certain)
{
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 0, -1, 1);
        add_run(&l, 1, 0, HOT, 3);
        compare(&l, 1, 1);
        ck_assert(find(&l, letter_key(&l, HOT))->is_significant);
        /* The user knows that runs differ more. */
        l.options.noise = 0.5;
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        lab_deinit(&l);
}
END_TEST

/* The kernel's functions take what the machine gives them to do: a pair says nothing of them, sets do. */
START_TEST(test_kernel)
{
        uint32_t key;
        struct lab l;

        lab_init(&l);
        key = function_key(&l, "clear_page", "[kernel]");
        for (int run = 0; run < 10; run++) {
                add_run(&l, run, 0, -1, 1);
                add_samples(&l, run, key, run % 2 == 0 ? 500 : 5000);
        }
        compare(&l, 1, 1);
        ck_assert(find(&l, key)->is_kernel);
        ck_assert_int_eq(find(&l, key)->doubt, DIFF_OF_KERNEL);
        ck_assert(!find(&l, key)->is_significant);
        for (int run = 0; run < 10; run++)
                l.list[run] = &l.runs[run < 5 ? 2 * run : 2 * (run - 5) + 1];
        compare(&l, 5, 5);
        ck_assert_int_eq(find(&l, key)->doubt, DIFF_JUDGED);
        ck_assert(find(&l, key)->is_significant);
        lab_deinit(&l);
}
END_TEST

/* One sample less than enough in one run, a share less than the least. */
START_TEST(test_too_few_and_too_small)
{
        uint32_t few, enough, small;
        struct lab l;

        lab_init(&l);
        l.options.share_min = 0.001;
        few = function_key(&l, "few", "prog");
        enough = function_key(&l, "enough", "prog");
        small = function_key(&l, "small", "prog");
        for (int run = 0; run < 4; run++) {
                add_run(&l, run, 0, -1, 1);
                add_samples(&l, run, few, run == 3 ? 29 : 100);
                add_samples(&l, run, enough, 30);
                add_samples(&l, run, small, 12);
        }
        compare(&l, 2, 2);
        ck_assert_int_eq(find(&l, few)->doubt, DIFF_TOO_FEW);
        ck_assert_int_eq(find(&l, enough)->doubt, DIFF_JUDGED);
        ck_assert_int_eq(find(&l, small)->doubt, DIFF_TOO_SMALL);
        lab_deinit(&l);
}
END_TEST

/* By default: half a percent of the samples. */
START_LOOP_TEST(test_the_least_share, 0, 2)
{
        struct lab l;
        uint32_t all, small;

        lab_init(&l);
        all = function_key(&l, "all", "prog");
        small = function_key(&l, "small", "prog");
        for (int run = 0; run < 2; run++) {
                add_samples(&l, run, all, 19900 + (_i == 0 ? 1 : -1));
                add_samples(&l, run, small, 100 + (_i == 0 ? -1 : 1));
        }
        compare(&l, 1, 1);
        ck_assert_int_eq(find(&l, small)->doubt, _i == 0 ? DIFF_TOO_SMALL : DIFF_JUDGED);
        lab_deinit(&l);
}
END_TEST

/* The interval is that of 95 %: 4 degrees of freedom, and 2.776 standard errors on each side. */
START_TEST(test_interval)
{
        struct diff_verdict v = { .change = 0.1, .se = 0.02, .df = 4 };
        double low, high;

        diff_comparison_interval(&v, &low, &high);
        ck_assert_double_eq_tol(log1p(low), 0.1 - 2.776445 * 0.02, 1e-5);
        ck_assert_double_eq_tol(log1p(high), 0.1 + 2.776445 * 0.02, 1e-5);
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
        add_run(&l, 0, 0, -1, 1);
        add_run(&l, 1, 0, -1, 1);
        add_samples(&l, 0, gone, 6000);
        add_samples(&l, 0, moved, 600);
        add_samples(&l, 0, renamed, 600);
        add_samples(&l, 1, new, 18000);
        add_samples(&l, 1, moved_to, 600);
        add_samples(&l, 1, renamed_to, 600);
        add_samples(&l, 0, rare, 5);
        add_samples(&l, 1, rare, 15);
        compare(&l, 1, 1);
        ck_assert_int_eq(find(&l, gone)->doubt, DIFF_ONE_SIDED);
        ck_assert_uint_eq(find(&l, gone)->key_after, 0);
        ck_assert_uint_eq(find(&l, new)->key_before, 0);
        ck_assert_uint_eq(find(&l, moved)->key_after, moved_to);
        ck_assert_uint_eq(find(&l, renamed)->key_after, renamed_to);
        ck_assert_int_eq(find(&l, renamed)->doubt, DIFF_JUDGED);
        ck_assert_int_eq(find(&l, rare)->doubt, DIFF_TOO_SMALL);
        lab_deinit(&l);
}
END_TEST

/* Names that are half equal are one function if they cost the same. */
START_TEST(test_alike_names)
{
        static const struct {
                const char *gone, *new;
                double n_gone, n_new;
                bool is_one;
        } rows[] = {
                { "read_header_fast", "read_header_slow", 600, 680, true },
                { "write_block_plain", "write_block_packed", 900, 1200, false },
                { "checksum", "unlike", 2000, 2000, false },
        };
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 0, -1, 1);
        add_run(&l, 1, 0, -1, 1);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                add_samples(&l, 0, function_key(&l, rows[i].gone, "prog"), rows[i].n_gone);
                add_samples(&l, 1, function_key(&l, rows[i].new, "prog"), rows[i].n_new);
        }
        compare(&l, 1, 1);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                ck_assert_int_eq(find(&l, function_key(&l, rows[i].gone, "prog"))->key_after != 0,
                                 rows[i].is_one);
        lab_deinit(&l);
}
END_TEST

/* A sample less than enough: for what one side alone has, and for the whole. */
START_TEST(test_few_samples)
{
        for (int is_enough = 0; is_enough < 2; is_enough++) {
                uint32_t all, new;
                struct lab l;

                lab_init(&l);
                all = function_key(&l, "all", "prog");
                new = function_key(&l, "new", "prog");
                add_samples(&l, 0, all, is_enough ? 30 : 29);
                add_samples(&l, 1, all, 100);
                add_samples(&l, 1, new, is_enough ? 15 : 14);
                compare(&l, 1, 1);
                ck_assert_int_eq(find(&l, all)->doubt, is_enough ? DIFF_JUDGED : DIFF_TOO_FEW);
                ck_assert_int_eq(find(&l, new)->doubt, is_enough ? DIFF_ONE_SIDED : DIFF_TOO_FEW);
                ck_assert_int_eq(l.comparison.whole.is_judged, is_enough);
                lab_deinit(&l);
        }
}
END_TEST

/* A zone beyond the limit has no spread: that is said, and it is not called too few. */
START_TEST(test_zone_beyond_the_limit)
{
        uint32_t key;
        struct lab l;

        lab_init(&l);
        key = zone_key(&l, "last");
        for (uint32_t i = 1; i <= DIFF_RUN_ZONES_MAX; i++)
                ck_assert_int_eq(diff_run_add_zone(&l.runs[0], key + i, 1, 1, 1), 0);
        for (int run = 0; run < 2; run++) {
                l.runs[run].has_switches = true;
                l.runs[run].duration_ns = 100000;
                add_zones(&l, run, key, 20, 1000);
                diff_run_finish(&l.runs[run]);
        }
        compare(&l, 1, 1);
        ck_assert_int_eq(find(&l, key)->doubt, DIFF_TOO_MANY);
        lab_deinit(&l);
}
END_TEST

/* Each instance of a zone counts; there may be more of them.  With a unit of work, its cost. */
START_TEST(test_zones)
{
        uint32_t steady, slower, few, enough;
        struct lab l;

        lab_init(&l);
        steady = zone_key(&l, "steady");
        slower = zone_key(&l, "slower");
        few = zone_key(&l, "few");
        enough = zone_key(&l, "enough");
        for (int run = 0; run < 2; run++) {
                uint32_t n = run == 0 ? 64 : 128;

                l.runs[run].has_switches = true;
                l.runs[run].duration_ns = 256000;
                l.runs[run].n_units = n;
                add_zones(&l, run, steady, n, 1000);
                add_zones(&l, run, slower, n, run == 0 ? 1000 : 8000);
                add_zones(&l, run, few, 9, 3000);
                add_zones(&l, run, enough, 10, 3000);
                diff_run_finish(&l.runs[run]);
        }
        for (int per_unit = 0; per_unit < 2; per_unit++) {
                l.options.basis.per_unit = per_unit != 0;
                compare(&l, 1, 1);
                ck_assert_double_eq_tol(find(&l, steady)->value_after, 1000, 10);
                ck_assert_double_eq_tol(find(&l, slower)->value_after, 8000, 20);
                ck_assert(find(&l, slower)->is_significant);
                ck_assert(!find(&l, steady)->is_significant);
                ck_assert_int_eq(find(&l, few)->doubt, DIFF_TOO_FEW);
                ck_assert_int_eq(find(&l, enough)->doubt, DIFF_JUDGED);
        }
        lab_deinit(&l);
}
END_TEST

/*
 * A preemption fell into one of 20,000 instances of 10 ns, in one run: the mean would be 4.8 times as large.
 */
START_TEST(test_one_slow_instance)
{
        uint32_t key;
        struct lab l;

        lab_init(&l);
        key = zone_key(&l, "short");
        for (int run = 0; run < 2; run++) {
                l.runs[run].has_switches = true;
                l.runs[run].duration_ns = 1000000;
                add_zones(&l, run, key, 20000, 10);
                if (run == 1)
                        add_zones(&l, run, key, 1, 760000);
                diff_run_finish(&l.runs[run]);
        }
        compare(&l, 1, 1);
        ck_assert_int_eq(find(&l, key)->doubt, DIFF_JUDGED);
        ck_assert_double_eq_tol(find(&l, key)->value_after, 10, 0.01);
        ck_assert(!find(&l, key)->is_significant);
        lab_deinit(&l);
}
END_TEST

START_TEST(test_only)
{
        struct lab l;

        lab_init(&l);
        add_run(&l, 0, 0, -1, 1);
        add_run(&l, 1, 0, 2, 3);
        l.options.only = "zones";
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], 0);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        ck_assert_uint_eq(l.comparison.n_asked, 0);
        l.options.only = "[cd]";
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], 2);
        ck_assert_uint_eq(l.comparison.n_asked, 2);
        ck_assert_uint_eq(l.comparison.n_significant, 1);
        ck_assert(!l.comparison.whole.is_judged);
        l.options.only = "nothing";
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_asked, 0);
        lab_deinit(&l);
}
END_TEST

/* Recordings without anything, or with too many zones. */
START_TEST(test_little_and_much)
{
        struct lab l;

        lab_init(&l);
        compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_judged[DIFF_FUNCTION], 0);
        ck_assert_ptr_null(diff_comparison_leading(&l.comparison));
        add_run(&l, 1, 0, -1, 1);
        compare(&l, 1, 1);
        ck_assert(!l.comparison.has_kind[DIFF_FUNCTION] && l.comparison.any_kind[DIFF_FUNCTION]);
        ck_assert_uint_eq(l.comparison.n_items, 0);
        for (uint32_t key = 1; key <= DIFF_RUN_ZONES_MAX + 10; key++)
                ck_assert_int_eq(diff_run_add_zone(&l.runs[0], key, 1, 1, 1), 0);
        diff_run_finish(&l.runs[0]);
        ck_assert_uint_eq(l.runs[0].n_spread, DIFF_RUN_ZONES_MAX);
        ck_assert_uint_eq(l.runs[0].n_unspread, 10);
        ck_assert_double_eq(diff_run_sum(&l.runs[0], DIFF_RUN_ZONES_MAX).typical_cpu.mean, 1);
        ck_assert_double_eq(diff_run_sum(&l.runs[0], DIFF_RUN_ZONES_MAX + 10).typical_cpu.mean, 0);
        ck_assert_uint_eq(diff_run_sum(&l.runs[0], DIFF_RUN_ZONES_MAX + 10).n, 1);
        ck_assert_uint_eq(diff_run_sum(&l.runs[0], DIFF_RUN_ZONES_MAX + 11).n, 0);
        ck_assert_uint_eq(diff_run_sum(&l.runs[0], 0).n, 0);
        lab_deinit(&l);
}
END_TEST
