/* SPDX-License-Identifier: MIT */
/* Waits and holds last as long as they did, and waiting is put down to who held the lock */

#include "analyze/stats/lock_stats.h"

#include "analyze/walk/event_walk.h"
#include "tests/unit/unit_test.h"

static struct lock_stats s;

static void begin(uint32_t n_locks)
{
        UNIT_TEST_SPOIL(s);
        ck_assert_int_eq(lock_stats_init(&s, n_locks), 0);
}

static void tear_down(void)
{
        lock_stats_deinit(&s);
}

static void say(uint64_t time_ns, uint32_t op, uint32_t thread, uint64_t shared)
{
        struct ordered_event event = { .time_ns = time_ns,
                                       .op = op,
                                       .thread = thread,
                                       .subject = 1,
                                       .path = thread,
                                       .value = { shared } };

        ck_assert_int_eq(lock_stats_add(&s, &event), 0);
}

static const struct lock_row *row_of(uint32_t thread, uint32_t holds)
{
        struct lock_row_key key = { .lock = 1, .thread = thread, .path = thread, .holds = holds };
        uint32_t id = intern_find(&s.keys, &key, sizeof(key));

        ck_assert_uint_ne(id, 0);
        return &s.rows[id - 1];
}

/* 1 holds from 100 to 400; 2 waits from 150, 3 from 200; 2 has it from 400 to 500, then 3. */
START_TEST(test_two_wait_for_one)
{
        begin(2);
        say(100, TRACE_OP_LOCK_OBTAIN, 1, 0);
        say(150, TRACE_OP_LOCK_WAIT, 2, 0);
        say(200, TRACE_OP_LOCK_WAIT, 3, 0);
        say(400, TRACE_OP_LOCK_RELEASE, 1, 0);
        say(400, TRACE_OP_LOCK_OBTAIN, 2, 0);
        say(500, TRACE_OP_LOCK_RELEASE, 2, 0);
        say(500, TRACE_OP_LOCK_OBTAIN, 3, 0);
        say(600, TRACE_OP_LOCK_RELEASE, 3, 0);
        ck_assert_int_eq(lock_stats_finish(&s, 1000), 0);
        ck_assert_uint_eq(s.n_used, 1);
        ck_assert_uint_eq(s.locks[0].n_obtains, 3);
        ck_assert_uint_eq(s.locks[0].n_contended, 2);
        ck_assert_uint_eq(s.locks[0].waits_ns.n_values, 2);
        ck_assert_uint_eq(s.locks[0].waits_ns.sum, 250 + 300);
        ck_assert_uint_eq(s.locks[0].holds_ns.sum, 300 + 100 + 100);
        ck_assert_uint_eq(row_of(1, 1)->blocked_ns, 250 + 200);
        ck_assert_uint_eq(row_of(2, 1)->blocked_ns, 100);
        ck_assert_uint_eq(row_of(3, 1)->blocked_ns, 0);
        ck_assert_uint_eq(s.locks[0].blocked_ns, 550);
        ck_assert_uint_eq(row_of(3, 0)->max_ns, 300);
        ck_assert_uint_eq(s.n_open_holds + s.n_open_waits, 0);
}
END_TEST

START_TEST(test_readers_are_not_in_each_others_way)
{
        begin(1);
        say(100, TRACE_OP_LOCK_OBTAIN, 1, 1);
        say(110, TRACE_OP_LOCK_WAIT, 2, 1);
        say(120, TRACE_OP_LOCK_OBTAIN, 2, 1);
        say(130, TRACE_OP_LOCK_WAIT, 3, 0);
        say(140, TRACE_OP_LOCK_RELEASE, 1, 1);
        say(150, TRACE_OP_LOCK_RELEASE, 2, 1);
        say(150, TRACE_OP_LOCK_OBTAIN, 3, 0);
        ck_assert_int_eq(lock_stats_finish(&s, 200), 0);
        ck_assert_uint_eq(s.locks[0].n_shared, 2);
        ck_assert_uint_eq(s.locks[0].n_contended, 1);
        ck_assert_uint_eq(row_of(2, 0)->n_contended, 0);
        ck_assert_uint_eq(row_of(1, 1)->blocked_ns, 10);
        ck_assert_uint_eq(row_of(2, 1)->blocked_ns, 20);
        ck_assert_uint_eq(s.n_open_holds, 1);
        ck_assert_uint_eq(row_of(3, 1)->total_ns, 50);
}
END_TEST

START_TEST(test_a_wait_that_is_given_up)
{
        begin(1);
        say(100, TRACE_OP_LOCK_OBTAIN, 1, 0);
        say(110, TRACE_OP_LOCK_WAIT, 2, 0);
        say(150, EVENT_WALK_GIVE_UP, 2, 0);
        say(900, TRACE_OP_LOCK_RELEASE, 1, 0);
        ck_assert_int_eq(lock_stats_finish(&s, 1000), 0);
        ck_assert_uint_eq(s.locks[0].n_given_up, 1);
        ck_assert_uint_eq(s.locks[0].waits_ns.sum, 40);
        ck_assert_uint_eq(row_of(1, 1)->blocked_ns, 40);
}
END_TEST

/*
 * A lock that is held at the end counts to there; releases of locks that are not held, and too
 * many at once, are counted.
 */
START_TEST(test_what_makes_no_sense)
{
        begin(1);
        say(100, TRACE_OP_LOCK_RELEASE, 1, 0);
        ck_assert_uint_eq(s.n_releases_alone, 1);
        for (uint32_t i = 0; i < LOCK_STATS_PARTIES_MAX + 5; i++)
                say(200, TRACE_OP_LOCK_OBTAIN, 10 + i, 1);
        ck_assert_uint_eq(s.n_untracked, 5);
        say(300, TRACE_OP_LOCK_WAIT, 1, 0);
        say(250, TRACE_OP_LOCK_WAIT, 2, 0); /* time goes back */
        ck_assert_int_eq(lock_stats_finish(&s, 260), 0);
        ck_assert_uint_eq(s.n_open_waits, 2);
        ck_assert_uint_eq(s.n_open_holds, LOCK_STATS_PARTIES_MAX);
        ck_assert_uint_eq(row_of(10, 1)->total_ns, 100);
}
END_TEST

UNIT_TEST_PLAN(.teardown = tear_down);
