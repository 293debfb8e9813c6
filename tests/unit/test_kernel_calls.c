/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/kernel_calls.c, answer_words.c: the first line names what programs wait for, or the call
 * that they make; of programs that compute it names the function, even beside threads that sleep
 */
#include "analyze/report/report.h"
#include "base/clock.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/shared/answer_words.h"

#include <string.h>

struct code {
        uint32_t program, libc, kernel, main;
        uint32_t commit, lock, write, wait4, fault, interrupt, compute; /* stacks */
        uint32_t event;
};

static struct trace_builder b;
static struct code c;
static uint64_t now_ns; /* of the thread whose events are added */

/* main, @caller, a function without a name, @call, and the kernel down to its scheduler. */
static uint32_t calling(const char *caller, const char *call, const char *in_kernel)
{
        uint64_t at = (uint64_t)caller[0] * 0x100;
        uint32_t stack = trace_builder_push(&b, c.main, c.program, at, caller);

        stack = trace_builder_push(&b, stack, c.program, at + 0x80, NULL);
        stack = trace_builder_push(&b, stack, c.libc, strlen(call) * 0x10, call);
        stack = trace_builder_push(&b, stack, c.libc, strlen(call) * 0x10 + 4, "__internal_syscall_cancel");
        stack = trace_builder_push(&b, stack, c.kernel, 0x1000, "do_syscall_64");
        stack = trace_builder_push(&b, stack, c.kernel, strlen(in_kernel), in_kernel);
        return trace_builder_push(&b, stack, c.kernel, 0x3000, "finish_task_switch.isra.0");
}

static void set_up(void)
{
        struct trace_module kernel = { .kind = TRACE_MODULE_KERNEL };

        now_ns = NS_PER_S;
        trace_builder_init(&b);
        c.program = trace_builder_module(&b, "/bin/program");
        c.libc = trace_builder_module(&b, "/usr/lib/x86_64-linux-gnu/libc.so.6");
        kernel.path = trace_builder_string(&b, "[kernel]");
        c.kernel = trace_builder_row(&b, TRACE_TABLE_MODULES, &kernel);
        c.main = trace_builder_push(&b, 0, c.program, 0x10, "main");
        c.compute = trace_builder_push(&b, c.main, c.program, 0x20, "compute");
        c.commit = calling("commit_it", "fdatasync@@GLIBC_2.2.5", "folio_wait_bit");
        c.lock = calling("take", "pthread_mutex_lock", "futex_wait");
        c.write = calling("dump", "__libc_write", "vfs_write");
        c.wait4 = calling("run_child", "wait4", "do_wait");
        c.fault = trace_builder_push(&b, c.compute, c.kernel, 0x1100, "exc_page_fault");
        c.fault = trace_builder_push(&b, c.fault, c.kernel, 0x1200, "clear_page_erms");
        c.interrupt = trace_builder_push(&b, c.compute, c.kernel, 0x1300, "sysvec_apic_timer_interrupt");
        c.event = trace_builder_sample_event(&b, "cpu-clock");
}

static void tear_down(void)
{
        trace_builder_deinit(&b);
}

/* The run of the program's first thread, which has a CPU. */
static void begin_thread(void)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
}

static void wait_once(uint64_t wait_ns, uint32_t stack)
{
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack, TRACE_STACK_COMPLETE);
        now_ns += wait_ns;
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
        now_ns += NS_PER_MS / 10;
}

static void sample_often(uint32_t n, uint32_t stack)
{
        for (uint32_t i = 0; i < n; i++)
                trace_builder_sample(&b, now_ns += NS_PER_MS, c.event, 0, stack);
}

/* The overview's sentence begins with @wanted; @look, if not NULL, checks the report. */
static void expect(const char *wanted, void (*look)(const struct report *report))
{
        struct report_options options = { .wants_waits = true };
        struct answer_words a = { .used_bytes = 0 };
        struct report *report = NULL;
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, &options, &report, &err) == 0, "%s", err.text);
        answer_words_add_first(&a, report);
        ck_assert_msg(strncmp(a.text, wanted, strlen(wanted)) == 0, "%s", a.text);
        if (look)
                look(report);
        report_free(report);
}

