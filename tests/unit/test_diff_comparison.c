/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_comparison.c, diff_renames.c: a real change is told from what differs by
 * chance, at each threshold
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/samples/function_table.h"
#include "tests/unit/diff_lab.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of 18 functions and the whole, each with p below the level by chance now and then: Holm's correction. */
START_LOOP_TEST(test_nothing_changed, 0, 3)
{
        static const struct {
                int n, n_draws;
                double alpha;
        } rows[] = { { 5, 200, 0.05 }, { 7, 10, 0.05 }, { 8, 200, 0.005 } };
        int n_false = 0, n = rows[_i].n;

        for (int i = 0; i < rows[_i].n_draws; i++) {
                diff_lab_add_sets(n, 0.03, -1, 1);
                diff_lab_compare((uint32_t)n, (uint32_t)n);
                ck_assert_uint_eq(lab.comparison.n_judged[DIFF_FUNCTION], DIFF_LAB_FUNCTIONS);
                ck_assert_double_eq(lab.comparison.alpha, rows[_i].alpha);
                n_false += lab.comparison.n_significant > 0;
        }
        /* Four standard deviations; without the correction it would be half of the draws. */
        ck_assert_double_le(n_false / (double)rows[_i].n_draws,
                            rows[_i].alpha + 4 * sqrt(rows[_i].alpha / rows[_i].n_draws));
}
END_TEST

/*
 * If two functions have the same share, the more certain one has half of the level; then the
 * other one has all of it.
 */
START_TEST(test_steps)
{
        double first, second;

        lab.options.only = "[bc]";
        diff_lab_add_sets(3, 0, 1, 1.014);
        for (int run = 3; run < 6; run++)
                diff_lab_add_samples(run, diff_lab_letter_key(2), 6);
        diff_lab_compare(3, 3);
        first = diff_lab_letter(1)->verdict.p;
        second = diff_lab_letter(2)->verdict.p;
        ck_assert_double_lt(first, second);
        ck_assert_double_gt(2 * first, second);
        ck_assert_double_lt(second, 0.5);
        lab.options.alpha = 2.01 * first;
        diff_lab_compare(3, 3);
        ck_assert_uint_eq(lab.comparison.n_significant, 2);
        lab.options.alpha = 1.99 * first;
        diff_lab_compare(3, 3);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
}
END_TEST

/* With the same p, what takes more of the time is significant first. */
START_TEST(test_weights)
{
        double p;

        lab.options.only = "[ab]";
        diff_lab_add_sets(3, 0, 1, 1.006);
        for (int run = 3; run < 6; run++)
                diff_lab_add_samples(run, diff_lab_letter_key(DIFF_LAB_HOT), 0.006 * DIFF_LAB_HOT_SAMPLES);
        diff_lab_compare(3, 3);
        p = diff_lab_letter(DIFF_LAB_HOT)->verdict.p;
        ck_assert_double_eq_tol(diff_lab_letter(1)->verdict.p, p, 0.01 * p);
        lab.options.alpha = 1.5 * p;
        diff_lab_compare(3, 3);
        ck_assert(diff_lab_letter(DIFF_LAB_HOT)->is_significant);
        lab.options.alpha = 1.2 * p;
        diff_lab_compare(3, 3);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
}
END_TEST

/*
 * The function with most of the time is not taken for the whole: it is named, and no other
 * one, in either direction.
 */
START_LOOP_TEST(test_hot_function, 0, 2)
{
        const struct diff_item *item;
        double low, high;

        diff_lab_add_sets(5, 0.01, DIFF_LAB_HOT, _i == 1 ? 1.05 : 1 / 1.05);
        diff_lab_compare(5, 5);
        item = diff_lab_letter(DIFF_LAB_HOT);
        ck_assert(item->is_significant);
        ck_assert_double_eq_tol(item->verdict.change, (_i == 1 ? 1 : -1) * log(1.05), 0.02);
        diff_comparison_interval(&item->verdict, &low, &high);
        ck_assert_double_lt(low, expm1(item->verdict.change));
        ck_assert_double_gt(high, expm1(item->verdict.change));
        for (int i = 1; i < DIFF_LAB_FUNCTIONS; i++)
                ck_assert(!diff_lab_letter(i)->is_significant);
        ck_assert_ptr_eq(diff_comparison_leading(&lab.comparison), item);
        if (_i == 1) {
                ck_assert_double_eq_tol(diff_comparison_worst(&lab.comparison, &item), 0.05, 0.02);
                ck_assert_ptr_eq(item, diff_lab_letter(DIFF_LAB_HOT));
        } else {
                ck_assert_double_le(diff_comparison_worst(&lab.comparison, &item), 0);
                ck_assert_ptr_null(item);
        }
}
END_TEST

