/* SPDX-License-Identifier: MIT */
/* Frames last from mark to mark, or from begin to end, and the slowest are the slowest */

#include "analyze/stats/frame_stats.h"

#include "analyze/trace/event_order.h"
#include "format/trace_spec.h"
#include "tests/unit/unit_test.h"

static void mark(struct frame_stats *s, uint64_t time_ns, uint32_t op, uint32_t name)
{
        struct ordered_event event = { .time_ns = time_ns, .op = op, .subject = name };

        ck_assert_int_eq(frame_stats_add(s, &event), 0);
}

/* The i-th frame takes i ms. */
START_TEST(test_marks)
{
        struct frame_stats s;
        uint64_t at_ns = 1000;

        frame_stats_init(&s);
        for (uint64_t i = 0; i <= 100; i++)
                mark(&s, at_ns += i * 1000000, TRACE_OP_FRAME_MARK, 0);
        frame_stats_finish(&s);
        ck_assert_uint_eq(s.n_sets, 1);
        ck_assert_uint_eq(s.sets[0].n_marks, 101);
        ck_assert_uint_eq(s.sets[0].durations_ns.n_values, 100);
        ck_assert_uint_eq(s.sets[0].durations_ns.sum, 5050000000);
        ck_assert_uint_eq(s.sets[0].durations_ns.largest, 100000000);
        ck_assert_uint_eq(s.sets[0].n_slowest, FRAME_STATS_SLOWEST);
        for (uint32_t i = 0; i < FRAME_STATS_SLOWEST; i++) {
                ck_assert_uint_eq(s.sets[0].slowest[i].duration_ns, (100 - i) * 1000000);
                ck_assert_uint_eq(s.sets[0].slowest[i].number, 100 - i);
        }
        ck_assert_uint_eq(s.sets[0].slowest[0].begin_ns, at_ns - 100000000);
        ck_assert_uint_eq(s.sets[0].n_unmatched, 0);
        frame_stats_deinit(&s);
}
END_TEST

START_TEST(test_frames_with_gaps)
{
        struct frame_stats s;

        frame_stats_init(&s);
        mark(&s, 50, TRACE_OP_FRAME_END, 3); /* of none */
        mark(&s, 100, TRACE_OP_FRAME_BEGIN, 3);
        mark(&s, 130, TRACE_OP_FRAME_END, 3);
        mark(&s, 200, TRACE_OP_FRAME_BEGIN, 3);
        mark(&s, 210, TRACE_OP_FRAME_BEGIN, 3); /* the one before has no end */
        mark(&s, 215, TRACE_OP_FRAME_END, 3);
        mark(&s, 300, TRACE_OP_FRAME_BEGIN, 3); /* neither has this */
        mark(&s, 310, TRACE_OP_FRAME_MARK, 3);  /* another set, in spite of its name */
        frame_stats_finish(&s);
        ck_assert_uint_eq(s.n_sets, 2);
        ck_assert_uint_eq(s.sets[0].durations_ns.n_values, 2);
        ck_assert_uint_eq(s.sets[0].durations_ns.sum, 35);
        ck_assert_uint_eq(s.sets[0].n_unmatched, 3);
        ck_assert_uint_eq(s.sets[1].durations_ns.n_values, 0);
        frame_stats_deinit(&s);
}
END_TEST

START_TEST(test_the_limit_of_sets)
{
        struct frame_stats s;

        frame_stats_init(&s);
        for (uint32_t i = 1; i <= FRAME_STATS_SETS_MAX + 3; i++)
                mark(&s, i, TRACE_OP_FRAME_MARK, i);
        ck_assert_uint_eq(s.n_sets, FRAME_STATS_SETS_MAX);
        ck_assert_uint_eq(s.n_lost, 3);
        frame_stats_deinit(&s);
}
END_TEST
