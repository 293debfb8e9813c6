/* SPDX-License-Identifier: MIT */
/* analyze/why/why_durations.c: where the slow instances begin, at each threshold, by hand */
#include "analyze/why/why_durations.h"
#include "tests/unit/unit_test.h"

#define COST_NS   50
#define PERIOD_NS 1000

static const struct sample_cost no_cost = { .is_known = false };
static const struct sample_cost known = { .is_known = true, .cost_ns = COST_NS, .period_ns = PERIOD_NS };

/* @n instances that ran for @ns; those with a sample took its cost longer. */
static void add(struct why_durations *d, uint32_t n, uint64_t ns, uint64_t n_samples, uint64_t cost_ns)
{
        uint64_t all_ns = ns + n_samples * cost_ns;
        struct why_spent spent = { .wall_ns = all_ns, .on_cpu_ns = all_ns, .n_samples = n_samples };

        for (uint32_t i = 0; i < n; i++)
                ck_assert_int_eq(why_durations_add(d, &spent), 0);
}

/* The instances are forgotten. */
static struct why_rank rank_of(struct why_durations *d, double slowest, uint64_t slower_than_ns,
                               const struct sample_cost *cost)
{
        struct why_rank_request request = { .by = WHY_BY_WALL,
                                            .slowest = slowest,
                                            .slower_than_ns = slower_than_ns };
        struct why_rank rank;

        ck_assert_int_eq(why_durations_rank(d, &request, cost, &rank), 0);
        why_durations_deinit(d);
        return rank;
}

START_TEST(test_ranks)
{
        struct why_durations d = { .n = 0 };
        struct why_rank rank;

        for (uint64_t ns = 1; ns <= 100; ns++)
                add(&d, 1, ns, 0, 0);
        rank = rank_of(&d, 0.05, 0, &no_cost);
        ck_assert_double_eq(rank.median_ns, 50);
        ck_assert_double_eq(rank.high_ns, 75);
        ck_assert_double_eq(rank.slow_ns, 96);
        ck_assert_double_eq(rank.slow_sampled_ns, 96);
        ck_assert_double_eq(rank.n_slow, 5);
}
END_TEST

/* The slowest of equal ones are not slow, unless a limit in time says so. */
START_TEST(test_no_instance_is_slow)
{
        struct why_durations d = { .n = 0 };
        struct why_rank rank;

        add(&d, 100, 70, 0, 0);
        rank = rank_of(&d, 0.05, 0, &no_cost);
        ck_assert_double_eq(rank.slow_ns, 71);
        ck_assert_double_eq(rank.n_slow, 0);
        add(&d, 100, 70, 0, 0);
        rank = rank_of(&d, 0.05, 60, &no_cost);
        ck_assert_double_eq(rank.slow_ns, 60);
        ck_assert_double_eq(rank.n_slow, 100);
}
END_TEST

/* Samples cost more than a tenth of the median: then only instances without one decide. */
START_LOOP_TEST(test_who_decides, 0, 2)
{
        struct sample_cost cost = { .is_known = true, .cost_ns = _i == 0 ? 99 : 101, .period_ns = 1e6 };
        struct why_durations d = { .n = 0 };
        struct why_rank rank;

        add(&d, 80, 1000, 0, 0);
        add(&d, 20, 2000, 1, (uint64_t)cost.cost_ns);
        rank = rank_of(&d, 0.1, 0, &cost);
        ck_assert_double_eq(rank.slow_ns, _i == 0 ? 2000 : 1001);
}
END_TEST

/* Nearly all that take three quarters of a period have a sample, so that they count with it. */
START_LOOP_TEST(test_long_instances_count, 0, 2)
{
        struct why_durations d = { .n = 0 };
        struct why_rank rank;

        add(&d, 90, 100, 0, 0);
        add(&d, 10, _i == 0 ? 749 : 751, 1, COST_NS);
        rank = rank_of(&d, 0.05, 0, &known);
        ck_assert_double_eq(rank.slow_ns, _i == 0 ? 101 : 751);
}
END_TEST

/* The cost of a sample, and the usual spread of that, make no instance slow. */
START_TEST(test_spread)
{
        struct sample_cost cost = known;
        struct why_durations d = { .n = 0 };
        struct why_rank rank;

        cost.spread_ns = 30;
        add(&d, 100, 100, 0, 0);
        rank = rank_of(&d, 0, 110, &cost);
        ck_assert_double_eq(rank.slow_sampled_ns, 130);
}
END_TEST

/*
 * Ten slow instances without a sample take half of a period, so that ten with one are expected: up
 * to half more of them, and three, are chance; beyond that some are slow by their sample alone,
 * and the limit is raised.
 */
START_LOOP_TEST(test_more_samples_than_expected, 0, 2)
{
        struct why_durations d = { .n = 0 };
        struct why_rank rank;

        add(&d, 100, 100, 0, 0);
        add(&d, 10, 500, 0, 0);
        add(&d, 18 + (uint32_t)_i, 500, 1, COST_NS);
        rank = rank_of(&d, 0, 400, &known);
        if (_i == 0)
                ck_assert_double_eq(rank.slow_sampled_ns, 400);
        else
                ck_assert_double_gt(rank.slow_sampled_ns, 500);
}
END_TEST
