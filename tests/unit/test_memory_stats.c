/* SPDX-License-Identifier: MIT */
/*
 * The bytes in use, the peak and the leaks are those of the program; limits are kept, and the rest is counted
 */

#include "analyze/stats/memory_stats.h"

#include "analyze/trace/event_order.h"
#include "format/trace_spec.h"
#include "tests/unit/unit_test.h"

static uint64_t clock_ns;

static void allocate(struct memory_stats *s, uint32_t pool, uint64_t address, uint64_t size_bytes,
                     uint32_t stack)
{
        struct ordered_event event = { .time_ns = ++clock_ns,
                                       .op = TRACE_OP_MEMORY_ALLOC,
                                       .subject = pool,
                                       .value = { address, size_bytes },
                                       .stack = stack,
                                       .path = 7 };

        ck_assert_int_eq(memory_stats_add(s, &event), 0);
}

static void release(struct memory_stats *s, uint32_t pool, uint64_t address)
{
        struct ordered_event event = {
                .time_ns = ++clock_ns, .op = TRACE_OP_MEMORY_FREE, .subject = pool, .value = { address }
        };

        ck_assert_int_eq(memory_stats_add(s, &event), 0);
}

static void discard(struct memory_stats *s, uint32_t pool)
{
        struct ordered_event event = { .time_ns = ++clock_ns,
                                       .op = TRACE_OP_MEMORY_DISCARD,
                                       .subject = pool };

        ck_assert_int_eq(memory_stats_add(s, &event), 0);
}

static const struct memory_site *site_of(const struct memory_stats *s, uint32_t pool, uint32_t stack,
                                         uint32_t path)
{
        struct memory_site_key key = { .pool = pool, .stack = stack, .path = path };
        uint32_t id = intern_find(&s->site_keys, &key, sizeof(key));

        ck_assert_uint_ne(id, 0);
        return &s->sites[id - 1];
}

START_TEST(test_in_use_and_peak)
{
        struct memory_stats s;

        memory_stats_init(&s, 0);
        clock_ns = 100;
        allocate(&s, 0, 0x1000, 100, 3); /* 101 */
        allocate(&s, 0, 0x2000, 50, 0);  /* 102: the peak */
        release(&s, 0, 0x1000);
        allocate(&s, 0, 0x1000, 20, 3);
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].live_bytes, 70);
        ck_assert_uint_eq(s.pools[0].n_live, 2);
        ck_assert_uint_eq(s.pools[0].peak_bytes, 150);
        ck_assert_uint_eq(s.pools[0].peak_ns, 102);
        ck_assert_uint_eq(s.pools[0].n_at_peak, 2);
        ck_assert_uint_eq(s.pools[0].allocated_bytes, 170);
        ck_assert_uint_eq(s.pools[0].largest_bytes, 100);
        ck_assert_uint_eq(s.pools[0].n_frees, 1);
        ck_assert_uint_eq(s.pools[0].n_freed_unknown + s.pools[0].n_freed_twice + s.pools[0].n_allocated_over,
                          0);
        /* by callstack, without one by zone */
        ck_assert_uint_eq(site_of(&s, 1, 3, 0)->live_bytes, 20);
        ck_assert_uint_eq(site_of(&s, 1, 3, 0)->allocated_bytes, 120);
        ck_assert_uint_eq(site_of(&s, 1, 3, 0)->first_live_ns, 104);
        ck_assert_uint_eq(site_of(&s, 1, 0, 7)->live_bytes, 50);
        memory_stats_deinit(&s);
}
END_TEST

START_TEST(test_wrong_frees_are_told_apart)
{
        struct memory_stats s;

        memory_stats_init(&s, 0);
        allocate(&s, 0, 0x1000, 8, 0);
        release(&s, 0, 0x1000);
        release(&s, 0, 0x1000); /* twice */
        release(&s, 0, 0x3000); /* never */
        release(&s, 5, 0x1000); /* of another pool */
        allocate(&s, 0, 0x1000, 8, 0);
        allocate(&s, 0, 0x1000, 16, 0); /* over it */
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].n_freed_twice, 1);
        ck_assert_uint_eq(s.pools[0].n_freed_unknown, 1);
        ck_assert_uint_eq(s.pools[1].n_freed_unknown, 1);
        ck_assert_uint_eq(s.pools[0].n_allocated_over, 1);
        ck_assert_uint_eq(s.pools[0].live_bytes, 16);
        ck_assert_uint_eq(s.pools[0].n_live, 1);
        memory_stats_deinit(&s);
}
END_TEST

START_TEST(test_a_discard_frees_all_of_a_pool)
{
        struct memory_stats s;

        memory_stats_init(&s, 0);
        for (uint32_t i = 0; i < 100; i++)
                allocate(&s, 4, 0x1000 + 16 * i, 16, 0);
        allocate(&s, 0, 0x1000, 8, 0);
        discard(&s, 4);
        ck_assert_uint_eq(s.pools[0].live_bytes, 0);
        release(&s, 4, 0x1000);
        ck_assert_uint_eq(s.pools[0].n_freed_twice, 1);
        allocate(&s, 4, 0x1010, 5, 0);
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].live_bytes, 5);
        ck_assert_uint_eq(s.pools[0].n_live, 1);
        ck_assert_uint_eq(s.pools[0].peak_bytes, 1600);
        ck_assert_uint_eq(s.pools[1].live_bytes, 8);
        ck_assert_uint_eq(site_of(&s, 1, 0, 7)->live_bytes, 5);
        memory_stats_deinit(&s);
}
END_TEST

/*
 * A million allocations and frees need no more blocks than are in use at once; beyond the
 * limit they are counted.
 */
START_TEST(test_the_limit_of_blocks)
{
        struct memory_stats s;

        memory_stats_init(&s, 4096);
        for (uint64_t i = 0; i < 100000; i++) {
                allocate(&s, 0, 16 * i, 1, 0);
                if (i >= 1000)
                        release(&s, 0, 16 * (i - 1000));
        }
        ck_assert_uint_eq(s.pools[0].n_untracked, 0);
        ck_assert_uint_eq(s.pools[0].live_bytes, 1000);
        ck_assert_uint_le(s.blocks.n_blocks, 4096);
        for (uint64_t i = 0; i < 10000; i++)
                allocate(&s, 0, 16 * (200000 + i), 1, 0);
        memory_stats_finish(&s);
        ck_assert_uint_gt(s.pools[0].n_untracked, 10000 - 4096);
        ck_assert_uint_eq(s.pools[0].n_untracked + s.pools[0].n_live, 11000);
        ck_assert_uint_eq(s.pools[0].allocated_bytes, 110000);
        memory_stats_deinit(&s);
}
END_TEST

START_TEST(test_discarded_blocks_make_room)
{
        struct memory_stats s;

        memory_stats_init(&s, 4096);
        for (uint64_t round = 0; round < 50; round++) {
                for (uint64_t i = 0; i < 1000; i++)
                        allocate(&s, 0, 16 * (1000 * round + i), 1, 0);
                discard(&s, 0);
        }
        ck_assert_uint_eq(s.pools[0].n_untracked, 0);
        memory_stats_deinit(&s);
}
END_TEST

START_TEST(test_hostile_sizes)
{
        struct memory_stats s;

        memory_stats_init(&s, 0);
        allocate(&s, 0, 1, UINT64_MAX, 0);
        allocate(&s, 0, 2, UINT64_MAX, 0);
        release(&s, 0, 1);
        release(&s, 0, 2);
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].live_bytes, 0);
        ck_assert_uint_eq(s.pools[0].n_untracked, 1);
        memory_stats_deinit(&s);
}
END_TEST
