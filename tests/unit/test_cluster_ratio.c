/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/cluster_ratio.c, why_tally.c, why_durations.c: probabilities of known cases; shares
 * add up; bounds are exact
 */
#include "analyze/stats/cluster_ratio.h"
#include "analyze/why/why_durations.h"
#include "analyze/why/why_tally.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>

/* Quantiles of tables of Student's distribution. */
START_TEST(test_student_tail_is_that_of_tables)
{
        static const struct {
                double t, df, p;
        } cases[] = {
                { 0, 7, 0.5 },          { 12.706, 1, 0.025 }, { 2.228, 10, 0.025 },  { 3.169, 10, 0.005 },
                { 1.9600, 1e6, 0.025 }, { 6.314, 1, 0.05 },   { -2.228, 10, 0.975 }, { 4.781, 9, 0.0005 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                ck_assert_double_eq_tol(student_tail(cases[i].t, cases[i].df), cases[i].p,
                                        0.002 * cases[i].p + 1e-9);
}
END_TEST

static struct cluster_ratio group_of(int n, double x, double w)
{
        struct cluster_ratio r = { .n = 0 };

        for (int i = 0; i < n; i++)
                cluster_ratio_add(&r, x, w);
        return r;
}

START_TEST(test_a_clear_difference_is_one_and_none_is_none)
{
        struct cluster_ratio slow = group_of(10, 19, 20), typical = group_of(200, 0, 1);
        struct cluster_ratio same = group_of(200, 0.95, 1), few = group_of(1, 19, 20);

        ck_assert_double_lt(cluster_ratio_compare(&slow, &typical, 1), 1e-6);
        ck_assert_double_gt(cluster_ratio_compare(&slow, &same, 1), 0.3);
        ck_assert_double_gt(cluster_ratio_compare(&typical, &slow, 1), 0.999);
        ck_assert_double_eq(cluster_ratio_compare(&few, &typical, 1), 1);
        ck_assert_double_eq(cluster_ratio_compare(&slow, &typical, 0), 1);
}
END_TEST

/* One instance that has it all is no pattern: samples within an instance do not count one by one. */
START_TEST(test_one_instance_with_many_samples_is_no_pattern)
{
        struct cluster_ratio slow = group_of(9, 0, 20), typical = group_of(200, 0, 20);

        cluster_ratio_add(&slow, 20, 20);
        ck_assert_double_gt(cluster_ratio_compare(&slow, &typical, 1), 0.05);
}
END_TEST

/* Among two groups that are alike, one in twenty or fewer has p below 0.05. */
START_TEST(test_equal_groups_differ_as_rarely_as_said)
{
        uint64_t random = 7;
        int n_below = 0;

        for (int round = 0; round < 400; round++) {
                struct cluster_ratio groups[2] = { { .n = 0 }, { .n = 0 } };

                for (int i = 0; i < 212; i++) {
                        double w = i < 12 ? 30 : 2, x = 0;

                        for (int k = 0; k < (int)w; k++)
                                x += fixed_random_next(&random) % 10 < 3;
                        cluster_ratio_add(&groups[i < 12], x, w);
                }
                n_below += cluster_ratio_compare(&groups[1], &groups[0], 1) < 0.05;
        }
        ck_assert_int_le(n_below, 32);
        ck_assert_int_ge(n_below, 4);
}
END_TEST

START_TEST(test_shares_add_up_and_lie_in_their_interval)
{
        struct why_group_sum groups[2] = { { .n = 0 }, { .n = 0 } };
        struct why_tally t;
        struct why_group_sum own[2];
        struct why_share a, b;

        ck_assert_int_eq(why_tally_init(&t, 2), 0);
        for (int i = 0; i < 110; i++) {
                enum why_group group = i < 10 ? WHY_SLOW : WHY_TYPICAL;
                double first = i < 10 ? 90 + i : 5, second = i < 10 ? 15 : 5;

                why_tally_add(&t, group, 0, first / 2, 1);
                why_tally_add(&t, group, 0, first / 2, 1);
                why_tally_add(&t, group, 1, second, 1);
                why_tally_close(&t, group, first + second, first + second, first);
                groups[group].n++;
                groups[group].duration += first + second;
                groups[group].duration2 += (first + second) * (first + second);
        }
        why_tally_finish(&t);
        a = why_share_of(&t.measures[0], groups);
        b = why_share_of(&t.measures[1], groups);
        ck_assert_double_eq_tol(a.slow_ns, 94.5, 1e-9);
        ck_assert_double_eq_tol(a.value, 89.5 / 99.5, 1e-9);
        ck_assert_double_eq_tol(a.value + b.value, 1, 1e-9);
        ck_assert_double_lt(a.low, a.value);
        ck_assert_double_gt(a.high, a.value);
        ck_assert_double_gt(a.low, 0.85);
        own[WHY_SLOW] = (struct why_group_sum){ .n = 10, .duration = 945, .duration2 = 89385 };
        own[WHY_TYPICAL] = (struct why_group_sum){ .n = 100, .duration = 500, .duration2 = 2500 };
        a = why_share_of_own(&t.measures[0], own);
        ck_assert_double_eq_tol(a.value, 1, 1e-9);
        ck_assert_double_eq_tol(a.low, 1, 1e-6);
        ck_assert_uint_eq(t.measures[0].ratio[WHY_SLOW].n_with, 10);
        ck_assert_uint_eq(t.measures[0].n_times[WHY_SLOW], 20);
        why_tally_deinit(&t);
}
END_TEST

static const struct sample_cost no_cost = { .is_known = false };

static struct why_rank rank_of(const struct why_durations *d, enum why_by by, double slowest)
{
        struct why_rank_request request = { .by = by, .slowest = slowest };
        struct why_rank rank;

        ck_assert_int_eq(why_durations_rank(d, &request, &no_cost, &rank), 0);
        return rank;
}

START_TEST(test_slowest_share_is_exact_while_they_are_few)
{
        struct why_durations d = { .n_exact = 0 };

        ck_assert_double_eq(rank_of(&d, WHY_BY_WALL, 0.01).median_ns, 0);
        for (uint64_t i = 0; i < 1000; i++)
                ck_assert_int_eq(
                        why_durations_add(&d, &(struct why_spent){ .wall_ns = (i * 377) % 1000 + 1,
                                                                   .on_cpu_ns = (i * 377) % 1000 + 1 }),
                        0);
        ck_assert_double_eq(rank_of(&d, WHY_BY_WALL, 0.01).slow_ns, 991);
        ck_assert_double_eq(rank_of(&d, WHY_BY_WALL, 0.01).n_slow, 10);
        ck_assert_double_eq(rank_of(&d, WHY_BY_WALL, 0.0001).slow_ns, 1000);
        ck_assert_double_eq(rank_of(&d, WHY_BY_WALL, 0.01).high_ns, 750);
        why_durations_deinit(&d);
}
END_TEST

START_TEST(test_memory_stays_when_they_are_many)
{
        struct why_durations d = { .n_exact = 0 };
        int r = 0;

        for (uint64_t i = 0; i < 4 * WHY_DURATIONS_EXACT_MAX; i++)
                r |= why_durations_add(
                        &d, &(struct why_spent){ .wall_ns = 1000 + i % 1000, .on_cpu_ns = 1000 + i % 1000 });
        ck_assert_int_eq(r, 0);
        ck_assert_uint_eq(d.n_exact, 0);
        ck_assert_double_eq_tol(rank_of(&d, WHY_BY_WALL, 0.01).median_ns, 1500, 15);
        ck_assert_double_eq_tol(rank_of(&d, WHY_BY_WALL, 0.01).slow_ns, 1990, 20);
        why_durations_deinit(&d);
}
END_TEST

START_TEST(test_binomial_tail_is_exact)
{
        ck_assert_double_eq_tol(binomial_tail(3, 3, 0.5), 0.125, 1e-12);
        ck_assert_double_eq_tol(binomial_tail(2, 3, 0.5), 0.5, 1e-12);
        ck_assert_double_eq_tol(binomial_tail(8, 10, 0.3), 0.0015903864, 1e-9);
        ck_assert_double_eq(binomial_tail(0, 10, 0.3), 1);
        ck_assert_double_eq(binomial_tail(0, 0, 0.3), 1);
        ck_assert_double_eq(binomial_tail(4, 10, 1), 1);
        ck_assert_double_eq(binomial_tail(4, 10, 0), 0);
        ck_assert_double_eq_tol(binomial_tail(4096, 8192, 0.5), 0.5044, 1e-3);
}
END_TEST