/* 98 of 100 short waits have no call stack.  Together they are longer than the long one, which has one. */
START_TEST(waits_with_a_stack_stand_for_others_as_long)
{
        begin_thread();
        for (int i = 0; i < 100; i++)
                wait_once(3 * NS_PER_MS, i % 50 == 0 ? c.commit : 0);
        wait_once(100 * NS_PER_MS, c.lock);
        trace_builder_end_run(&b);
        expect("waited 400 ms of 410 ms: 75.0% of it in fdatasync from commit_it, judged by the 3.0% of the "
               "waits that have a call stack",
               NULL);
}
END_TEST

/* An event of the kind of a tracepoint; a frame that stands for a system call. */
static uint32_t add_tracepoint(const char *name)
{
        struct trace_sample_event row = { .name = trace_builder_string(&b, name),
                                          .type = 2,
                                          .mode = TRACE_SAMPLE_MODE_PERIOD,
                                          .rate = 1,
                                          .unit = trace_builder_string(&b, "events") };

        return trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &row);
}

static uint32_t add_syscalls_module(void)
{
        struct trace_module row = { .kind = TRACE_MODULE_KERNEL,
                                    .path = trace_builder_string(&b, "[syscalls]"),
                                    .generation = TRACE_MODULE_KERNEL_GONE };

        return trace_builder_row(&b, TRACE_TABLE_MODULES, &row);
}

static void expect_functions_of_the_program(const struct report *report)
{
        ck_assert_uint_gt(report->functions.n_rows, 0);
        for (uint32_t i = 0; i < report->functions.n_rows; i++)
                ck_assert(!text_view_is(report->functions.rows[i].module, "[kernel]"));
        ck_assert_uint_eq(report->functions.rows[0].self.n_samples, 5);
}

/* @n samples, of which the first @n_first are in @first. */
static void sample_two(uint64_t n, uint64_t n_first, uint32_t first, uint32_t second)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        for (uint64_t i = 0; i < n; i++)
                trace_builder_sample(&b, NS_PER_S + i, c.event, 0, i < n_first ? first : second);
        trace_builder_end_run(&b);
}

/* The kernel's functions at a tracepoint are the same ones for each sample, whatever the program does. */
START_TEST(at_a_tracepoint_the_function_of_the_program_is_named)
{
        c.event = add_tracepoint("sched:sched_switch");
        sample_two(5, 4, c.write, c.commit);
        expect("5,000 sched:sched_switch: 80.0% in write from dump", expect_functions_of_the_program);
}
END_TEST

START_TEST(at_a_system_call_its_argument_is_named)
{
        uint32_t module = add_syscalls_module(), in_write, in_read;

        c.event = add_tracepoint("raw_syscalls:sys_enter");
        in_write = trace_builder_push(&b, trace_builder_push(&b, c.compute, c.libc, 0x700, "syscall"), module,
                                      1, "sys_write");
        in_read = trace_builder_push(&b, trace_builder_push(&b, c.compute, c.libc, 0x700, "syscall"), module,
                                     0, "sys_read");
        sample_two(5, 3, in_write, in_read);
        expect("5,000 raw_syscalls:sys_enter: 60.0% in write from compute", expect_functions_of_the_program);
}
END_TEST

/* Nothing of the program is there: what the kernel did is the answer. */
START_TEST(without_a_program_a_tracepoint_has_the_kernels_function)
{
        c.event = add_tracepoint("sched:sched_switch");
        sample_two(25, 25, trace_builder_push(&b, 0, c.kernel, 0x40, "kswapd"), 0);
        expect("100.0% of the samples are in kswapd itself", NULL);
}
END_TEST

