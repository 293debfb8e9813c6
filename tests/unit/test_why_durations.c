/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_durations.c: where the slow instances begin, at each threshold, by hand;
 * analyze/why/why_instances.c: the bounds of what is kept of them
 */
#include "analyze/why/why_durations.h"

#include "analyze/why/why_instances.h"
#include "tests/unit/unit_test.h"

#include <math.h>

#define COST_NS   50
#define PERIOD_NS 1000

static const struct sample_cost no_cost = { .is_known = false };
static const struct sample_cost known = { .is_known = true, .cost_ns = COST_NS, .period_ns = PERIOD_NS };

static struct why_durations d;
static struct why_rank rank; /* of the last find_rank() */

static void teardown(void)
{
        why_durations_deinit(&d);
}

/* @n instances that ran for @ns; those with a sample took its cost longer. */
static void add(uint32_t n, uint64_t ns, uint64_t n_samples, uint64_t cost_ns)
{
        uint64_t all_ns = ns + n_samples * cost_ns;
        struct why_spent spent = { .wall_ns = all_ns, .on_cpu_ns = all_ns, .n_samples = n_samples };

        for (uint32_t i = 0; i < n; i++)
                ck_assert_int_eq(why_durations_add(&d, &spent), 0);
}

/* The instances are forgotten. */
static void find_rank(double slowest, uint64_t slower_than_ns, const struct sample_cost *cost)
{
        struct why_rank_request request = { .by = WHY_BY_WALL,
                                            .slowest = slowest,
                                            .slower_than_ns = slower_than_ns };

        ck_assert_int_eq(why_durations_rank(&d, &request, cost, &rank), 0);
        why_durations_deinit(&d);
}

START_TEST(test_ranks)
{
        for (uint64_t ns = 1; ns <= 100; ns++)
                add(1, ns, 0, 0);
        find_rank(0.05, 0, &no_cost);
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
        add(100, 70, 0, 0);
        find_rank(0.05, 0, &no_cost);
        ck_assert_double_eq(rank.slow_ns, 71);
        ck_assert_double_eq(rank.n_slow, 0);
        add(100, 70, 0, 0);
        find_rank(0.05, 60, &no_cost);
        ck_assert_double_eq(rank.slow_ns, 60);
        ck_assert_double_eq(rank.n_slow, 100);
}
END_TEST

/* Samples cost more than a tenth of the median: then only instances without one decide. */
START_LOOP_TEST(test_who_decides, 0, 2)
{
        struct sample_cost cost = { .is_known = true, .cost_ns = _i == 0 ? 99 : 101, .period_ns = 1e6 };

        add(80, 1000, 0, 0);
        add(20, 2000, 1, (uint64_t)cost.cost_ns);
        find_rank(0.1, 0, &cost);
        ck_assert_double_eq(rank.slow_ns, _i == 0 ? 2000 : 1001);
}
END_TEST

/* Nearly all that take three quarters of a period have a sample, so that they count with it. */
START_LOOP_TEST(test_long_instances_count, 0, 2)
{
        add(90, 100, 0, 0);
        add(10, _i == 0 ? 749 : 751, 1, COST_NS);
        find_rank(0.05, 0, &known);
        ck_assert_double_eq(rank.slow_ns, _i == 0 ? 101 : 751);
}
END_TEST

/* The cost of a sample, and the usual spread of that, make no instance slow. */
START_TEST(test_spread)
{
        struct sample_cost cost = known;

        cost.spread_ns = 30;
        add(100, 100, 0, 0);
        find_rank(0, 110, &cost);
        ck_assert_double_eq(rank.slow_sampled_ns, 130);
}
END_TEST

/*
 * Slow instances without a sample take half of a period, so that as many with one are expected: up to half
 * more of them, and three, are no reason to raise the limit.  If there are more, some are slow by their
 * sample alone, unless so many may have one by chance: 24 of 34 have with p = 0.012, 25 of 35 with 0.008.
 */
static const struct {
        uint32_t n_without, n_with;
        bool is_raised;
} excesses[] = {
        { 100, 153, false }, { 100, 154, true }, { 10, 18, false }, { 10, 24, false }, { 10, 25, true },
};

START_LOOP_TEST(test_more_samples_than_expected, 0, sizeof(excesses) / sizeof(excesses[0]))
{
        add(1000, 100, 0, 0);
        add(excesses[_i].n_without, 500, 0, 0);
        add(excesses[_i].n_with, 500, 1, COST_NS);
        find_rank(0, 400, &known);
        if (excesses[_i].is_raised)
                ck_assert_double_gt(rank.slow_sampled_ns, 500);
        else
                ck_assert_double_eq(rank.slow_sampled_ns, 400);
}
END_TEST

