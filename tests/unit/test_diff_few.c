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
        uint32_t key = diff_lab_key("add_item");

        for (uint32_t run = 0; run < 2 * n; run++) {
                diff_lab_add_run((int)run, 0.01, -1, 1);
                diff_lab_add_samples((int)run, key, (run < n) == is_new ? n_left : 2000);
        }
        diff_lab_compare(n, n);
        item = diff_lab_find(key);
        ck_assert(item->doubt == DIFF_JUDGED && item->is_few && item->is_significant);
        ck_assert_ptr_eq(diff_comparison_leading(&lab.comparison), item);
        ck_assert_double_eq_tol(item->moved_share, (2000 - n_left) / 18000, 0.01);
        diff_comparison_interval(&item->verdict, &low, &high);
        if (n_left > 0)
                ck_assert_msg(log1p(low) < (is_new ? -change : change) &&
                                      log1p(high) > (is_new ? -change : change),
                              "%g to %g", low, high);
        /* A new function makes the run slower by an eighth; a gone one makes nothing slower. */
        ck_assert_double_eq_tol(diff_comparison_worst(&lab.comparison, &item), is_new ? 0.125 : 0, 0.02);
        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                ck_assert(!diff_lab_letter(i)->is_significant);
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

        lab.options.basis.per_unit = _i == 3;
        key = diff_lab_key("few");
        for (uint32_t run = 0; run < 2 * n; run++) {
                bool is_few = (run < n) == is_new;

                diff_lab_add_run((int)run, 0, -1, 1);
                diff_lab_add_samples((int)run, key, is_few ? 4 : count[run % n]);
                lab.runs[run].n_units = 10;
                if (!is_few && _i == 4)
                        lab.runs[run].sums[key - 1].added = lab.runs[run].sums[key - 1].cpu / 4;
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
        diff_lab_compare(n, n);
        v = &diff_lab_find(key)->verdict;
        ck_assert_double_eq_tol(v->p, p, 1e-9);
        ck_assert_double_eq_tol(v->se, se, 1e-9);
        ck_assert_double_eq_tol(v->change, (is_new ? -1 : 1) * (log(4) - mean), 1e-9);
        ck_assert_double_eq_tol(v->lost_low, is_new ? above : below, 1e-9);
        ck_assert_double_eq_tol(v->lost_high, is_new ? below : above, 1e-9);
}
END_TEST

static enum diff_doubt doubt_of(uint32_t n, uint32_t key)
{
        diff_lab_compare(n, n);
        return diff_lab_find(key)->doubt;
}

/* Functions on one side alone that are not known to be gone: nameless, of the kernel, small, or lost. */
START_TEST(test_not_known_to_be_gone)
{
        uint32_t function = diff_lab_key("function"), nameless = diff_lab_key("[no symbol]"),
                 kernel = diff_lab_function_key("clear_page", "[kernel]"), small = diff_lab_key("small"),
                 zone = diff_lab_zone_key("zone");

        for (int run = 0; run < 4; run++) {
                bool is_there = run % 2 == 0;

                diff_lab_add_run(run, 0, -1, 1);
                diff_lab_add_samples(run, function, is_there ? 500 : 0);
                diff_lab_add_samples(run, nameless, is_there ? 500 : 0);
                diff_lab_add_samples(run, kernel, is_there ? 500 : 0);
                diff_lab_add_samples(run, small, is_there ? 20 : 0);
                diff_lab_add_zones(run, diff_lab_zone_key("steady"), 100, 10000);
                diff_lab_add_zones(run, zone, is_there ? 1000 : 0, 10000);
                diff_run_finish(&lab.runs[run]);
        }
        ck_assert_int_eq(doubt_of(1, function), DIFF_JUDGED);
        ck_assert_int_eq(doubt_of(1, nameless), DIFF_ONE_SIDED);
        ck_assert_int_eq(doubt_of(1, kernel), DIFF_ONE_SIDED);
        ck_assert_int_eq(doubt_of(1, small), DIFF_ONE_SIDED);
        ck_assert_int_eq(doubt_of(1, zone), DIFF_JUDGED);
        lab.runs[1].unsampled.lost_weight = 2400;
        lab.runs[0].lost = (struct lost_zones){ .n_lost = 1, .share = 0.001 };
        ck_assert_int_eq(doubt_of(1, function), DIFF_JUDGED);
        ck_assert_int_eq(doubt_of(1, zone), DIFF_JUDGED);
        lab.runs[1].unsampled.lost_weight = 2500;
        lab.runs[1].lost = lab.runs[0].lost;
        ck_assert_int_eq(doubt_of(1, function), DIFF_LOST);
        ck_assert_int_eq(doubt_of(1, zone), DIFF_LOST);
        lab.runs[1].unsampled.lost_weight = 0;
        lab.list[1] = &lab.runs[2];
        lab.list[2] = &lab.runs[1];
        ck_assert_int_eq(doubt_of(2, kernel), DIFF_JUDGED);
        ck_assert_int_eq(doubt_of(2, nameless), DIFF_ONE_SIDED);
        lab.runs[1].unsampled.is_kernel_left_out = true;
        ck_assert_int_eq(doubt_of(2, kernel), DIFF_LOST);
}
END_TEST

