/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_test.c, diff_run.c, diff_command.c: a change is as certain as the runs
 * make it, at each threshold
 */
#include "analyze/diff/diff_command.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_test.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_DRAWS 4000

static double random_normal(uint64_t *state)
{
        double sum = -6;

        for (int i = 0; i < 12; i++)
                sum += (double)(fixed_random_next(state) >> 11) / (double)(UINT64_C(1) << 53);
        return sum;
}

/* By hand: the means differ by 3, each set has the variance 1. */
START_TEST(test_sets)
{
        static const double logs[] = { 0, 1, 2, 3, 4, 5 };
        struct diff_verdict v = diff_test_sets(logs, 3, 3);

        ck_assert_double_eq(v.change, 3);
        ck_assert_double_eq(v.df, 4);
        ck_assert_double_eq_tol(v.variance, 1, 1e-12);
        ck_assert_double_eq_tol(v.se, sqrt(2.0 / 3), 1e-12);
        ck_assert_double_eq_tol(v.p, 0.0213, 1e-4);
}
END_TEST

/* A set of one run varies as the other one does. */
START_TEST(test_one_against_several)
{
        static const double logs[] = { 5, 0, 1, 2 };
        struct diff_verdict v = diff_test_sets(logs, 1, 3);

        ck_assert_double_eq(v.change, -4);
        ck_assert_double_eq(v.df, 2);
        ck_assert_double_eq_tol(v.variance, 1, 1e-12);
        ck_assert_double_eq_tol(v.se, sqrt(4.0 / 3), 1e-12);
}
END_TEST

/* That all runs are equal is chance: no change is known better than the least standard error. */
START_TEST(test_equal_runs)
{
        static const double logs[] = { 1, 1, 1, 1.0025, 1.0025, 1.0025 };
        struct diff_verdict v = diff_test_sets(logs, 3, 3);

        ck_assert_double_eq(v.se, 0.0025);
        ck_assert_double_gt(v.p, 0.3);
}
END_TEST

/*
 * Among draws of one distribution the share of p below 0.05 is 0.05: more with a normal
 * distribution instead of Student's.
 */
START_TEST(test_null)
{
        uint64_t state = 3;
        int n_false = 0;

        for (int i = 0; i < N_DRAWS; i++) {
                double logs[10];

                for (int j = 0; j < 10; j++)
                        logs[j] = 0.02 * random_normal(&state);
                n_false += diff_test_sets(logs, 5, 5).p <= 0.05;
        }
        ck_assert_double_eq_tol(n_false / (double)N_DRAWS, 0.05, 0.012);
}
END_TEST

/* A change that is called detectable is found in 9 of 10 draws. */
START_TEST(test_detectable)
{
        double change = diff_test_detectable(0.02 * 0.02, 5, 5, 0.0025);
        uint64_t state = 5;
        int n_found = 0;

        for (int i = 0; i < N_DRAWS; i++) {
                double logs[10];

                for (int j = 0; j < 10; j++)
                        logs[j] = 0.02 * random_normal(&state) + (j >= 5 ? change : 0);
                n_found += diff_test_sets(logs, 5, 5).p <= 0.0025;
        }
        ck_assert_double_eq_tol(n_found / (double)N_DRAWS, 0.9, 0.03);
}
END_TEST

/* The approximate bounds of Poisson numbers are a little wider than the exact ones from a table. */
START_TEST(test_counts)
{
        static const struct {
                uint64_t n;
                double low, high, far;
        } rows[] = { { 0, 0, 3.69, 13.82 },
                     { 1, 0.025, 5.57, 16.7 },
                     { 9, 4.12, 17.1, 31.9 },
                     { 100, 81.4, 121.6, 154.6 } };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                ck_assert_double_eq_tol(diff_test_count_low(rows[i].n), rows[i].low, 0.1);
                ck_assert_double_eq_tol(diff_test_count_high(rows[i].n), rows[i].high, 0.2);
                ck_assert_double_ge(diff_test_count_far(rows[i].n), rows[i].far * 0.99);
                ck_assert_double_le(diff_test_count_far(rows[i].n), rows[i].far * 1.12);
        }
}
END_TEST

