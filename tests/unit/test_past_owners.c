/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past.c: a CPU has one thread at a time, whatever switches the trace lacks; what is over is
 * forgotten, also where there are only locks
 */
#include "analyze/path/past.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

#define N_THREADS 3
#define MS        UINT64_C(1000000)

static struct trace_builder b;
static struct loaded_trace trace;
static struct trace_walk walk;
static struct past past;
static uint64_t n_most; /* spans that were kept at a time */
static bool only_cpus;  /* are kept */

/* Tests may run in one process. */
static void setup(void)
{
        n_most = 0;
        only_cpus = false;
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_walk_deinit(&walk);
        past_deinit(&past);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        (void)context, (void)err;
        return past_sample(&past, thread, event);
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        (void)context, (void)err;
        return past_wait_over(&past, thread, wait);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        (void)context, (void)err;
        if (past.latest_ns > PAST_LATE_NS)
                past_forget(&past, past.latest_ns - PAST_LATE_NS);
        return past_event(&past, thread, event);
}

static void load(void)
{
        struct trace_sink sink = { .sample = take_sample, .wait = take_wait, .event = take_event };
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(loaded_trace_open(&trace, b.path, &err) == 0, "%s", err.text);
        ck_assert_int_eq(past_init(&past, &trace, 0), 0);
        past.only_cpus = only_cpus;
        ck_assert_int_eq(trace_walk_init(&walk, &trace, NULL, &sink), 0);
        ck_assert_msg(loaded_trace_walk(&trace, &walk, &err) == 0, "%s", err.text);
}

/* An event of a thread: I comes onto a CPU, O leaves it, S is sampled there, X exits. */
struct step {
        uint32_t thread;
        char what;
        unsigned cpu;
        uint64_t time_ns;
};

#define STEPS_MAX 8

static const struct {
        struct step steps[STEPS_MAX];
        const char *owners[2]; /* of CPU 0 and 1 in [100, 200): "THREAD from-to ..." */
} cases[] = {
        { { { 1, 'I', 0, 50 }, { 1, 'O', 0, 120 }, { 2, 'I', 0, 130 }, { 2, 'O', 0, 300 } },
          { "1 100-120 2 130-200 ", "" } },
        /* it has not left the CPU yet */
        { { { 1, 'I', 1, 150 } }, { "", "1 150-200 " } },
        /* the trace lacks that it left: until the next one comes, or until it is elsewhere */
        { { { 1, 'I', 0, 50 }, { 2, 'I', 0, 130 }, { 2, 'O', 0, 140 } }, { "1 100-130 2 130-140 ", "" } },
        { { { 1, 'I', 0, 50 }, { 1, 'I', 1, 160 }, { 1, 'O', 1, 170 } }, { "1 100-160 ", "1 160-170 " } },
        { { { 1, 'I', 0, 50 }, { 1, 'X', 0, 110 } }, { "1 100-110 ", "" } },
        { { { 1, 'I', 0, 50 }, { 1, 'X', 0, 110 }, { 1, 'O', 0, 115 } }, { "1 100-110 ", "" } },
        /* or that it came: it ran when the recording began */
        { { { 1, 'S', 0, 120 }, { 1, 'O', 0, 180 } }, { "1 100-180 ", "" } },
        { { { 1, 'O', 0, 180 } }, { "1 100-180 ", "" } },
        { { { 1, 'I', 0, 20 }, { 1, 'O', 0, 30 }, { 1, 'O', 0, 180 } }, { "", "" } },
        /* threads on one CPU at a time by their switches: the one that came last has it */
        { { { 1, 'I', 0, 110 }, { 1, 'O', 0, 190 }, { 2, 'I', 0, 150 }, { 2, 'O', 0, 160 } },
          { "1 110-150 2 150-160 ", "" } },
        { { { 1, 'I', 0, 110 }, { 1, 'O', 0, 190 }, { 2, 'I', 0, 110 }, { 2, 'O', 0, 190 } },
          { "2 110-190 ", "" } },
        /* there is no such CPU */
        { { { 1, 'I', 4096, 110 }, { 1, 'O', 4096, 190 } }, { "", "" } },
};

