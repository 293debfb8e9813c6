/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_questions.c: each question is asked once, as a whole or in parts without gaps, when all
 * is known of its time, and nothing of it is forgotten yet; what is kept has a limit
 */
#include "analyze/path/past.h"
#include "analyze/path/past_questions.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define MS UINT64_C(1000000)

#define QUESTIONS_MAX 8

static struct trace_builder b;
static struct loaded_trace trace;
static struct past past;
static struct past_questions questions;
static uint64_t asked_ns[QUESTIONS_MAX]; /* of each, up to here */
static uint32_t n_parts[QUESTIONS_MAX], n_asked, worker, idle;
static uint64_t bytes_max; /* of the past; 0 = as usual */
static bool only_cpus;     /* are kept */
static bool may_be_cut;    /* a question is about a wait that is longer than what there is room for */
static bool is_at_end;     /* the trace is so short that all is asked at its end */

/* Tests may run in one process. */
static void setup(void)
{
        memset(asked_ns, 0, sizeof(asked_ns));
        memset(n_parts, 0, sizeof(n_parts));
        n_asked = 0;
        bytes_max = 0;
        only_cpus = may_be_cut = is_at_end = false;
        trace_builder_init(&b);
        worker = trace_builder_thread(&b, 10, 11);
        idle = trace_builder_thread(&b, 10, 12);
}

static void teardown(void)
{
        past_questions_deinit(&questions);
        past_deinit(&past);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

static int take(void *context, const struct past_question *part)
{
        (void)context;
        ck_assert_uint_lt(part->id, QUESTIONS_MAX);
        ck_assert(n_parts[part->id] == 0 || part->begin_ns == asked_ns[part->id]);
        ck_assert_uint_gt(part->end_ns, part->begin_ns);
        ck_assert(may_be_cut || part->begin_ns >= past.kept_ns);
        ck_assert(is_at_end || part->end_ns + PAST_LATE_NS <= past.latest_ns);
        if (!may_be_cut && part->thread != 0 && part->thread <= past.n_threads)
                ck_assert(past_wait_at(&past, part->thread, part->end_ns - 1) == NULL ||
                          past_wait_at(&past, part->thread, part->end_ns - 1)->in_ns != UINT64_MAX);
        asked_ns[part->id] = part->end_ns;
        n_parts[part->id]++;
        return 0;
}

static void ask(uint64_t begin_ns, uint64_t end_ns, uint32_t thread)
{
        const struct past_question question = {
                .begin_ns = begin_ns, .end_ns = end_ns, .id = n_asked++, .thread = thread
        };

        ck_assert_int_eq(past_questions_add(&questions, &question), 0);
}

static void answer(void)
{
        struct past_questions none = { .take = take }, *lists[] = { &none, &questions };
        struct error err = ERROR_NONE;

        questions.take = take;
        trace_builder_finish(&b);
        ck_assert_msg(loaded_trace_open(&trace, b.path, &err) == 0, "%s", err.text);
        ck_assert_int_eq(past_init(&past, &trace, 0), 0);
        if (bytes_max != 0)
                past.bytes_max = bytes_max;
        past.only_cpus = only_cpus;
        ck_assert_int_eq(past_questions_answer(&past, &trace, lists, 2, &err), 0);
}

/* Waits every @every_ns. */
static void wait_often(uint64_t n, uint64_t every_ns)
{
        for (uint64_t i = 0; i < n; i++) {
                if (i % 10000 == 0) {
                        if (i != 0)
                                trace_builder_end_run(&b);
                        trace_builder_begin_run(&b, worker);
                }
                TRACE_BUILDER_ADD(&b, MS + i * every_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
                TRACE_BUILDER_ADD(&b, MS + i * every_ns + every_ns / 2, SWITCH_IN, 0);
        }
        trace_builder_end_run(&b);
}

START_TEST(test_in_the_order_of_their_ends)
{
        wait_often(150000, MS / 10);
        ask(5000 * MS, 9000 * MS, 0);
        ask(2000 * MS, 9500 * MS, worker); /* the later one begins first */
        ask(100 * MS, 200 * MS, worker);
        ask(300 * MS, 300 * MS, worker); /* nothing */
        ask(9000 * MS, 9100 * MS, 99);   /* of a thread that is not there */
        ask(9400 * MS, 9600 * MS, 0);
        answer();
        for (uint32_t i = 0; i < 6; i++)
                ck_assert_uint_eq(n_parts[i], i != 3);
        ck_assert_uint_eq(asked_ns[1], 9500 * MS);
}
END_TEST

START_TEST(test_short_traces)
{
        is_at_end = true;
        wait_often(100, MS);
        ask(10 * MS, 20 * MS, worker);
        ask(10 * MS, 200 * MS, 0); /* beyond the end */
        answer();
        ck_assert_uint_eq(n_parts[0], 1);
        ck_assert_uint_eq(n_parts[1], 1);
}
END_TEST

/* 100,000 waits in 10 s; room for 40,000. */
START_TEST(test_in_parts)
{
        bytes_max = 40000 * (sizeof(struct past_wait) + 24);
        wait_often(100000, MS / 10);
        ask(10 * MS, 7000 * MS, worker);
        ask(10 * MS, 6900 * MS, 0);
        answer();
        ck_assert_uint_gt(n_parts[0], 1);
        ck_assert_uint_gt(n_parts[1], 1);
        ck_assert_uint_eq(asked_ns[0], 7000 * MS);
        ck_assert_uint_eq(asked_ns[1], 6900 * MS);
        ck_assert_uint_eq(past.n_forgotten, 0);
}
END_TEST

/* The same, and a thread that waits for all of the time after the first second. */
START_TEST(test_long_waits)
{
        bytes_max = 40000 * (sizeof(struct past_wait) + 24);
        may_be_cut = true;
        trace_builder_begin_run(&b, idle);
        TRACE_BUILDER_ADD(&b, 1000 * MS, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        wait_often(100000, MS / 10);
        ask(10 * MS, 6800 * MS, idle);
        answer();
        ck_assert_uint_eq(n_parts[0], 2); /* until it left its CPU, and the rest */
        ck_assert_uint_eq(asked_ns[0], 6800 * MS);
        ck_assert_uint_gt(past.n_forgotten, 0);
        ck_assert_uint_le(past.used_bytes, bytes_max + bytes_max / 8);
}
END_TEST

/* Where only CPUs are kept: room for all that may still change, and for less, which is counted. */
START_LOOP_TEST(test_cpus_alone, 0, 2)
{
        only_cpus = true;
        may_be_cut = _i == 1;
        bytes_max = _i == 0 ? 40000 * sizeof(struct past_span) : 4000 * sizeof(struct past_span);
        wait_often(100000, MS / 10);
        ask(10 * MS, 6900 * MS, 0);
        answer();
        ck_assert_uint_gt(n_parts[0], 1);
        ck_assert_uint_eq(asked_ns[0], 6900 * MS);
        ck_assert((past.n_forgotten != 0) == may_be_cut);
        ck_assert_uint_le(past.used_bytes, bytes_max + bytes_max / 8);
        ck_assert_uint_eq(past_list_count(&past_of(&past, worker)->waits), 0);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 60, .setup = setup, .teardown = teardown);