/*
 * The spread that a pair does not show comes from the prior: its variances add up, its
 * degrees of freedom count.
 */
START_TEST(test_pair)
{
        double few = diff_test_prior(DIFF_PRIOR_RUN, 1.0 / 200), many = diff_test_prior(DIFF_PRIOR_RUN, 1e-6);
        struct diff_verdict v = diff_test_pair(1, 1.5, few, few);

        ck_assert_double_ge(few, DIFF_PRIOR_RUN * DIFF_PRIOR_RUN + 1.0 / 200);
        ck_assert_double_eq_tol(sqrt(many), DIFF_PRIOR_RUN, 0.001);
        ck_assert_double_eq(v.change, 0.5);
        ck_assert_double_eq_tol(v.se * v.se, 2 * few, 1e-12);
        ck_assert_double_eq(v.df, DIFF_PRIOR_DF);
        /* As large as the findings on repeats of one program: not certain at 1 % among twenty functions. */
        ck_assert_double_gt(v.p, 0.01 / 20);
        ck_assert_double_gt(diff_test_pair(0, log(1.05), many, many).p, 0.01 / 20);
        ck_assert_double_lt(diff_test_pair(0, log(3), many, many).p, 0.01 / 20);
}
END_TEST

/* One instance of 20,000 was interrupted: as if it were not there. */
START_TEST(test_spread)
{
        struct diff_spread plain = { .n = { 0 } }, hit = { .n = { 0 } };
        struct diff_typical t;

        for (int i = 0; i < 20000; i++) {
                diff_spread_add(&plain, 8 + i % 5);
                diff_spread_add(&hit, i == 777 ? 760000 : 8 + i % 5);
        }
        t = diff_spread_typical(&hit);
        ck_assert_double_eq_tol(t.mean, diff_spread_typical(&plain).mean, 0.01);
        ck_assert_double_eq_tol(t.mean, 10, 0.02);
        ck_assert_double_lt(t.variance, 0.03 / 20000);
}
END_TEST

/* Two of a thousand are a part of the program: one of them stays. */
START_TEST(test_slow_ones_that_count)
{
        struct diff_spread s = { .n = { 0 } };

        for (int i = 0; i < 1000; i++)
                diff_spread_add(&s, i < 2 ? 100000 : 10);
        ck_assert_double_eq_tol(diff_spread_typical(&s).mean, (100000 + 998 * 10) / 999.0, 0.01);
}
END_TEST

START_TEST(test_few_instances)
{
        struct diff_spread s = { .n = { 0 } };

        ck_assert_double_eq(diff_spread_typical(&s).mean, 0);
        diff_spread_add(&s, 5);
        ck_assert_double_eq(diff_spread_typical(&s).mean, 5);
        ck_assert(isinf(diff_spread_typical(&s).variance));
        diff_spread_add(&s, 0);
        diff_spread_add(&s, 1e300);
        ck_assert_double_eq_tol(diff_spread_typical(&s).mean, 2.5, 1e-9);
}
END_TEST

static struct text_view text(const char *s)
{
        return (struct text_view){ s, strlen(s) };
}

static bool is_same_program(const char *a, const char *b)
{
        return text_view_equal(diff_program_name(text(a)), diff_program_name(text(b)));
}

START_TEST(test_programs)
{
        ck_assert(is_same_program("build-old/app", "build-new/app --threads 4"));
        ck_assert(is_same_program("app", "/usr/bin/app /etc/other"));
        ck_assert(is_same_program("./a; ./b x", "a"));
        ck_assert(!is_same_program("./slow", "./server"));
        ck_assert(!is_same_program("./app", "./app2"));
        ck_assert(!is_same_program("./app x", "./x app"));
        ck_assert_uint_eq(diff_program_arguments(text("a/app")).n_bytes, 0);
        ck_assert(text_view_equal(diff_program_arguments(text("a/app --n 4")),
                                  diff_program_arguments(text("b/app --n 4"))));
        ck_assert(!text_view_equal(diff_program_arguments(text("app --n 4")),
                                   diff_program_arguments(text("app --n 5"))));
        ck_assert_uint_eq(diff_program_name(text("")).n_bytes, 0);
}
END_TEST
