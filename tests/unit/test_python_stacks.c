/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/python_stacks.c, report_samples.c: where more than half of the samples lie below Python
 * functions, native code counts for the Python function that called it; else, and with --native, for itself
 */
#include "analyze/report/report.h"
#include "base/clock.h"
#include "cli/exit_status.h"
#include "tests/unit/ran_report.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define SCALE 10 /* samples for each one here: few of them have no first line */

static struct trace_builder b;
static struct ran_report output; /* of the last RUN() */
static json_t *root;             /* of the last LOAD() */

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        json_decref(root);
        root = NULL;
        free(output.out);
        output.out = NULL;
        trace_builder_deinit(&b);
}

static void run(const char *const *words)
{
        free(output.out);
        output = ran_report_run(b.path, words);
}
#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

static void load(const char *const *words)
{
        json_decref(root);
        root = ran_report_load(b.path, words);
}
#define LOAD(...) load((const char *const[]){ __VA_ARGS__, "--json", NULL })

/*
 * Calls and samples, times SCALE:
 *
 *      main > run (Python) > build (Python)                          2
 *      main > run (Python) > build (Python) > copy                   5
 *      main > run (Python) > sort > sort_key (Python) > read_zero    3
 *      main > spin                                                   @n_native
 */
struct program {
        uint32_t event, native, kernel, python;
        uint32_t build, copy, read, spin; /* stacks */
        uint32_t thread;
};

static struct program build_program(uint32_t n_native)
{
        struct program p;
        uint32_t main, run, sort, sort_key, other;

        p.thread = trace_builder_thread(&b, 1, 1);
        p.event = trace_builder_sample_event(&b, "cpu-clock");
        other = trace_builder_sample_event(&b, "page-faults");
        p.native = trace_builder_module(&b, "/usr/bin/python3.11");
        p.kernel = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        p.python = trace_builder_module_of(&b, TRACE_MODULE_PYTHON, "/srv/work.py");
        main = trace_builder_push(&b, 0, p.native, 0x10, "main");
        run = trace_builder_push(&b, main, p.python, 1, "run");
        p.build = trace_builder_push(&b, run, p.python, 2, "build");
        p.copy = trace_builder_push(&b, p.build, p.native, 0x20, "copy");
        sort = trace_builder_push(&b, run, p.native, 0x30, "sort");
        sort_key = trace_builder_push(&b, sort, p.python, 3, "sort_key");
        p.read = trace_builder_push(&b, sort_key, p.kernel, 0x40, "read_zero");
        p.spin = trace_builder_push(&b, main, p.native, 0x50, "spin");
        trace_builder_begin_run(&b, p.thread);
        for (uint32_t i = 0; i < (10 + n_native) * SCALE; i++)
                trace_builder_sample(&b, 100 + i, p.event, 0,
                                     i < 2 * SCALE    ? p.build
                                     : i < 7 * SCALE  ? p.copy
                                     : i < 10 * SCALE ? p.read
                                                      : p.spin);
        /* Another event, whose samples do not make it a Python program. */
        for (uint32_t i = 0; i < 5 * SCALE; i++)
                trace_builder_sample(&b, 1000000 + i, other, 0, p.build);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        return p;
}

static json_t *row_of(const char *table, const char *name)
{
        json_t *rows = json_object_get(json_object_get(root, table), "rows");

        for (size_t i = 0; i < json_array_size(rows); i++)
                if (strcmp(json_string_value(json_object_get(json_array_get(rows, i), "function")), name) ==
                    0)
                        return json_array_get(rows, i);
        return NULL;
}

static double real_of(json_t *object, const char *key)
{
        ck_assert_msg(json_is_number(json_object_get(object, key)), "%s is no number", key);
        return json_number_value(json_object_get(object, key));
}

static void check_row(const char *name, long long self, long long total)
{
        json_t *row = row_of("functions", name);

        ck_assert_msg(row != NULL, "no row of %s", name);
        ck_assert_int_eq(ran_report_number(row, "self_samples"), self * SCALE);
        ck_assert_int_eq(ran_report_number(row, "total_samples"), total * SCALE);
}

