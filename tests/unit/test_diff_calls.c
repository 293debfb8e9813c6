/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_calls.c: whom a call is said to be from made more than half of those that were sampled;
 * Python functions are callers in all recordings or in none; calls that get no name are counted;
 * only calls that write wait for a disk, whatever functions are called; page faults are those that are known
 * to be some
 */
#include "analyze/diff/diff_calls.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_settle.h"
#include "analyze/samples/function_table.h"
#include "analyze/walk/trace_walk.h"
#include "base/clock.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
        struct trace_builder b;
        struct diff_names names;
        struct diff_run run;
        struct function_table functions;
        struct diff_calls calls;
        struct python_stacks python;
        uint32_t program, libc, counted, kernel, interpreted, event;
        uint64_t n_places;
} l;

static uint32_t push(uint32_t stack, uint32_t module, const char *name)
{
        uint32_t frame = trace_builder_frame(&l.b, module, 0x10 * ++l.n_places);

        if (name)
                trace_builder_symbol(&l.b, frame, name, 0);
        return trace_builder_stack(&l.b, stack, frame);
}

static void set_up(void)
{
        struct trace_sample_event event = { .mode = TRACE_SAMPLE_MODE_WITH_LEADER };
        struct trace_module kernel = { .kind = TRACE_MODULE_KERNEL },
                            python = { .kind = TRACE_MODULE_PYTHON };

        l.run.duration_ns = 16 * NS_PER_S;
        trace_builder_init(&l.b);
        diff_names_init(&l.names);
        trace_builder_meta(&l.b, "off_cpu", "1");
        trace_builder_meta(&l.b, "syscalls", "1");
        trace_builder_meta(&l.b, "end_raw_ns", "2000000000");
        l.program = trace_builder_module(&l.b, "/bin/program");
        l.libc = trace_builder_module(&l.b, "/usr/lib/x86_64-linux-gnu/libc.so.6");
        l.counted = trace_builder_module(&l.b, "[syscalls]");
        kernel.path = trace_builder_string(&l.b, "[kernel]");
        l.kernel = trace_builder_row(&l.b, TRACE_TABLE_MODULES, &kernel);
        python.path = trace_builder_string(&l.b, "/srv/work.py");
        l.interpreted = trace_builder_row(&l.b, TRACE_TABLE_MODULES, &python);
        event.name = trace_builder_string(&l.b, "syscalls");
        l.event = trace_builder_row(&l.b, TRACE_TABLE_SAMPLE_EVENTS, &event);
}

/* When all stacks are there. */
static void begin(void)
{
        struct call_finder finder = { &l.b.dictionary, &l.functions, &l.python, false };

        ck_assert_int_eq(function_table_init(&l.functions, &l.b.dictionary), 0);
        diff_calls_init(&l.calls, &l.run, &l.names, &finder);
        ck_assert_int_eq(diff_calls_add_counted(&l.calls), 0);
}

static void tear_down(void)
{
        diff_calls_deinit(&l.calls);
        function_table_deinit(&l.functions);
        diff_run_deinit(&l.run);
        diff_names_deinit(&l.names);
        python_stacks_deinit(&l.python);
        trace_builder_deinit(&l.b);
}

static uint32_t key_of(enum diff_kind kind, const char *name)
{
        for (uint32_t key = 1; key <= l.names.keys.n_items; key++)
                if (diff_names_key(&l.names, key)->kind == kind &&
                    text_view_is(diff_names_shown(&l.names, key), name))
                        return key;
        return 0;
}

static void sample(uint32_t stack, int n)
{
        struct trace_event event = { .time_ns = NS_PER_S };

        event.sample.event = l.event;
        event.sample.stack = stack;
        event.sample.weight = 1;
        for (int i = 0; i < n; i++)
                ck_assert_int_eq(diff_calls_take_sample(&l.calls, &event), 0);
}

/* A wait that lasts a second, from the second @at on. */
static void wait_once(uint32_t stack, enum trace_wait_state state, uint64_t at)
{
        const struct thread_wait wait = {
                .out_ns = at * NS_PER_S,
                .in_ns = (at + 1) * NS_PER_S,
                .stack = stack,
                .state = state,
                .ended = true,
        };

        ck_assert_int_eq(diff_calls_take_wait(&l.calls, &wait), 0);
}

