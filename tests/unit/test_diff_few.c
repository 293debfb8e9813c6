/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_judgement.c, diff_comparison.c: a new or gone function or zone is judged by the side
 * that has it, chance differences are not significant, and a gate fails only for more time;
 * view/diff/diff_view.c: what moved most is said first
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_test.h"
#include "base/clock.h"
#include "tests/unit/diff_lab.h"
#include "tests/unit/unit_test.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <math.h>
#include <string.h>

/* A function without samples on one side, or with few, is judged by the other side. */
START_LOOP_TEST(test_vanished, 0, 12)
{
        uint32_t n = _i % 2 == 0 ? 1 : 5;
        double n_left = _i / 2 % 3 == 0 ? 0 : _i / 2 % 3 == 1 ? 4 : 25;
        bool is_new = _i / 6 == 1;
        const struct diff_item *item;
        double low, high, change = log(fmax(n_left, 1) / 2000);
        uint32_t key;
        struct diff_lab l;

        diff_lab_init(&l);
        key = diff_lab_function_key(&l, "add_item", "prog");
        for (uint32_t run = 0; run < 2 * n; run++) {
                diff_lab_add_run(&l, (int)run, 0.01, -1, 1);
                diff_lab_add_samples(&l, (int)run, key, (run < n) == is_new ? n_left : 2000);
        }
        diff_lab_compare(&l, n, n);
        item = diff_lab_find(&l, key);
        ck_assert(item->doubt == DIFF_JUDGED && item->is_few && item->is_significant);
        ck_assert_ptr_eq(diff_comparison_leading(&l.comparison), item);
        ck_assert_double_eq_tol(item->moved_share, (2000 - n_left) / 18000, 0.01);
        diff_comparison_interval(&item->verdict, &low, &high);
        if (n_left > 0)
                ck_assert_msg(log1p(low) < (is_new ? -change : change) &&
                                      log1p(high) > (is_new ? -change : change),
                              "%g to %g", low, high);
        /* A new function makes the run slower by an eighth; a gone one makes nothing slower. */
        ck_assert_double_eq_tol(diff_comparison_worst(&l.comparison, &item), is_new ? 0.125 : 0, 0.02);
        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                ck_assert(!diff_lab_find(&l, diff_lab_letter_key(&l, i))->is_significant);
        diff_lab_deinit(&l);
}
END_TEST

/*
 * By hand: 4 samples of each run against about 200, each of the weight 10.  After, before, in sets of 3, for
 * each unit of work, and with a quarter of the 200 that stands for lost samples.
 */
START_LOOP_TEST(test_few_by_hand, 0, 5)
{
        bool is_new = _i == 1;
        uint32_t n = _i == 2 ? 3 : 1, key;
        double count[] = { 200, 210, 220 }, mean = 0, by_counts = 0, squares = 0,
               lost = _i == 4 ? log(4 / 3.0) : 0;
        double df = DIFF_PRIOR_DF + n - 1, above, below, se, p;
        const struct diff_verdict *v;
        struct diff_lab l;

        diff_lab_init(&l);
        l.options.basis.per_unit = _i == 3;
        key = diff_lab_function_key(&l, "few", "prog");
        for (uint32_t run = 0; run < 2 * n; run++) {
                bool is_few = (run < n) == is_new;

                diff_lab_add_run(&l, (int)run, 0, -1, 1);
                diff_lab_add_samples(&l, (int)run, key, is_few ? 4 : count[run % n]);
                l.runs[run].n_units = 10;
                if (!is_few && _i == 4)
                        l.runs[run].sums[key - 1].added = l.runs[run].sums[key - 1].cpu / 4;
        }
        for (uint32_t i = 0; i < n; i++) {
                mean += log(count[i]) / n;
                by_counts += 1 / count[i] / n;
        }
        for (uint32_t i = 0; i < n; i++)
                squares += (log(count[i]) - mean) * (log(count[i]) - mean);
        se = sqrt((DIFF_PRIOR_DF * diff_test_prior(DIFF_PRIOR_RUN, by_counts) + squares) / df / n);
        p = student_t_two_sided((mean - lost - log(diff_test_count_far(4))) / se, df) + DIFF_FEW_TAIL;
        below = log(4 * n / diff_test_count_low(4 * n));
        above = log(diff_test_count_high(4 * n) / (4 * n)) + lost;
        diff_lab_compare(&l, n, n);
        v = &diff_lab_find(&l, key)->verdict;
        ck_assert_double_eq_tol(v->p, p, 1e-9);
        ck_assert_double_eq_tol(v->se, se, 1e-9);
        ck_assert_double_eq_tol(v->change, (is_new ? -1 : 1) * (log(4) - mean), 1e-9);
        ck_assert_double_eq_tol(v->lost_low, is_new ? above : below, 1e-9);
        ck_assert_double_eq_tol(v->lost_high, is_new ? below : above, 1e-9);
        diff_lab_deinit(&l);
}
END_TEST

