/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_report.c, overview_view.c, off_cpu_view.c: text of 120 columns, valid JSON,
 * whatever the names are
 */
#include "cli/exit_status.h"
#include "tests/unit/ran_report.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/document/answer_schema.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"
#include "view/text/utf8.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct trace_builder b;

static struct ran_report output; /* of the last run */
static json_t *root;             /* its document, after parse() */

static void forget(void)
{
        root = NULL;
        free(output.out);
        free(output.err);
        output = (struct ran_report){ .out = NULL };
}

/* Runs the command with its stdout in @out_fd, which is closed. */
static void run_into(int out_fd, int argc, const char *const *argv)
{
        forget();
        output = ran_report_run_into(out_fd, argc, argv);
}

#define RUN(...)                                                                       \
        run_into(memfd_create("out", MFD_CLOEXEC),                                     \
                 (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)), \
                 (const char *const[]){ __VA_ARGS__ })

static void parse(void)
{
        root = json_loads(output.out, 0, NULL);
}

static json_t *fact(const char *key)
{
        return json_object_get(root, key);
}

/* The last run printed these words, or it did not. */
static void expect(const char *words)
{
        ck_assert_msg(strstr(output.out, words), "no '%s' in: %.3000s", words, output.out);
}

static void expect_not(const char *words)
{
        ck_assert_msg(!strstr(output.out, words), "'%s' in: %.3000s", words, output.out);
}

/*
 * 20 zones, functions and modules named after @name, in a zone, thread, command and
 * event with that very name.
 */