/* The parent waits for its child, the child for the disk; another thread sleeps to the end. */
static void expect_asleep(const struct report *report)
{
        const struct report_waits *w = &report->waits;

        ck_assert_uint_eq(w->all.n_open - w->with_stack.n_open, 1);
        ck_assert_uint_eq(w->all.open_ns - w->with_stack.open_ns, 210 * NS_PER_MS);
        ck_assert_uint_eq(report->kernel_calls.waits.total_ns, 610 * NS_PER_MS);
}

START_TEST(the_last_cause_of_waiting_is_named)
{
        uint32_t parent, child, sleeper, worker;

        parent = trace_builder_thread(&b, 10, 10);
        child = trace_builder_thread(&b, 20, 20);
        worker = trace_builder_thread(&b, 20, 21);
        sleeper = trace_builder_thread(&b, 20, 22);
        trace_builder_begin_run(&b, parent);
        wait_once(205 * NS_PER_MS, c.wait4);
        trace_builder_end_run(&b);
        now_ns = NS_PER_S;
        trace_builder_begin_run(&b, child);
        wait_once(200 * NS_PER_MS, c.commit);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, worker);
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, c.lock, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 205 * NS_PER_MS, WAKEUP, 0, child, 0, 0);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 205 * NS_PER_MS, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 205 * NS_PER_MS, THREAD_EXIT, 0);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, sleeper);
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "start_raw_ns", "1000000000");
        trace_builder_meta(&b, "end_raw_ns", "1210000000");
        expect("waited 195 ms of 210 ms: 100.0% of it in fdatasync from commit_it", expect_asleep);
}
END_TEST

/* In a recording of one process a child is not seen: waiting for it is the last cause. */
START_TEST(a_child_that_is_not_recorded_is_a_cause)
{
        begin_thread();
        wait_once(200 * NS_PER_MS, c.wait4);
        wait_once(50 * NS_PER_MS, c.commit);
        trace_builder_end_run(&b);
        expect("waited 250 ms of 250 ms: 80.0% of it in wait4 from run_child", NULL);
}
END_TEST

/* A name of the C library for itself is no call that a program makes. */
START_LOOP_TEST(a_call_has_the_name_that_programs_use, 0, 2)
{
        static const char *const calls[] = { "__utimensat64_helper", "utimes" };
        uint32_t stamp;

        stamp = calling("stamp", calls[_i], "__x64_sys_utimensat");
        begin_thread();
        wait_once(200 * NS_PER_MS, stamp);
        trace_builder_end_run(&b);
        expect(_i == 0 ? "waited 200 ms of 200 ms: 100.0% of it in utimensat from stamp"
                       : "waited 200 ms of 200 ms: 100.0% of it in utimes from stamp",
               NULL);
}
END_TEST

START_TEST(a_page_fault_that_waits_is_no_call)
{
        begin_thread();
        wait_once(200 * NS_PER_MS, c.fault);
        trace_builder_end_run(&b);
        expect("waited 200 ms of 200 ms: 100.0% of it in page faults from compute", NULL);
}
END_TEST

static void expect_no_call(const struct report *report)
{
        ck_assert(report->kernel_calls.waits.top.weight == 0 && report->kernel_calls.sampled.weight == 0);
}

/* Neither the program's function nor the kernel's has a name: a wait, and samples, in no known call. */
START_LOOP_TEST(a_call_without_names_is_no_page_fault, 0, 2)
{
        uint32_t stack;

        stack = trace_builder_push(&b, 0, c.program, 0x4000, NULL);
        stack = trace_builder_push(&b, stack, c.kernel, 0x1000, "do_syscall_64");
        stack = trace_builder_push(&b, stack, c.kernel, 0x5000, NULL);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        if (_i == 0)
                wait_once(200 * NS_PER_MS, stack);
        else
                sample_often(100, stack);
        trace_builder_end_run(&b);
        expect("", expect_no_call);
}
END_TEST

static void expect_working(const struct report *report)
{
        ck_assert(text_view_is(report->kernel_calls.waits.top.caller, "commit_it"));
        ck_assert_uint_eq(report->kernel_calls.waits.total_ns, 310 * NS_PER_MS);
}

