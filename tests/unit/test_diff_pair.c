/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_test.c, diff_item.c, diff_comparison.c: one run against one.  A large change of what runs
 * evenly is certain; what comes in bursts, moves between functions, or differs as runs do is not
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_steps.h"
#include "analyze/diff/diff_test.h"
#include "analyze/walk/loaded_trace.h"
#include "base/clock.h"
#include "base/error.h"
#include "tests/unit/diff_lab.h"
#include "tests/unit/lossy_trace.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>

/* Adds samples of a function to some parts of a run, as many to each. */
static void add_to_blocks(int run, uint32_t key, uint32_t n, uint32_t first, uint32_t end)
{
        diff_lab_add_samples(run, key, n);
        for (uint32_t i = 0; i < n; i++)
                diff_run_add_block(&lab.runs[run], key, first + i % (end - first));
}

/* A run in which the hot function has @n_hot samples and 17 others have 60 each, evenly in time. */
static void add_even_run(int run, uint32_t n_hot)
{
        lab.runs[run].has_switches = true;
        lab.runs[run].weight_is_ns = true;
        lab.runs[run].duration_ns = NS_PER_S;
        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++)
                add_to_blocks(run, diff_lab_letter_key(i), i == DIFF_LAB_HOT ? n_hot : 60, 0,
                              DIFF_RUN_BLOCKS);
}

/* Half more of a function that has 41 % of the run is certain in both directions; a tenth more is not. */
START_LOOP_TEST(test_half_more, 0, 4)
{
        uint32_t more = _i / 2 == 0 ? 1065 : 781, before = _i % 2 == 0 ? 710 : more;
        const struct diff_item *item;

        add_even_run(0, before);
        add_even_run(1, before == 710 ? more : 710);
        diff_lab_compare(1, 1);
        item = diff_lab_letter(DIFF_LAB_HOT);
        ck_assert_int_eq(item->is_significant, _i / 2 == 0);
        ck_assert_uint_eq(lab.comparison.n_significant, _i / 2 == 0);
        ck_assert_int_eq(diff_comparison_worst(&lab.comparison, &item) > 0.05, _i == 0);
}
END_TEST

/* An eighth more, of which enough samples are there: all of a run may be slower by that. */
START_TEST(test_eighth_more)
{
        add_even_run(0, 7100);
        add_even_run(1, 8000);
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
}
END_TEST

/* The same samples in a few parts of the run, as of collections of garbage, or in parts that are unknown. */
START_LOOP_TEST(test_bursts, 0, 3)
{
        uint32_t key, n = 710;

        key = diff_lab_key("collect");
        for (int run = 0; run < 2; run++, n = 1065) {
                add_even_run(run, 400);
                if (_i == 0)
                        add_to_blocks(run, key, n, 0, DIFF_RUN_BLOCKS);
                else if (_i == 1)
                        add_to_blocks(run, key, n, 7, 9);
                else
                        diff_lab_add_samples(run, key, n);
                for (int i = 0; _i == 2 && i < DIFF_RUN_BLOCKS; i++)
                        lab.runs[run].blocks[i] = 0;
        }
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(key)->is_significant, _i == 0);
}
END_TEST

