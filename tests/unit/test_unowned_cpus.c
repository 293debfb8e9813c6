/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/cpu_lanes.c: when no thread of the trace had a CPU while one was ready to run there; not
 * while none was ready, while another thread had it, or while it is known to have been idle
 */
#include "analyze/waits/cpu_lanes.h"
#include "format/trace_event.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char told[512];

static int take(void *context, uint64_t cpu, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        size_t used = strlen(told);

        (void)context;
        (void)snprintf(told + used, sizeof(told) - used,
                       "CPU %" PRIu64 " %" PRIu64 "-%" PRIu64 ":%" PRIu32 " ", cpu, begin_ns, end_ns, thread);
        return 0;
}

static void begin(struct cpu_lanes *l)
{
        told[0] = '\0';
        cpu_lanes_init(l);
        l->take_unowned = take;
        ck_assert_int_eq(cpu_lanes_reserve(l, 2), 0);
}

static void come(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns, uint64_t cpu, uint64_t idle_ns)
{
        const struct trace_event event = { .op = TRACE_OP_SWITCH_IN,
                                           .time_ns = time_ns,
                                           .switch_in = { .cpu = cpu, .idle_ns = idle_ns } };

        ck_assert_int_eq(cpu_lanes_add(l, thread, &event), 0);
}

static void leave(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns, uint64_t cpu, bool preempted)
{
        const struct trace_event event = { .op = TRACE_OP_SWITCH_OUT,
                                           .time_ns = time_ns,
                                           .switch_out = { .cpu = cpu,
                                                           .preempted = preempted,
                                                           .wait = preempted ? TRACE_WAIT_PREEMPTED
                                                                             : TRACE_WAIT_SLEEPING } };

        ck_assert_int_eq(cpu_lanes_add(l, thread, &event), 0);
}

static void wake(struct cpu_lanes *l, uint32_t thread, uint64_t time_ns)
{
        const struct trace_event event = { .op = TRACE_OP_WAKEUP, .time_ns = time_ns };

        ck_assert_int_eq(cpu_lanes_add(l, thread, &event), 0);
}

static void finish(struct cpu_lanes *l, const char *wanted)
{
        ck_assert_int_eq(cpu_lanes_finish(l, 10000), 0);
        ck_assert_str_eq(told, wanted);
        cpu_lanes_deinit(l);
}

START_TEST(test_a_preempted_thread_wants_its_cpu_until_it_runs_whoever_comes_there)
{
        struct cpu_lanes l;

        begin(&l);
        come(&l, 1, 100, 0, 0);
        leave(&l, 1, 200, 0, true);
        come(&l, 1, 400, 0, 0);
        leave(&l, 1, 450, 0, false);
        come(&l, 2, 100, 1, 0);
        leave(&l, 2, 150, 1, false);
        wake(&l, 2, 220);
        come(&l, 2, 250, 0, 0); /* in the middle: from 200 on another one wanted the CPU */
        leave(&l, 2, 300, 0, false);
        finish(&l, "CPU 0 200-250:2 CPU 0 300-400:1 ");
}
END_TEST

START_TEST(test_a_preempted_thread_that_moves_or_ends_wanted_the_cpu_that_it_left)
{
        const struct trace_event end = { .op = TRACE_OP_THREAD_EXIT, .time_ns = 350 };
        struct cpu_lanes l;

        begin(&l);
        come(&l, 1, 100, 0, 0);
        leave(&l, 1, 200, 0, true);
        come(&l, 1, 250, 1, 0);
        leave(&l, 1, 300, 1, true);
        ck_assert_int_eq(cpu_lanes_add(&l, 1, &end), 0);
        come(&l, 2, 500, 1, 0); /* no thread was ready since 350 */
        leave(&l, 2, 600, 1, false);
        finish(&l, "CPU 0 200-250:1 CPU 1 300-350:1 ");
}
END_TEST

START_TEST(test_a_woken_thread_wanted_the_cpu_onto_which_it_comes)
{
        struct cpu_lanes l;

        begin(&l);
        come(&l, 1, 100, 0, 0);
        leave(&l, 1, 200, 0, false);
        wake(&l, 1, 300);
        wake(&l, 1, 320); /* it was ready already */
        come(&l, 1, 350, 0, 0);
        leave(&l, 1, 400, 0, false);
        wake(&l, 1, 450);
        come(&l, 1, 480, 0, 60); /* idle all the time */
        leave(&l, 1, 500, 0, false);
        come(&l, 1, 600, 0, 0); /* no wake-up was recorded */
        leave(&l, 1, 700, 0, false);
        finish(&l, "CPU 0 300-350:1 ");
}
END_TEST

START_TEST(test_a_cpu_that_a_thread_of_the_trace_has_is_owned)
{
        struct cpu_lanes l;

        begin(&l);
        come(&l, 1, 100, 0, 0);
        leave(&l, 1, 200, 0, true);
        come(&l, 1, 300, 0, 0);
        leave(&l, 1, 400, 0, false);
        come(&l, 2, 200, 0, 0);
        leave(&l, 2, 300, 0, false);
        finish(&l, "");
}
END_TEST
