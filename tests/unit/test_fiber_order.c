/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/fiber_order.c: the one that waits at the earliest time goes first,
 * whatever was added in between
 */
#include "sampler/zones/zone_merge.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdbool.h>
#include <stdlib.h>

#define N 300

START_TEST(test_empty)
{
        struct fiber_order o;
        struct waiting_slot next = { .slot = 7 };

        fiber_order_init(&o);
        ck_assert_int_eq(fiber_order_next(&o, &next), 0);
        ck_assert_uint_eq(next.slot, 7);
        ck_assert_int_eq(fiber_order_add(&o, (struct waiting_slot){ .enter_ns = 5, .slot = 1 }), 0);
        ck_assert_int_eq(fiber_order_next(&o, &next), 1);
        ck_assert_uint_eq(next.enter_ns, 5);
        ck_assert_uint_eq(next.slot, 1);
        ck_assert_int_eq(fiber_order_next(&o, &next), 0);
        fiber_order_deinit(&o);
}
END_TEST

/* Equal times, of which there are many here, go by slot. */
static bool is_not_after(const struct waiting_slot *a, const struct waiting_slot *b)
{
        return a->enter_ns != b->enter_ns ? a->enter_ns < b->enter_ns : a->slot <= b->slot;
}

START_TEST(test_sorted)
{
        struct waiting_slot before = { .enter_ns = 0 }, next;
        uint64_t random = 1;
        struct fiber_order o;

        fiber_order_init(&o);
        for (uint32_t slot = 0; slot < N; slot++)
                ck_assert_int_eq(
                        fiber_order_add(&o, (struct waiting_slot){ fixed_random_next(&random) % 50, slot }),
                        0);
        for (uint32_t i = 0; i < N; i++) {
                ck_assert_int_eq(fiber_order_next(&o, &next), 1);
                ck_assert(is_not_after(&before, &next));
                before = next;
        }
        ck_assert_int_eq(fiber_order_next(&o, &next), 0);
        fiber_order_deinit(&o);
}
END_TEST

/* As it is used: the one that goes on waits again a little later. */
START_TEST(test_turns)
{
        uint64_t random = 3, now_ns = 0, n_turns[8] = { 0 };
        struct waiting_slot next;
        struct fiber_order o;

        fiber_order_init(&o);
        for (uint32_t slot = 0; slot < 8; slot++)
                ck_assert_int_eq(fiber_order_add(&o, (struct waiting_slot){ slot, slot }), 0);
        for (int i = 0; i < 10000; i++) {
                ck_assert_int_eq(fiber_order_next(&o, &next), 1);
                ck_assert_uint_ge(next.enter_ns, now_ns);
                now_ns = next.enter_ns;
                n_turns[next.slot]++;
                next.enter_ns += 1 + fixed_random_next(&random) % 100;
                ck_assert_int_eq(fiber_order_add(&o, next), 0);
        }
        for (uint32_t slot = 0; slot < 8; slot++)
                ck_assert_uint_gt(n_turns[slot], 1000);
        fiber_order_deinit(&o);
}
END_TEST