/* The null case: functions of 20 to 50 samples, of which sometimes only one side has enough. */
START_LOOP_TEST(test_few_by_chance, 0, 2)
{
        uint32_t n = _i == 0 ? 1 : 3;
        int n_few = 0;

        lab.options.share_min = 0;
        for (int draw = 0; draw < 300; draw++) {
                diff_lab_forget_runs();
                for (uint32_t run = 0; run < 2 * n; run++) {
                        diff_lab_add_samples((int)run, diff_lab_letter_key(DIFF_LAB_HOT),
                                             DIFF_LAB_HOT_SAMPLES);
                        for (int i = 1; i < DIFF_LAB_FUNCTIONS; i++)
                                diff_lab_add_samples(
                                        (int)run, diff_lab_letter_key(i),
                                        fmax(18 + 2 * i + sqrt(18 + 2 * i) * diff_lab_normal(), 0));
                }
                diff_lab_compare(n, n);
                for (size_t i = 0; i < lab.comparison.n_items; i++) {
                        ck_assert(!lab.comparison.items[i].is_few || !lab.comparison.items[i].is_significant);
                        n_few += lab.comparison.items[i].is_few;
                }
                ck_assert_uint_le(lab.comparison.n_significant, n == 1 ? 0 : 2);
        }
        ck_assert_int_gt(n_few, 100);
}
END_TEST

/* A function that one run lacks by chance is not gone if other runs of that side have it. */
START_TEST(test_one_empty_run)
{
        uint32_t key = diff_lab_key("now_and_then");

        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(run, 0.01, -1, 1);
                diff_lab_add_samples(run, key, run == 5 ? 0 : 2000);
        }
        diff_lab_compare(3, 3);
        ck_assert(diff_lab_find(key)->is_few && !diff_lab_find(key)->is_significant);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
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

        lab.options.share_min = 0;
        key = diff_lab_key("small");
        for (uint32_t run = 0; run < 2 * n; run++) {
                diff_lab_add_run((int)run, 0.01, -1, 1);
                diff_lab_add_samples((int)run, key, run < n ? 20 : _i == 2 && run == n ? 9 : 0);
        }
        diff_lab_compare(n, n);
        item = diff_lab_find(key);
        ck_assert_int_eq(item->is_significant, _i == 0);
        ck_assert_uint_eq(lab.comparison.n_significant, _i == 0);
        if (_i == 0)
                ck_assert_double_eq_tol(
                        item->verdict.p,
                        student_t_two_sided(log(20 / (diff_test_count_far(0) / 5)) / se, DIFF_PRIOR_DF + 4) +
                                DIFF_FEW_TAIL,
                        1e-9);
}
END_TEST

/* The gate: a run that is twice as fast passes, though a function in it takes longer. */
START_LOOP_TEST(test_faster_run_passes, 0, 2)
{
        bool is_faster = _i == 0;
        const struct diff_item *item;

        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(run, 0.005, run < 3 ? -1 : 3, 1.44);
                diff_lab_add_samples(run, diff_lab_key("page_faults"), run >= 3 && is_faster ? 30 : 15000);
        }
        diff_lab_compare(3, 3);
        ck_assert(diff_lab_letter(3)->is_significant);
        if (is_faster)
                ck_assert_double_eq(diff_comparison_worst(&lab.comparison, &item), 0);
        else
                ck_assert_double_eq_tol(diff_comparison_worst(&lab.comparison, &item), 0.44, 0.02);
        ck_assert_ptr_eq(item, is_faster ? NULL : diff_lab_letter(3));
}
END_TEST