START_TEST(native_code_counts_for_the_python_function_that_called_it)
{
        json_t *row;

        build_program(9);
        LOAD("--functions");
        ck_assert_str_eq(json_string_value(json_object_get(root, "view")), "python");
        check_row("build", 7, 7);
        check_row("sort_key", 3, 3);
        check_row("run", 0, 10);
        check_row("spin", 9, 9);
        check_row("main", 0, 19);
        /* Native frames between Python functions are left out as well as those below. */
        ck_assert_ptr_null(row_of("functions", "copy"));
        ck_assert_ptr_null(row_of("functions", "sort"));
        ck_assert_ptr_null(row_of("functions", "read_zero"));
        row = row_of("functions", "build");
        ck_assert_double_eq_tol(real_of(row, "python_share"), 2.0 / 19, 1e-6);
        ck_assert_double_eq_tol(real_of(row, "native_share"), 5.0 / 19, 1e-6);
        ck_assert_double_eq_tol(real_of(row, "kernel_share"), 0, 1e-6);
        row = row_of("functions", "sort_key");
        ck_assert_double_eq_tol(real_of(row, "kernel_share"), 3.0 / 19, 1e-6);
        ck_assert(json_is_null(json_object_get(row_of("functions", "spin"), "native_share")));
        ck_assert_double_eq_tol(real_of(root, "python_share"), 2.0 / 19, 1e-6);
        ck_assert_double_eq_tol(real_of(root, "native_share"), 5.0 / 19, 1e-6);
        ck_assert_double_eq_tol(real_of(root, "kernel_share"), 3.0 / 19, 1e-6);
}
END_TEST

START_TEST(native_shows_native_functions)
{
        build_program(9);
        LOAD("--functions", "--native");
        ck_assert_ptr_null(json_object_get(root, "view"));
        ck_assert_ptr_null(json_object_get(row_of("functions", "build"), "native_share"));
        check_row("build", 2, 7);
        check_row("copy", 5, 5);
        check_row("sort", 0, 3);
        check_row("read_zero", 3, 3);
}
END_TEST

/* Half is not more than half. */
START_TEST(a_program_with_python_that_runs_elsewhere_is_native)
{
        build_program(10);
        LOAD("--functions");
        ck_assert_ptr_null(json_object_get(root, "view"));
        check_row("build", 2, 7);
        check_row("copy", 5, 5);
}
END_TEST

static void check_same(const char *view)
{
        struct ran_report as_it_is = RUN_REPORT(b.path, view), native = RUN_REPORT(b.path, view, "--native");

        ck_assert_int_eq(as_it_is.status, EXIT_STATUS_OK);
        ck_assert_str_eq(as_it_is.out, native.out);
        ck_assert_ptr_null(strstr(as_it_is.out, "--native"));
        free(as_it_is.out);
        free(native.out);
}

START_TEST(of_a_native_program_every_view_is_the_same)
{
        static const char *const views[] = { "--functions", "--top-down",   "--bottom-up", "--threads",
                                             "--json",      "--format=csv", "--modules",   "--off-cpu" };

        build_program(10);
        for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
                check_same(views[i]);
}
END_TEST

static void check_tree(const char *option, const char *const *names, const long long *depths, size_t n)
{
        const char *table = strcmp(option, "--top-down") == 0 ? "top_down" : "bottom_up";

        LOAD(option);
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, table), "rows")), n);
        for (size_t i = 0; i < n; i++) {
                json_t *row = ran_report_row(root, table, i);

                ck_assert_str_eq(json_string_value(json_object_get(row, "function")), names[i]);
                ck_assert_int_eq(ran_report_number(row, "depth"), depths[i]);
        }
}

START_TEST(trees_show_the_same_functions)
{
        static const char *const down[] = { "main", "run", "build", "sort_key", "spin" };
        static const long long down_depths[] = { 0, 1, 2, 2, 1 };
        static const char *const up[] = { "build", "run", "main", "spin", "main", "sort_key", "run", "main" };
        static const long long up_depths[] = { 0, 1, 2, 0, 1, 0, 1, 2 };

        build_program(4);
        check_tree("--top-down", down, down_depths, 5);
        check_tree("--bottom-up", up, up_depths, 8);
}
END_TEST

/* A handle or a name of the native view is found without --native, too. */
START_TEST(a_native_function_that_is_asked_for_is_shown)
{
        build_program(0);
        LOAD("--function", "copy");
        ck_assert_ptr_null(json_object_get(root, "view"));
        check_row("copy", 5, 5);
        LOAD("--function", "build");
        ck_assert_ptr_nonnull(json_object_get(root, "view"));
        check_row("build", 7, 7);
        /* Above all Python functions it is in both views. */
        LOAD("--function", "main");
        ck_assert_ptr_nonnull(json_object_get(root, "view"));
        check_row("main", 0, 10);
}
END_TEST

/* Which files the samples fell into, and whether they have symbols, is asked of code as it is. */
START_TEST(modules_are_those_of_the_code)
{
        json_t *row;

        build_program(0);
        LOAD("--modules");
        row = ran_report_row(root, "modules", 0);
        ck_assert_str_eq(json_string_value(json_object_get(row, "path")), "/usr/bin/python3.11");
        ck_assert_int_eq(ran_report_number(row, "n_samples"), 5 * SCALE);
}
END_TEST