/* The last has not half, half, more than half; what made the others is unknown. */
START_LOOP_TEST(a_caller_has_more_than_half, 0, 4)
{
        static const int n[][3] = { { 40, 35, 25 }, { 25, 25, 50 }, { 40, 9, 51 }, { 0, 0, 25 } };
        static const char *const callers[] = { "first", "second", "third" };
        struct trace_syscall row = { .n_calls = 1000, .time_ns = NS_PER_S };
        uint32_t stacks[3], alone;
        struct diff_sum sum;

        row.name = trace_builder_string(&l.b, "write");
        trace_builder_row(&l.b, TRACE_TABLE_SYSCALLS, &row);
        for (int i = 0; i < 3; i++) {
                stacks[i] = push(push(0, l.program, "main"), l.program, callers[i]);
                stacks[i] = push(push(stacks[i], l.libc, "write"), l.counted, "sys_write");
        }
        alone = push(0, l.counted, "sys_write");
        begin();
        for (int i = 0; i < 3; i++)
                sample(stacks[i], n[_i][i]);
        sample(alone, _i == 3 ? 26 : 0);
        ck_assert_int_eq(diff_calls_finish(&l.calls), 0);
        sum = diff_run_sum(&l.run, key_of(DIFF_CALL, "write"));
        ck_assert_uint_eq(sum.n, 1000);
        if (_i == 2)
                ck_assert(text_view_is(diff_names_string(&l.names, sum.caller), "third"));
        else
                ck_assert_uint_eq(sum.caller, 0);
}
END_TEST

/* Both recordings are of one program: with its Python functions, and by @_i with them or without. */
START_LOOP_TEST(callers_are_of_one_kind, 0, 3)
{
        struct trace_syscall row = { .n_calls = 1000, .time_ns = NS_PER_S };
        struct diff_run runs[2];
        uint32_t stack, called, waited;

        row.name = trace_builder_string(&l.b, "write");
        trace_builder_row(&l.b, TRACE_TABLE_SYSCALLS, &row);
        stack = push(push(0, l.program, "main"), l.program, "evaluate");
        stack = push(push(stack, l.interpreted, "pause"), l.program, NULL);
        called = push(push(stack, l.libc, "write"), l.counted, "sys_write");
        waited = push(push(stack, l.libc, "clock_nanosleep"), l.kernel, "do_syscall_64");
        ck_assert_int_eq(python_stacks_init(&l.python, &l.b.dictionary), 0);
        l.run.folded = calloc(1, sizeof(*l.run.folded));
        ck_assert_ptr_nonnull(l.run.folded);
        begin();
        sample(called, 10);
        wait_once(waited, TRACE_WAIT_SLEEPING, 1);
        ck_assert_int_eq(diff_calls_finish(&l.calls), 0);
        runs[0] = l.run;
        runs[1] = (struct diff_run){ .has_waits = _i != 2 };
        runs[1].folded = _i == 0 ? calloc(1, sizeof(*runs[1].folded)) : NULL;
        ck_assert_int_eq(diff_python_settle(&l.names, runs, 2, NULL), 0);
        l.run = runs[0];
        for (int python = 0; python < 2; python++) {
                const char *name = python ? "clock_nanosleep from pause" : "clock_nanosleep from evaluate";

                ck_assert_uint_eq(diff_run_sum(&runs[0], key_of(DIFF_WAIT, name)).n, python == (_i != 1));
        }
        ck_assert(text_view_is(
                diff_names_string(&l.names, diff_run_sum(&runs[0], key_of(DIFF_CALL, "write")).caller),
                _i != 1 ? "pause" : "evaluate"));
        diff_run_deinit(&runs[1]);
}
END_TEST

/* The numbers are written at the end of a recording. */
START_LOOP_TEST(a_trace_without_an_end_has_no_numbers, 0, 2)
{
        if (_i == 1)
                trace_builder_meta(&l.b, "end_raw_ns", "0");
        begin();
        ck_assert_int_eq(l.run.has_calls, _i == 0);
}
END_TEST

