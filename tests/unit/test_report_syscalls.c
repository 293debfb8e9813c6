/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_syscalls.c, syscalls_view.c: sums of system calls are added up over threads and stay
 * exact; samples share them out among callers and zones; the first line names the call that costs most, not
 * one that waits
 */
#include "analyze/report/report.h"
#include "base/clock.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/report_view.h"

#include <string.h>

static struct made {
        uint32_t program, libc, syscalls, main, event, threads[2], path;
} m;

static struct trace_builder b;
static struct report *report;

static void setup(void)
{
        struct trace_module syscalls = { .kind = TRACE_MODULE_KERNEL,
                                         .generation = TRACE_MODULE_KERNEL_GONE };
        struct trace_sample_event event = { .mode = TRACE_SAMPLE_MODE_WITH_LEADER };

        trace_builder_init(&b);
        trace_builder_meta(&b, "syscalls", "1");
        m.program = trace_builder_module(&b, "/bin/program");
        m.libc = trace_builder_module(&b, "/usr/lib/x86_64-linux-gnu/libc.so.6");
        syscalls.path = trace_builder_string(&b, "[syscalls]");
        m.syscalls = trace_builder_row(&b, TRACE_TABLE_MODULES, &syscalls);
        m.main = trace_builder_push(&b, 0, m.program, 0x10, "main");
        event.name = trace_builder_string(&b, "syscalls");
        event.unit = trace_builder_string(&b, "calls");
        m.event = trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &event);
        m.threads[0] = trace_builder_thread(&b, 10, 10);
        m.threads[1] = trace_builder_thread(&b, 10, 11);
        m.path = trace_builder_path(&b, 0, trace_builder_location(&b, "dump"));
}

static void teardown(void)
{
        report_free(report);
        report = NULL;
        trace_builder_deinit(&b);
}

/* @caller calls write() of the C library. */
static uint32_t writing(const char *caller)
{
        uint32_t stack = trace_builder_push(&b, m.main, m.program, (uint64_t)caller[0] * 0x100, caller);

        return trace_builder_push(&b, trace_builder_push(&b, stack, m.libc, 0x500, "__libc_write"),
                                  m.syscalls, 1, "sys_write");
}

static void add_sum(uint32_t thread, const char *name, struct trace_syscall sum)
{
        sum.thread = thread;
        sum.name = trace_builder_string(&b, name);
        (void)trace_builder_row(&b, TRACE_TABLE_SYSCALLS, &sum);
}

/* Two threads of 100 ms each; samples of write() in the first. */
static void add_events(uint32_t often, uint32_t seldom)
{
        trace_builder_begin_run(&b, m.threads[0]);
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_IN, 0);
        for (uint64_t i = 0; often != 0 && i < 4; i++)
                TRACE_BUILDER_ADD(&b, NS_PER_S + 1000 * (i + 1), SAMPLE, m.event, 0, i < 3 ? often : seldom,
                                  i < 2 ? m.path : 0, 10, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 100 * NS_PER_MS, SWITCH_OUT, 0, 0, TRACE_WAIT_ENDED);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, m.threads[1]);
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 100 * NS_PER_MS, SWITCH_OUT, 1, 0, TRACE_WAIT_ENDED);
        trace_builder_end_run(&b);
}

static void load(void)
{
        const struct report_options options = { .wants_syscalls = true };
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, &options, &report, &err) == 0, "%s", err.text);
}

static void expect_answer(const char *wanted)
{
        const struct report_view_options options = { .limit = 0 };
        struct view_document d;

        view_document_init(&d, syscalls_view_schema.name);
        syscalls_view_fill(&d, report, &options);
        ck_assert(!d.failed);
        ck_assert_msg(d.title.used_bytes == strlen(wanted) &&
                              memcmp(d.title.data, wanted, strlen(wanted)) == 0,
                      "%.*s", (int)d.title.used_bytes, (const char *)d.title.data);
        view_document_deinit(&d);
}