static enum diff_doubt doubt_of(struct diff_lab *l, uint32_t n, uint32_t key)
{
        diff_lab_compare(l, n, n);
        return diff_lab_find(l, key)->doubt;
}

/* Functions on one side alone that are not known to be gone: nameless, of the kernel, small, or lost. */
START_TEST(test_not_known_to_be_gone)
{
        uint32_t function, nameless, kernel, small, zone;
        struct diff_lab l;

        diff_lab_init(&l);
        function = diff_lab_function_key(&l, "function", "prog");
        nameless = diff_lab_function_key(&l, "[no symbol]", "prog");
        kernel = diff_lab_function_key(&l, "clear_page", "[kernel]");
        small = diff_lab_function_key(&l, "small", "prog");
        zone = diff_lab_zone_key(&l, "zone");
        for (int run = 0; run < 4; run++) {
                bool is_there = run % 2 == 0;

                diff_lab_add_run(&l, run, 0, -1, 1);
                diff_lab_add_samples(&l, run, function, is_there ? 500 : 0);
                diff_lab_add_samples(&l, run, nameless, is_there ? 500 : 0);
                diff_lab_add_samples(&l, run, kernel, is_there ? 500 : 0);
                diff_lab_add_samples(&l, run, small, is_there ? 20 : 0);
                diff_lab_add_zones(&l, run, diff_lab_zone_key(&l, "steady"), 100, 10000);
                diff_lab_add_zones(&l, run, zone, is_there ? 1000 : 0, 10000);
                diff_run_finish(&l.runs[run]);
        }
        ck_assert_int_eq(doubt_of(&l, 1, function), DIFF_JUDGED);
        ck_assert_int_eq(doubt_of(&l, 1, nameless), DIFF_ONE_SIDED);
        ck_assert_int_eq(doubt_of(&l, 1, kernel), DIFF_ONE_SIDED);
        ck_assert_int_eq(doubt_of(&l, 1, small), DIFF_ONE_SIDED);
        ck_assert_int_eq(doubt_of(&l, 1, zone), DIFF_JUDGED);
        l.runs[1].unsampled.lost_weight = 2400;
        l.runs[0].lost = (struct lost_zones){ .n_lost = 1, .share = 0.001 };
        ck_assert_int_eq(doubt_of(&l, 1, function), DIFF_JUDGED);
        ck_assert_int_eq(doubt_of(&l, 1, zone), DIFF_JUDGED);
        l.runs[1].unsampled.lost_weight = 2500;
        l.runs[1].lost = l.runs[0].lost;
        ck_assert_int_eq(doubt_of(&l, 1, function), DIFF_LOST);
        ck_assert_int_eq(doubt_of(&l, 1, zone), DIFF_LOST);
        l.runs[1].unsampled.lost_weight = 0;
        l.list[1] = &l.runs[2];
        l.list[2] = &l.runs[1];
        ck_assert_int_eq(doubt_of(&l, 2, kernel), DIFF_JUDGED);
        ck_assert_int_eq(doubt_of(&l, 2, nameless), DIFF_ONE_SIDED);
        l.runs[1].unsampled.is_kernel_left_out = true;
        ck_assert_int_eq(doubt_of(&l, 2, kernel), DIFF_LOST);
        diff_lab_deinit(&l);
}
END_TEST