/* Everything 5 % slower, by little each: only the whole is certain, and counts. */
START_TEST(test_whole)
{
        const struct diff_item *item;

        for (int run = 0; run < 10; run++)
                for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(run, diff_lab_letter_key(i),
                                             DIFF_LAB_SAMPLES * (run < 5 ? 1 : 1.05) *
                                                     (i % 5 == run % 5 ? 1.3 : 1));
        diff_lab_compare(5, 5);
        ck_assert(lab.comparison.whole.is_judged && lab.comparison.whole.is_significant);
        ck_assert_uint_eq(lab.comparison.n_significant, 1);
        ck_assert_double_eq_tol(lab.comparison.whole.verdict.change, log(1.05), 0.01);
        ck_assert_double_eq_tol(diff_comparison_worst(&lab.comparison, &item), 0.05, 0.01);
        ck_assert_ptr_null(item);
        ck_assert_double_eq(diff_comparison_suspected(&lab.comparison, &item), 0); /* it is certain */
}
END_TEST

/* One run against several: it is taken to vary as they do. */
START_TEST(test_one_against_several)
{
        for (int run = 0; run < 6; run++)
                diff_lab_add_run(run, 0.005, 0, run == 5 ? 1.3 : 1);
        diff_lab_compare(5, 1);
        ck_assert(diff_lab_letter(0)->is_significant);
        ck_assert_double_eq(diff_lab_letter(0)->verdict.df, 4);
}
END_TEST

/* As two runs of one program differ: a function of few samples by half, the hot one by a few percent. */
START_TEST(test_pair_is_not_certain)
{
        const struct diff_item *item;

        diff_lab_add_run(0, 0, -1, 1);
        diff_lab_add_run(1, 0, DIFF_LAB_HOT, 1.053);
        diff_lab_add_samples(0, diff_lab_key("small"), 200);
        diff_lab_add_samples(1, diff_lab_key("small"), 350);
        diff_lab_compare(1, 1);
        ck_assert_double_eq(lab.comparison.alpha, 0.01);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
        ck_assert_double_gt(lab.comparison.whole.verdict.change, 0);
        ck_assert_double_eq(diff_comparison_worst(&lab.comparison, &item), 0);
        /* By hand: the prior of 2.5 %, and what counts alone differ by. */
        item = diff_comparison_leading(&lab.comparison);
        ck_assert_double_eq_tol(diff_lab_find(diff_lab_key("small"))->verdict.se,
                                sqrt(2 * 0.025 * 0.025 + 1 / 200.0 + 1 / 350.0), 1e-9);
        ck_assert_ptr_eq(item, diff_lab_letter(DIFF_LAB_HOT));
        ck_assert_double_eq_tol(expm1(item->verdict.change), 0.053, 0.001);
        ck_assert_double_gt(diff_comparison_detectable(&lab.comparison, item, 5, 5), 0.01);
        ck_assert_double_lt(diff_comparison_detectable(&lab.comparison, item, 5, 5), 0.15);
        ck_assert_double_lt(diff_comparison_detectable(&lab.comparison, item, 20, 20),
                            diff_comparison_detectable(&lab.comparison, item, 5, 5));
}
END_TEST

START_TEST(test_pair_of_what_is_certain)
{
        diff_lab_add_run(0, 0, -1, 1);
        diff_lab_add_run(1, 0, DIFF_LAB_HOT, 3);
        diff_lab_compare(1, 1);
        ck_assert(diff_lab_letter(DIFF_LAB_HOT)->is_significant);
        /* The user knows that runs differ more. */
        lab.options.noise = 0.5;
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
}
END_TEST

