/* SPDX-License-Identifier: MIT */
/* analyze/why/why_links.c: each threshold decides whether moves, or a zone inside, go with being slow */
#include "analyze/why/why.h"
#include "analyze/why/why_explain.h"
#include "tests/unit/unit_test.h"

#define N_SLOW    10
#define N_TYPICAL 90

static struct why why; /* large */
static struct why_instance instances[N_SLOW + N_TYPICAL];

/* All instances take equally long, so that a move falls into a slow one with the probability 0.1. */
static void begin(uint32_t n_moved_slow)
{
        why = (struct why){ .n_tests = 1 };
        why.groups[WHY_SLOW] = (struct why_group_sum){ .duration = 100 * N_SLOW, .n = N_SLOW };
        why.groups[WHY_TYPICAL] = (struct why_group_sum){ .duration = 100 * N_TYPICAL, .n = N_TYPICAL };
        for (uint32_t i = 0; i < N_SLOW + N_TYPICAL; i++)
                instances[i] = (struct why_instance){ .is_slow = i < N_SLOW, .n_moves = i < n_moved_slow };
        why.collector.instances.items = instances;
        why.collector.instances.n_items = N_SLOW + N_TYPICAL;
}

static bool are_moves_linked(void)
{
        return why_links_of(&why).is_moved;
}

START_TEST(test_half_of_the_slow_ones_moved)
{
        begin(5);
        ck_assert(are_moves_linked());
        ck_assert_double_eq_tol(why_links_of(&why).moved_p, 1e-5, 1e-12);
        begin(4);
        ck_assert(!are_moves_linked());
        ck_assert_uint_eq(why_links_of(&why).n_moved_slow, 4);
}
END_TEST

/* 0.1 to the power of 5, for each candidate that was looked at. */
START_TEST(test_moves_by_chance)
{
        begin(5);
        why.n_tests = 999;
        ck_assert(are_moves_linked());
        why.n_tests = 1001;
        ck_assert(!are_moves_linked());
        begin(5);
        for (uint32_t i = N_SLOW; i < N_SLOW + N_TYPICAL; i++)
                instances[i].n_moves = i % 2;
        ck_assert(!are_moves_linked());
        ck_assert_uint_eq(why_links_of(&why).n_moved_typical, N_TYPICAL / 2);
}
END_TEST

START_LOOP_TEST(test_too_few_instances, 0, 2)
{
        struct why_part zone = { .id = 7, .share.value = 0.9, .n_slow = 8, .p = 1e-6 };

        for (uint64_t n = 7; n <= 8; n++) {
                begin(8);
                why.zones = &zone;
                why.n_zones = 1;
                why.groups[_i].n = n;
                ck_assert_int_eq(are_moves_linked(), n == 8);
                ck_assert_int_eq(why_links_of(&why).zone != 0, n == 8);
        }
}
END_TEST

static uint32_t linked_zone(struct why_part *zones, size_t n)
{
        why.zones = zones;
        why.n_zones = n;
        return why_links_of(&why).zone;
}

/* Good enough in everything, by as little as possible. */
START_TEST(test_a_zone_inside)
{
        const struct why_part good = { .id = 7, .share.value = 0.5, .n_slow = 4, .p = 0.0099 / 50 };
        struct why_part zone = good;

        begin(0);
        why.n_tests = 50;
        ck_assert_uint_eq(linked_zone(&zone, 1), 7);
        zone.share.value = 0.499;
        ck_assert_uint_eq(linked_zone(&zone, 1), 0);
        zone = good;
        zone.n_slow = 3;
        ck_assert_uint_eq(linked_zone(&zone, 1), 0);
        zone = good;
        zone.p = 0.0101 / 50;
        ck_assert_uint_eq(linked_zone(&zone, 1), 0);
}
END_TEST

START_TEST(test_the_zone_with_the_most_extra_time)
{
        struct why_part zones[] = { { .id = 1, .share.value = 0.6, .n_slow = 9 },
                                    { .id = 2, .share.value = 0.8, .n_slow = 9 },
                                    { .id = 3, .share.value = 0.7, .n_slow = 9 } };

        begin(0);
        ck_assert_uint_eq(linked_zone(zones, 3), 2);
        ck_assert_double_eq(why_links_of(&why).zone_share, 0.8);
        /* The innermost of two with the same has less time. */
        zones[1].slow = 90;
        zones[2].slow = 80;
        zones[2].share.value = 0.79;
        ck_assert_uint_eq(linked_zone(zones, 3), 3);
}
END_TEST