/* The null case: functions of 20 to 50 samples, of which sometimes only one side has enough. */
START_LOOP_TEST(test_few_by_chance, 0, 2)
{
        uint32_t n = _i == 0 ? 1 : 3;
        struct diff_lab l;
        int n_few = 0;

        diff_lab_init(&l);
        l.options.share_min = 0;
        for (int draw = 0; draw < 300; draw++) {
                diff_lab_forget_runs(&l);
                for (uint32_t run = 0; run < 2 * n; run++) {
                        diff_lab_add_samples(&l, (int)run, diff_lab_letter_key(&l, DIFF_LAB_HOT),
                                             DIFF_LAB_HOT_SAMPLES);
                        for (int i = 1; i < DIFF_LAB_FUNCTIONS; i++)
                                diff_lab_add_samples(
                                        &l, (int)run, diff_lab_letter_key(&l, i),
                                        fmax(18 + 2 * i + sqrt(18 + 2 * i) * diff_lab_normal(&l), 0));
                }
                diff_lab_compare(&l, n, n);
                for (size_t i = 0; i < l.comparison.n_items; i++) {
                        ck_assert(!l.comparison.items[i].is_few || !l.comparison.items[i].is_significant);
                        n_few += l.comparison.items[i].is_few;
                }
                ck_assert_uint_le(l.comparison.n_significant, n == 1 ? 0 : 2);
        }
        ck_assert_int_gt(n_few, 100);
        diff_lab_deinit(&l);
}
END_TEST

/* A function that one run lacks by chance is not gone if other runs of that side have it. */
START_TEST(test_one_empty_run)
{
        uint32_t key;
        struct diff_lab l;

        diff_lab_init(&l);
        key = diff_lab_function_key(&l, "now_and_then", "prog");
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(&l, run, 0.01, -1, 1);
                diff_lab_add_samples(&l, run, key, run == 5 ? 0 : 2000);
        }
        diff_lab_compare(&l, 3, 3);
        ck_assert(diff_lab_find(&l, key)->is_few && !diff_lab_find(&l, key)->is_significant);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        diff_lab_deinit(&l);
}
END_TEST

/*
 * A function of 20 samples in each of five runs that all runs of the other side lack is gone; not in a pair,
 * nor if one of them has it.  By hand: none in five runs are 15 at most in all, and both sides vary.
 */
START_LOOP_TEST(test_small_function_gone, 0, 3)
{
        uint32_t n = _i == 1 ? 1 : 5, key;
        double se = sqrt((DIFF_PRIOR_DF * diff_test_prior(DIFF_PRIOR_RUN, 1 / 20.0)) / (DIFF_PRIOR_DF + 4) *
                         2 / 5);
        const struct diff_item *item;
        struct diff_lab l;

        diff_lab_init(&l);
        l.options.share_min = 0;
        key = diff_lab_function_key(&l, "small", "prog");
        for (uint32_t run = 0; run < 2 * n; run++) {
                diff_lab_add_run(&l, (int)run, 0.01, -1, 1);
                diff_lab_add_samples(&l, (int)run, key, run < n ? 20 : _i == 2 && run == n ? 9 : 0);
        }
        diff_lab_compare(&l, n, n);
        item = diff_lab_find(&l, key);
        ck_assert_int_eq(item->is_significant, _i == 0);
        ck_assert_uint_eq(l.comparison.n_significant, _i == 0);
        if (_i == 0)
                ck_assert_double_eq_tol(
                        item->verdict.p,
                        student_t_two_sided(log(20 / (diff_test_count_far(0) / 5)) / se, DIFF_PRIOR_DF + 4) +
                                DIFF_FEW_TAIL,
                        1e-9);
        diff_lab_deinit(&l);
}
END_TEST