/* The gate: code that moved into two new functions is not slower code. */
START_TEST(test_moved_code_passes)
{
        const struct diff_item *item;

        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(run, 0.005, -1, 1);
                if (run < 3)
                        diff_lab_add_samples(run, diff_lab_key("everything"), 4000);
                else
                        diff_lab_add_samples(run, diff_lab_key("first part"), 2600);
                if (run >= 3)
                        diff_lab_add_samples(run, diff_lab_key("other half"), 1450);
        }
        diff_lab_compare(3, 3);
        ck_assert(diff_lab_find(diff_lab_key("first part"))->is_significant);
        ck_assert_double_lt(diff_comparison_worst(&lab.comparison, &item), 0.01);
}
END_TEST

/* The gate: nor is it if the run got slower elsewhere, or if a function that is still there had it. */
START_LOOP_TEST(test_moved_code_is_not_the_growth, 0, 2)
{
        const struct diff_item *item;
        uint32_t key = diff_lab_key("first part"), hot = diff_lab_letter_key(DIFF_LAB_HOT);

        for (int run = 0; run < 2; run++)
                for (int i = 1; i < DIFF_LAB_FUNCTIONS; i++)
                        diff_lab_add_samples(run, diff_lab_letter_key(i),
                                             DIFF_LAB_SAMPLES * (run == 1 && _i == 0 ? 1.05 : 1));
        diff_lab_add_samples(0, _i == 0 ? diff_lab_key("everything") : hot, 4000);
        diff_lab_add_samples(1, key, _i == 0 ? 4000 : 2600);
        if (_i == 1)
                diff_lab_add_samples(1, hot, 1400);
        diff_lab_compare(1, 1);
        ck_assert(diff_lab_find(key)->is_significant && diff_lab_find(key)->is_few);
        ck_assert(!lab.comparison.whole.is_significant);
        ck_assert_double_lt(diff_comparison_worst(&lab.comparison, &item), 0.001);
}
END_TEST

/* The gate: a zone that takes longer is worse, though the run is faster. */
START_TEST(test_slower_zone_in_a_faster_run)
{
        const struct diff_item *item;

        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(run, 0.005, -1, 1);
                diff_lab_add_samples(run, diff_lab_key("page_faults"), run < 3 ? 15000 : 30);
                diff_lab_add_zones(run, diff_lab_zone_key("request"), 1000, run < 3 ? 100000 : 150000);
                diff_run_finish(&lab.runs[run]);
        }
        diff_lab_compare(3, 3);
        ck_assert_double_eq_tol(diff_comparison_worst(&lab.comparison, &item), 0.5, 0.02);
        ck_assert_ptr_eq(item, diff_lab_find(diff_lab_zone_key("request")));
}
END_TEST

/* The gate: of a function that was asked for alone it is its interval that does not hold "no change". */
START_LOOP_TEST(test_suspected_function, 0, 2)
{
        const struct diff_item *item;

        lab.options.only = "b";
        for (int run = 0; run < 2; run++)
                diff_lab_add_letters(run, run == 1 ? (_i == 0 ? 140 : 160) : 100);
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
        ck_assert_double_eq_tol(diff_comparison_suspected(&lab.comparison, &item), _i == 0 ? 0 : 0.6, 0.001);
        ck_assert_ptr_eq(item, _i == 0 ? NULL : diff_lab_letter(1));
}
END_TEST

/* The whole run's time is that on CPUs, where context switches give it: samples of it may be missing. */
START_TEST(test_whole_run_by_time_on_cpus)
{
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(run, 0.005, -1, 1);
                lab.runs[run].weight_is_ns = true;
                lab.runs[run].unsampled.on_cpu_ns = run < 3 ? 1000 * NS_PER_MS : 1200 * NS_PER_MS;
                lab.runs[run].unsampled.whole_weight = run < 3 ? 0 : 200e6;
        }
        diff_lab_compare(3, 3);
        ck_assert_double_eq_tol(lab.comparison.whole.value_after / lab.comparison.whole.value_before, 1.2,
                                1e-9);
        ck_assert(lab.comparison.whole.is_significant);
}
END_TEST

/* The gate: a third more in a pair may be chance, so it neither fails nor passes. */
START_LOOP_TEST(test_suspected, 0, 2)
{
        const struct diff_item *item;

        for (int run = 0; run < 2; run++)
                diff_lab_add_letters(run, run == 1 && _i == 1 ? 68 : 50);
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
        ck_assert_double_eq_tol(diff_comparison_suspected(&lab.comparison, &item), _i == 1 ? 0.36 : 0, 0.001);
        ck_assert_ptr_null(item);
}
END_TEST

