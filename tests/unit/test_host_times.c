/* SPDX-License-Identifier: MIT */
/*
 * Each moment of a given time belongs to the innermost zone of its thread, or to none, whatever other times
 * overlap it; the parts of a time are its length
 */
#include "analyze/devices/host_times.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

#define N_MOMENTS     UINT64_C(3000)
#define N_TIMES       400
#define N_ZONES       (3 * HOST_TIMES_ZONES_MAX) /* names */
#define DEPTH_MAX     6
#define N_THREADS     2
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct {
        struct trace_builder b;
        struct loaded_trace trace;
        struct host_times times;
        struct host_time asked[N_TIMES]; /* as added */
        uint64_t found[N_TIMES][N_ZONES + 1], calls[N_TIMES];
        uint32_t locations[N_ZONES + 1];
        uint32_t innermost[N_THREADS + 1][N_MOMENTS]; /* index of `locations` in each nanosecond; 0 = none */
        uint64_t random;
} f;

static void begin(void)
{
        char name[24];

        UNIT_TEST_SPOIL(f);
        memset(f.found, 0, sizeof(f.found));
        memset(f.calls, 0, sizeof(f.calls));
        memset(f.innermost, 0, sizeof(f.innermost));
        f.times = (struct host_times){ .items = NULL };
        trace_builder_init(&f.b);
        for (uint32_t i = 1; i <= N_THREADS; i++)
                (void)trace_builder_thread(&f.b, 1, i);
        for (uint32_t i = 1; i <= N_ZONES; i++) {
                (void)snprintf(name, sizeof(name), "zone %u", i);
                f.locations[i] = trace_builder_location(&f.b, name);
        }
}

static void end(void)
{
        host_times_deinit(&f.times);
        loaded_trace_close(&f.trace);
        trace_builder_deinit(&f.b);
}

static int take_part(void *context, uint32_t owner, uint32_t location, uint64_t ns)
{
        uint32_t i = N_ZONES;

        ck_assert_ptr_eq(context, &f);
        ck_assert_uint_lt(owner, N_TIMES);
        while (i != 0 && f.locations[i] != location)
                i--;
        ck_assert(i != 0 || location == 0);
        f.found[owner][i] += ns;
        f.calls[owner]++;
        return 0;
}

static void take(void)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(loaded_trace_open(&f.trace, f.b.path, &err), 0);
        ck_assert_int_eq(host_times_take(&f.times, &f.trace, take_part, &f, &err), 0);
}

static void ask(uint32_t owner, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        f.asked[owner] = (struct host_time){
                .begin_ns = begin_ns, .end_ns = end_ns, .thread = thread, .owner = owner
        };
        ck_assert_int_eq(host_times_add(&f.times, &f.asked[owner]), 0);
}

/* Begins and ends zones at random, several at one moment as well. */
static void add_thread(uint32_t thread, uint32_t n_names, uint64_t every)
{
        uint32_t open[DEPTH_MAX], n_open = 0;

        trace_builder_begin_run(&f.b, thread);
        for (uint64_t t = 1; t < N_MOMENTS; t++) {
                while (fixed_random_next(&f.random) % every == 0) {
                        if (n_open < DEPTH_MAX && fixed_random_next(&f.random) % 2 == 0) {
                                open[n_open] = 1 + (uint32_t)(fixed_random_next(&f.random) % n_names);
                                trace_builder_begin_zone(&f.b, t, f.locations[open[n_open++]]);
                        } else if (n_open != 0) {
                                trace_builder_event(&f.b, t, TRACE_OP_ZONE_END);
                                n_open--;
                        }
                }
                f.innermost[thread][t] = n_open != 0 ? open[n_open - 1] : 0;
        }
        while (n_open-- != 0)
                trace_builder_event(&f.b, N_MOMENTS, TRACE_OP_ZONE_END);
        trace_builder_end_run(&f.b);
}

static void check(uint32_t owner)
{
        const struct host_time *time = &f.asked[owner];
        uint64_t expected[N_ZONES + 1] = { 0 };

        for (uint64_t t = time->begin_ns; t < time->end_ns; t++)
                expected[t < N_MOMENTS ? f.innermost[time->thread][t] : 0]++;
        for (uint32_t i = 0; i <= N_ZONES; i++)
                ck_assert_uint_eq(f.found[owner][i], expected[i]);
}

/* With few names and with many, with few changes and with many. */
static const struct {
        uint32_t n_names;
        uint64_t every;
} shapes[] = { { 3, 2 }, { 3, 50 }, { N_ZONES, 2 }, { N_ZONES, 10 } };

START_LOOP_TEST(test_parts, 0, (int)LENGTH(shapes))
{
        f.random = 17 + (uint64_t)_i;
        for (uint32_t thread = 1; thread <= N_THREADS; thread++)
                add_thread(thread, shapes[_i].n_names, shapes[_i].every);
        trace_builder_finish(&f.b);
        for (uint32_t i = 0; i < N_TIMES; i++) {
                uint64_t from = 1 + fixed_random_next(&f.random) % (N_MOMENTS + 20);
                uint64_t length = 1 + fixed_random_next(&f.random) % (i % 4 == 0 ? 2 * N_MOMENTS : 30);

                ask(i, 1 + i % N_THREADS, from, from + length);
        }
        take();
        for (uint32_t i = 0; i < N_TIMES; i++)
                check(i);
}
END_TEST

/* A zone comes once a time, also if it was left and entered again. */
START_TEST(test_zones_come_once)
{
        trace_builder_begin_run(&f.b, 1);
        for (uint64_t t = 100; t < 1000; t += 10) {
                trace_builder_begin_zone(&f.b, t, f.locations[1 + t / 10 % 2]);
                trace_builder_event(&f.b, t + 6, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(&f.b);
        trace_builder_finish(&f.b);
        ask(0, 1, 100, 200);
        ask(1, 1, 100, 1000);
        ask(2, 1, 150, 150); /* no time */
        ask(3, 0, 100, 200); /* of no thread */
        take();
        ck_assert_uint_eq(f.found[0][1], 30);
        ck_assert_uint_eq(f.found[0][2], 30);
        ck_assert_uint_eq(f.found[0][0], 40);
        ck_assert_uint_eq(f.found[1][0], 360);
        ck_assert_uint_eq(f.calls[0], 3);
        ck_assert_uint_eq(f.calls[1], 3);
        ck_assert_uint_eq(f.calls[2] + f.calls[3], 0);
}
END_TEST

/* All of a time is in no zone where its thread has no events, or is not in the trace. */
START_TEST(test_threads_without_zones)
{
        trace_builder_finish(&f.b);
        ask(0, 2, 100, 200);
        ask(1, N_THREADS + 1, 100, 200);
        take();
        ck_assert_uint_eq(f.found[0][0], 100);
        ck_assert_uint_eq(f.calls[1], 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = begin, .teardown = end);