static void build(const char *name)
{
        uint32_t event = trace_builder_sample_event(&b, name);
        uint32_t thread = trace_builder_thread(&b, 1, 2);
        uint32_t around = trace_builder_location(&b, name);
        uint32_t in_around = trace_builder_path(&b, 0, around);
        struct trace_event naming = { .time_ns = 5, .op = TRACE_OP_THREAD_NAME };

        naming.thread_name.name = trace_builder_string(&b, name);
        trace_builder_meta(&b, "command", name);
        trace_builder_meta(&b, "hostname", name);
        trace_builder_begin_run(&b, thread);
        event_encoder_add(&b.encoder, &naming);
        trace_builder_begin_zone(&b, 6, around);
        for (uint32_t i = 0; i < 20; i++) {
                char numbered[700];
                uint32_t frame, location, path;

                (void)snprintf(numbered, sizeof(numbered), "%s%u", name, i);
                frame = trace_builder_frame(&b, trace_builder_module(&b, numbered), i);
                location = trace_builder_location(&b, numbered);
                path = trace_builder_path(&b, in_around, location);
                if (i % 3 != 0)
                        trace_builder_symbol(&b, frame, numbered, 0);
                trace_builder_begin_zone(&b, 10 + 10 * i, location);
                trace_builder_sample(&b, 11 + 10 * i, event, path, trace_builder_stack(&b, 0, frame));
                trace_builder_event(&b, 19 + 10 * i, TRACE_OP_ZONE_END);
        }
        trace_builder_event(&b, 300, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

static const char *const names[] = {
        "plain",
        "",
        "\x1b[2J\x1b]0;owned\x07",
        "line\nbreak\ttab\rreturn",
        "\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
        "\xe2\x80\xae"
        "drawkcab"
        "\xc2\x9b"
        "31m",
        "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x9d",
        "\" } ], \\ %s %n {o} \x01\x7f",
        "std::vector<std::pair<std::basic_string<char>, std::map<int, std::unordered_map<long, double> > > >::at",
        "/path//",
};

/* The list that has the name that was meant. */
START_TEST(test_lists_of_names)
{
        static const struct {
                const char *option, *value, *list;
        } wanted[] = {
                { "--thread", "absent", "--threads" }, { "--process", "absent", "--threads" },
                { "--zone", "absent", "--zones" },     { "--module", "absent", "--modules" },
                { "--cpu", "77", "--cpus" },           { "--event", "absent", NULL },
        };

        build("plain");
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
                const char *at;

                RUN("report", "--functions", wanted[i].option, wanted[i].value, b.path);
                ck_assert_int_eq(output.status, EXIT_STATUS_FAILED);
                at = strstr(output.err, "hyprof report --");
                ck_assert_msg((at != NULL) == (wanted[i].list != NULL), "%s: %s", wanted[i].option,
                              output.err);
                if (at)
                        ck_assert_msg(strncmp(at + strlen("hyprof report "), wanted[i].list,
                                              strlen(wanted[i].list)) == 0,
                                      "%s: %s", wanted[i].option, output.err);
        }
}
END_TEST

START_LOOP_TEST(test_hostile_names_as_text, 0, sizeof(names) / sizeof(names[0]))
{
        build(names[_i]);
        RUN("report", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_str_eq(output.err, "");
        ran_report_check_text(output.out);
        expect("13 more rows, --limit 0 shows all");
        expect("17 more rows, --limit 0 shows all");
        RUN("report", "--limit", "0", b.path);
        ran_report_check_text(output.out);
        expect_not(" more ");
}
END_TEST

START_LOOP_TEST(test_hostile_names_as_json, 0, sizeof(names) / sizeof(names[0]))
{
        build(names[_i]);
        RUN("report", "--json", "--limit", "0", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        parse();
        ck_assert_ptr_nonnull(root);
        ck_assert_uint_eq(json_array_size(json_object_get(fact("zones"), "rows")), 21);
}
END_TEST

static json_t *get(const char *list, size_t row, const char *key)
{
        json_t *found = json_object_get(json_array_get(json_object_get(fact(list), "rows"), row), key);

        ck_assert_ptr_nonnull(found);
        return found;
}

START_TEST(test_json_says_what_the_trace_says)
{
        build("name");
        RUN("report", "--json", "--limit", "15", b.path);
        parse();
        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(json_string_value(fact("schema")), overview_view_schema.name);
        ck_assert_str_eq(json_string_value(fact("ending")), "whole");
        ck_assert_int_eq(json_integer_value(json_object_get(fact("zones"), "left_out")), 6);
        ck_assert_str_eq(json_string_value(get("zones", 0, "name")), "name");
        ck_assert_int_eq(json_integer_value(get("zones", 0, "n_samples")), 20);
        ck_assert_int_eq(json_integer_value(get("zones", 0, "self_ns")), 294 - 20 * 9);
        ck_assert_str_eq(json_string_value(get("zone_functions", 0, "zone_name")), "name");
        ck_assert_int_eq(json_integer_value(json_object_get(fact("zone_functions"), "left_out")), 5);
        ck_assert_str_eq(json_string_value(get("zones", 1, "name")), "name0");
        ck_assert_int_eq(json_integer_value(get("zones", 1, "total_ns")), 9);
        ck_assert_int_eq(json_integer_value(get("zones", 1, "p50_ns")), 9);
        ck_assert(json_is_null(get("zones", 1, "on_cpu_ns")));
        ck_assert_int_eq(json_integer_value(get("zones", 1, "n_samples")), 1);
        ck_assert_double_eq_tol(json_real_value(get("functions", 3, "self_share")), 0.05, 1e-9);
        ck_assert_int_eq(json_integer_value(get("threads", 0, "tid")), 2);
        ck_assert_str_eq(json_string_value(get("threads", 0, "name")), "name");
}
END_TEST

/* Text shows the beginning of a long command on one line, and a short one whole; JSON has it whole. */
START_LOOP_TEST(test_a_long_command_is_one_line, 0, 3)
{
        static const char *const views[] = { "--limit=5", "--off-cpu", "--messages" };
        char command[3003] = "xx"; /* the place to cut is within a character */

        for (size_t i = 2; i + 3 < sizeof(command); i += 3)
                memcpy(command + i, "ä ", 4);
        trace_builder_meta(&b, "command", command);
        trace_builder_finish(&b);
        RUN("report", views[_i], b.path);
        expect("ä …\n");
        expect_not("ä\n");
        RUN("report", "--json", views[_i], b.path);
        parse();
        ck_assert_str_eq(json_string_value(fact("command")), command);
}
END_TEST

START_TEST(test_a_short_command_is_whole)
{
        char command[96] = "xx";

        for (size_t i = 2; i + 3 < sizeof(command); i += 3)
                memcpy(command + i, "ä ", 4);
        trace_builder_meta(&b, "command", command);
        trace_builder_finish(&b);
        RUN("report", b.path);
        expect_not("…\n");
}
END_TEST

START_TEST(test_json_replaces_what_is_no_utf8)
{
        build("a\xe0\x80\x80"
              "b\xc3\xa9\xf0\x9f");
        RUN("report", "--json", b.path);
        parse();
        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(json_string_value(get("zones", 0, "name")), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                                                     "b\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
}
END_TEST

START_LOOP_TEST(test_traces_with_little_in_them, 0, 2)
{
        if (_i == 1) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
                trace_builder_begin_zone(&b, 100, trace_builder_location(&b, "never closed"));
                trace_builder_end_run(&b);
        }
        trace_builder_finish(&b);
        RUN("report", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ran_report_check_text(output.out);
        expect("there are no samples");
        ck_assert((strstr(output.out, "never closed") != NULL) == (_i == 1));
        RUN("report", "--json", b.path);
        parse();
        ck_assert_ptr_nonnull(root);
        ck_assert_uint_ge(json_array_size(json_object_get(fact("missing"), "rows")), 1);
}
END_TEST

/* The table's row of a kind and a thing; -1 = it has no such row. */
static long long also_count(const char *kind, const char *what)
{
        json_t *rows = json_object_get(fact("also_recorded"), "rows");
        json_t *row;
        size_t i;

        json_array_foreach(
                rows, i,
                row) if (strcmp(json_string_value(json_object_get(row, "kind")), kind) == 0 &&
                         (!what || strcmp(json_string_value(json_object_get(row, "what")), what) ==
                                           0)) return json_integer_value(json_object_get(row, "count"));
        return -1;
}

static const char *const kinds[] = { "messages", "frames",  "plots",    "memory",       "locks",
                                     "fibers",   "devices", "in_zones", "source_texts", "code_regions" };

/* A trace that has everything, and one that has nothing but zones and samples. */
START_LOOP_TEST(test_also_recorded, 0, 2)
{
        if (_i == 0)
                small_trace_build(&b);
        else
                build("name");
        RUN("report", b.path);
        ck_assert((strstr(output.out, "\n  in zones  ") != NULL) == (_i == 0));
        ran_report_check_text(output.out);
        if (_i == 0) {
                expect("\n  messages  3 messages\n");
                expect("\n  plots     3 values in 2 plots\n");
                expect("\n  fibers    1 fiber, 1 time entered\n");
                expect("\n  devices   2 devices, 1 zone, 2 spans, 3 values, 1 moment\n");
                expect(", 2 threads in 2 processes\n");
                expect("  loader  fiber  ");
        }
        RUN("report", "--json", b.path);
        parse();
        ck_assert(json_is_object(fact("also_recorded")));
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                ck_assert((also_count(kinds[i], NULL) >= 0) == (_i == 0));
        if (_i == 0) {
                ck_assert_int_eq(also_count("memory", "allocations"), 2);
                ck_assert_int_eq(also_count("memory", "pools"), 2);
                ck_assert_str_eq(json_string_value(get("threads", 0, "kind")), "thread");
                ck_assert_str_eq(json_string_value(get("threads", 2, "kind")), "fiber");
                ck_assert(json_is_null(get("threads", 2, "tid")));
        }
}
END_TEST

/* 20 places, zones, wakers and CPUs, and 20 counters read with one event, all named after @name. */
static void build_waits(const char *name)
{
        struct trace_sample_event event = { .mode = TRACE_SAMPLE_MODE_PERIOD };
        uint32_t thread = trace_builder_thread(&b, 1, 2);
        uint32_t module = trace_builder_module(&b, name);
        struct trace_event naming = { .time_ns = 5, .op = TRACE_OP_THREAD_NAME };
        uint32_t leader, stack = 0;

        event.name = trace_builder_string(&b, name);
        leader = trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &event);
        naming.thread_name.name = event.name;
        trace_builder_begin_run(&b, thread);
        event_encoder_add(&b.encoder, &naming);
        for (uint32_t i = 0; i < 20; i++) {
                struct trace_counter total = { .value = i, .enabled_ns = 7, .running_ns = i % 8 };
                uint64_t begin_ns = 10 + 100 * i;
                char numbered[700];
                uint32_t frame;

                (void)snprintf(numbered, sizeof(numbered), "%s%u", name, i);
                frame = trace_builder_frame(&b, module, i);
                stack = trace_builder_stack(&b, stack, frame);
                if (i % 3 != 0)
                        trace_builder_symbol(&b, frame, i % 4 != 0 ? numbered : name, 0);
                event.name = trace_builder_string(&b, numbered);
                event.mode = i % 2 != 0 ? TRACE_SAMPLE_MODE_WITH_LEADER : TRACE_SAMPLE_MODE_COUNTED;
                event.leader = i % 2 != 0 ? leader : 0;
                total.event = trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &event);
                (void)trace_builder_row(&b, TRACE_TABLE_COUNTERS, &total);
                trace_builder_begin_zone(&b, begin_ns, trace_builder_location(&b, numbered));
                TRACE_BUILDER_ADD(&b, begin_ns + 1, SAMPLE, leader, i, stack, 0, 5, i);
                TRACE_BUILDER_ADD(&b, begin_ns + 1, SAMPLE, total.event, i, stack, 0, i, i);
                TRACE_BUILDER_ADD(&b, begin_ns + 2, SWITCH_OUT, i, 0, i % 9, stack, i);
                TRACE_BUILDER_ADD(&b, begin_ns + 50 + i, WAKEUP, i, i % 2, event.name, stack, i);
                TRACE_BUILDER_ADD(&b, begin_ns + 80, SWITCH_IN, i + 1);
        }
        TRACE_BUILDER_ADD(&b, 5000, SWITCH_OUT, 3, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "unwind", name);
        trace_builder_meta(&b, "scope", name);
        trace_builder_meta(&b, "stack_copy_bytes", name);
        trace_builder_meta(&b, "end_raw_ns", "9000");
        trace_builder_finish(&b);
}

START_LOOP_TEST(test_hostile_names_of_waits_and_counters, 0, sizeof(names) / sizeof(names[0]))
{
        static const char *const options[][4] = { { "--off-cpu", "--cpus", "--json" },
                                                  { "--off-cpu", "--cpus", "--limit=0" },
                                                  { "--off-cpu", "--cpus", "--limit=3" },
                                                  { "--limit=0", "--limit=0", "--limit=0" },
                                                  { "--json", "--json", "--json" } };

        build_waits(names[_i]);
        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
                RUN("report", options[i][0], options[i][1], options[i][2], b.path);
                parse();

                ck_assert_str_eq(output.err, "");
                ck_assert_int_eq(output.status, EXIT_STATUS_OK);
                ck_assert((root != NULL) == (strcmp(options[i][2], "--json") == 0));
                if (!root)
                        ran_report_check_text(output.out);
        }
}
END_TEST

START_TEST(test_waits_and_cpus)
{
        size_t n;

        build_waits("name");
        RUN("report", "--off-cpu", "--cpus", b.path);
        expect("\nWhere threads waited\n");
        expect("\n"
               "In which zones\n");
        expect("\nCPUs\n");
        /* One that sleeps to the end is idle: below all others, and no part of the waiting. */
        expect("\n  4.00 us     -      0          1");
        expect("  [idle threads]  ");
        expect("\n      call stack: ");
        expect("\nWho ended these waits\n");
        expect_not("\nFunctions");
        RUN("report", "--off-cpu", "--cpus", "--json", b.path);
        parse();
        ck_assert_str_eq(json_string_value(fact("schema")), off_cpu_view_schema.name);
        /* Of 20, three are preempted, two ended, two idle: those of the states 1, 5 and 6. */
        ck_assert_int_eq(json_integer_value(fact("n_waits")), 14);
        ck_assert_int_eq(json_integer_value(fact("n_unended")), 1);
        ck_assert_int_eq(json_integer_value(fact("n_preemptions")), 3);
        n = json_array_size(json_object_get(fact("places"), "rows")) - 1;
        ck_assert_int_eq(json_integer_value(get("places", n, "total_ns")), 4000);
        ck_assert(json_is_null(get("places", n, "callstack")));
        ck_assert_str_eq(json_string_value(get("places", n, "state_code")), "IDLE_THREADS");
        ck_assert_int_eq(json_integer_value(get("places", 0, "mean_ns")), 78);
        ck_assert_uint_ge(json_array_size(get("places", 0, "callstack")), 1);
        ck_assert_int_eq(json_integer_value(get("wakers", 0, "place_id")), 1);
        ck_assert_int_eq(json_integer_value(get("wakers", 0, "total_ns")), 78);
        ck_assert_int_eq(json_integer_value(get("threads", 0, "total_ns")), 13 * 78 + 4000);
        ck_assert_str_eq(json_string_value(get("threads", 0, "handle")), "t1");
        ck_assert_int_eq(json_integer_value(get("cpus", 0, "cpu")), 0);
        ck_assert_int_eq(json_integer_value(get("cpus", 1, "busy_ns")), 22);
        ck_assert_str_eq(json_string_value(get("cpu_threads", 0, "handle")), "t1");
}
END_TEST

/* One line each says which option records what is not there. */
START_TEST(test_no_waits_and_no_cpus)
{
        build("name");
        RUN("report", "--off-cpu", "--cpus", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        expect("\n  - waiting: nothing is known; hyprof record --off-cpu");
        expect("\n  - CPUs: nothing is known; ");
        expect("--no-switches");
        ran_report_check_text(output.out);
        RUN("report", "--off-cpu", "--cpus", "--json", b.path);
        parse();
        ck_assert(json_is_null(fact("waiting_ns")));
        ck_assert_uint_eq(json_array_size(json_object_get(fact("places"), "rows")), 0);
        ck_assert_uint_eq(json_array_size(json_object_get(fact("cpus"), "rows")), 0);
        RUN("report", "--json", b.path);
        parse();
        ck_assert_ptr_null(fact("places"));
        ck_assert_ptr_null(fact("cpus"));
        ck_assert_uint_eq(json_array_size(json_object_get(fact("function_counters"), "rows")), 0);
}
END_TEST

/* A current trace's facts about its call stacks, its counters and its recorder. */
START_TEST(test_header_and_counters)
{
        json_t *counter;

        small_trace_build(&b);
        RUN("report", b.path);
        expect("\n  samples   3 of cycles:u");
        expect_not(" of instructions:u");
        expect_not(" of page-faults");
        expect("\n  counters  instructions:u with each sample of cycles:u\n");
        expect("\n  stacks    50.0% complete (100.0% of them joined");
        expect(" 50.0% truncated: 50.0% deeper");
        expect("unwinding auto, stack copies of 16.4 KB, events by cgroup");
        expect("of one core");
        expect("      -  33.3%  [truncated]  ");
        expect("  2.00 M  2.50 M  1.25  load_level\n");
        RUN("report", "--json", b.path);
        parse();
        counter = ran_report_row(root, "function_counters", 0);
        ck_assert_str_eq(json_string_value(json_object_get(counter, "function")), "[all]");
        ck_assert_int_eq(json_integer_value(json_object_get(counter, "total_instructions:u")), 2500000);
        ck_assert_double_eq_tol(json_real_value(json_object_get(counter, "ipc")), 0.8333, 1e-4);
        counter = ran_report_row(root, "function_counters", 1);
        ck_assert_str_eq(json_string_value(json_object_get(counter, "handle")),
                         json_string_value(get("functions", 0, "handle")));
        ck_assert(json_is_integer(json_object_get(counter, "self_instructions:u")));
        ck_assert_int_eq(json_integer_value(fact("n_truncated")), 1);
        ck_assert_int_eq(json_integer_value(fact("n_descriptors")), 24);
        ck_assert_double_gt(json_real_value(fact("recorder_share")), 0);
        ck_assert_str_eq(json_string_value(fact("event")), "cycles:u");
        ck_assert(json_is_false(get("sample_events", 0, "shown")));
}
END_TEST

START_TEST(test_a_cut_off_trace_is_shown_with_a_warning)
{
        build("name");
        ck_assert_int_eq(ftruncate(b.fd, lseek(b.fd, 0, SEEK_END) - 1), 0);
        RUN("report", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_int_eq(strncmp(output.err, "hyprof: warning: ", 17), 0);
        ck_assert_ptr_nonnull(strstr(output.err, "cut off at byte"));
        ck_assert_ptr_eq(strchr(output.err, '\n'), output.err + strlen(output.err) - 1);
        expect("the trace is cut off");
}
END_TEST

START_LOOP_TEST(test_errors, 0, 9)
{
        static const struct {
                const char *argv[4];
                int status;
                const char *words;
        } cases[] = {
                { { "report", "/nonexistent/x.hyp" },
                  EXIT_STATUS_FAILED,
                  "hyprof: error: /nonexistent/x.hyp: " },
                { { "report", "/dev/null" }, EXIT_STATUS_FAILED, "hyprof: error: /dev/null: " },
                { { "report", "/" }, EXIT_STATUS_FAILED, "hyprof: error: /: " },
                { { "report", "a\nb" }, EXIT_STATUS_FAILED, "hyprof: error: a\\x0ab: " },
                { { "report", "--limit", "many" }, EXIT_STATUS_USAGE, "hyprof: error: --limit many: " },
                { { "report", "--limit", "-1" }, EXIT_STATUS_USAGE, "hyprof: error: --limit -1: " },
                { { "report", "--limit" }, EXIT_STATUS_USAGE, "hyprof: error: option --limit needs a value" },
                { { "report", "--nosuch" }, EXIT_STATUS_USAGE, "hyprof: error: unknown option --nosuch" },
                { { "report", "a", "b" }, EXIT_STATUS_USAGE, "hyprof: error: unexpected argument" },
        };
        int argc = 0;

        while (argc < 4 && cases[_i].argv[argc])
                argc++;
        run_into(memfd_create("out", MFD_CLOEXEC), argc, cases[_i].argv);
        ck_assert_int_eq(output.status, cases[_i].status);
        ck_assert_msg(strncmp(output.err, cases[_i].words, strlen(cases[_i].words)) == 0, "%s", output.err);
        ck_assert_str_eq(output.out, "");
        ran_report_check_text(output.err);
}
END_TEST

/* A trace without the function leads to the list of those that it has; a trace that is not there does not. */
START_LOOP_TEST(test_no_such_function, 0, 3)
{
        static const char list[] = "hyprof report --functions ";
        const char *path;
        int saved_in = dup(STDIN_FILENO), fd;

        build("name");
        path = _i == 0 ? b.path : _i == 1 ? "-" : "/nonexistent/x.hyp";
        fd = open(b.path, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(dup2(fd, STDIN_FILENO), 0);
        RUN("report", "--function", "nosuch", path);
        ck_assert_int_ge(dup2(saved_in, STDIN_FILENO), 0);
        ck_assert_int_eq(output.status, EXIT_STATUS_FAILED);
        ck_assert_str_eq(output.out, "");
        ck_assert_msg((strstr(output.err, "no function 'nosuch'") != NULL) == (_i < 2), "%s", output.err);
        ck_assert_msg((strstr(output.err, list) != NULL) == (_i < 2), "%s", output.err);
        if (_i < 2)
                ck_assert_int_eq(strncmp(strstr(output.err, list) + strlen(list), path, strlen(path)), 0);
        ck_assert_int_eq(strncmp(output.err, "hyprof: error: ", 15), 0);
        ran_report_check_text(output.err);
        (void)close(fd);
        (void)close(saved_in);
}
END_TEST

START_TEST(test_help)
{
        RUN("report", "--help");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        expect("--limit N");
        expect("exit status");
        ran_report_check_text(output.out);
}
END_TEST

START_TEST(test_a_full_disk_is_reported)
{
        int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

        ck_assert_int_ge(full_fd, 0);
        build("name");
        run_into(full_fd, 2, (const char *const[]){ "report", b.path });
        ck_assert_int_eq(output.status, EXIT_STATUS_FAILED);
        ck_assert_str_eq(output.err, "hyprof: error: writing the answer: No space left on device\n");
}
END_TEST

/* `| head` is not an error. */
START_TEST(test_a_closed_pipe_is_quiet)
{
        int ends[2];

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        (void)close(ends[0]);
        (void)signal(SIGPIPE, SIG_IGN); /* as main() does */
        build("name");
        run_into(ends[1], 2, (const char *const[]){ "report", b.path });
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_str_eq(output.err, "");
}
END_TEST

START_TEST(test_numbers)
{
        ck_assert_str_eq(text_number_count(0).text, "0");
        ck_assert_str_eq(text_number_count(999).text, "999");
        ck_assert_str_eq(text_number_count(1103220).text, "1,103,220");
        ck_assert_str_eq(text_number_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
        ck_assert_str_eq(text_number_duration(0).text, "0 ns");
        ck_assert_str_eq(text_number_duration(999).text, "999 ns");
        ck_assert_str_eq(text_number_duration(1000).text, "1.00 us");
        ck_assert_str_eq(text_number_duration(12345).text, "12.3 us");
        ck_assert_str_eq(text_number_duration(999499).text, "999 us");
        ck_assert_str_eq(text_number_duration(999500).text, "1.00 ms");
        ck_assert_str_eq(text_number_duration(UINT64_C(123456789000)).text, "123 s");
        ck_assert_str_eq(text_number_duration(UINT64_C(4567000000000)).text, "4567 s");
        ck_assert_str_eq(text_number_share(0.3125).text, "31.2%");
}
END_TEST

static void set_up(void)
{
        trace_builder_init(&b);
}

static void tear_down(void)
{
        forget();
        trace_builder_deinit(&b);
}

UNIT_TEST_PLAN(.always_forks = true, .setup = set_up, .teardown = tear_down);