/* A run of a few samples against one of many: the whole is judged by the larger side. */
START_TEST(test_short_run)
{
        const struct diff_item *item;
        double low, high;

        diff_lab_add_samples(0, diff_lab_key("add_item"), 2100);
        diff_lab_add_samples(1, diff_lab_key("main"), 13);
        diff_lab_compare(1, 1);
        ck_assert(lab.comparison.whole.is_judged && lab.comparison.whole.is_significant);
        diff_comparison_interval(&lab.comparison.whole.verdict, &low, &high);
        ck_assert(low < 13 / 2100.0 - 1 && high > 13 / 2100.0 - 1 && high < -0.98);
        ck_assert_double_eq(diff_comparison_worst(&lab.comparison, &item), 0);
}
END_TEST

/* A new zone is judged by the time of all its instances; one with few on one side is not judged. */
START_LOOP_TEST(test_new_zone, 0, 2)
{
        uint32_t key, few;

        lab.options.basis.per_unit = _i == 1;
        key = diff_lab_zone_key("retry");
        few = diff_lab_zone_key("few");
        for (int run = 0; run < 2; run++) {
                lab.runs[run].has_switches = true;
                lab.runs[run].duration_ns = 1000000;
                lab.runs[run].n_units = 10;
                diff_lab_add_zones(run, diff_lab_zone_key("steady"), 100, 1000);
                diff_lab_add_zones(run, key, run == 0 ? 0 : 200, 2000);
                diff_lab_add_zones(run, few, run == 0 ? 5 : 200, 1000);
                diff_run_finish(&lab.runs[run]);
        }
        diff_lab_compare(1, 1);
        ck_assert(diff_lab_find(key)->is_significant && diff_lab_find(key)->is_few);
        ck_assert_double_eq_tol(diff_lab_find(key)->moved_share, 0.4, 0.01);
        /* By hand: 200 instances against none; those of a run do not differ, but runs do. */
        ck_assert_double_eq_tol(
                diff_lab_find(key)->verdict.p,
                student_t_two_sided(log(200 / diff_test_count_far(0)) / DIFF_PRIOR_RUN, DIFF_PRIOR_DF) +
                        DIFF_FEW_TAIL,
                1e-9);
        ck_assert_int_eq(diff_lab_find(few)->doubt, DIFF_TOO_FEW);
        ck_assert(!diff_lab_find(diff_lab_zone_key("steady"))->is_significant);
}
END_TEST

/* Compares and expects the beginning of the answer; of words that begin with ";" or a blank, the end. */
static void expect_answer(uint32_t n, const char *wanted)
{
        bool is_end = wanted[0] == ';' || wanted[0] == ' ';
        const struct diff_view_options options = { .threshold = 0 };
        struct view_document d;

        diff_lab_compare(n, n);
        view_document_init(&d, diff_view_schema.name);
        diff_view_fill(&d, &lab.comparison, &options);
        ck_assert_msg(d.title.used_bytes >= strlen(wanted) &&
                              memcmp(d.title.data + (is_end ? d.title.used_bytes - strlen(wanted) : 0),
                                     wanted, strlen(wanted)) == 0,
                      "%.*s", (int)d.title.used_bytes, (const char *)d.title.data);
        view_document_deinit(&d);
}

/* A new function is said first if it moved more than another one that takes less, else after that. */
START_LOOP_TEST(test_order_of_the_answer, 0, 2)
{
        for (int run = 0; run < 6; run++) {
                diff_lab_add_run(run, 0.005, run < 3 ? -1 : DIFF_LAB_HOT, 0.2);
                diff_lab_add_samples(run, diff_lab_key("added"), run < 3 ? 0 : (_i == 0 ? 20000 : 400));
        }
        expect_answer(3, _i == 0 ? "new: added, +" : "less: a -80");
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

        for (int run = 0; run < 2; run++) {
                diff_lab_add_letters(run, 20 + run % 2);
                lab.runs[run].weight_is_ns = true;
        }
        lab.runs[0].duration_ns = 1000000000;
        lab.runs[1].duration_ns = lasted_ns[_i];
        expect_answer(1, words[_i]);
}
END_TEST

/* No function has enough samples, but the run has. */
START_TEST(test_answer_of_the_whole_alone)
{
        for (int run = 0; run < 6; run++)
                diff_lab_add_letters(run, 20 + run % 2);
        expect_answer(1, "the whole run +5.0%, not certain from one pair");
        expect_answer(3, "no significant change: the whole run");
}
END_TEST

UNIT_TEST_PLAN(.setup = diff_lab_init, .teardown = diff_lab_deinit);