/* The kernel's functions take what the machine gives them to do: a pair says nothing of them, sets do. */
START_TEST(test_kernel)
{
        uint32_t key = diff_lab_function_key("clear_page", "[kernel]");

        for (int run = 0; run < 10; run++) {
                diff_lab_add_run(run, 0, -1, 1);
                diff_lab_add_samples(run, key, run % 2 == 0 ? 500 : 5000);
        }
        diff_lab_compare(1, 1);
        ck_assert(diff_lab_find(key)->is_kernel);
        ck_assert_int_eq(diff_lab_find(key)->doubt, DIFF_OF_KERNEL);
        ck_assert(!diff_lab_find(key)->is_significant);
        for (int run = 0; run < 10; run++)
                lab.list[run] = &lab.runs[run < 5 ? 2 * run : 2 * (run - 5) + 1];
        diff_lab_compare(5, 5);
        ck_assert_int_eq(diff_lab_find(key)->doubt, DIFF_JUDGED);
        ck_assert(diff_lab_find(key)->is_significant);
}
END_TEST

/* One sample less than enough in one run of each side, a share less than the least. */
START_TEST(test_too_few_and_too_small)
{
        uint32_t few, enough, small;

        lab.options.share_min = 0.001;
        few = diff_lab_key("few");
        enough = diff_lab_key("enough");
        small = diff_lab_key("small");
        for (int run = 0; run < 4; run++) {
                diff_lab_add_run(run, 0, -1, 1);
                diff_lab_add_samples(run, few, run == 3 || run == 1 ? 29 : 100);
                diff_lab_add_samples(run, enough, 30);
                diff_lab_add_samples(run, small, 12);
        }
        diff_lab_compare(2, 2);
        ck_assert_int_eq(diff_lab_find(few)->doubt, DIFF_TOO_FEW);
        ck_assert_int_eq(diff_lab_find(enough)->doubt, DIFF_JUDGED);
        ck_assert_int_eq(diff_lab_find(small)->doubt, DIFF_TOO_SMALL);
}
END_TEST

/* By default: half a percent of the samples. */
START_LOOP_TEST(test_the_least_share, 0, 2)
{
        uint32_t all = diff_lab_key("all"), small = diff_lab_key("small");

        for (int run = 0; run < 2; run++) {
                diff_lab_add_samples(run, all, 19900 + (_i == 0 ? 1 : -1));
                diff_lab_add_samples(run, small, 100 + (_i == 0 ? -1 : 1));
        }
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(small)->doubt, _i == 0 ? DIFF_TOO_SMALL : DIFF_JUDGED);
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
        uint32_t gone = diff_lab_key("parse_all"), new = diff_lab_key("unlike"),
                 moved = diff_lab_function_key("helper", "liba.so.1"),
                 moved_to = diff_lab_function_key("helper", "libb.so.1"),
                 renamed = diff_lab_function_key("list_sort(int)", "prog"),
                 renamed_to = diff_lab_function_key("list_sort(long)", "prog"), rare = diff_lab_key("rare");

        diff_lab_add_run(0, 0, -1, 1);
        diff_lab_add_run(1, 0, -1, 1);
        diff_lab_add_samples(0, gone, 6000);
        diff_lab_add_samples(0, moved, 600);
        diff_lab_add_samples(0, renamed, 600);
        diff_lab_add_samples(1, new, 18000);
        diff_lab_add_samples(1, moved_to, 600);
        diff_lab_add_samples(1, renamed_to, 600);
        diff_lab_add_samples(0, rare, 5);
        diff_lab_add_samples(1, rare, 15);
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(gone)->doubt, DIFF_JUDGED);
        ck_assert_uint_eq(diff_lab_find(gone)->key_after, 0);
        ck_assert_uint_eq(diff_lab_find(new)->key_before, 0);
        ck_assert_uint_eq(diff_lab_find(moved)->key_after, moved_to);
        ck_assert_uint_eq(diff_lab_find(renamed)->key_after, renamed_to);
        ck_assert_int_eq(diff_lab_find(renamed)->doubt, DIFF_JUDGED);
        ck_assert_int_eq(diff_lab_find(rare)->doubt, DIFF_TOO_SMALL);
}
END_TEST