/* By hand, of a function and a zone, and with lost samples. */
START_LOOP_TEST(test_by_hand, 0, 4)
{
        struct diff_number numbers[2] = {
                { .value = 100, .low = 100, .high = 100, .variance = 0.01, .spread = 0.001, .n = 12 },
                { .value = 180,
                  .low = 180,
                  .high = 180,
                  .variance = 0.01,
                  .spread = 0.002,
                  .moved = 9,
                  .n = 15 },
        };
        double logs[2], far = log(171 / 100.0), p;
        struct diff_numbers all = { .of = numbers,
                                    .logs = logs,
                                    .n_before = 1,
                                    .n_after = 1,
                                    .n_min = 10,
                                    .noise = 0.02,
                                    .steady_noises = 5 };

        if (_i == 1)
                numbers[0].high = 110, far = log(171 / 110.0);
        if (_i == 2)
                all.steady_noises = 0;
        p = student_t_two_sided((far - 0.1) / sqrt(0.003), 25);
        if (_i == 3) { /* that nothing varies is not believed */
                numbers[0].spread = numbers[1].spread = 0;
                all.steady_noises = (far - 0.01) / 0.02;
                p = student_t_two_sided(0.01 / DIFF_SE_MIN, 25);
        }
        if (_i == 2)
                p = student_t_two_sided(log(1.8) / sqrt(2 * (0.02 * 0.02 + 0.01)), DIFF_PRIOR_DF);
        ck_assert_double_eq_tol(diff_judgement_of(&all, DIFF_BY_BOTH).p, p, 1e-9);
}
END_TEST

/* 30 of the 100 samples of every second part and 10 of the others; and a fifth of each of unequal parts. */
START_TEST(test_spread)
{
        const struct diff_basis basis = { .per_unit = false };
        struct diff_item item = { .kind = DIFF_FUNCTION };
        uint32_t other;

        item.key_before = item.key_after = diff_lab_key("f");
        other = diff_lab_key("g");
        for (uint32_t i = 0; i < DIFF_RUN_BLOCKS; i++) {
                add_to_blocks(0, item.key_before, i % 2 == 0 ? 30 : 10, i, i + 1);
                add_to_blocks(0, other, i % 2 == 0 ? 70 : 90, i, i + 1);
                add_to_blocks(1, item.key_before, i % 2 == 0 ? 10 : 30, i, i + 1);
                add_to_blocks(1, other, i % 2 == 0 ? 40 : 120, i, i + 1);
        }
        ck_assert_double_eq_tol(diff_item_spread_variance(&item, &lab.runs[0], &basis, true),
                                16 * 100.0 * 16 / 15 / (320.0 * 320), 1e-12);
        ck_assert_double_eq_tol(diff_item_spread_variance(&item, &lab.runs[1], &basis, true), 1 / 320.0 / 4,
                                1e-12);
        /* Samples of another name move with their parts; what lies beyond the last part is in that. */
        diff_run_add_block(&lab.runs[0], other, DIFF_RUN_BLOCKS + 1);
        ck_assert_int_eq(diff_run_move(&lab.runs[0], other, item.key_before), 0);
        ck_assert_uint_eq(diff_run_sum(&lab.runs[0], item.key_before).blocks[0], 100);
        ck_assert_uint_eq(diff_run_sum(&lab.runs[0], item.key_before).blocks[DIFF_RUN_BLOCKS - 1], 101);
}
END_TEST

/* Small functions whose samples fall on each other: twice as much of 2 % is not certain. */
START_TEST(test_moved_between_functions)
{
        for (int run = 0; run < 2; run++) {
                add_even_run(run, 8000);
                for (int i = 0; i < 2; i++)
                        add_to_blocks(run, diff_lab_key(i == 0 ? "this" : "that"), run == i ? 160 : 320, 0,
                                      DIFF_RUN_BLOCKS);
        }
        diff_lab_compare(1, 1);
        ck_assert_uint_eq(lab.comparison.n_significant, 0);
}
END_TEST

/*
 * 100 equal instances of a zone: a fifth more is certain, a twelfth is not, nor a fifth if they vary, nor if
 * that is less of the run than moves between zones.
 */
START_LOOP_TEST(test_equal_zones, 0, 5)
{
        double more = _i == 1 ? 1.083 : 1.2;
        uint32_t key = diff_lab_zone_key("zone");

        for (int run = 0; run < 2; run++) {
                double ns = (run == 0) == (_i == 3) ? 6e6 * more : 6e6;

                add_even_run(run, 710);
                for (uint32_t i = 0; i < 100; i++)
                        diff_lab_add_zones(run, key, 1,
                                           _i == 2 ? ns * (0.1 + 1.8 * (i % 2)) : ns + i % 3 * 1e4);
                diff_run_finish(&lab.runs[run]);
                lab.runs[run].weight = _i == 4 ? 2e10 : 1e9; /* of which the zone has three fifths */
        }
        diff_lab_compare(1, 1);
        ck_assert_int_eq(diff_lab_find(key)->is_significant, _i == 0 || _i == 3);
}
END_TEST