/* The gate: a run that is twice as fast passes, though a function in it takes longer. */
START_LOOP_TEST(test_faster_run_passes, 0, 2)
{
        bool is_faster = _i == 0;
        const struct diff_item *item;
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(&l, run, 0.005, run < 3 ? -1 : 3, 1.44);
                diff_lab_add_samples(&l, run, diff_lab_function_key(&l, "page_faults", "prog"),
                                     run >= 3 && is_faster ? 30 : 15000);
        }
        diff_lab_compare(&l, 3, 3);
        ck_assert(diff_lab_find(&l, diff_lab_letter_key(&l, 3))->is_significant);
        if (is_faster)
                ck_assert_double_eq(diff_comparison_worst(&l.comparison, &item), 0);
        else
                ck_assert_double_eq_tol(diff_comparison_worst(&l.comparison, &item), 0.44, 0.02);
        ck_assert_ptr_eq(item, is_faster ? NULL : diff_lab_find(&l, diff_lab_letter_key(&l, 3)));
        diff_lab_deinit(&l);
}
END_TEST

/* The gate: code that moved into two new functions is not slower code. */
START_TEST(test_moved_code_passes)
{
        const struct diff_item *item;
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(&l, run, 0.005, -1, 1);
                if (run < 3)
                        diff_lab_add_samples(&l, run, diff_lab_function_key(&l, "everything", "prog"), 4000);
                else
                        diff_lab_add_samples(&l, run, diff_lab_function_key(&l, "first part", "prog"), 2600);
                if (run >= 3)
                        diff_lab_add_samples(&l, run, diff_lab_function_key(&l, "other half", "prog"), 1450);
        }
        diff_lab_compare(&l, 3, 3);
        ck_assert(diff_lab_find(&l, diff_lab_function_key(&l, "first part", "prog"))->is_significant);
        ck_assert_double_lt(diff_comparison_worst(&l.comparison, &item), 0.01);
        diff_lab_deinit(&l);
}
END_TEST

/* The gate: nor is it if the run got slower elsewhere, or if a function that is still there had it. */
START_LOOP_TEST(test_moved_code_is_not_the_growth, 0, 2)
{
        const struct diff_item *item;
        uint32_t key, hot;
        struct diff_lab l;

        diff_lab_init(&l);
        key = diff_lab_function_key(&l, "first part", "prog");
        hot = diff_lab_letter_key(&l, DIFF_LAB_HOT);
        for (int run = 0; run < 2; run++)
                for (int i = 1; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(&l, run, diff_lab_letter_key(&l, i),
                                             DIFF_LAB_SAMPLES * (run == 1 && _i == 0 ? 1.05 : 1));
        diff_lab_add_samples(&l, 0, _i == 0 ? diff_lab_function_key(&l, "everything", "prog") : hot, 4000);
        diff_lab_add_samples(&l, 1, key, _i == 0 ? 4000 : 2600);
        if (_i == 1)
                diff_lab_add_samples(&l, 1, hot, 1400);
        diff_lab_compare(&l, 1, 1);
        ck_assert(diff_lab_find(&l, key)->is_significant && diff_lab_find(&l, key)->is_few);
        ck_assert(!l.comparison.whole.is_significant);
        ck_assert_double_lt(diff_comparison_worst(&l.comparison, &item), 0.001);
        diff_lab_deinit(&l);
}
END_TEST

/* The gate: a zone that takes longer is worse, though the run is faster. */
START_TEST(test_slower_zone_in_a_faster_run)
{
        const struct diff_item *item;
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(&l, run, 0.005, -1, 1);
                diff_lab_add_samples(&l, run, diff_lab_function_key(&l, "page_faults", "prog"),
                                     run < 3 ? 15000 : 30);
                diff_lab_add_zones(&l, run, diff_lab_zone_key(&l, "request"), 1000,
                                   run < 3 ? 100000 : 150000);
                diff_run_finish(&l.runs[run]);
        }
        diff_lab_compare(&l, 3, 3);
        ck_assert_double_eq_tol(diff_comparison_worst(&l.comparison, &item), 0.5, 0.02);
        ck_assert_ptr_eq(item, diff_lab_find(&l, diff_lab_zone_key(&l, "request")));
        diff_lab_deinit(&l);
}
END_TEST