static void expect_hanging(const struct report *report)
{
        ck_assert(text_view_is(report->kernel_calls.waits.top.caller, "take"));
}

/* A helper that had work once and then waits to the end is idle beside one that works; alone it hangs. */
START_LOOP_TEST(open_waits_are_of_helpers_or_of_a_program_that_hangs, 0, 2)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
        wait_once(10 * NS_PER_MS, c.lock);
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, c.lock, TRACE_STACK_COMPLETE);
        trace_builder_end_run(&b);
        now_ns = NS_PER_S;
        begin_thread();
        wait_once((_i == 0 ? 300 : 20) * NS_PER_MS, c.commit);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "start_raw_ns", "1000000000");
        trace_builder_meta(&b, "end_raw_ns", "1400000000");
        expect("", _i == 0 ? expect_working : expect_hanging);
}
END_TEST

static void expect_no_caller(const struct report *report)
{
        ck_assert_uint_eq(report->kernel_calls.causes.top.caller.n_bytes, 0);
}

START_TEST(a_caller_is_named_if_it_has_most_of_the_call)
{
        uint32_t other;

        other = calling("save_it", "fdatasync@@GLIBC_2.2.5", "folio_wait_bit");
        begin_thread();
        wait_once(100 * NS_PER_MS, c.commit);
        wait_once(100 * NS_PER_MS, other);
        trace_builder_end_run(&b);
        expect("waited 200 ms of 200 ms: 100.0% of it in fdatasync", expect_no_caller);
}
END_TEST

static void expect_no_idle(const struct report *report)
{
        ck_assert_uint_eq(report->kernel_calls.idle_ns, 0);
}

static void expect_idle(const struct report *report)
{
        ck_assert_uint_eq(report->kernel_calls.idle_ns, 26 * NS_PER_MS);
}

static void add_hidden(void)
{
        const struct trace_notice notice = { .notice = TRACE_NOTICE_OUT_OF_REACH };

        (void)trace_builder_row(&b, TRACE_TABLE_NOTICES, &notice);
}

START_LOOP_TEST(programs_that_were_not_recorded_are_mentioned, 0, 2)
{
        add_hidden();
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        sample_often(_i == 0 ? 0 : 25, c.compute);
        trace_builder_end_run(&b);
        expect(_i == 0 ? "no samples; programs with other rights were not recorded"
                       : "100.0% of the samples are in compute itself; programs with other rights were not recorded",
               NULL);
}
END_TEST

/* loop test: the null case, waits that are too short, those of a machine, and those of others' turns */
static const struct {
        uint64_t ms, state;
        const char *scope;
        void (*look)(const struct report *report);
        bool is_attached;
        const char *pids;
        bool has_hidden; /* programs that could not be recorded may have run */
} waits[] = { { 25, TRACE_WAIT_SLEEPING, "threads", expect_idle, false, NULL, false },
              { 18, TRACE_WAIT_SLEEPING, "threads", expect_no_idle, false, NULL, false },
              { 25, TRACE_WAIT_SLEEPING, "cpus", expect_no_idle, true, NULL, false },
              { 25, TRACE_WAIT_SLEEPING, "cpus", expect_idle, true, "10", false },
              { 25, TRACE_WAIT_SLEEPING, "cpus", expect_idle, false, NULL, false },
              { 25, TRACE_WAIT_PREEMPTED, "threads", expect_no_idle, false, NULL, false },
              { 25, TRACE_WAIT_SLEEPING, "threads", expect_no_idle, false, NULL, true } };