/* The null case: pairs of runs that differ as runs do, by 2.5 % and by chance. */
START_TEST(test_alike)
{
        uint32_t n_significant = 0;

        for (int draw = 0; draw < 400; draw++) {
                diff_lab_forget_runs();
                for (int run = 0; run < 2; run++)
                        for (int i = 0; i < DIFF_LAB_FUNCTIONS; i++) {
                                double n = (i == DIFF_LAB_HOT ? 44 : 4) * exp(0.025 * diff_lab_normal());

                                for (uint32_t block = 0; block < DIFF_RUN_BLOCKS; block++)
                                        add_to_blocks(
                                                run, diff_lab_letter_key(i),
                                                (uint32_t)fmax(n + sqrt(n) * diff_lab_normal() + 0.5, 0),
                                                block, block + 1);
                        }
                diff_lab_compare(1, 1);
                n_significant += lab.comparison.n_significant > 0;
        }
        ck_assert_msg(n_significant <= 2, "%u of 400", n_significant);
}
END_TEST

/* A switch that was not reported: less time on CPUs than samples.  Neither the whole nor zones go by it. */
START_LOOP_TEST(test_time_that_switches_lack, 0, 2)
{
        struct diff_run run = { .weight = 1010e6,
                                .added = 10e6,
                                .weight_is_ns = true,
                                .unsampled.on_cpu_ns = _i == 0 ? 960000000 : 940000000 };

        ck_assert_int_eq(diff_run_has_time(&run), _i == 0);
        run.weight_is_ns = false;
        ck_assert(!diff_run_has_time(&run));
}
END_TEST

/* Where both have the time of their switches, it is that which is compared: half more here. */
START_LOOP_TEST(test_whole_run_by_switches, 0, 2)
{
        for (int run = 0; run < 2; run++) {
                add_even_run(run, 710);
                lab.runs[run].unsampled.on_cpu_ns = (uint64_t)(lab.runs[run].weight * (run == 0  ? 1
                                                                                       : _i == 0 ? 0.7
                                                                                                 : 1.5));
        }
        diff_lab_compare(1, 1);
        ck_assert_double_eq_tol(lab.comparison.whole.value_after / lab.comparison.whole.value_before,
                                _i == 0 ? 1 : 1.5, 1e-6);
}
END_TEST

/* A trace's samples are counted in parts that are equally long, all of them. */
START_TEST(test_parts_of_a_trace)
{
        struct lossy_trace t = { .n_samples = 1600 };
        struct diff_run_request request = { .filter = NULL };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_builder b;
        struct diff_names names;
        struct diff_run run;
        uint64_t n = 0, n_of_functions = 0;

        diff_names_init(&names);
        lossy_trace_build(&b, &t);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(diff_run_load(&run, &names, &trace, &request, &err), 0);
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++) {
                n += run.blocks[i];
                ck_assert_uint_gt(run.blocks[i], run.n_samples / DIFF_RUN_BLOCKS / 2);
                ck_assert_uint_lt(run.blocks[i], run.n_samples / DIFF_RUN_BLOCKS * 2);
                for (uint32_t j = 0; j < run.n_sums; j++)
                        n_of_functions += run.sums[j].blocks[i];
        }
        ck_assert_uint_eq(n, run.n_samples);
        ck_assert_uint_eq(n_of_functions, run.n_samples);
        diff_run_deinit(&run);
        diff_names_deinit(&names);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}
END_TEST

UNIT_TEST_PLAN(.setup = diff_lab_init, .teardown = diff_lab_deinit);