/*
 * Functions whose names are half equal are one only if their caller and cost are the same, whatever their
 * share: in Go a bracket follows the package.
 */
START_TEST(test_alike_names)
{
        static const struct {
                const char *gone, *new;
                double n_gone, n_new;
                uint32_t caller_gone, caller_new;
                bool is_one;
        } rows[] = {
                { "read_header_fast", "read_header_slow", 600, 680, 1, 1, true },
                { "write_block_plain", "write_block_packed", 900, 1200, 1, 1, false },
                { "checksum", "unlike", 2000, 2000, 1, 1, false },
                { "sort.(*list).by_key(int)", "sort.(*list).by_key(long)", 600, 620, 1, 1, true },
                { "go/ast.(*ReturnStmt).Pos", "go/ast.(*Field).Pos", 600, 1300, 1, 1, false },
                { "runtime.(*spanSet).pop", "runtime.(*spanSet).push", 700, 700, 1, 2, false },
                { "runtime.getempty.find", "runtime.getempty.func1", 9, 9, 1, 1, false },
                { "heap_grow_first", "heap_grow_later", 14, 15, 1, 1, false },
                { "list_walk_first", "list_walk_later", 15, 14, 1, 1, false },
                { "tree_turn_first", "tree_turn_later", 15, 15, 1, 1, true },
        };

        diff_lab_add_run(0, 0, -1, 1);
        diff_lab_add_run(1, 0, -1, 1);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                for (int run = 0; run < 2; run++) {
                        uint32_t key = diff_lab_key(run == 0 ? rows[i].gone : rows[i].new);

                        diff_lab_add_samples(run, key, run == 0 ? rows[i].n_gone : rows[i].n_new);
                        diff_run_add_caller(&lab.runs[run], key,
                                            run == 0 ? rows[i].caller_gone : rows[i].caller_new, 1);
                }
        /* The share of ReturnStmt.Pos() before is that of Field.Pos() after: the run takes twice as long. */
        diff_lab_add_samples(1, diff_lab_key("more"), 18000);
        diff_lab_compare(1, 1);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                ck_assert_int_eq(diff_lab_find(diff_lab_key(rows[i].gone))->key_after != 0, rows[i].is_one);
}
END_TEST

static uint32_t function_in(const char *name, const char *module, const char *file)
{
        struct function function = { .kind = FUNCTION_NAMED };
        struct trace_symbol symbol = { .declared_line = 7 };
        uint32_t key;

        function.name = symbol.function = trace_builder_string(lab.builder, name);
        function.module = trace_builder_string(lab.builder, module);
        symbol.declared_file = trace_builder_string(lab.builder, file);
        ck_assert_int_eq(
                diff_names_add_function(&lab.names, &lab.builder->dictionary, &function, &symbol, &key), 0);
        return key;
}

static uint32_t zone_in(const char *name, const char *function, const char *file)
{
        struct trace_location row = { .name = trace_builder_string(lab.builder, name),
                                      .function = trace_builder_string(lab.builder, function),
                                      .file = trace_builder_string(lab.builder, file) };
        uint32_t key;

        ck_assert_int_eq(diff_names_add_zone(&lab.names, &lab.builder->dictionary, &row, &key), 0);
        return key;
}

/* Rows are alike but for one thing, so that none is a new name of the other; the last two are. */
static void check_places(void)
{
        const struct {
                uint32_t gone, new;
                bool is_zone;
        } rows[] = {
                { function_in("step", "prog", "a.c"), function_in("step", "prog", "b.c"), false },
                { diff_lab_function_key("[no symbol]", "liba.so"),
                  diff_lab_function_key("[no symbol]", "libb.so"), false },
                { diff_lab_key("read_header_fast"), diff_lab_function_key("read_header_slow", "libc.so"),
                  false },
                { diff_lab_function_key("clear_page_one", "[kernel]"),
                  diff_lab_function_key("clear_page_two", "[kernel]"), false },
                { zone_in("load image one", "load", "a.c"), zone_in("load image two", "load", "b.c"), true },
                { zone_in("draw frame one", "draw", "a.c"), zone_in("draw frame two", "drew", "a.c"), true },
                { zone_in("send bytes one", "send", "a.c"), zone_in("send bytes two", "send", "a.c"), true },
                { diff_lab_key("find_entry_fast"), diff_lab_key("find_entry_slow"), false },
        };
        const size_t n = sizeof(rows) / sizeof(rows[0]);

        for (int run = 0; run < 2; run++) {
                diff_lab_add_run(run, 0, -1, 1);
                diff_lab_add_zones(run, diff_lab_zone_key("both"), 100, 1000);
                for (size_t i = 0; i < n; i++)
                        if (rows[i].is_zone)
                                diff_lab_add_zones(run, run == 0 ? rows[i].gone : rows[i].new, 100, 1000);
                        else
                                diff_lab_add_samples(run, run == 0 ? rows[i].gone : rows[i].new, 500);
                diff_run_finish(&lab.runs[run]);
        }
        diff_lab_compare(1, 1);
        for (size_t i = 0; i < n; i++)
                ck_assert_msg((diff_lab_find(rows[i].gone)->key_after != 0) == (i + 2 >= n), "row %zu", i);
}