/* The gate: of a function that was asked for alone it is its interval that does not hold "no change". */
START_LOOP_TEST(test_suspected_function, 0, 2)
{
        const struct diff_item *item;
        struct diff_lab l;

        diff_lab_init(&l);
        l.options.only = "b";
        for (int run = 0; run < 2; run++)
                for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(&l, run, diff_lab_letter_key(&l, i),
                                             run == 1 ? (_i == 0 ? 140 : 160) : 100);
        diff_lab_compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        ck_assert_double_eq_tol(diff_comparison_suspected(&l.comparison, &item), _i == 0 ? 0 : 0.6, 0.001);
        ck_assert_ptr_eq(item, _i == 0 ? NULL : diff_lab_find(&l, diff_lab_letter_key(&l, 1)));
        diff_lab_deinit(&l);
}
END_TEST

/* The whole run's time is that on CPUs, where context switches give it: samples of it may be missing. */
START_TEST(test_whole_run_by_time_on_cpus)
{
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(&l, run, 0.005, -1, 1);
                l.runs[run].weight_is_ns = true;
                l.runs[run].unsampled.on_cpu_ns = run < 3 ? 1000 * NS_PER_MS : 1200 * NS_PER_MS;
                l.runs[run].unsampled.whole_weight = run < 3 ? 0 : 200e6;
        }
        diff_lab_compare(&l, 3, 3);
        ck_assert_double_eq_tol(l.comparison.whole.value_after / l.comparison.whole.value_before, 1.2, 1e-9);
        ck_assert(l.comparison.whole.is_significant);
        diff_lab_deinit(&l);
}
END_TEST

/* The gate: a third more in a pair may be chance, so it neither fails nor passes. */
START_LOOP_TEST(test_suspected, 0, 2)
{
        const struct diff_item *item;
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 2; run++)
                for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(&l, run, diff_lab_letter_key(&l, i),
                                             run == 1 && _i == 1 ? 68 : 50);
        diff_lab_compare(&l, 1, 1);
        ck_assert_uint_eq(l.comparison.n_significant, 0);
        ck_assert_double_eq_tol(diff_comparison_suspected(&l.comparison, &item), _i == 1 ? 0.36 : 0, 0.001);
        ck_assert_ptr_null(item);
        diff_lab_deinit(&l);
}
END_TEST

/* A run of a few samples against one of many: the whole is judged by the larger side. */
START_TEST(test_short_run)
{
        const struct diff_item *item;
        struct diff_lab l;
        double low, high;

        diff_lab_init(&l);
        diff_lab_add_samples(&l, 0, diff_lab_function_key(&l, "add_item", "prog"), 2100);
        diff_lab_add_samples(&l, 1, diff_lab_function_key(&l, "main", "prog"), 13);
        diff_lab_compare(&l, 1, 1);
        ck_assert(l.comparison.whole.is_judged && l.comparison.whole.is_significant);
        diff_comparison_interval(&l.comparison.whole.verdict, &low, &high);
        ck_assert(low < 13 / 2100.0 - 1 && high > 13 / 2100.0 - 1 && high < -0.98);
        ck_assert_double_eq(diff_comparison_worst(&l.comparison, &item), 0);
        diff_lab_deinit(&l);
}
END_TEST