static const struct {
        uint32_t n_native;
        const char *first_line;
} first_lines[] = {
        { 4, "50.0% of the samples are in build: 14.3% Python, 35.7% native code, 0.0% kernel\n" },
        /* A native function that no Python function called. */
        { 9, "47.4% of the samples are in spin itself\n" },
        { 10, "50.0% of the samples are in spin itself\n" },
};

START_LOOP_TEST(the_first_line_says_what_the_samples_were_in, 0, sizeof(first_lines) / sizeof(first_lines[0]))
{
        const char *wanted = first_lines[_i].first_line;

        build_program(first_lines[_i].n_native);
        RUN("--functions");
        ck_assert_msg(strncmp(output.out, wanted, strlen(wanted)) == 0, "%s", output.out);
        ran_report_check_text(output.out);
}
END_TEST

/* ------------------------------------------------------------------ waits */

/* A Python function at a line, calling two different native functions down to the kernel. */
static uint32_t waiting_at(const struct program *p, uint32_t line, uint64_t native)
{
        uint32_t frame = trace_builder_frame(&b, p->python, 100 + line), stack;
        struct trace_symbol symbol = { .frame = frame, .line = line };

        symbol.function = trace_builder_string(&b, "pauses");
        symbol.file = trace_builder_string(&b, "/srv/work.py");
        trace_builder_row(&b, TRACE_TABLE_SYMBOLS, &symbol);
        stack = trace_builder_stack(&b, trace_builder_push(&b, 0, p->python, 99, "run"), frame);
        stack = trace_builder_push(&b, stack, p->native, 0x68, "vectorcall");
        stack = trace_builder_push(&b, stack, p->native, native,
                                   native == 0x60 ? "time_sleep" : "time_sleep_specialized");
        return trace_builder_push(&b, stack, p->kernel, 0x70, "do_nanosleep");
}

/* Waits of 1 ms: two at line 5 through different native functions, one at 6, and @n_native elsewhere. */
static void build_waits(uint32_t n_native)
{
        struct program p = { .event = 0 };
        uint32_t stacks[4];
        uint64_t now_ns = NS_PER_S;

        p.thread = trace_builder_thread(&b, 1, 1);
        p.native = trace_builder_module(&b, "/usr/bin/python3.11");
        p.kernel = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        p.python = trace_builder_module_of(&b, TRACE_MODULE_PYTHON, "/srv/work.py");
        stacks[0] = waiting_at(&p, 5, 0x60);
        stacks[1] = waiting_at(&p, 5, 0x80);
        stacks[2] = waiting_at(&p, 6, 0x60);
        stacks[3] = trace_builder_push(&b, trace_builder_push(&b, 0, p.native, 0x90, "poll_loop"), p.kernel,
                                       0x71, "do_poll");
        trace_builder_begin_run(&b, p.thread);
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
        for (uint32_t i = 0; i < 3 + n_native; i++) {
                TRACE_BUILDER_ADD(&b, now_ns += NS_PER_MS, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING,
                                  stacks[i < 3 ? i : 3], TRACE_STACK_COMPLETE);
                TRACE_BUILDER_ADD(&b, now_ns += NS_PER_MS, SWITCH_IN, 0);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

static void check_place(size_t row, const char *place, long long count)
{
        json_t *at = ran_report_row(root, "places", row);

        ck_assert_str_eq(json_string_value(json_object_get(at, "place")), place);
        ck_assert_int_eq(ran_report_number(at, "count"), count);
}

START_TEST(a_wait_is_at_the_python_line_that_called)
{
        json_t *stack;

        build_waits(2);
        LOAD("--off-cpu");
        ck_assert_str_eq(json_string_value(json_object_get(root, "view")), "python");
        check_place(0, "pauses (work.py:5)", 2);
        ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(root, "answer")), " from pauses"));
        /* Equal times are in the order of the trace. */
        check_place(1, "poll_loop", 2);
        check_place(2, "pauses (work.py:6)", 1);
        stack = json_object_get(ran_report_row(root, "places", 0), "callstack");
        ck_assert_uint_eq(json_array_size(stack), 2);
}
END_TEST

START_TEST(waits_mostly_elsewhere_are_at_native_functions)
{
        build_waits(3);
        check_same("--off-cpu");
        LOAD("--off-cpu");
        ck_assert_ptr_null(json_object_get(root, "view"));
        check_place(0, "poll_loop", 3);
        check_place(1, "time_sleep", 2);
}
END_TEST

START_TEST(waits_are_at_native_functions_with_native)
{
        build_waits(2);
        LOAD("--off-cpu", "--native");
        check_place(0, "time_sleep", 2);
        check_place(2, "time_sleep_specialized", 1);
}
END_TEST

UNIT_TEST_PLAN(.always_forks = true, .setup = setup, .teardown = teardown);