/* There is no room for any name of a call; one sample has none either, in both ways to fold. */
START_LOOP_TEST(what_has_no_name_is_counted, 0, 2)
{
        struct trace_syscall row = { .n_calls = 1000 };
        uint32_t stack, key;

        row.name = trace_builder_string(&l.b, "write");
        trace_builder_row(&l.b, TRACE_TABLE_SYSCALLS, &row);
        stack = push(push(0, l.libc, "clock_nanosleep"), l.kernel, "do_syscall_64");
        intern_deinit(&l.names.keys);
        intern_init(&l.names.keys, sizeof(struct diff_key), 1);
        ck_assert_int_eq(
                intern_add(&l.names.keys, &(struct diff_key){ .line = 1 }, sizeof(struct diff_key), &key), 1);
        l.run.folded = calloc(1, sizeof(*l.run.folded));
        ck_assert_ptr_nonnull(l.run.folded);
        l.run.n_unnamed = l.run.folded->n_unnamed = 1;
        begin();
        wait_once(stack, TRACE_WAIT_SLEEPING, 1);
        wait_once(stack, TRACE_WAIT_SLEEPING, 2);
        ck_assert_int_eq(diff_calls_finish(&l.calls), 0);
        ck_assert_int_eq(diff_run_fold(&l.run, &l.names), 0);
        if (_i == 1)
                ck_assert_int_eq(diff_run_fold_calls(&l.run, &l.names), 0);
        ck_assert_uint_eq(l.run.n_unnamed + l.run.n_unnamed_calls, 1003);
}
END_TEST

/* In a static program all functions are of one module. */
START_LOOP_TEST(only_calls_that_write_wait_for_a_disk, 0, 6)
{
        static const struct {
                const char *name, *in_kernel;
                bool is_write;
        } cases[] = {
                { "write_index", "__x64_sys_read", false }, { "write_index", "do_syscall_64", false },
                { "write", "__x64_sys_read", false },       { "__libc_write", "__x64_sys_write", true },
                { "write", "do_syscall_64", true },         { "renameat2", "__x64_sys_renameat2", true },
        };
        struct diff_sum sum;
        char name[64];
        uint32_t stack;

        stack = push(push(0, l.program, "caller"), l.program, cases[_i].name);
        stack = push(stack, l.kernel, cases[_i].in_kernel);
        begin();
        wait_once(stack, TRACE_WAIT_UNINTERRUPTIBLE, 1);
        ck_assert_int_eq(diff_calls_finish(&l.calls), 0);
        (void)snprintf(name, sizeof(name), "%s from caller", _i == 3 ? "write" : cases[_i].name);
        sum = diff_run_sum(&l.run, key_of(DIFF_WAIT, name));
        ck_assert_uint_eq(sum.n, 1);
        ck_assert_double_eq(sum.outside_ns, cases[_i].is_write ? 0 : (double)NS_PER_S);
}
END_TEST

/* 0: a page fault; 1: a call of which nothing is known, from code outside of every module */
START_LOOP_TEST(what_is_unknown_is_no_page_fault, 0, 2)
{
        static const char *const names[] = { "page faults from caller", "[unknown]" };
        uint32_t stack, key;

        stack = _i == 0 ? push(0, l.program, "caller")
                        : trace_builder_stack(&l.b, 0, trace_builder_frame(&l.b, 0, 0x7000));
        stack = push(stack, l.kernel, _i == 0 ? "exc_page_fault" : "schedule");
        begin();
        wait_once(stack, TRACE_WAIT_SLEEPING, 1);
        ck_assert_int_eq(diff_calls_finish(&l.calls), 0);
        key = key_of(DIFF_WAIT, names[_i]);
        ck_assert_uint_eq(diff_run_sum(&l.run, key).n, 1);
        ck_assert_int_eq(diff_names_is_kernel(&l.names, diff_names_key(&l.names, key)), _i == 0);
}
END_TEST

/* Of 16 s the thread could run again in the third, and ran in the ninth. */
START_TEST(a_wait_lies_where_it_could_run_again)
{
        struct thread_wait wait = {
                .out_ns = NS_PER_S,
                .woken_ns = 2 * NS_PER_S + NS_PER_S / 2,
                .in_ns = 8 * NS_PER_S + NS_PER_S / 2,
                .is_woken = true,
                .ended = true,
                .state = TRACE_WAIT_SLEEPING,
        };
        struct diff_sum sum;

        wait.stack = push(push(0, l.libc, "clock_nanosleep"), l.kernel, "do_syscall_64");
        begin();
        ck_assert_int_eq(diff_calls_take_wait(&l.calls, &wait), 0);
        ck_assert_int_eq(diff_calls_finish(&l.calls), 0);
        sum = diff_run_sum(&l.run, key_of(DIFF_WAIT, "clock_nanosleep"));
        ck_assert_double_eq(sum.cpu, 1.5 * NS_PER_S);
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                ck_assert_int_eq(sum.blocks[i] > 0, i == 2);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