/* A new zone is judged by the time of all its instances; one with few on one side is not judged. */
START_LOOP_TEST(test_new_zone, 0, 2)
{
        uint32_t key, few;
        struct diff_lab l;

        diff_lab_init(&l);
        l.options.basis.per_unit = _i == 1;
        key = diff_lab_zone_key(&l, "retry");
        few = diff_lab_zone_key(&l, "few");
        for (int run = 0; run < 2; run++) {
                l.runs[run].has_switches = true;
                l.runs[run].duration_ns = 1000000;
                l.runs[run].n_units = 10;
                diff_lab_add_zones(&l, run, diff_lab_zone_key(&l, "steady"), 100, 1000);
                diff_lab_add_zones(&l, run, key, run == 0 ? 0 : 200, 2000);
                diff_lab_add_zones(&l, run, few, run == 0 ? 5 : 200, 1000);
                diff_run_finish(&l.runs[run]);
        }
        diff_lab_compare(&l, 1, 1);
        ck_assert(diff_lab_find(&l, key)->is_significant && diff_lab_find(&l, key)->is_few);
        ck_assert_double_eq_tol(diff_lab_find(&l, key)->moved_share, 0.4, 0.01);
        /* By hand: 200 instances against none; those of a run do not differ, but runs do. */
        ck_assert_double_eq_tol(
                diff_lab_find(&l, key)->verdict.p,
                student_t_two_sided(log(200 / diff_test_count_far(0)) / DIFF_PRIOR_RUN, DIFF_PRIOR_DF) +
                        DIFF_FEW_TAIL,
                1e-9);
        ck_assert_int_eq(diff_lab_find(&l, few)->doubt, DIFF_TOO_FEW);
        ck_assert(!diff_lab_find(&l, diff_lab_zone_key(&l, "steady"))->is_significant);
        diff_lab_deinit(&l);
}
END_TEST

/* Compares and expects the beginning of the answer; of words that begin with ";" or a blank, the end. */
static void expect_answer(struct diff_lab *l, uint32_t n, const char *wanted)
{
        bool is_end = wanted[0] == ';' || wanted[0] == ' ';
        const struct diff_view_options options = { .has_title = true };
        struct view_document d;

        diff_lab_compare(l, n, n);
        view_document_init(&d, diff_view_schema.name);
        diff_view_fill(&d, &l->comparison, &options);
        ck_assert_msg(d.title.used_bytes >= strlen(wanted) &&
                              memcmp(d.title.data + (is_end ? d.title.used_bytes - strlen(wanted) : 0),
                                     wanted, strlen(wanted)) == 0,
                      "%.*s", (int)d.title.used_bytes, (const char *)d.title.data);
        view_document_deinit(&d);
}

/* A new function is said first if it moved more than another one that takes less, else after that. */
START_LOOP_TEST(test_order_of_the_answer, 0, 2)
{
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(&l, run, 0.005, run < 3 ? -1 : DIFF_LAB_HOT, 0.2);
                diff_lab_add_samples(&l, run, diff_lab_function_key(&l, "added", "prog"),
                                     run < 3 ? 0 : (_i == 0 ? 20000 : 400));
        }
        expect_answer(&l, 3, _i == 0 ? "new: added, +" : "less: a -80");
        diff_lab_deinit(&l);
}
END_TEST

/* The same samples in ten times the time: the program waits.  Nulls: as long, and not by much longer. */
START_LOOP_TEST(test_runs_that_wait_longer, 0, 3)
{
        static const uint64_t lasted_ns[] = { 10000000000, 1000000000, 1150000000 };
        static const char *const words[] = {
                "; lasted 1.00 s before, 10.0 s after, and most of the difference was on no CPU",
                " not certain from one pair", " not certain from one pair"
        };
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 2; run++) {
                for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(&l, run, diff_lab_letter_key(&l, i), 20 + run % 2);
                l.runs[run].weight_is_ns = true;
        }
        l.runs[0].duration_ns = 1000000000;
        l.runs[1].duration_ns = lasted_ns[_i];
        expect_answer(&l, 1, words[_i]);
        diff_lab_deinit(&l);
}
END_TEST

/* No function has enough samples, but the run has. */
START_TEST(test_answer_of_the_whole_alone)
{
        struct diff_lab l;

        diff_lab_init(&l);
        for (int run = 0; run < 6; run++)
                for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(&l, run, diff_lab_letter_key(&l, i), 20 + run % 2);
        expect_answer(&l, 1, "the whole run +5.0%, not certain from one pair");
        expect_answer(&l, 3, "no significant change: the whole run");
        diff_lab_deinit(&l);
}
END_TEST