START_LOOP_TEST(idle_time_is_long_and_of_programs, 0, sizeof(waits) / sizeof(waits[0]))
{
        const struct trace_notice attached = { .notice = TRACE_NOTICE_ATTACHED };

        trace_builder_meta(&b, "scope", waits[_i].scope);
        if (waits[_i].is_attached)
                trace_builder_row(&b, TRACE_TABLE_NOTICES, &attached);
        if (waits[_i].pids)
                trace_builder_meta(&b, "attached_pids", waits[_i].pids);
        if (waits[_i].has_hidden)
                add_hidden();
        /* A fiber lives on no CPU. */
        trace_builder_begin_run(&b, trace_builder_fiber(&b, 10, 1));
        trace_builder_begin_zone(&b, NS_PER_S / 2, trace_builder_location(&b, "zone"));
        trace_builder_event(&b, NS_PER_S, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        begin_thread();
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0, waits[_i].state, c.commit, TRACE_STACK_COMPLETE);
        now_ns += waits[_i].ms * NS_PER_MS;
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
        wait_once(NS_PER_MS, c.commit);
        trace_builder_end_run(&b);
        expect("", waits[_i].look);
}
END_TEST

START_TEST(waiting_for_a_processor_is_said)
{
        begin_thread();
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, c.commit,
                          TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 40 * NS_PER_MS, WAKEUP, 0, 0, 0, 0);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 100 * NS_PER_MS, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        expect("waited 100 ms of 100 ms: 100.0% of it in fdatasync from commit_it; mostly for a CPU, after the "
               "wait was over",
               NULL);
}
END_TEST

/* Wake-ups were recorded, and no stack is known all the same: nothing helps. */
START_TEST(waiting_for_a_processor_without_stacks)
{
        begin_thread();
        TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, 0, 0);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 40 * NS_PER_MS, WAKEUP, 0, 0, 0, 0);
        TRACE_BUILDER_ADD(&b, NS_PER_S + 100 * NS_PER_MS, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        expect("waited 100 ms of 100 ms; mostly", NULL);
}
END_TEST

START_TEST(sleeping_threads_do_not_make_a_program_wait)
{
        begin_thread();
        sample_often(300, c.compute);
        wait_once(250 * NS_PER_MS, c.commit);
        trace_builder_end_run(&b);
        for (uint32_t i = 0; i < 8; i++) {
                now_ns = NS_PER_S;
                trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11 + i));
                wait_once(300 * NS_PER_MS, c.lock);
                trace_builder_end_run(&b);
        }
        expect("100.0% of the samples ", NULL);
}
END_TEST

START_TEST(a_waiting_program_without_stacks_says_how_to_record_them)
{
        begin_thread();
        wait_once(100 * NS_PER_MS, 0);
        trace_builder_end_run(&b);
        expect("waited 100 ms of 100 ms (record --off-cpu shows for what)", NULL);
}
END_TEST

static void expect_no_hint(const struct report *report)
{
        struct answer_words a = { .used_bytes = 0 };

        answer_words_add_first(&a, report);
        ck_assert_msg(!strstr(a.text, "--off-cpu"), "%s", a.text);
}

/* It was recorded with that, and its samples say what it did when it ran. */
START_TEST(what_a_waiting_program_ran_is_said_beside)
{
        trace_builder_meta(&b, "off_cpu", "1");
        begin_thread();
        sample_often(25, c.write);
        wait_once(100 * NS_PER_MS, 0);
        trace_builder_end_run(&b);
        expect("waited 100 ms of 125 ms; 100.0% of the samples", expect_no_hint);
}
END_TEST

/*
 * @by_thread: a thread of the program ended the first wait, else an interrupt did; the second one is shorter,
 * and no one is known to have ended it.
 */
static const struct {
        bool by_thread, has_second;
        const char *wanted;
} ended[] = {
        { false, true, "waited 250 ms of 250 ms: 80.0% of it in fdatasync from commit_it" },
        { true, true, "waited 250 ms of 250 ms: 100.0% of it in pthread_mutex_lock from take" },
        { true, false, "waited 200 ms of 200 ms: 100.0% of it in fdatasync from commit_it" },
};