/* Short instances hardly ever have a sample: four are too many, by no chance. */
START_LOOP_TEST(test_short_instances_have_no_sample, 3, 5)
{
        add(1000, 10, 0, 0);
        add((uint32_t)_i, 20, 1, COST_NS);
        find_rank(0, 15, &known);
        if (_i == 4)
                ck_assert_double_gt(rank.slow_sampled_ns, 20);
        else
                ck_assert_double_eq(rank.slow_sampled_ns, 15);
}
END_TEST

/*
 * Four instances of 300 ns are slow by their sample alone, so that the limit of those with a sample is above
 * them.  It is not that of instances which wait for five times what a sample costs: all of these may have a
 * sample, and they excuse no other.  In a list, and in histograms.
 */
START_LOOP_TEST(test_waits_are_sure, 0, 4)
{
        struct why_spent wait = { .on_cpu_ns = 10 + COST_NS,
                                  .n_samples = 1,
                                  .waiting_ns = 5 * COST_NS - (uint64_t)_i % 2 };
        uint32_t n = _i < 2 ? 1000 : WHY_DURATIONS_EXACT_MAX;

        wait.wall_ns = wait.on_cpu_ns + wait.waiting_ns;
        add(n, 10, 0, 0);
        add(4, 10, 1, COST_NS + 290);
        for (int i = 0; i < 100; i++)
                ck_assert_int_eq(why_durations_add(&d, &wait), 0);
        find_rank(0, 200, &known);
        ck_assert_double_eq(rank.slow_ns, 200);
        ck_assert_double_eq(rank.sure_wait_ns, 5 * COST_NS);
        ck_assert_double_gt(rank.slow_sampled_ns, 300);
        ck_assert_int_eq(why_rank_is_slow(&rank, &wait, why_spent_value(&wait, WHY_BY_WALL, &known)),
                         _i % 2 == 0);
}
END_TEST

/*
 * Half of the instances have a sample, of the few that wait all but one: the waits are the slowest hundredth.
 */
START_TEST(test_waits_weigh_as_many_as_they_are)
{
        struct why_spent wait = { .wall_ns = 10500, .on_cpu_ns = 500, .waiting_ns = 10000 };

        for (uint64_t i = 0; i < 990; i++)
                add(1, 450 + i % 100, i % 2, COST_NS);
        for (int i = 0; i < 10; i++) {
                wait.n_samples = i != 0;
                ck_assert_int_eq(why_durations_add(&d, &wait), 0);
        }
        find_rank(0.01, 0, &known);
        ck_assert_double_gt(rank.slow_ns, 10000);
        ck_assert_double_eq(rank.n_slow, 10);
}
END_TEST

/* Samples change no wait, and no wait makes the time on a CPU sure. */
START_LOOP_TEST(test_samples_and_waits_are_apart, 0, 2)
{
        enum why_by by = _i == 0 ? WHY_BY_WAITING : WHY_BY_ON_CPU;
        struct why_spent wait = { .on_cpu_ns = 100 + COST_NS, .n_samples = 1, .waiting_ns = 10 };
        struct why_rank_request request = { .by = by, .slower_than_ns = 5 };

        wait.wall_ns = wait.on_cpu_ns + wait.waiting_ns;
        add(1000, 3, 0, 0);
        for (int i = 0; i < 10; i++)
                ck_assert_int_eq(why_durations_add(&d, &wait), 0);
        ck_assert_int_eq(why_durations_rank(&d, &request, &known, &rank), 0);
        if (by == WHY_BY_WAITING) {
                ck_assert_double_eq(rank.slow_sampled_ns, 5);
                ck_assert(why_rank_is_slow(&rank, &wait, 10));
        } else {
                ck_assert_double_eq(rank.sure_wait_ns, INFINITY);
                ck_assert_double_gt(rank.slow_sampled_ns, 5);
        }
}
END_TEST

