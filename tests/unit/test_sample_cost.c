/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/sample_cost.c, why_durations.c: the cost of a sample is learned whatever else makes
 * instances slow; slow ones are no sampled ones
 */
#include "analyze/samples/sample_cost.h"
#include "analyze/why/why_durations.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>

#define PERIOD_NS 1000000.0
#define COST_NS   16000.0

static double chance(uint64_t *random)
{
        return (double)(fixed_random_next(random) % 1000000) / 1e6;
}

struct world {
        double usual_ns, jitter_ns;
        double slow_share, slow_ns; /* longer by that */
        int n;
};

static const struct world worlds[] = {
        { 700, 50, 0, 0, 120000 },          /* one narrow zone of a microsecond */
        { 700, 50, 0.025, 160000, 120000 }, /* most instances with a sample are slow by themselves */
        { 80000, 2000, 0.01, 300000, 5000 }, { 80000, 40000, 0.05, 80000, 20000 },
        { 195000, 1000, 0, 0, 5000 },
};

/* A timer each PERIOD_NS of undisturbed time; a tail of samples costs more. */
static void live(struct why_durations *d, const struct world *world, uint64_t seed)
{
        uint64_t random = seed;
        double next_ns = PERIOD_NS * chance(&random);

        for (int i = 0; i < world->n; i++) {
                double ns = world->usual_ns + world->jitter_ns * chance(&random);
                struct why_spent spent = { .n_samples = 0 };
                double cost_ns = 0;

                if (chance(&random) < world->slow_share)
                        ns += world->slow_ns * (0.8 + 0.4 * chance(&random));
                for (next_ns -= ns; next_ns < 0; next_ns += PERIOD_NS) {
                        spent.n_samples++;
                        cost_ns += COST_NS + 2000 * (chance(&random) - 0.5);
                        if (chance(&random) < 0.02)
                                cost_ns += 30000;
                }
                spent.wall_ns = spent.on_cpu_ns = (uint64_t)(ns + cost_ns);
                ck_assert_int_eq(why_durations_add(d, &spent), 0);
        }
}

START_LOOP_TEST(test_cost_is_learned, 0, sizeof(worlds) / sizeof(worlds[0]))
{
        struct why_durations d = { .n = 0 };
        struct sample_cost cost;

        live(&d, &worlds[_i], 11 + (uint64_t)_i);
        ck_assert_int_eq(why_durations_learn(&d, &cost), 0);
        ck_assert(cost.is_known);
        ck_assert_msg(fabs(cost.cost_ns - COST_NS) < 0.1 * COST_NS + 3 * cost.error_ns, "%f +- %f",
                      cost.cost_ns, cost.error_ns);
        ck_assert_double_lt(cost.error_ns, COST_NS / 5);
        why_durations_deinit(&d);
}
END_TEST

/*
 * The bound is that of instances without a sample; with one, the cost and its spread are
 * not enough to be slow.
 */
START_TEST(test_a_sample_makes_no_instance_slow)
{
        struct why_rank_request request = { .by = WHY_BY_WALL, .slowest = 0.01 };
        struct why_durations d = { .n = 0 };
        struct sample_cost cost;
        struct why_rank rank;
        int n_sampled = 0, n_slow = 0;

        live(&d, &worlds[0], 5);
        ck_assert_int_eq(why_durations_learn(&d, &cost), 0);
        ck_assert_int_eq(why_durations_rank(&d, &request, &cost, &rank), 0);
        why_durations_deinit(&d);
        ck_assert_double_le(rank.slow_ns, worlds[0].usual_ns + worlds[0].jitter_ns);
        /* There are no instances so long without a sample, so that nearly none with one may be. */
        ck_assert_double_ge(rank.slow_sampled_ns, rank.high_ns + cost.spread_ns);
        d = (struct why_durations){ .n = 0 };
        live(&d, &(struct world){ 700, 50, 0, 0, 60000 }, 5);
        for (size_t i = 0; i < d.n_exact; i++) {
                n_sampled += d.exact[i].n_samples != 0;
                n_slow += d.exact[i].n_samples != 0 &&
                          why_spent_value(&d.exact[i], WHY_BY_WALL, &cost) >= rank.slow_sampled_ns;
        }
        ck_assert_int_gt(n_sampled, 30);
        ck_assert_int_le(n_slow, 3);
        why_durations_deinit(&d);
}
END_TEST

/* Those that are slow by themselves are slow with a sample as well. */
START_TEST(test_slow_ones_with_a_sample_are_slow)
{
        struct why_rank_request request = { .by = WHY_BY_WALL, .slowest = 0.01 };
        struct why_durations d = { .n = 0 };
        struct sample_cost cost;
        struct why_rank rank;

        live(&d, &worlds[1], 5);
        ck_assert_int_eq(why_durations_learn(&d, &cost), 0);
        ck_assert_int_eq(why_durations_rank(&d, &request, &cost, &rank), 0);
        ck_assert_double_gt(rank.slow_ns, 0.8 * worlds[1].slow_ns);
        ck_assert_double_le(rank.slow_sampled_ns, rank.slow_ns + 2 * cost.spread_ns);
        why_durations_deinit(&d);
}
END_TEST