START_LOOP_TEST(a_wait_that_no_thread_ended_is_a_cause, 0, sizeof(ended) / sizeof(ended[0]))
{
        uint32_t waker;

        waker = trace_builder_thread(&b, 10, 11);
        begin_thread();
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, c.commit, TRACE_STACK_COMPLETE);
        now_ns += 200 * NS_PER_MS;
        TRACE_BUILDER_ADD(&b, now_ns, WAKEUP, 0, ended[_i].by_thread ? waker : 0, 0, 0);
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
        if (ended[_i].has_second)
                wait_once(50 * NS_PER_MS, c.lock);
        trace_builder_end_run(&b);
        expect(ended[_i].wanted, NULL);
}
END_TEST

static void expect_100_ms(const struct report *report)
{
        ck_assert_uint_eq(report->kernel_calls.waits.total_ns, 100 * NS_PER_MS);
}

static void expect_200_ms(const struct report *report)
{
        ck_assert_uint_eq(report->kernel_calls.waits.total_ns, 200 * NS_PER_MS);
}

/* Where reasons are recorded, a wait without one began before the recording. */
START_LOOP_TEST(waits_from_before_are_no_causes, 0, 2)
{
        for (uint32_t i = 0; i < 2; i++) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10 + i));
                TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0,
                                  i == 0 && _i == 0 ? TRACE_WAIT_SLEEPING : TRACE_WAIT_UNKNOWN,
                                  i == 0 ? c.commit : 0, TRACE_STACK_COMPLETE);
                TRACE_BUILDER_ADD(&b, NS_PER_S + 100 * NS_PER_MS, SWITCH_IN, 0);
                trace_builder_end_run(&b);
        }
        expect("", _i == 0 ? expect_100_ms : expect_200_ms);
}
END_TEST

START_TEST(a_wait_that_goes_on_counts_where_its_stack_is_known)
{
        for (uint32_t i = 0; i < 2; i++) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10 + i));
                TRACE_BUILDER_ADD(&b, NS_PER_S, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, i == 0 ? c.commit : 0,
                                  TRACE_STACK_COMPLETE);
                trace_builder_end_run(&b);
        }
        trace_builder_meta(&b, "start_raw_ns", "1000000000");
        trace_builder_meta(&b, "end_raw_ns", "1200000000");
        expect("", expect_200_ms);
}
END_TEST

static const struct sampled_case {
        uint32_t n_write, n_fault, n_interrupt, n_compute;
        const char *wanted;
} sampled_cases[] = {
        { 45, 10, 5, 40, "60.0% of the samples are in the kernel, 45.0% in write from dump" },
        { 0, 70, 0, 30, "70.0% of the samples are in the kernel, 70.0% in page faults from compute" },
        { 49, 0, 0, 51, "51.0% of the samples are in compute itself" },
        { 0, 0, 60, 40, "60.0% of the samples are in sysvec_apic_timer_interrupt itself" },
        { 30, 0, 30, 40, "40.0% of the samples are in compute itself" },
};

/* If most samples are in the kernel, the call or page fault is named; interrupts are not calls. */
START_LOOP_TEST(in_the_kernel_the_call_is_named, 0, (int)(sizeof(sampled_cases) / sizeof(sampled_cases[0])))
{
        const struct sampled_case *row = &sampled_cases[_i];

        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        sample_often(row->n_write, c.write);
        sample_often(row->n_fault, c.fault);
        sample_often(row->n_interrupt, c.interrupt);
        sample_often(row->n_compute, c.compute);
        trace_builder_end_run(&b);
        expect(row->wanted, NULL);
}
END_TEST

static void expect_no_module(const struct report *report)
{
        ck_assert_uint_eq(report->kernel_calls.sampled.caller.n_bytes, 0);
        ck_assert_uint_eq(report->kernel_calls.sampled.module.n_bytes, 0);
}

/*
 * With less than half in the kernel the call is the answer where the kernel's own code is the hottest; the
 * program's function is where that is.
 */
START_TEST(the_innermost_code_of_the_kernel_is_no_answer)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        sample_often(24, c.write);
        sample_often(24, calling("dump", "__libc_write", "vfs_other"));
        sample_often(27, c.compute);
        sample_often(25, c.main);
        trace_builder_end_run(&b);
        expect("48.0% of the samples are in the kernel, 48.0% in write from dump", NULL);
}
END_TEST