START_TEST(test_other_places)
{
        check_places();
}
END_TEST

/* If two candidates fit, neither is taken for the partner. */
START_TEST(test_two_partners)
{
        uint32_t key = diff_lab_key("step_one");

        diff_lab_add_samples(0, key, 500);
        diff_lab_add_samples(1, diff_lab_key("step_two"), 500);
        diff_lab_add_samples(1, diff_lab_key("step_ten"), 500);
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(diff_lab_find(key)->key_after, 0);
}
END_TEST

/* The caller in over half of the weight is kept. */
START_TEST(test_caller)
{
        uint32_t key = diff_lab_key("called");

        diff_lab_add_samples(0, key, 1);
        for (uint32_t i = 0; i < 99; i++)
                diff_run_add_caller(&lab.runs[0], key, i % 2 == 0 ? 7 : i, 10);
        ck_assert_uint_eq(diff_run_sum(&lab.runs[0], key).caller, 7);
}
END_TEST

/* One sample less than enough, for a new function and for the whole. */
START_LOOP_TEST(test_few_samples, 0, 2)
{
        uint32_t all = diff_lab_key("all"), new = diff_lab_key("new");

        diff_lab_add_samples(0, all, _i == 1 ? 30 : 29);
        diff_lab_add_samples(1, all, 29 - (_i == 1 ? 0 : 15));
        diff_lab_add_samples(1, new, _i == 1 ? 15 : 14);
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(all)->doubt, _i == 1 ? DIFF_JUDGED : DIFF_TOO_FEW);
        ck_assert_int_eq(diff_lab_find(new)->doubt, _i == 1 ? DIFF_ONE_SIDED : DIFF_TOO_FEW);
        ck_assert_int_eq(lab.comparison.whole.is_judged, _i == 1);
}
END_TEST

/* A zone beyond the limit has no spread: that is said, and it is not called too few. */
START_TEST(test_zone_beyond_the_limit)
{
        uint32_t key = diff_lab_zone_key("last");

        for (uint32_t i = 1; i <= DIFF_RUN_ZONES_MAX; i++)
                ck_assert_int_eq(diff_run_add_zone(&lab.runs[0], key + i, 1, 1, 1), 0);
        for (int run = 0; run < 2; run++) {
                lab.runs[run].has_switches = true;
                lab.runs[run].duration_ns = 100000;
                diff_lab_add_zones(run, key, 20, 1000);
                diff_run_finish(&lab.runs[run]);
        }
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(key)->doubt, DIFF_TOO_MANY);
}
END_TEST