START_TEST(test_few_are_not_known)
{
        struct sample_cost_point without[] = { { 1000, 500 } }, once[] = { { 16000, 4 } };
        struct sample_cost cost;

        ck_assert_int_eq(sample_cost_learn(&cost, without, 1, once, 1, 100000), 0);
        ck_assert(!cost.is_known);
        ck_assert_double_eq(sample_cost_without(&cost, 16000, 1), 16000);
        once[0].n = 5;
        ck_assert_int_eq(sample_cost_learn(&cost, without, 1, once, 1, 100000), 0);
        ck_assert(cost.is_known);
        ck_assert(!sample_cost_is_exact(&cost)); /* not to be printed */
        ck_assert_double_eq(cost.cost_ns, 15000);
        ck_assert_double_eq(sample_cost_without(&cost, 16000, 1), 1000);
        ck_assert_double_eq(sample_cost_without(&cost, 16000, 2), 0);
        ck_assert_int_eq(sample_cost_learn(&cost, without, 1, NULL, 0, 100000), 0);
        ck_assert(!cost.is_known);
}
END_TEST

/* Samples have three costs, each in so many instances: the median is learned, and how sure it is. */
static const struct {
        double costs_ns[3], n[3];
        bool is_known, is_exact;
        double cost_ns, spread_ns, quartiles_ns;
} medians[] = {
        { { 14000, 15000, 16000 }, { 12, 1, 12 }, true, true, 15000, 1000, 2000 },
        { { 14000, 15000, 16000 }, { 13, 1, 11 }, true, true, 14000, 2000, 2000 },
        { { 14000, 15000, 16000 }, { 11, 1, 13 }, true, true, 16000, 2000, 2000 },
        { { 14000, 15000, 16000 }, { 1, 23, 1 }, true, true, 15000, 0, 0 },
        { { 13000, 15000, 16000 }, { 3, 21, 1 }, true, true, 15000, 2000, 0 },
        { { 14000, 15000, 17000 }, { 1, 21, 3 }, true, true, 15000, 2000, 0 },
        { { 14000, 15000, 16000 }, { 1, 18, 1 }, true, true, 15000, 0, 0 },
        { { 14000, 15000, 16000 }, { 1, 17, 1 }, true, false, 15000, 0, 0 },
        { { 9000, 15000, 21000 }, { 12, 1, 12 }, true, false, 15000, 6000, 12000 },
        { { 6000, 15000, 24000 }, { 2, 1, 2 }, true, false, 15000, 9000, 18000 },
        { { 5000, 15000, 25000 }, { 2, 1, 2 }, false, false, 15000, 10000, 20000 },
        { { -2000, -1000, -500 }, { 5, 15, 5 }, false, false, -1000, 1000, 0 },
        { { 99000, 100000, 101000 }, { 1, 23, 1 }, false, false, 100000, 0, 0 },
};

START_LOOP_TEST(test_cost_is_the_median, 0, sizeof(medians) / sizeof(medians[0]))
{
        struct sample_cost_point without = { 5000, 0 }, once[3];
        struct sample_cost cost;
        double n = 0;

        for (int i = 0; i < 3; i++) {
                once[i] = (struct sample_cost_point){ 5000 + medians[_i].costs_ns[i], medians[_i].n[i] };
                n += medians[_i].n[i];
        }
        without.n = 19 * n; /* in a period of 20 times their duration */
        ck_assert_int_eq(sample_cost_learn(&cost, &without, 1, once, 3, 100000), 0);
        ck_assert_int_eq(cost.is_known, medians[_i].is_known);
        ck_assert_int_eq(sample_cost_is_exact(&cost), medians[_i].is_exact);
        ck_assert_uint_eq(cost.n, (uint64_t)n);
        ck_assert_double_eq_tol(cost.cost_ns, medians[_i].cost_ns, 1e-6);
        ck_assert_double_eq_tol(cost.spread_ns, medians[_i].spread_ns, 1e-6);
        ck_assert_double_eq_tol(cost.error_ns, 1.25 / 1.35 * medians[_i].quartiles_ns / sqrt(n), 1e-6);
        ck_assert_double_eq_tol(cost.period_ns, 100000 - (cost.is_known ? cost.cost_ns : 0), 1e-6);
}
END_TEST

START_TEST(test_others_time_is_seen)
{
        struct why_rank_request request = { .by = WHY_BY_WALL, .slowest = 0.01 };
        struct why_durations d = { .n = 0 };
        struct sample_cost none = { .is_known = false };
        struct why_rank rank;

        for (uint64_t i = 0; i < 1000; i++) {
                uint64_t on_cpu_ns = 1000 + i % 7, machine_ns = i % 50 == 3 ? 20000 : 0;

                ck_assert_int_eq(why_durations_add(&d, &(struct why_spent){ .wall_ns = on_cpu_ns + machine_ns,
                                                                            .on_cpu_ns = on_cpu_ns,
                                                                            .machine_ns = machine_ns }),
                                 0);
        }
        ck_assert_int_eq(why_durations_rank(&d, &request, &none, &rank), 0);
        ck_assert_double_gt(rank.machine_share, 0.9);
        request.by = WHY_BY_OWN;
        ck_assert_int_eq(why_durations_rank(&d, &request, &none, &rank), 0);
        ck_assert_double_le(rank.slow_ns, 1006);
        why_durations_deinit(&d);
}
END_TEST