START_TEST(the_programs_function_is_the_answer_where_it_is_the_hottest)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        sample_often(24, c.write);
        sample_often(24, calling("take", "pthread_mutex_lock", "futex_wait"));
        sample_often(52, c.compute);
        trace_builder_end_run(&b);
        expect("52.0% of the samples are in compute itself", NULL);
}
END_TEST

/* No caller of ten has most of the call, but a library has. */
START_LOOP_TEST(the_calling_library_is_named_where_no_caller_has_most, 0, 2)
{
        uint32_t libraries[2];

        libraries[0] = trace_builder_module(&b, "/usr/lib/libother.so.1");
        libraries[1] = trace_builder_module(&b, "/usr/lib/libteam.so.1");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        for (uint32_t i = 0; i < 10; i++) {
                char name[] = { 'f', (char)('a' + i), '\0' };
                uint32_t stack = trace_builder_push(&b, c.main, libraries[i >= (_i == 0 ? 4 : 5)],
                                                    0x100 * (i + 1), name);

                stack = trace_builder_push(&b, stack, c.libc, 0x60, "write");
                stack = trace_builder_push(&b, stack, c.kernel, 0x1000, "do_syscall_64");
                sample_often(10, trace_builder_push(&b, stack, c.kernel, 0x1020, "vfs_write"));
        }
        trace_builder_end_run(&b);
        expect(_i == 0 ? "100.0% of the samples are in the kernel, 100.0% in write from libteam.so.1"
                       : "100.0% of the samples are in the kernel, 100.0% in write",
               _i == 0 ? NULL : expect_no_module);
}
END_TEST

/*
 * A library without names calls the kernel by itself, or by syscall() of the C library: the call has the name
 * that the kernel has for it.  A function with a name says more.
 */
static const struct {
        const char *inner, *library, *wanted;
        const char *outer; /* what calls @library in the C library */
} own_calls[] = {
        { NULL, NULL, "100.0% of the samples are in the kernel, 100.0% in futex from run_team", NULL },
        { NULL, "syscall", "100.0% of the samples are in the kernel, 100.0% in futex from run_team", NULL },
        { "barrier", NULL, "100.0% of the samples are in the kernel, 100.0% in barrier from run_team", NULL },
        { "barrier", "syscall", "100.0% of the samples are in the kernel, 100.0% in futex from barrier",
          NULL },
        { "std::invoke", "syscall", "100.0% of the samples are in the kernel, 100.0% in futex from run_team",
          NULL },
        { NULL, "syscall", "100.0% of the samples are in the kernel, 100.0% in pthread_join from run_team",
          "pthread_join" },
};

START_LOOP_TEST(calls_without_the_c_library_have_the_kernels_name, 0,
                sizeof(own_calls) / sizeof(own_calls[0]))
{
        uint32_t stack, library;

        library = trace_builder_module(&b, "/usr/lib/x86_64-linux-gnu/libteam.so.1");
        stack = trace_builder_push(&b, c.main, c.program, 0x40, "run_team");
        stack = trace_builder_push(&b, stack, library, 0x100, NULL);
        stack = trace_builder_push(&b, stack, library, 0x200, own_calls[_i].inner);
        if (own_calls[_i].outer)
                stack = trace_builder_push(&b, stack, c.libc, 0x400, own_calls[_i].outer);
        if (own_calls[_i].library)
                stack = trace_builder_push(&b, stack, c.libc, 0x300, own_calls[_i].library);
        stack = trace_builder_push(&b, stack, c.kernel, 0x1000, "do_syscall_64");
        stack = trace_builder_push(&b, stack, c.kernel, 0x1010, "__x64_sys_futex");
        stack = trace_builder_push(&b, stack, c.kernel, 0x1020, "futex_wait");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 10));
        sample_often(100, stack);
        trace_builder_end_run(&b);
        expect(own_calls[_i].wanted, NULL);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
