/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_pass.c: the instance that is open at a time has the path that it has among all, and what
 * is read of the trace lies around that time
 */
#include "analyze/path/path.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>

#define MS          UINT64_C(1000000)
#define START_NS    (1000 * MS)
#define N_ROUNDS    40
#define ROUND_NS    (1000 * MS)
#define STATES_EACH 5
#define SLEEPER     25 /* after this round the worker sleeps for the rest, but for the last round */

static struct trace_builder made;
static struct loaded_trace trace;
static struct path path, other;
static uint32_t main_thread, worker, request, nested, whole;

static uint64_t begin_of(uint32_t round)
{
        return START_NS + round * ROUND_NS + 10 * MS;
}

static bool worker_sleeps(uint32_t round)
{
        return round > SLEEPER && round < N_ROUNDS - 1;
}

static void put_switch(uint64_t time_ns, bool is_out, uint64_t wait_state)
{
        if (is_out)
                TRACE_BUILDER_ADD(&made, time_ns, SWITCH_OUT, 0, 0, wait_state);
        else
                TRACE_BUILDER_ADD(&made, time_ns, SWITCH_IN, 0);
}

/* It waits in the instance for 5 ms, until the worker, which it has woken before, wakes it. */
static void put_main(uint32_t round)
{
        uint64_t begin_ns = begin_of(round);

        trace_builder_begin_run(&made, main_thread);
        put_switch(begin_ns - MS, false, 0);
        if (round == 0)
                trace_builder_begin_zone(&made, begin_ns - MS, whole);
        trace_builder_begin_zone(&made, begin_ns, request);
        put_switch(begin_ns + MS, true, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&made, begin_ns + 6 * MS, WAKEUP, 0, worker_sleeps(round) ? 0 : worker);
        put_switch(begin_ns + 7 * MS, false, 0);
        trace_builder_begin_zone(&made, begin_ns + 8 * MS, request); /* inside of the other */
        trace_builder_event(&made, begin_ns + 9 * MS, TRACE_OP_ZONE_END);
        trace_builder_event(&made, begin_ns + 10 * MS, TRACE_OP_ZONE_END);
        if (round == N_ROUNDS - 1)
                trace_builder_event(&made, begin_ns + 11 * MS, TRACE_OP_ZONE_END);
        put_switch(begin_ns + 12 * MS, true, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&made);
}

static void put_worker(uint32_t round)
{
        uint64_t begin_ns = begin_of(round);

        if (worker_sleeps(round))
                return;
        trace_builder_begin_run(&made, worker);
        TRACE_BUILDER_ADD(&made, begin_ns + MS, WAKEUP, 0, main_thread);
        put_switch(begin_ns + 2 * MS, false, 0);
        trace_builder_begin_zone(&made, begin_ns + 2 * MS, nested);
        trace_builder_event(&made, begin_ns + 5 * MS, TRACE_OP_ZONE_END);
        put_switch(begin_ns + 6 * MS + 1, true, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&made);
}

/* The states of both threads after a round, as a recorder knows them. */
static void put_states(uint32_t round)
{
        uint32_t last = round > SLEEPER ? SLEEPER : round;

        trace_builder_begin_run(&made, main_thread);
        put_switch(begin_of(round) + 12 * MS, true, TRACE_WAIT_SLEEPING);
        trace_builder_begin_zone(&made, begin_of(round) + 12 * MS, whole);
        trace_builder_end_run(&made);
        trace_builder_begin_run(&made, worker);
        put_switch(begin_of(last) + 6 * MS + 1, true, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&made);
        trace_builder_flush_states(&made);
}

static void setup(void)
{
        struct error err = ERROR_NONE;

        trace_builder_init(&made);
        main_thread = trace_builder_thread(&made, 7, 7);
        worker = trace_builder_thread(&made, 7, 8);
        request = trace_builder_location(&made, "request");
        nested = trace_builder_location(&made, "nested");
        whole = trace_builder_location(&made, "whole");
        for (uint32_t round = 0; round < N_ROUNDS; round++) {
                put_main(round);
                put_worker(round);
                trace_builder_flush(&made);
                if (round % STATES_EACH == STATES_EACH - 1 && round != N_ROUNDS - 1)
                        put_states(round);
        }
        trace_builder_finish(&made);
        ck_assert_int_eq(loaded_trace_open(&trace, made.path, &err), 0);
        ck_assert_int_eq(loaded_trace_read_names(&trace, &err), 0);
}

