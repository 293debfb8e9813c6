/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/flow_match.c, flow_links.c, flow_stats.c: each step of a flow follows the one before, by
 * number, space, process and recording; what has no beginning or no end is counted, and memory is bounded
 */
#include "analyze/stats/flow_stats.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

/* Locations, and threads: two of one process, one each of two others; `OTHER_HOST` of another recording. */
enum { PUT = 1, PASS, TAKE };
enum { MAIN = 1, WORKER, CHILD, SISTER, OTHER_HOST };

static struct trace_builder b;
static struct loaded_trace trace;
static struct flow_stats stats;

static void set_up(void)
{
        struct trace_recording recording = { .label = 0 };
        struct trace_process process = { .pid = 9 };
        struct trace_thread thread = { .tid = 9 };

        trace_builder_init(&b);
        trace_builder_meta(&b, "start_raw_ns", "1");
        (void)trace_builder_thread(&b, 1, 1);
        (void)trace_builder_thread(&b, 1, 2);
        (void)trace_builder_thread(&b, 3, 3);
        (void)trace_builder_thread(&b, 4, 4);
        process.recording = trace_builder_row(&b, TRACE_TABLE_RECORDINGS, &recording);
        thread.process = trace_builder_row(&b, TRACE_TABLE_PROCESSES, &process);
        (void)trace_builder_row(&b, TRACE_TABLE_THREADS, &thread);
        (void)trace_builder_location(&b, "put");
        (void)trace_builder_location(&b, "pass");
        (void)trace_builder_location(&b, "take");
}

