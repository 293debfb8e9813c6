/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_gil.c: what threads do at a GIL becomes waits, holds and their ends: a wait in parts
 * is one, and the holder is as the interpreter says, else the thread that obtained it last
 */
#include "sampler/python/python_gil.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PID         500
#define OTHER       501
#define FOREIGN     600
#define INTERVAL_NS UINT64_C(5000000)

static struct trace_dictionary dictionary;
static struct process_table processes;
static struct recording recording;
static struct python_gil *gil;
static uint64_t n_switches;

static struct thread_track *thread_of(uint32_t tid)
{
        return process_table_find_thread(&processes, tid);
}

static void setup(void)
{
        struct thread_track *thread;

        trace_dictionary_init(&dictionary, 0);
        process_table_init(&processes, &dictionary);
        recording = (struct recording){ .dictionary = &dictionary, .processes = &processes };
        ck_assert_int_eq(process_table_add_thread(&processes, PID, PID, 0, 1, &thread), 0);
        ck_assert_int_eq(process_table_add_thread(&processes, PID, OTHER, 0, 1, &thread), 0);
        ck_assert_int_eq(process_table_add_thread(&processes, FOREIGN, FOREIGN, 0, 1, &thread), 0);
        ck_assert_int_eq(python_gil_new(&recording, &gil), 0);
        n_switches = 0;
}

static void teardown(void)
{
        python_gil_free(gil);
        process_table_deinit(&processes);
        trace_dictionary_deinit(&dictionary);
}

static void take_switch(uint32_t tid, bool out, bool preempted, uint64_t time_ns)
{
        struct perf_record rec = {
                .kind = PERF_RECORD_KIND_SWITCH, .pid = PID, .tid = tid, .time_ns = time_ns
        };

        rec.context_switch.out = out;
        rec.context_switch.preempted = preempted;
        ck_assert_int_eq(python_gil_switch(gil, thread_of(tid), &rec), 0);
}

static void take_in(uint32_t tid, uint64_t time_ns)
{
        take_switch(tid, false, false, time_ns);
}

static void take_sleep(uint32_t tid, uint64_t time_ns)
{
        take_switch(tid, true, false, time_ns);
}

/* The thread sleeps on the lock. */
static void take_wait(uint32_t tid, uint32_t holder_tid, uint64_t time_ns)
{
        struct perf_record rec = { .kind = PERF_RECORD_KIND_GIL, .pid = PID, .tid = tid, .time_ns = time_ns };

        rec.gil.avma = 0x1000;
        rec.gil.n_switches = n_switches;
        rec.gil.interval_ns = INTERVAL_NS;
        rec.gil.holder_tid = holder_tid;
        ck_assert_int_eq(python_gil_wait(gil, thread_of(tid), &rec), 0);
        take_sleep(tid, time_ns);
}

/* The events of a thread so far: "wait 100, obtain 200, release 300, ". */
static const char *events_of(uint32_t tid)
{
        static char words[512];
        const struct thread_track *thread = thread_of(tid);

        words[0] = '\0';
        for (size_t i = 0; i < thread->n_pending; i++) {
                const struct trace_event *event = &thread->pending[i].event;
                const char *what = event->op == TRACE_OP_LOCK_WAIT     ? "wait"
                                   : event->op == TRACE_OP_LOCK_OBTAIN ? "obtain"
                                                                       : "release";
                size_t n = strlen(words);

                ck_assert_uint_eq(event->operand[0], 1);
                (void)snprintf(words + n, sizeof(words) - n, "%s %" PRIu64 ", ", what, event->time_ns);
        }
        return words;
}

START_TEST(test_holder_is_as_the_interpreter_says)
{
        take_wait(OTHER, PID, 100);
        take_in(OTHER, 200);
        ck_assert_str_eq(events_of(OTHER), "wait 100, obtain 200, ");
        ck_assert_str_eq(events_of(PID), "obtain 100, release 200, ");
        take_wait(PID, OTHER, 300);
        take_sleep(OTHER, 400);
        take_in(PID, 450);
        ck_assert_str_eq(events_of(OTHER), "wait 100, obtain 200, release 400, ");
        ck_assert_str_eq(events_of(PID), "obtain 100, release 200, wait 300, obtain 450, ");
}
END_TEST

START_TEST(test_holder_in_a_namespace)
{
        ck_assert_int_eq(process_table_number_thread(thread_of(OTHER), 2), 0);
        take_wait(PID, 2, 100);
        take_in(PID, 200);
        ck_assert_str_eq(events_of(OTHER), "obtain 100, release 200, ");
}
END_TEST

START_TEST(test_wait_in_parts_is_one)
{
        take_wait(OTHER, PID, 0);
        take_in(OTHER, INTERVAL_NS);
        take_switch(OTHER, true, true, INTERVAL_NS + 10); /* preempted while it asks */
        take_in(OTHER, 2 * INTERVAL_NS);
        take_wait(OTHER, PID, 2 * INTERVAL_NS + 20);
        take_in(OTHER, 2 * INTERVAL_NS + 30);
        ck_assert_str_eq(events_of(OTHER), "wait 0, obtain 10000030, ");
        ck_assert_str_eq(events_of(PID), "obtain 0, release 10000030, ");
}
END_TEST

START_TEST(test_thread_that_ran_after_its_interval_had_the_lock)
{
        take_wait(OTHER, PID, 0);
        take_in(OTHER, INTERVAL_NS);
        n_switches = 2;
        take_wait(OTHER, PID, 2 * INTERVAL_NS);
        ck_assert_str_eq(events_of(OTHER), "wait 0, obtain 10000000, release 10000000, wait 10000000, ");
        ck_assert_str_eq(events_of(PID), "obtain 0, release 10000000, obtain 10000000, ");
}
END_TEST

START_TEST(test_samples_say_who_holds_it)
{
        ck_assert_int_eq(python_gil_sample(gil, thread_of(PID), true, 10), 0);
        ck_assert_int_eq(python_gil_sample(gil, thread_of(PID), true, 20), 0);
        ck_assert_int_eq(python_gil_sample(gil, thread_of(OTHER), false, 25), 0);
        ck_assert_int_eq(python_gil_sample(gil, thread_of(PID), false, 30), 0);
        ck_assert_int_eq(python_gil_sample(gil, thread_of(OTHER), true, 40), 0);
        ck_assert_str_eq(events_of(PID), "obtain 10, release 30, ");
        ck_assert_str_eq(events_of(OTHER), "obtain 40, ");
        ck_assert_int_eq(python_gil_end(gil, thread_of(OTHER), 50), 0);
        ck_assert_str_eq(events_of(OTHER), "obtain 40, release 50, ");
}
END_TEST

START_TEST(test_other_sleeps_are_no_waits)
{
        ck_assert_int_eq(python_gil_sample(gil, thread_of(PID), true, 10), 0);
        take_sleep(OTHER, 20);
        take_in(OTHER, 30);
        take_sleep(PID, 40);
        take_in(PID, 50);
        ck_assert_str_eq(events_of(OTHER), "");
        ck_assert_str_eq(events_of(PID), "obtain 10, release 40, ");
}
END_TEST

/* The number comes from the program's memory: it may be any. */
START_TEST(test_holder_of_another_process_is_not_believed)
{
        take_wait(OTHER, FOREIGN, 100);
        take_wait(PID, 77777, 150);
        ck_assert_str_eq(events_of(FOREIGN), "");
        ck_assert_str_eq(events_of(OTHER), "wait 100, ");
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