static void teardown(void)
{
        path_deinit(&path);
        path_deinit(&other);
        loaded_trace_close(&trace);
        trace_builder_deinit(&made);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static int walk(struct path *p, const char *thread, const struct path_request *what)
{
        const struct trace_filter_request who = { .thread = thread };
        struct trace_filter filter = { .is_empty = true };
        struct error err = ERROR_NONE;
        int r;

        path_deinit(p);
        ck_assert_int_eq(trace_filter_init(&filter, &who, &trace, &err), 0);
        r = path_init(p, &trace, &filter, what, &err);
        trace_filter_deinit(&filter);
        return r;
}

static int ask(const char *zone, uint64_t at_ns)
{
        return walk(&path, NULL, &(struct path_request){ .zone = zone, .has_at = true, .at_ns = at_ns });
}

static void expect_shown(uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        ck_assert_uint_eq(path.n_examined, 1);
        ck_assert_uint_eq(path.shown.thread, thread);
        ck_assert_uint_eq(path.shown.begin_ns, begin_ns);
        ck_assert_uint_eq(path.shown.end_ns, end_ns);
        ck_assert_uint_eq(path.segments_ns, end_ns - begin_ns);
}

START_LOOP_TEST(its_path_is_the_one_that_it_has_among_all, 0, N_ROUNDS)
{
        ck_assert_int_eq(ask("request", begin_of((uint32_t)_i)), 0);
        ck_assert_int_eq(
                walk(&other, NULL, &(struct path_request){ .zone = "request", .instance = (uint64_t)_i + 1 }),
                0);
        expect_shown(main_thread, other.shown.begin_ns, other.shown.end_ns);
        ck_assert_uint_eq(path.segments.n_items, other.segments.n_items);
        for (size_t i = 0; i < path.segments.n_items; i++) {
                const struct path_shown *a = &path.segments.items[i], *b = &other.segments.items[i];

                ck_assert_uint_eq(a->begin_ns, b->begin_ns);
                ck_assert_uint_eq(a->thread, b->thread);
                ck_assert_uint_eq(a->kind, b->kind);
                ck_assert_uint_eq(a->end, b->end);
                ck_assert_uint_eq(a->by, b->by);
                ck_assert_uint_eq(a->depth, b->depth);
        }
}
END_TEST

/* The worker slept since long before what is read; its wake-up in the last round is known all the same. */
START_TEST(a_thread_that_slept_all_the_time_before_is_known)
{
        uint64_t begin_ns = begin_of(N_ROUNDS - 1);

        ck_assert_int_eq(ask("request", begin_ns), 0);
        ck_assert_uint_eq(path.segments.n_items, 5);
        ck_assert_uint_eq(path.segments.items[1].thread, worker);
        ck_assert_uint_eq(path.segments.items[1].kind, PATH_MACHINE);
        ck_assert_uint_eq(path.segments.items[1].begin_ns, begin_ns + MS);
        ck_assert_uint_eq(path.segments.items[1].by, main_thread);
        ck_assert_uint_eq(path.segments.items[2].kind, PATH_RUN);
        ck_assert_uint_eq(path.segments.items[2].end_ns, begin_ns + 6 * MS);
        ck_assert_uint_eq(path.segments.items[3].thread, main_thread);
        ck_assert_uint_eq(path.segments.items[3].by, worker);
}
END_TEST

START_TEST(it_is_open_from_its_begin_to_before_its_end)
{
        uint64_t begin_ns = begin_of(20), end_ns = begin_ns + 10 * MS;

        ck_assert_int_eq(ask("request", begin_ns + 3 * MS), 0);
        expect_shown(main_thread, begin_ns, end_ns);
        ck_assert_int_eq(ask("request", end_ns - 1), 0);
        expect_shown(main_thread, begin_ns, end_ns);
        ck_assert_int_eq(ask("request", end_ns), -ENOENT);
        ck_assert_int_eq(ask("request", begin_ns - 1), -ENOENT);
        ck_assert_int_eq(ask("nested", begin_ns + 2 * MS), 0);
        expect_shown(worker, begin_ns + 2 * MS, begin_ns + 5 * MS);
}
END_TEST

START_TEST(of_instances_inside_each_other_the_inner_one_is_meant_by_its_begin_alone)
{
        uint64_t begin_ns = begin_of(20);

        ck_assert_int_eq(ask("request", begin_ns + 8 * MS), 0);
        expect_shown(main_thread, begin_ns + 8 * MS, begin_ns + 9 * MS);
        ck_assert_int_eq(ask("request", begin_ns + 8 * MS + 1), 0);
        expect_shown(main_thread, begin_ns, begin_ns + 10 * MS);
}
END_TEST

START_TEST(only_threads_that_pass_the_filter_are_looked_at)
{
        const struct path_request request_then = { .zone = "request",
                                                   .has_at = true,
                                                   .at_ns = begin_of(20) + MS };

        ck_assert_int_eq(walk(&path, "t1", &request_then), 0);
        ck_assert_int_eq(walk(&path, "t2", &request_then), -ENOENT);
}
END_TEST

START_TEST(what_lies_long_before_and_after_is_not_read)
{
        ck_assert_int_eq(ask("request", begin_of(20)), 0);
        ck_assert_uint_lt(path.past.latest_ns, begin_of(21));
        /* all that it knows of round 18 or before comes from the states after round 19 */
        ck_assert_uint_ge(past_waits(past_of(&path.past, main_thread))[0].out_ns, begin_of(19));
}
END_TEST

/* Also where another thread's is found at once. */
START_TEST(a_long_one_beside_a_short_one)
{
        ck_assert_int_eq(ask("whole,nested", begin_of(20) + 3 * MS), 0);
        ck_assert_uint_eq(path.n_examined, 2);
        ck_assert_uint_eq(path.shown.begin_ns, begin_of(0) - MS);
        ck_assert_int_eq(walk(&path, "t2",
                              &(struct path_request){ .zone = "whole,nested",
                                                      .has_at = true,
                                                      .at_ns = begin_of(20) + 3 * MS }),
                         0);
        expect_shown(worker, begin_of(20) + 2 * MS, begin_of(20) + 5 * MS);
        ck_assert_uint_lt(path.past.latest_ns, begin_of(21));
}
END_TEST

START_TEST(one_that_began_long_before_is_found_all_the_same)
{
        ck_assert_int_eq(ask("whole", begin_of(20)), 0);
        expect_shown(main_thread, begin_of(0) - MS, begin_of(N_ROUNDS - 1) + 11 * MS);
}
END_TEST
