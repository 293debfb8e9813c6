/* SPDX-License-Identifier: MIT */
/*
 * The bytes in use, the peak and the leaks are those of the program; limits are kept, and the rest is counted
 */

#include "analyze/stats/memory_stats.h"

#include "analyze/trace/event_order.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "tests/unit/unit_test.h"

static struct memory_stats s;

static uint64_t clock_ns;
static struct trace_dictionary dictionary;
static uint32_t threads[3]; /* of a process, its child, and another one */
static uint32_t process;    /* whose events follow */

static void begin(uint32_t n_blocks_max)
{
        struct trace_process processes[3] = { { .pid = 10 }, { .pid = 11 }, { .pid = 12 } };

        trace_dictionary_init(&dictionary, 0);
        for (uint32_t i = 0; i < 3; i++) {
                struct trace_thread row = { .tid = 10 + i };

                processes[i].parent = i == 1 ? 1 : 0;
                ck_assert_int_eq(
                        trace_dictionary_add(&dictionary, TRACE_TABLE_PROCESSES, &processes[i], &row.process),
                        0);
                ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_THREADS, &row, &threads[i]),
                                 0);
        }
        UNIT_TEST_SPOIL(s);
        memory_stats_init(&s, &dictionary, n_blocks_max);
        process = 0;
}

static void end(void)
{
        memory_stats_deinit(&s);
        trace_dictionary_deinit(&dictionary);
}

static void allocate(uint32_t pool, uint64_t address, uint64_t size_bytes, uint32_t stack)
{
        struct ordered_event event = { .time_ns = ++clock_ns,
                                       .thread = threads[process],
                                       .op = TRACE_OP_MEMORY_ALLOC,
                                       .subject = pool,
                                       .value = { address, size_bytes },
                                       .stack = stack,
                                       .path = 7 };

        ck_assert_int_eq(memory_stats_add(&s, &event, NULL), 0);
}

static void release(uint32_t pool, uint64_t address)
{
        struct ordered_event event = { .time_ns = ++clock_ns,
                                       .thread = threads[process],
                                       .op = TRACE_OP_MEMORY_FREE,
                                       .subject = pool,
                                       .value = { address } };

        ck_assert_int_eq(memory_stats_add(&s, &event, NULL), 0);
}

static void discard(uint32_t pool)
{
        struct ordered_event event = { .time_ns = ++clock_ns,
                                       .thread = threads[process],
                                       .op = TRACE_OP_MEMORY_DISCARD,
                                       .subject = pool };

        ck_assert_int_eq(memory_stats_add(&s, &event, NULL), 0);
}

static const struct memory_site *site_of(uint32_t pool, uint32_t stack, uint32_t path)
{
        struct memory_site_key key = { .pool = pool, .stack = stack, .path = path };
        uint32_t id = intern_find(&s.site_keys, &key, sizeof(key));

        ck_assert_uint_ne(id, 0);
        return &s.sites[id - 1];
}

START_TEST(test_in_use_and_peak)
{
        begin(0);
        clock_ns = 100;
        allocate(0, 0x1000, 100, 3); /* 101 */
        allocate(0, 0x2000, 50, 0);  /* 102: the peak */
        release(0, 0x1000);
        allocate(0, 0x1000, 20, 3);
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
        ck_assert_uint_eq(site_of(1, 3, 0)->live_bytes, 20);
        ck_assert_uint_eq(site_of(1, 3, 0)->allocated_bytes, 120);
        ck_assert_uint_eq(site_of(1, 3, 0)->first_live_ns, 104);
        ck_assert_uint_eq(site_of(1, 0, 7)->live_bytes, 50);
}
END_TEST

START_TEST(test_wrong_frees_are_told_apart)
{
        begin(0);
        allocate(0, 0x1000, 8, 0);
        release(0, 0x1000);
        release(0, 0x1000); /* twice */
        release(0, 0x3000); /* never */
        release(5, 0x1000); /* of another pool */
        allocate(0, 0x1000, 8, 0);
        allocate(0, 0x1000, 16, 0); /* over it */
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].n_freed_twice, 1);
        ck_assert_uint_eq(s.pools[0].n_freed_unknown, 1);
        ck_assert_uint_eq(s.pools[1].n_freed_unknown, 1);
        ck_assert_uint_eq(s.pools[0].n_allocated_over, 1);
        ck_assert_uint_eq(s.pools[0].live_bytes, 16);
        ck_assert_uint_eq(s.pools[0].n_live, 1);
}
END_TEST

