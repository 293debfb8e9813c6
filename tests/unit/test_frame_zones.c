/* SPDX-License-Identifier: MIT */
/* The time of frames is split among the outermost zones in them, of every thread, to the nanosecond */

#include "analyze/stats/frame_zones.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>

struct split {
        struct loaded_trace trace;
        struct trace_filter filter;
        struct frame_stats stats;
        struct frame_zones zones;
};

static struct trace_builder b;
static struct split s;

static void take(const struct trace_filter_request *request)
{
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        UNIT_TEST_SPOIL(s);
        ck_assert_int_eq(loaded_trace_open(&s.trace, b.path, &err), 0);
        s.filter = (struct trace_filter){ .is_empty = true };
        if (request)
                ck_assert_int_eq(trace_filter_init(&s.filter, request, &s.trace, &err), 0);
        ck_assert_int_eq(frame_stats_take(&s.stats, &s.trace, &s.filter, &err), 0);
        ck_assert_int_eq(frame_zones_take(&s.zones, &s.stats, &s.trace, &s.filter, &err), 0);
}

static void drop(void)
{
        frame_zones_deinit(&s.zones);
        frame_stats_deinit(&s.stats);
        trace_filter_deinit(&s.filter);
        loaded_trace_close(&s.trace);
        trace_builder_deinit(&b);
}

static const struct frame_zone *row(uint32_t set, uint32_t location, bool is_marker)
{
        struct frame_zone_key key = { .set = set, .location = location, .is_marker = is_marker };
        uint32_t id = intern_find(&s.zones.keys, &key, sizeof(key));

        ck_assert_uint_ne(id, 0);
        return &s.zones.rows[id - 1];
}

static void zone(uint64_t begin_ns, uint64_t end_ns, uint32_t location)
{
        trace_builder_begin_zone(&b, begin_ns, location);
        trace_builder_event(&b, end_ns, TRACE_OP_ZONE_END);
}

/*
 * Frames of 100, 200 and 300 ns, marked in a zone around the loop and at the end of a zone around each turn.
 * In each turn 10 ns of "small", with "inner" inside, and all but 20 ns of "large".  A worker is busy from
 * the middle of the first frame until the middle of the last, and idle between two jobs.
 */
START_TEST(test_zones_around_marks)
{
        uint32_t around, turn, small, large, inner, job;
        uint64_t at_ns = 1000;

        around = trace_builder_location(&b, "around");
        turn = trace_builder_location(&b, "turn");
        small = trace_builder_location(&b, "small");
        large = trace_builder_location(&b, "large");
        inner = trace_builder_location(&b, "inner");
        job = trace_builder_location(&b, "job");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_begin_zone(&b, 900, around);
        trace_builder_event(&b, at_ns, TRACE_OP_FRAME_MARK);
        for (uint64_t i = 1; i <= 3; i++) {
                trace_builder_begin_zone(&b, at_ns, turn);
                trace_builder_begin_zone(&b, at_ns, small);
                zone(at_ns + 1, at_ns + 9, inner);
                trace_builder_event(&b, at_ns + 10, TRACE_OP_ZONE_END);
                zone(at_ns + 20, at_ns + i * 100, large);
                at_ns += i * 100;
                trace_builder_event(&b, at_ns, TRACE_OP_FRAME_MARK);
                trace_builder_event(&b, at_ns, TRACE_OP_ZONE_END);
        }
        zone(2000, 3000, large); /* in no frame */
        trace_builder_event(&b, 5000, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        zone(1050, 1100, job);
        zone(1110, 1450, job);
        trace_builder_end_run(&b);
        take(NULL);
        ck_assert_uint_eq(s.stats.n_sets, 1);
        ck_assert_uint_eq(s.zones.keys.n_items, 3);
        ck_assert_uint_eq(row(1, small, true)->total_ns, 30);
        ck_assert_uint_eq(row(1, small, true)->n_zones, 3);
        ck_assert_uint_eq(row(1, large, true)->total_ns, 540);
        ck_assert_uint_eq(row(1, large, true)->n_zones, 3);
        ck_assert_uint_eq(row(1, large, true)->slowest_ns[0], 280);
        ck_assert_uint_eq(row(1, large, true)->slowest_ns[2], 80);
        ck_assert_uint_eq(row(1, job, false)->total_ns, 50 + 340);
        ck_assert_uint_eq(row(1, job, false)->slowest_ns[0], 150);
        ck_assert_uint_eq(row(1, job, false)->slowest_ns[1], 190);
}
END_TEST

/* Only what is between a begin and an end counts; the thread that says most of them is the one that marks. */
START_TEST(test_gaps)
{
        uint32_t work;

        work = trace_builder_location(&b, "work");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_begin_zone(&b, 50, work);
        trace_builder_event(&b, 1000, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        for (uint64_t i = 0; i < 20; i++) {
                trace_builder_event(&b, 100 + i * 100, TRACE_OP_FRAME_BEGIN);
                zone(110 + i * 100, 115 + i * 100, work);
                trace_builder_event(&b, 130 + i * 100, TRACE_OP_FRAME_END);
        }
        trace_builder_end_run(&b);
        take(NULL);
        ck_assert_uint_eq(row(1, work, true)->total_ns, 100);
        ck_assert_uint_eq(row(1, work, true)->n_zones, 20);
        ck_assert_uint_eq(row(1, work, false)->total_ns, 9 * 30);
        ck_assert_uint_eq(row(1, work, false)->n_zones, 1);
}
END_TEST

/* A zone that began before the range has its part of the first frame. */
START_TEST(test_a_range)
{
        struct trace_filter_request request = {
                .from_ns = 150, .to_ns = 350, .has_from = true, .has_to = true
        };
        uint32_t work;

        work = trace_builder_location(&b, "work");
        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        zone(1100, 1500, work);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint64_t i = 0; i < 6; i++)
                trace_builder_event(&b, 1000 + i * 100, TRACE_OP_FRAME_MARK);
        trace_builder_end_run(&b);
        take(&request);
        ck_assert_uint_eq(s.stats.sets[0].durations_ns.n_values, 1);
        ck_assert_uint_eq(row(1, work, false)->total_ns, 100);
}
END_TEST

/* More sets than are split: the first ones are. */
START_TEST(test_many_sets)
{
        uint32_t work;

        work = trace_builder_location(&b, "work");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint64_t round = 0; round < 2; round++) {
                for (uint32_t i = 1; i <= FRAME_STATS_SPLIT_MAX + 2; i++) {
                        struct trace_event mark = { .time_ns = 100 + round * 1000,
                                                    .op = TRACE_OP_FRAME_MARK };
                        char name[8];

                        (void)snprintf(name, sizeof(name), "%u", i);
                        mark.frame_mark.name = trace_builder_string(&b, name);
                        event_encoder_add(&b.encoder, &mark);
                }
                zone(200 + round * 1000, 300 + round * 1000, work);
        }
        trace_builder_end_run(&b);
        take(NULL);
        ck_assert_uint_eq(s.stats.n_sets, FRAME_STATS_SPLIT_MAX + 2);
        ck_assert_uint_eq(s.zones.keys.n_items, FRAME_STATS_SPLIT_MAX);
        ck_assert_uint_eq(row(FRAME_STATS_SPLIT_MAX, work, true)->total_ns, 100);
}
END_TEST

static void set_up(void)
{
        trace_builder_init(&b);
}

static void tear_down(void)
{
        drop();
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
