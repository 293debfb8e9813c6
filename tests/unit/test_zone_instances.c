/* SPDX-License-Identifier: MIT */
/* zone_instances.c: of zones that last alike those that began first are kept, in whatever order they come */
#include "analyze/zones/zone_instances.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#define ZONES   200
#define THREADS 3
#define KEPT    10

static struct zone_instances s;

/* Three zones begin at each instant, of three threads; the last sixty are a little shorter. */
static void add_zone(uint32_t i)
{
        uint64_t begin_ns = 1000 + i / THREADS;
        struct zone_instance zone = { .begin_ns = begin_ns,
                                      .end_ns = begin_ns + (i < ZONES - 60 ? 70 : 69),
                                      .location = 1,
                                      .closed = true,
                                      .is_named = true };

        ck_assert_int_eq(zone_instances_add(&s, i % THREADS + 1, &zone, NULL), 0);
}

static void check_order(const uint32_t *order)
{
        ck_assert_int_eq(zone_instances_init(&s, THREADS, KEPT), 0);
        for (uint32_t i = 0; i < ZONES; i++)
                add_zone(order[i]);
        zone_instances_sort(&s);
        ck_assert_uint_eq(s.n_slowest, KEPT);
        for (uint32_t i = 0; i < KEPT; i++) {
                ck_assert_uint_eq(s.slowest[i].duration_ns, 70);
                ck_assert_uint_eq(s.slowest[i].begin_ns, 1000 + i / THREADS);
                ck_assert_uint_eq(s.slowest[i].thread, i % THREADS + 1);
        }
        zone_instances_deinit(&s);
}

START_TEST(equals)
{
        uint32_t order[ZONES];
        uint64_t chance = 1;

        for (uint32_t i = 0; i < ZONES; i++)
                order[i] = i;
        check_order(order);
        for (int round = 0; round < 20; round++) {
                for (uint32_t i = ZONES - 1; i > 0; i--) {
                        uint32_t other = (uint32_t)(fixed_random_next(&chance) % (i + 1));
                        uint32_t moved = order[i];

                        order[i] = order[other];
                        order[other] = moved;
                }
                check_order(order);
        }
}
END_TEST