static void add_step(const struct step *step)
{
        switch (step->what) {
        case 'I':
                TRACE_BUILDER_ADD(&b, step->time_ns, SWITCH_IN, step->cpu);
                return;
        case 'O':
                TRACE_BUILDER_ADD(&b, step->time_ns, SWITCH_OUT, step->cpu, 0, TRACE_WAIT_SLEEPING);
                return;
        case 'S':
                TRACE_BUILDER_ADD(&b, step->time_ns, SAMPLE, 1, step->cpu, 0, 0, 1);
                return;
        default:
                trace_builder_event(&b, step->time_ns, TRACE_OP_THREAD_EXIT);
        }
}

/* Each twice: the owners are the same where nothing else is kept. */
START_LOOP_TEST(test_one_thread_at_a_time, 0, 2 * sizeof(cases) / sizeof(cases[0]))
{
        int i_case = _i / 2;

        only_cpus = _i % 2 == 1;
        (void)trace_builder_sample_event(&b, "cpu-clock");
        for (uint32_t i = 1; i <= N_THREADS; i++)
                ck_assert_uint_eq(trace_builder_thread(&b, 10, 10 + i), i);
        for (uint32_t thread = 1; thread <= N_THREADS; thread++) {
                trace_builder_begin_run(&b, thread);
                for (int i = 0; i < STEPS_MAX; i++)
                        if (cases[i_case].steps[i].thread == thread)
                                add_step(&cases[i_case].steps[i]);
                trace_builder_end_run(&b);
        }
        load();
        for (uint32_t cpu = 0; cpu < 2; cpu++) {
                struct past_owners owners = past_owners_of(&past, cpu, 100, 200);
                struct past_span span;
                char words[64] = "";

                while (past_owners_next(&owners, &span))
                        (void)snprintf(words + strlen(words), sizeof(words) - strlen(words), "%u %u-%u ",
                                       span.id, (unsigned)span.begin_ns, (unsigned)span.end_ns);
                ck_assert_str_eq(words, cases[i_case].owners[cpu]);
        }
        for (uint32_t thread = 1; thread <= N_THREADS && only_cpus; thread++)
                ck_assert_uint_eq(past_list_count(&past_of(&past, thread)->waits), 0);
}
END_TEST

/*
 * One thread holds a lock all the time; the other takes another one a million times in 10 s: what is over for
 * longer than threads are apart is forgotten, and the lock that is held is not.
 */
START_TEST(test_locks_alone_are_forgotten)
{
        struct trace_lock row = { .number = 1 };
        uint32_t holder = trace_builder_thread(&b, 10, 11), busy = trace_builder_thread(&b, 10, 12), locks[2];
        const struct past_list *held;

        row.process = ((const struct trace_thread *)trace_dictionary_row(&b.dictionary, TRACE_TABLE_THREADS,
                                                                         holder))
                              ->process;
        row.location = trace_builder_location(&b, "lock");
        locks[0] = trace_builder_row(&b, TRACE_TABLE_LOCKS, &row);
        row.number = 2;
        locks[1] = trace_builder_row(&b, TRACE_TABLE_LOCKS, &row);
        trace_builder_begin_run(&b, holder);
        TRACE_BUILDER_ADD(&b, 10, LOCK_OBTAIN, locks[0]);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, busy);
        for (uint64_t i = 0; i < 1000000; i++) {
                TRACE_BUILDER_ADD(&b, 100 + i * MS / 100, LOCK_OBTAIN, locks[1]);
                TRACE_BUILDER_ADD(&b, 200 + i * MS / 100, LOCK_RELEASE, locks[1]);
        }
        trace_builder_end_run(&b);
        load();
        ck_assert_uint_lt(n_most, 600000); /* 200,000 of them at a time, and as many that are over */
        held = &past.holds[locks[0] - 1];
        ck_assert_uint_eq(held->n - held->first, 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
