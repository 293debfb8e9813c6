/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/histogram_bins.c: every number is in exactly one bar, bars follow each
 * other, few and never none
 */
#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/histogram.h"
#include "tests/unit/unit_test.h"

static const struct {
        uint64_t first, step, n;
} cases[] = {
        { 0, 0, 1 },
        { 0, 0, 1000 },
        { 1, 0, 1 },
        { 1, 1, 5 },
        { 0, 1, 100 },
        { 1000000, 1, 1000 },
        { 1000000, 1000, 1000 },
        { 1000, 100000, 100 },
        { 5, 1000003, 100000 },
        { UINT64_MAX, 0, 3 },
        { 0, UINT64_MAX, 2 },
        { 1, UINT64_MAX / 100, 100 },
        { UINT64_MAX - 1000, 1, 1000 },
};

/* loop test */
START_LOOP_TEST(test_every_number_once, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct histogram h = { .n_values = 0 };
        struct histogram_bins b;
        uint64_t n = 0;

        for (uint64_t i = 0; i < cases[_i].n; i++)
                ck_assert_int_eq(histogram_add(&h, cases[_i].first + i * cases[_i].step), 0);
        histogram_bins_fill(&b, &h, 0);
        ck_assert_uint_gt(b.n_bins, 0);
        ck_assert_uint_le(b.n_bins, HISTOGRAM_BINS_MAX);
        ck_assert_uint_le(b.bins[0].from, h.smallest);
        for (uint32_t i = 0; i < b.n_bins; i++) {
                ck_assert(i == 0 || b.bins[i].from == b.bins[i - 1].to);
                ck_assert_uint_lt(b.bins[i].from, b.bins[i].to);
                ck_assert_uint_le(b.bins[i].n_values, b.n_largest);
                n += b.bins[i].n_values;
        }
        ck_assert_uint_eq(n, h.n_values);
        histogram_deinit(&h);
}
END_TEST

START_TEST(test_round_limits)
{
        struct histogram h = { .n_values = 0 };
        struct histogram_bins b;

        for (uint64_t i = 1; i <= 40; i++)
                ck_assert_int_eq(histogram_add(&h, i * 1000), 0);
        histogram_bins_fill(&b, &h, 0);
        ck_assert_uint_eq(b.n_bins, 5);
        ck_assert_uint_eq(b.bins[0].from, 1000);
        ck_assert_uint_eq(b.bins[1].from, 2000);
        ck_assert_uint_eq(b.bins[2].from, 5000);
        ck_assert_uint_eq(b.bins[2].n_values, 5);
        ck_assert_uint_eq(b.bins[4].from, 20000);
        ck_assert_uint_eq(b.bins[4].to, 50000);
        ck_assert_uint_eq(b.n_largest, 21);
        histogram_deinit(&h);
}
END_TEST

START_TEST(test_empty)
{
        struct histogram h = { .n_values = 0 };
        struct histogram_bins b;

        histogram_bins_fill(&b, &h, 0);
        ck_assert_uint_eq(b.n_bins, 0);
}
END_TEST

/* Each number is in the step that says so, and the sums are those of the numbers within 1 %. */
START_TEST(test_steps)
{
        static struct histogram_step steps[HISTOGRAM_STEPS_MAX];
        struct histogram h = { .n_values = 0 };
        uint64_t n = 0, sum = 0, total = 0, at = 0;
        uint32_t n_steps;

        for (uint64_t value = 1; value < UINT64_C(1) << 40; value += 1 + value / 9) {
                ck_assert_int_eq(histogram_add(&h, value), 0);
                total += value;
        }
        n_steps = histogram_steps_fill(&h, steps);
        ck_assert_uint_gt(n_steps, 200);
        for (uint32_t i = 0; i < n_steps; i++) {
                ck_assert_uint_ge(steps[i].from, at);
                ck_assert_uint_gt(steps[i].to, steps[i].from);
                ck_assert_uint_ge(steps[i].sum, steps[i].n_values * steps[i].from);
                ck_assert_uint_lt(steps[i].sum, steps[i].n_values * steps[i].to);
                at = steps[i].to;
                n += steps[i].n_values;
                sum += steps[i].sum;
        }
        ck_assert_uint_eq(n, h.n_values);
        ck_assert_double_eq_tol((double)sum / (double)total, 1.0, 0.01);
        histogram_deinit(&h);
}
END_TEST

START_TEST(test_steps_of_few_and_of_the_largest)
{
        static struct histogram_step steps[HISTOGRAM_STEPS_MAX];
        struct histogram h = { .n_values = 0 };

        ck_assert_uint_eq(histogram_steps_fill(&h, steps), 0);
        ck_assert_int_eq(histogram_add(&h, 5), 0);
        ck_assert_int_eq(histogram_add(&h, UINT64_MAX), 0);
        ck_assert_uint_eq(histogram_steps_fill(&h, steps), 2);
        ck_assert_uint_eq(steps[0].from, 4);
        ck_assert_uint_eq(steps[0].to, 8);
        ck_assert_uint_eq(steps[1].to, UINT64_MAX);
        histogram_deinit(&h);
}
END_TEST