/* All that an instance had stays, what happened again is added up, and other instances do not change. */
START_TEST(test_a_kept_instance_grows)
{
        static const struct {
                enum why_kind kind;
                uint32_t id;
                uint64_t amount;
        } first[] = { { WHY_SAMPLE, 5, 10 }, { WHY_LOCK, 9, 20 }, { WHY_SAMPLE, 7, 40 } },
          second[] = { { WHY_MOVED, 0, 3 }, { WHY_SAMPLE, 7, 2 }, { WHY_LOCK, 9, 1 }, { WHY_SAMPLE, 7, 5 } };
        static const struct why_row wanted[] = { { WHY_LOCK, 9, 2, 21 },
                                                 { WHY_MOVED, 0, 1, 3 },
                                                 { WHY_SAMPLE, 5, 1, 10 },
                                                 { WHY_SAMPLE, 7, 3, 47 } };
        struct why_instances instances = { .n_items = 0 };
        struct why_draft draft = { .n_rows = 0 };
        struct why_instance instance = { .duration_ns = 1 }, before;
        int r = 0;

        for (int i = 0; i < 3; i++) { /* the last one has no rows at first */
                for (size_t k = 0; i < 2 && k < sizeof(first) / sizeof(first[0]); k++)
                        r |= why_draft_add(&draft, first[k].kind, first[k].id, first[k].amount);
                r |= why_instances_add(&instances, &instance, &draft);
        }
        for (size_t i = 1; i < 3; i++) {
                for (size_t k = 0; k < sizeof(second) / sizeof(second[0]); k++)
                        r |= why_draft_add(&draft, second[k].kind, second[k].id, second[k].amount);
                r |= why_instances_extend(&instances, &instances.items[i], &draft);
        }
        ck_assert_int_eq(r, 0);
        ck_assert_uint_eq(instances.items[0].n_rows, 3);
        ck_assert_uint_eq(instances.rows[instances.items[0].first_row].amount, 20);
        ck_assert_uint_eq(instances.items[1].n_rows, sizeof(wanted) / sizeof(wanted[0]));
        ck_assert_mem_eq(instances.rows + instances.items[1].first_row, wanted, sizeof(wanted));
        ck_assert_uint_eq(instances.items[2].n_rows, 3);
        ck_assert_uint_eq(instances.rows[instances.items[2].first_row + 2].amount, 7);
        ck_assert_uint_eq(draft.n_rows, 0);

        before = instances.items[1];
        instances.n_rows = WHY_ROWS_MAX; /* no room: it stays as it is, and the rest is counted */
        r = why_draft_add(&draft, WHY_SAMPLE, 5, 1);
        r |= why_draft_add(&draft, WHY_SAMPLE, 6, 1);
        ck_assert_int_eq(r | why_instances_extend(&instances, &instances.items[1], &draft), 0);
        ck_assert_uint_eq(instances.items[1].first_row, before.first_row);
        ck_assert_uint_eq(instances.items[1].n_rows, before.n_rows);
        ck_assert_uint_eq(instances.n_rows, WHY_ROWS_MAX);
        ck_assert_uint_eq(instances.n_rows_left_out, 1);
        ck_assert_uint_eq(draft.n_rows, 0);
        why_draft_deinit(&draft);
        why_instances_deinit(&instances);
}
END_TEST

/* A draft that grows without end is cut and says so; equal rows are one. */
START_TEST(test_a_draft_is_bounded)
{
        struct why_instances instances = { .n_items = 0 };
        struct why_draft draft = { .n_rows = 0 };
        struct why_instance instance = { .duration_ns = 1, .is_slow = true };
        int r = 0;

        for (uint32_t i = 0; i < 4 * WHY_DRAFT_ROWS_MAX; i++)
                r |= why_draft_add(&draft, WHY_SAMPLE, i % 3, 2);
        ck_assert_uint_eq(draft.n_left_out, 0);
        ck_assert_int_eq(why_instances_add(&instances, &instance, &draft), 0);
        ck_assert_uint_eq(instances.items[0].n_rows, 3);
        ck_assert_uint_eq(instances.rows[0].amount + instances.rows[1].amount + instances.rows[2].amount,
                          8 * WHY_DRAFT_ROWS_MAX);
        for (uint32_t i = 0; i < 4 * WHY_DRAFT_ROWS_MAX; i++)
                r |= why_draft_add(&draft, WHY_SAMPLE, i, 2);
        ck_assert_uint_eq(draft.n_rows, WHY_DRAFT_ROWS_MAX);
        ck_assert_uint_eq(draft.n_left_out, 3 * WHY_DRAFT_ROWS_MAX);
        ck_assert_int_eq(why_instances_add(&instances, &instance, &draft), 0);
        ck_assert_uint_eq(instances.n_rows_left_out, 3 * WHY_DRAFT_ROWS_MAX);
        for (uint32_t i = 0; i < WHY_INSTANCES_MAX; i++)
                r |= why_instances_add(&instances, &instance, &draft);
        ck_assert_int_eq(r, 0);
        ck_assert_uint_eq(instances.n_slow, WHY_INSTANCES_MAX);
        ck_assert_uint_eq(instances.n_left_out, 2);
        why_draft_deinit(&draft);
        why_instances_deinit(&instances);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