START_TEST(test_a_discard_frees_all_of_a_pool)
{
        begin(0);
        for (uint32_t i = 0; i < 100; i++)
                allocate(4, 0x1000 + 16 * i, 16, 0);
        allocate(0, 0x1000, 8, 0);
        discard(4);
        ck_assert_uint_eq(s.pools[0].live_bytes, 0);
        release(4, 0x1000);
        ck_assert_uint_eq(s.pools[0].n_freed_twice, 1);
        allocate(4, 0x1010, 5, 0);
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].live_bytes, 5);
        ck_assert_uint_eq(s.pools[0].n_live, 1);
        ck_assert_uint_eq(s.pools[0].peak_bytes, 1600);
        ck_assert_uint_eq(s.pools[1].live_bytes, 8);
        ck_assert_uint_eq(site_of(1, 0, 7)->live_bytes, 5);
}
END_TEST

/*
 * A million allocations and frees need no more blocks than are in use at once; beyond the
 * limit they are counted.
 */
START_TEST(test_the_limit_of_blocks)
{
        begin(4096);
        for (uint64_t i = 0; i < 100000; i++) {
                allocate(0, 16 * i, 1, 0);
                if (i >= 1000)
                        release(0, 16 * (i - 1000));
        }
        ck_assert_uint_eq(s.pools[0].n_untracked, 0);
        ck_assert_uint_eq(s.pools[0].live_bytes, 1000);
        ck_assert_uint_le(s.blocks.n_blocks, 4096);
        for (uint64_t i = 0; i < 10000; i++)
                allocate(0, 16 * (200000 + i), 1, 0);
        memory_stats_finish(&s);
        ck_assert_uint_gt(s.pools[0].n_untracked, 10000 - 4096);
        ck_assert_uint_eq(s.pools[0].n_untracked + s.pools[0].n_live, 11000);
        ck_assert_uint_eq(s.pools[0].allocated_bytes, 110000);
}
END_TEST

START_TEST(test_discarded_blocks_make_room)
{
        begin(4096);
        for (uint64_t round = 0; round < 50; round++) {
                for (uint64_t i = 0; i < 1000; i++)
                        allocate(0, 16 * (1000 * round + i), 1, 0);
                discard(0);
        }
        ck_assert_uint_eq(s.pools[0].n_untracked, 0);
}
END_TEST

START_TEST(test_hostile_sizes)
{
        begin(0);
        allocate(0, 1, UINT64_MAX, 0);
        allocate(0, 2, UINT64_MAX, 0);
        release(0, 1);
        release(0, 2);
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].live_bytes, 0);
        ck_assert_uint_eq(s.pools[0].n_untracked, 1);
}
END_TEST

/* Processes that were forked have their memory at the same addresses, and it is other memory. */
START_TEST(test_an_address_is_of_a_process)
{
        uint64_t live_bytes = 0;

        begin(0);
        for (process = 0; process < 3; process++)
                for (uint64_t i = 0; i < 10; i++)
                        allocate(0, 0x1000 + 16 * i, 100, 0);
        process = 2;
        discard(0);
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pool_keys.n_items, 3);
        for (uint32_t i = 0; i < 3; i++) {
                live_bytes += s.pools[i].live_bytes;
                ck_assert_uint_eq(s.pools[i].n_allocated_over + s.pools[i].n_freed_unknown, 0);
                ck_assert_uint_eq(s.pools[i].peak_bytes, 1000);
        }
        ck_assert_uint_eq(live_bytes, 2000);
}
END_TEST

/* A child frees its copies of what it was forked with, and its parent's own are in use. */
START_TEST(test_what_a_child_inherits)
{
        begin(0);
        allocate(0, 0x1000, 100, 0);
        allocate(0, 0x2000, 100, 0);
        process = 1;
        release(0, 0x1000);
        release(0, 0x5000); /* never allocated */
        process = 2;
        release(0, 0x2000); /* no child of that one */
        memory_stats_finish(&s);
        ck_assert_uint_eq(s.pools[0].live_bytes, 200);
        ck_assert_uint_eq(s.pools[1].n_freed_inherited, 1);
        ck_assert_uint_eq(s.pools[1].n_freed_unknown, 1);
        ck_assert_uint_eq(s.pools[2].n_freed_inherited, 0);
        ck_assert_uint_eq(s.pools[2].n_freed_unknown, 1);
}
END_TEST

/* A reader needs no memory for blocks that were freed long ago. */
START_TEST(test_freed_blocks_are_forgotten)
{
        begin(1 << 16);
        for (uint64_t i = 0; i < 50000; i++)
                allocate(0, 16 * i, 1, 0);
        ck_assert_uint_eq(s.pools[0].n_live, 50000);
        for (uint64_t i = 0; i < 50000; i++)
                release(0, 16 * i);
        ck_assert_uint_eq(s.pools[0].n_freed_unknown + s.pools[0].n_untracked, 0);
        for (uint64_t i = 0; i < 50000; i++) {
                allocate(0, 16 * (50000 + i), 1, 0);
                release(0, 16 * (50000 + i));
        }
        ck_assert_uint_le(s.blocks.n_blocks, s.blocks.n_max / 8 + 4);
        ck_assert_uint_eq(s.pools[0].live_bytes, 0);
}
END_TEST

UNIT_TEST_PLAN(.teardown = end);