START_TEST(sums_are_exact_and_callers_sampled)
{
        const struct report_syscalls *s;

        add_events(writing("dump_file"), writing("log_it"));
        add_sum(m.threads[0], "write", (struct trace_syscall){ 1000, 1, 40 * NS_PER_MS, 9000, 512000, 0, 0 });
        add_sum(m.threads[1], "write", (struct trace_syscall){ 200, 2, 10 * NS_PER_MS, 5000, 102400, 0, 0 });
        add_sum(m.threads[1], "futex",
                (struct trace_syscall){ 7, 0, 90 * NS_PER_MS, 80 * NS_PER_MS, 0, 0, 0 });
        add_sum(0, "getppid", (struct trace_syscall){ 5000, 0, NS_PER_MS, 9, 0, 0, 0 });
        load();
        s = &report->syscalls;
        ck_assert(s->is_recorded);
        ck_assert_uint_eq(s->n_rows, 3);
        ck_assert_uint_eq(s->n_calls, 6207);
        ck_assert_uint_eq(s->n_errors, 3);
        ck_assert_uint_eq(s->threads_ns, 200 * NS_PER_MS);
        ck_assert(text_view_is(s->rows[0].name, "futex"));
        ck_assert(text_view_is(s->rows[1].name, "write"));
        ck_assert_uint_eq(s->rows[1].n_calls, 1200);
        ck_assert_uint_eq(s->rows[1].n_bytes, 614400);
        ck_assert_uint_eq(s->rows[1].longest_ns, 9000);
        ck_assert_uint_eq(s->rows[1].n_threads, 2);
        ck_assert_uint_eq(s->rows[1].n_samples, 4);
        ck_assert_uint_eq(s->n_callers, 2);
        ck_assert_uint_eq(report_syscalls_estimate(&s->rows[1], s->callers[0].sampled_calls), 900);
        ck_assert_uint_eq(report_syscalls_estimate(&s->rows[1], s->callers[1].sampled_calls), 300);
        ck_assert(s->has_zones);
        ck_assert_uint_eq(s->n_zones, 2);
        ck_assert_uint_eq(s->zones[0].sampled_calls, 20);
        ck_assert_uint_eq(s->n_threads, 4);
        /* References to a row follow it into the order of the table. */
        ck_assert_uint_eq(s->callers[0].syscall, 1);
        ck_assert_uint_eq(s->zones[0].syscall, 1);
        ck_assert_uint_eq(s->threads[0].syscall, 0);
        ck_assert_uint_eq(s->threads[0].thread, m.threads[1]);
        expect_answer("1,200 write calls of 512 B: 25.0% of the threads' time, 75.0% of them from dump_file; "
                      "5,000 getppid calls: 0.5% of the threads' time");
}
END_TEST

/* The command's execve(2) began before its thread's first event: a thread lives as long as its calls take. */
START_TEST(calls_take_no_more_than_all_of_the_time)
{
        add_events(0, 0);
        add_sum(m.threads[0], "execve",
                (struct trace_syscall){ 1, 0, 250 * NS_PER_MS, 250 * NS_PER_MS, 0, 0, 0 });
        add_sum(m.threads[0], "read", (struct trace_syscall){ 1, 0, 50 * NS_PER_MS, 9000, 0, 0, 0 });
        load();
        ck_assert_uint_eq(report->syscalls.threads_ns, 400 * NS_PER_MS);
        expect_answer("1 execve call: 62.5% of the threads' time");
}
END_TEST

static uint32_t add_event(struct trace_sample_event row)
{
        row.name = row.unit = trace_builder_string(&b, "other");
        return trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &row);
}

/*
 * Samples count where they are of the event and in a frame of a call.  Callers that are not known are none;
 * of a call without a caller outside of the C library, its function is the caller.
 */