/* Each instance of a zone counts; there may be more of them.  With a unit of work, its cost. */
START_TEST(test_zones)
{
        uint32_t steady = diff_lab_zone_key("steady"), slower = diff_lab_zone_key("slower"),
                 few = diff_lab_zone_key("few"), enough = diff_lab_zone_key("enough");

        for (int run = 0; run < 2; run++) {
                uint32_t n = run == 0 ? 64 : 128;

                lab.runs[run].has_switches = true;
                lab.runs[run].duration_ns = 256000;
                lab.runs[run].n_units = n;
                diff_lab_add_zones(run, steady, n, 1000);
                diff_lab_add_zones(run, slower, n, run == 0 ? 1000 : 8000);
                diff_lab_add_zones(run, few, 9, 3000);
                diff_lab_add_zones(run, enough, 10, 3000);
                diff_run_finish(&lab.runs[run]);
        }
        for (int per_unit = 0; per_unit < 2; per_unit++) {
                lab.options.basis.per_unit = per_unit != 0;
                diff_lab_compare(1, 1);
                ck_assert_double_eq_tol(diff_lab_find(steady)->value_after, 1000, 10);
                ck_assert_double_eq_tol(diff_lab_find(slower)->value_after, 8000, 20);
                ck_assert(diff_lab_find(slower)->is_significant);
                ck_assert(!diff_lab_find(steady)->is_significant);
                ck_assert_int_eq(diff_lab_find(few)->doubt, DIFF_TOO_FEW);
                ck_assert_int_eq(diff_lab_find(enough)->doubt, DIFF_JUDGED);
        }
}
END_TEST

/*
 * A preemption fell into one of 20,000 instances of 10 ns, in one run: the mean would be 4.8 times as large.
 */
START_TEST(test_one_slow_instance)
{
        uint32_t key = diff_lab_zone_key("short");

        for (int run = 0; run < 2; run++) {
                lab.runs[run].has_switches = true;
                lab.runs[run].duration_ns = 1000000;
                diff_lab_add_zones(run, key, 20000, 10);
                if (run == 1)
                        diff_lab_add_zones(run, key, 1, 760000);
                diff_run_finish(&lab.runs[run]);
        }
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(key)->doubt, DIFF_JUDGED);
        ck_assert_double_eq_tol(diff_lab_find(key)->value_after, 10, 0.01);
        ck_assert(!diff_lab_find(key)->is_significant);
}
END_TEST

START_TEST(test_only)
{
        diff_lab_add_run(0, 0, -1, 1);
        diff_lab_add_run(1, 0, 2, 3);
        lab.options.only = "zones";
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_judged[DIFF_FUNCTION], 0);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
        ck_assert_uint_eq(lab.comparison.n_asked, 0);
        lab.options.only = "[cd]";
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_judged[DIFF_FUNCTION], 2);
        ck_assert_uint_eq(lab.comparison.n_asked, 2);
        ck_assert_uint_eq(lab.comparison.n_significant, 1);
        ck_assert(!lab.comparison.whole.is_judged);
        lab.options.only = "nothing";
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_asked, 0);
}
END_TEST

/* Recordings without anything, or with too many zones. */
START_TEST(test_little_and_much)
{
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_judged[DIFF_FUNCTION], 0);
        ck_assert_ptr_null(diff_comparison_leading(&lab.comparison));
        diff_lab_add_run(1, 0, -1, 1);
        diff_lab_compare(1, 1);
        ck_assert(!lab.comparison.has_kind[DIFF_FUNCTION] && lab.comparison.any_kind[DIFF_FUNCTION]);
        ck_assert_uint_eq(lab.comparison.n_items, 0);
        ck_assert(!lab.comparison.whole.is_judged);
        for (uint32_t key = 1; key <= DIFF_RUN_ZONES_MAX + 10; key++)
                ck_assert_int_eq(diff_run_add_zone(&lab.runs[0], key, 1, 1, 1), 0);
        diff_run_finish(&lab.runs[0]);
        ck_assert_uint_eq(lab.runs[0].n_spread, DIFF_RUN_ZONES_MAX);
        ck_assert_uint_eq(lab.runs[0].n_unspread, 10);
        ck_assert_double_eq(diff_run_sum(&lab.runs[0], DIFF_RUN_ZONES_MAX).typical_cpu.mean, 1);
        ck_assert_double_eq(diff_run_sum(&lab.runs[0], DIFF_RUN_ZONES_MAX + 10).typical_cpu.mean, 0);
        ck_assert_uint_eq(diff_run_sum(&lab.runs[0], DIFF_RUN_ZONES_MAX + 10).n, 1);
        ck_assert_uint_eq(diff_run_sum(&lab.runs[0], DIFF_RUN_ZONES_MAX + 11).n, 0);
        ck_assert_uint_eq(diff_run_sum(&lab.runs[0], 0).n, 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = diff_lab_init, .teardown = diff_lab_deinit);