static void tear_down(void)
{
        flow_stats_deinit(&stats);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

/* An event of a flow in a zone of its own; @location 0: outside of zones. */
static void say(uint32_t thread, uint64_t time_ns, uint32_t location, uint64_t id, uint64_t phase)
{
        trace_builder_begin_run(&b, thread);
        if (location != 0)
                trace_builder_begin_zone(&b, time_ns, location);
        TRACE_BUILDER_ADD(&b, time_ns, FLOW, 0, id, phase);
        if (location != 0)
                trace_builder_event(&b, time_ns, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
}

static void begin(uint32_t thread, uint64_t time_ns, uint64_t id)
{
        say(thread, time_ns, PUT, id, TRACE_FLOW_BEGIN);
}

static void end(uint32_t thread, uint64_t time_ns, uint64_t id)
{
        say(thread, time_ns, TAKE, id, TRACE_FLOW_END);
}

static void take(const struct trace_filter_request *request)
{
        struct trace_filter filter = { .is_empty = true, .to_ns = UINT64_MAX };
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        if (request)
                ck_assert_msg(trace_filter_init(&filter, request, &trace, &err) == 0, "%s", err.text);
        ck_assert_int_eq(flow_stats_take(&stats, &trace, &filter, &err), 0);
        stats.links.filter = NULL;
        trace_filter_deinit(&filter);
}

static void expect_row(uint32_t i, uint32_t from, uint32_t to, bool is_part, uint64_t count, uint64_t sum_ns)
{
        const struct flow_row_key *key;

        ck_assert_uint_lt(i, stats.keys.n_items);
        key = flow_stats_key(&stats, &stats.rows[i]);
        ck_assert_uint_eq(key->from, from);
        ck_assert_uint_eq(key->to, to);
        ck_assert_uint_eq(key->is_part, is_part);
        ck_assert_uint_eq(stats.rows[i].durations_ns.n_values, count);
        ck_assert_uint_eq(stats.rows[i].durations_ns.sum, sum_ns);
}

/* The events of the worker come before those of the thread that began the flows. */
START_TEST(test_threads)
{
        end(WORKER, 150, 7);
        end(WORKER, 290, UINT64_MAX);
        begin(MAIN, 100, 7);
        begin(MAIN, 200, UINT64_MAX);
        take(NULL);
        ck_assert_uint_eq(stats.keys.n_items, 1);
        expect_row(0, PUT, TAKE, false, 2, 140);
        ck_assert_uint_eq(stats.rows[0].n_to_threads, 2);
        ck_assert_uint_eq(stats.rows[0].n_to_processes, 0);
        ck_assert_uint_eq(stats.rows[0].longest_from.time_ns, 200);
        ck_assert_uint_eq(stats.rows[0].longest_to.thread, WORKER);
        ck_assert_uint_eq(stats.links.n_begun, 2);
        ck_assert_uint_eq(stats.links.n_ended, 2);
        ck_assert_uint_eq(stats.links.n_open, 0);
}
END_TEST

/* A flow with steps is a row from begin to end, and rows of its parts. */
START_TEST(test_steps)
{
        begin(MAIN, 100, 1);
        say(MAIN, 110, 0, 1, TRACE_FLOW_STEP);
        say(WORKER, 130, PASS, 1, TRACE_FLOW_STEP);
        end(WORKER, 170, 1);
        take(NULL);
        ck_assert_uint_eq(stats.keys.n_items, 4);
        expect_row(0, PUT, TAKE, false, 1, 70);
        expect_row(1, PUT, 0, true, 1, 10);
        expect_row(2, 0, PASS, true, 1, 20);
        expect_row(3, PASS, TAKE, true, 1, 40);
}
END_TEST

/* A number is its process's own while that has such a flow, else that of the process that began it last. */
START_TEST(test_processes)
{
        begin(MAIN, 100, 1);
        begin(CHILD, 110, 1);
        begin(SISTER, 120, 1);
        end(WORKER, 130, 1);
        end(MAIN, 140, 1);  /* the sister's */
        end(CHILD, 150, 1); /* its own */
        end(CHILD, 160, 1); /* of none */
        take(NULL);
        expect_row(0, PUT, TAKE, false, 3, 30 + 20 + 40);
        ck_assert_uint_eq(stats.rows[0].n_to_processes, 1);
        ck_assert_uint_eq(stats.links.n_ends_of_none, 1);
}
END_TEST

/* Recordings of other machines have numbers of their own, and so have spaces. */
START_TEST(test_recordings_and_spaces)
{
        begin(MAIN, 100, 1);
        end(OTHER_HOST, 110, 1);
        trace_builder_begin_run(&b, WORKER);
        TRACE_BUILDER_ADD(&b, 120, FLOW, trace_builder_string(&b, "space"), 1, TRACE_FLOW_END);
        TRACE_BUILDER_ADD(&b, 130, FLOW, 0, 1, 4); /* of a newer version: it says nothing */
        TRACE_BUILDER_ADD(&b, 130, FLOW, 0, 1, 0);
        trace_builder_end_run(&b);
        take(NULL);
        ck_assert_uint_eq(stats.keys.n_items, 0);
        ck_assert_uint_eq(stats.links.n_ends_of_none, 2);
        ck_assert_uint_eq(stats.links.n_steps_of_none, 0);
        ck_assert_uint_eq(stats.links.n_open, 1);
}
END_TEST

/* A flow that begins again was never ended, and its steps are those of the new one. */
START_TEST(test_begun_again)
{
        begin(MAIN, 100, 1);
        begin(MAIN, 200, 1);
        end(WORKER, 230, 1);
        say(WORKER, 240, PASS, 1, TRACE_FLOW_STEP);
        take(NULL);
        expect_row(0, PUT, TAKE, false, 1, 30);
        ck_assert_uint_eq(stats.links.n_begun, 2);
        ck_assert_uint_eq(stats.links.n_open, 1);
        ck_assert_uint_eq(stats.links.match.n_begun_again, 1);
        ck_assert_uint_eq(stats.links.n_steps_of_none, 1);
}
END_TEST

/* A range of time has the flows with an end in it, also those that began before. */
START_TEST(test_range)
{
        const struct trace_filter_request request = {
                .from_ns = 199, .to_ns = 299, .has_from = 1, .has_to = 1
        };

        begin(MAIN, 100, 1);
        begin(MAIN, 110, 2);
        end(WORKER, 150, 2);
        end(WORKER, 250, 1);
        begin(MAIN, 260, 3);
        end(WORKER, 400, 3);
        end(WORKER, 410, 4);
        take(&request);
        expect_row(0, PUT, TAKE, false, 2, 150 + 140);
        ck_assert_uint_eq(stats.links.n_begun, 1);
        ck_assert_uint_eq(stats.links.n_ended, 1);
        ck_assert_uint_eq(stats.links.n_ends_of_none, 0);
}
END_TEST

/* Those that were never ended are those that the filter wants, also those that began again. */
START_TEST(test_never_ended_in_a_range)
{
        const struct trace_filter_request request = {
                .from_ns = 199, .to_ns = 299, .has_from = 1, .has_to = 1
        };

        begin(MAIN, 100, 1);
        begin(MAIN, 150, 1);
        begin(MAIN, 250, 2);
        begin(MAIN, 260, 2);
        end(WORKER, 270, 2);
        begin(MAIN, 280, 3);
        begin(MAIN, 400, 4);
        begin(MAIN, 410, 4);
        take(&request);
        ck_assert_uint_eq(stats.links.match.n_begun_again, 3);
        ck_assert_uint_eq(stats.links.n_open, 2);
}
END_TEST

static void count(void *context, const struct flow_point *point)
{
        uint64_t *ids = context;

        ids[0]++;
        ids[1] = ids[0] == 1 ? point->id : ids[1];
        ids[2] = point->id;
}

/* The oldest of too many flows that are never ended are given up; the others are found. */
START_TEST(test_many)
{
        uint64_t ids[3] = { 0 };
        struct flow_match m;
        struct flow_link link;

        flow_match_init(&m, &b.dictionary);
        m.n_open_max = 1000;
        for (uint64_t i = 1; i <= 5000; i++) {
                const struct flow_point p = { .time_ns = i,
                                              .id = i,
                                              .thread = 1,
                                              .process = 1 + (uint32_t)(i % 3),
                                              .phase = TRACE_FLOW_BEGIN };

                ck_assert_int_eq(flow_match_add(&m, &p, &link), 0);
        }
        ck_assert_uint_eq(m.n_open, 1000);
        ck_assert_uint_eq(m.n_flows, 1000);
        ck_assert_uint_eq(m.n_given_up, 4000);
        flow_match_each_open(&m, count, ids);
        ck_assert_uint_eq(ids[0], 1000);
        ck_assert_uint_eq(ids[1], 4001);
        ck_assert_uint_eq(ids[2], 5000);
        for (uint64_t i = 5000; i > 3000; i--) {
                const struct flow_point p = {
                        .time_ns = 6000, .id = i, .thread = 1, .process = 2, .phase = TRACE_FLOW_END
                };

                ck_assert_int_eq(flow_match_add(&m, &p, &link), i > 4000);
                if (i > 4000)
                        ck_assert_uint_eq(link.from.id, i);
        }
        ck_assert_uint_eq(m.n_open, 0);
        ck_assert_uint_eq(m.n_ends_of_none, 1000);
        flow_match_deinit(&m);
}
END_TEST

/* Each of many processes has its own flow of one number; taking them from either side leaves the others. */
START_TEST(test_one_number_of_many_processes)
{
        struct flow_match m;
        struct flow_link link;

        flow_match_init(&m, &b.dictionary);
        for (uint32_t i = 1; i <= 100; i++)
                ck_assert_int_eq(flow_match_add(&m,
                                                &(struct flow_point){ .time_ns = i,
                                                                      .id = 5,
                                                                      .process = i,
                                                                      .phase = TRACE_FLOW_BEGIN },
                                                &link),
                                 0);
        for (uint32_t i = 2; i <= 100; i += 2) {
                ck_assert_int_eq(
                        flow_match_add(&m,
                                       &(struct flow_point){ .id = 5, .process = i, .phase = TRACE_FLOW_END },
                                       &link),
                        1);
                ck_assert_uint_eq(link.begin.process, i);
        }
        for (uint32_t i = 99; i < 100; i -= 2) {
                ck_assert_int_eq(
                        flow_match_add(
                                &m, &(struct flow_point){ .id = 5, .process = 1000, .phase = TRACE_FLOW_END },
                                &link),
                        1);
                ck_assert_uint_eq(link.begin.process, i);
        }
        ck_assert_uint_eq(m.n_open, 0);
        flow_match_deinit(&m);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