START_TEST(only_samples_of_calls_count)
{
        uint32_t led = add_event(
                (struct trace_sample_event){ .mode = TRACE_SAMPLE_MODE_WITH_LEADER, .leader = m.event });
        uint32_t other = add_event((struct trace_sample_event){ .mode = TRACE_SAMPLE_MODE_PERIOD });
        uint32_t known = writing("dump_file"), alone = trace_builder_push(&b, 0, m.syscalls, 1, "sys_write");
        uint32_t inner = trace_builder_push(&b, trace_builder_push(&b, 0, m.libc, 0x500, "__libc_write"),
                                            m.syscalls, 1, "sys_write");
        uint32_t fiber = trace_builder_fiber(&b, 10, 1);
        const uint32_t samples[][2] = {
                { m.event, known },
                { m.event, alone },
                { m.event, alone },
                { m.event, inner },
                { led, known },
                { other, known },
                { m.event, trace_builder_push(&b, m.main, m.program, 0x900, "sys_write") },
        };
        const struct report_syscalls *s;

        add_events(0, 0);
        trace_builder_begin_run(&b, m.threads[0]);
        for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
                TRACE_BUILDER_ADD(&b, NS_PER_S + i, SAMPLE, samples[i][0], 0, samples[i][1], 0, 10,
                                  TRACE_STACK_COMPLETE);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, fiber);
        trace_builder_begin_zone(&b, NS_PER_S, trace_builder_location(&b, "zone"));
        trace_builder_event(&b, NS_PER_S + NS_PER_MS, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        add_sum(m.threads[0], "read", (struct trace_syscall){ 1, 0, 4000, 4000, 0, 0, 0 });
        add_sum(m.threads[0], "write", (struct trace_syscall){ 40, 0, 4000, 100, 0, 0, 0 });
        load();
        s = &report->syscalls;
        /* The one with more calls is the first of equal times. */
        ck_assert(text_view_is(s->rows[0].name, "write"));
        ck_assert_uint_eq(s->n_samples, 4);
        ck_assert_uint_eq(s->n_callers, 3);
        ck_assert_uint_eq(s->callers[0].place, 0);
        ck_assert_uint_eq(s->callers[0].sampled_calls, 20);
        ck_assert_uint_ne(s->rows[0].caller, 0);
        ck_assert_uint_eq(s->rows[0].caller_calls, 10);
        ck_assert(!s->has_zones);
        ck_assert_uint_eq(s->threads_ns, 200 * NS_PER_MS);
        ck_assert_uint_eq(
                report_syscalls_estimate(&(struct report_syscall){ .n_calls = 10, .sampled_calls = 3 }, 2),
                7);
}
END_TEST

START_TEST(only_waiting_is_named_if_there_is_nothing_else)
{
        add_events(0, 0);
        add_sum(m.threads[0], "epoll_wait",
                (struct trace_syscall){ 3, 0, 50 * NS_PER_MS, 50 * NS_PER_MS, 0, 0, 0 });
        load();
        ck_assert_uint_eq(report->syscalls.rows[0].caller, 0);
        expect_answer("3 epoll_wait calls: 25.0% of the threads' time");
}
END_TEST

/* Calls that were not counted are not reported, though a sample of the event is there. */
/* A program that sleeps is not one that opens files. */
START_TEST(little_time_in_calls_is_said_first)
{
        add_sum(m.threads[0], "openat", (struct trace_syscall){ .n_calls = 20, .time_ns = NS_PER_MS });
        add_sum(m.threads[1], "epoll_wait",
                (struct trace_syscall){ .n_calls = 3, .time_ns = 90 * NS_PER_MS });
        add_events(0, 0);
        load();
        expect_answer(
                "0.5% of the threads' time in system calls that do not only wait; 20 openat calls: 0.5% "
                "of the threads' time");
}
END_TEST

START_TEST(without_sums_nothing_is_known)
{
        trace_builder_meta(&b, "end_raw_ns", "2000000000");
        add_events(writing("dump_file"), m.main);
        load();
        ck_assert_uint_eq(report->syscalls.n_rows, 0);
        ck_assert_uint_eq(report->syscalls.n_samples, 0);
        expect_answer("no system call has returned");
}
END_TEST

/* The numbers are written at the end of a recording, so a trace that is cut off lacks them. */
START_TEST(without_an_end_no_number_is_known)
{
        add_events(writing("dump_file"), m.main);
        load();
        expect_answer(
                "the numbers of system calls are not in this trace: a recording writes them at its end");
}
END_TEST

/* A trace may say anything: sums end at the largest number, and names may be empty, or the same. */
START_TEST(hostile_sums_do_not_wrap)
{
        const struct trace_syscall huge = {
                UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 0
        };

        add_events(writing("dump_file"), writing("log_it"));
        for (int i = 0; i < 3; i++) {
                add_sum(m.threads[0], "write", huge);
                add_sum(0, "", huge);
                add_sum(0, "", (struct trace_syscall){ .time_ns = 1 });
        }
        load();
        ck_assert_uint_eq(report->syscalls.n_rows, 2);
        ck_assert_uint_eq(report->syscalls.rows[0].n_calls, UINT64_MAX);
        ck_assert_uint_eq(report->syscalls.time_ns, UINT64_MAX);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
