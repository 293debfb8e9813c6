/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_report.c, overview_view.c, off_cpu_view.c: text of 120 columns, valid JSON,
 * whatever the names are
 */
#include "cli/exit_status.h"
#include "cli/manual/commands.h"
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

struct output {
        int status;
        char *out, *err; /* heap */
};

static char *read_back(int fd)
{
        off_t n_bytes = lseek(fd, 0, SEEK_END);
        char *text;

        if (n_bytes < 0)
                n_bytes = 0; /* a pipe, or the like: nothing to read back */
        text = calloc((size_t)n_bytes + 1, 1);
        ck_assert_ptr_nonnull(text);
        if (n_bytes == 0)
                return text;
        ck_assert_int_eq(pread(fd, text, (size_t)n_bytes, 0), n_bytes);
        return text;
}

/* Runs the command with its stdout in @out_fd, which is closed, and stderr caught. */
static struct output run_into(int out_fd, int argc, const char *const *argv)
{
        char *copy[8] = { NULL };
        int err_fd = memfd_create("err", MFD_CLOEXEC);
        int saved_out, saved_err;
        struct output output;

        ck_assert_int_lt(argc, 8);
        for (int i = 0; i < argc; i++)
                copy[i] = strdup(argv[i]); /* getopt may move them */
        (void)fflush(stdout);
        (void)fflush(stderr);
        saved_out = dup(STDOUT_FILENO);
        saved_err = dup(STDERR_FILENO);
        ck_assert_int_ge(dup2(out_fd, STDOUT_FILENO), 0);
        ck_assert_int_ge(dup2(err_fd, STDERR_FILENO), 0);
        output.status = cmd_report(argc, copy);
        (void)fflush(stdout);
        ck_assert_int_ge(dup2(saved_out, STDOUT_FILENO), 0);
        ck_assert_int_ge(dup2(saved_err, STDERR_FILENO), 0);
        clearerr(stdout);
        output.out = read_back(out_fd);
        output.err = read_back(err_fd);
        (void)close(out_fd);
        (void)close(err_fd);
        (void)close(saved_out);
        (void)close(saved_err);
        for (int i = 0; i < argc; i++)
                free(copy[i]);
        return output;
}

static struct output run(int argc, const char *const *argv)
{
        return run_into(memfd_create("out", MFD_CLOEXEC), argc, argv);
}

#define RUN(...)                                                                  \
        run((int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)), \
            (const char *const[]){ __VA_ARGS__ })

static void free_output(struct output *output)
{
        free(output->out);
        free(output->err);
}

/* Every line has at most 120 characters, and none that a terminal would obey. */
static void check_text(const char *text)
{
        uint32_t n_columns = 0;

        for (size_t i = 0, n_bytes = strlen(text); i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(text + i, n_bytes - i, &character);

                ck_assert_uint_gt(length, 0);
                i += length;
                if (character == '\n') {
                        n_columns = 0;
                        continue;
                }
                ck_assert_msg(utf8_is_safe(character), "character %x in: %s", character, text);
                n_columns++;
                ck_assert_msg(n_columns <= 120, "a line is too long: %.*s", 120,
                              text + i - (i > 100 ? 100 : i));
        }
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

START_LOOP_TEST(test_hostile_names_as_text, 0, sizeof(names) / sizeof(names[0]))
{
        struct output output;

        build(names[_i]);
        output = RUN("report", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_str_eq(output.err, "");
        check_text(output.out);
        ck_assert_ptr_nonnull(strstr(output.out, "13 more rows, --limit 0 shows all"));
        ck_assert_ptr_nonnull(strstr(output.out, "17 more rows, --limit 0 shows all"));
        free_output(&output);
        output = RUN("report", "--limit", "0", b.path);
        check_text(output.out);
        ck_assert_ptr_null(strstr(output.out, " more "));
        free_output(&output);
}
END_TEST

START_LOOP_TEST(test_hostile_names_as_json, 0, sizeof(names) / sizeof(names[0]))
{
        struct output output;
        json_t *root;

        build(names[_i]);
        output = RUN("report", "--json", "--limit", "0", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        root = json_loads(output.out, 0, NULL);
        ck_assert_ptr_nonnull(root);
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "zones"), "rows")), 21);
        json_decref(root);
        free_output(&output);
}
END_TEST

static json_t *get(json_t *json, const char *list, size_t row, const char *key)
{
        json_t *found = json_object_get(
                json_array_get(json_object_get(json_object_get(json, list), "rows"), row), key);

        ck_assert_ptr_nonnull(found);
        return found;
}

START_TEST(test_json_says_what_the_trace_says)
{
        struct output output;
        json_t *root;

        build("name");
        output = RUN("report", "--json", "--limit", "15", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), overview_view_schema.name);
        ck_assert_str_eq(json_string_value(json_object_get(root, "ending")), "whole");
        ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "zones"), "left_out")), 6);
        ck_assert_str_eq(json_string_value(get(root, "zones", 0, "name")), "name");
        ck_assert_int_eq(json_integer_value(get(root, "zones", 0, "n_samples")), 20);
        ck_assert_int_eq(json_integer_value(get(root, "zones", 0, "self_ns")), 294 - 20 * 9);
        ck_assert_str_eq(json_string_value(get(root, "zone_functions", 0, "zone_name")), "name");
        ck_assert_int_eq(
                json_integer_value(json_object_get(json_object_get(root, "zone_functions"), "left_out")), 5);
        ck_assert_str_eq(json_string_value(get(root, "zones", 1, "name")), "name0");
        ck_assert_int_eq(json_integer_value(get(root, "zones", 1, "total_ns")), 9);
        ck_assert_int_eq(json_integer_value(get(root, "zones", 1, "p50_ns")), 9);
        ck_assert(json_is_null(get(root, "zones", 1, "on_cpu_ns")));
        ck_assert_int_eq(json_integer_value(get(root, "zones", 1, "n_samples")), 1);
        ck_assert_double_eq_tol(json_real_value(get(root, "functions", 3, "self_share")), 0.05, 1e-9);
        ck_assert_int_eq(json_integer_value(get(root, "threads", 0, "tid")), 2);
        ck_assert_str_eq(json_string_value(get(root, "threads", 0, "name")), "name");
        json_decref(root);
        free_output(&output);
}
END_TEST

/* Text shows the beginning of a long command on one line, and a short one whole; JSON has it whole. */
START_LOOP_TEST(test_a_long_command_is_one_line, 0, 3)
{
        static const char *const views[] = { "--limit=5", "--off-cpu", "--messages" };
        char command[3003] = "xx"; /* the place to cut is within a character */
        struct output output;
        json_t *root;

        for (size_t i = 2; i + 3 < sizeof(command); i += 3)
                memcpy(command + i, "ä ", 4);
        trace_builder_meta(&b, "command", command);
        trace_builder_finish(&b);
        output = RUN("report", views[_i], b.path);
        ck_assert_ptr_nonnull(strstr(output.out, "ä …\n"));
        ck_assert_ptr_null(strstr(output.out, "ä\n"));
        free_output(&output);
        output = RUN("report", "--json", views[_i], b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert_str_eq(json_string_value(json_object_get(root, "command")), command);
        json_decref(root);
        free_output(&output);
}
END_TEST

START_TEST(test_a_short_command_is_whole)
{
        char command[96] = "xx";
        struct output output;

        for (size_t i = 2; i + 3 < sizeof(command); i += 3)
                memcpy(command + i, "ä ", 4);
        trace_builder_meta(&b, "command", command);
        trace_builder_finish(&b);
        output = RUN("report", b.path);
        ck_assert_ptr_null(strstr(output.out, "…\n"));
        free_output(&output);
}
END_TEST

START_TEST(test_json_replaces_what_is_no_utf8)
{
        struct output output;
        json_t *root;

        build("a\xe0\x80\x80"
              "b\xc3\xa9\xf0\x9f");
        output = RUN("report", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(json_string_value(get(root, "zones", 0, "name")),
                         "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                         "b\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
        json_decref(root);
        free_output(&output);
}
END_TEST

START_LOOP_TEST(test_traces_with_little_in_them, 0, 2)
{
        struct output output;
        json_t *root;

        if (_i == 1) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
                trace_builder_begin_zone(&b, 100, trace_builder_location(&b, "never closed"));
                trace_builder_end_run(&b);
        }
        trace_builder_finish(&b);
        output = RUN("report", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        check_text(output.out);
        ck_assert_ptr_nonnull(strstr(output.out, "there are no samples"));
        ck_assert((strstr(output.out, "never closed") != NULL) == (_i == 1));
        free_output(&output);
        output = RUN("report", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert_ptr_nonnull(root);
        ck_assert_uint_ge(json_array_size(json_object_get(json_object_get(root, "missing"), "rows")), 1);
        json_decref(root);
        free_output(&output);
}
END_TEST

/* The table's row of a kind and a thing; -1 = it has no such row. */
static long long also_count(json_t *root, const char *kind, const char *what)
{
        json_t *rows = json_object_get(json_object_get(root, "also_recorded"), "rows");
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
        struct output output;
        json_t *root;

        if (_i == 0)
                small_trace_build(&b);
        else
                build("name");
        output = RUN("report", b.path);
        ck_assert((strstr(output.out, "\n  in zones  ") != NULL) == (_i == 0));
        check_text(output.out);
        if (_i == 0) {
                ck_assert_ptr_nonnull(strstr(output.out, "\n  messages  3 messages\n"));
                ck_assert_ptr_nonnull(strstr(output.out, "\n  plots     3 values in 2 plots\n"));
                ck_assert_ptr_nonnull(strstr(output.out, "\n  fibers    1 fiber, 1 time entered\n"));
                ck_assert_ptr_nonnull(strstr(output.out, "\n  devices   1 device, 1 zone, 1 span\n"));
                ck_assert_ptr_nonnull(strstr(output.out, ", 2 threads in 2 processes\n"));
                ck_assert_ptr_nonnull(strstr(output.out, "  loader  fiber  "));
        }
        free_output(&output);
        output = RUN("report", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert(json_is_object(json_object_get(root, "also_recorded")));
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                ck_assert((also_count(root, kinds[i], NULL) >= 0) == (_i == 0));
        if (_i == 0) {
                ck_assert_int_eq(also_count(root, "memory", "allocations"), 2);
                ck_assert_int_eq(also_count(root, "memory", "pools"), 2);
                ck_assert_str_eq(json_string_value(get(root, "threads", 0, "kind")), "thread");
                ck_assert_str_eq(json_string_value(get(root, "threads", 2, "kind")), "fiber");
                ck_assert(json_is_null(get(root, "threads", 2, "tid")));
        }
        json_decref(root);
        free_output(&output);
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
                struct output output = RUN("report", options[i][0], options[i][1], options[i][2], b.path);
                json_t *root = json_loads(output.out, 0, NULL);

                ck_assert_str_eq(output.err, "");
                ck_assert_int_eq(output.status, EXIT_STATUS_OK);
                ck_assert((root != NULL) == (strcmp(options[i][2], "--json") == 0));
                if (!root)
                        check_text(output.out);
                json_decref(root);
                free_output(&output);
        }
}
END_TEST

static json_t *row_of(json_t *root, const char *table, size_t row)
{
        json_t *found = json_array_get(json_object_get(json_object_get(root, table), "rows"), row);

        ck_assert_ptr_nonnull(found);
        return found;
}

START_TEST(test_waits_and_cpus)
{
        struct output output;
        json_t *root;
        size_t n;

        build_waits("name");
        output = RUN("report", "--off-cpu", "--cpus", b.path);
        ck_assert_ptr_nonnull(strstr(output.out, "\nWhere threads waited\n"));
        ck_assert_ptr_nonnull(strstr(output.out, "\n"
                                                 "In which zones\n"));
        ck_assert_ptr_nonnull(strstr(output.out, "\nCPUs\n"));
        /* One that sleeps to the end is idle: below all others, and no part of the waiting. */
        ck_assert_ptr_nonnull(strstr(output.out, "\n  4.00 us     -      0          1"));
        ck_assert_ptr_nonnull(strstr(output.out, "  [idle threads]  "));
        ck_assert_ptr_nonnull(strstr(output.out, "\n      call stack: "));
        ck_assert_ptr_nonnull(strstr(output.out, "\nWho ended these waits\n"));
        ck_assert_ptr_null(strstr(output.out, "\nFunctions"));
        free_output(&output);
        output = RUN("report", "--off-cpu", "--cpus", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), off_cpu_view_schema.name);
        /* Of 20, three are preempted, two ended, two idle: those of the states 1, 5 and 6. */
        ck_assert_int_eq(json_integer_value(json_object_get(root, "n_waits")), 14);
        ck_assert_int_eq(json_integer_value(json_object_get(root, "n_unended")), 1);
        ck_assert_int_eq(json_integer_value(json_object_get(root, "n_preemptions")), 3);
        n = json_array_size(json_object_get(json_object_get(root, "places"), "rows")) - 1;
        ck_assert_int_eq(json_integer_value(get(root, "places", n, "total_ns")), 4000);
        ck_assert(json_is_null(get(root, "places", n, "callstack")));
        ck_assert_str_eq(json_string_value(get(root, "places", n, "state_code")), "IDLE_THREADS");
        ck_assert_int_eq(json_integer_value(get(root, "places", 0, "mean_ns")), 78);
        ck_assert_uint_ge(json_array_size(get(root, "places", 0, "callstack")), 1);
        ck_assert_int_eq(json_integer_value(get(root, "wakers", 0, "place_id")), 1);
        ck_assert_int_eq(json_integer_value(get(root, "wakers", 0, "total_ns")), 78);
        ck_assert_int_eq(json_integer_value(get(root, "threads", 0, "total_ns")), 13 * 78 + 4000);
        ck_assert_str_eq(json_string_value(get(root, "threads", 0, "handle")), "t1");
        ck_assert_int_eq(json_integer_value(get(root, "cpus", 0, "cpu")), 0);
        ck_assert_int_eq(json_integer_value(get(root, "cpus", 1, "busy_ns")), 22);
        ck_assert_str_eq(json_string_value(get(root, "cpu_threads", 0, "handle")), "t1");
        json_decref(root);
        free_output(&output);
}
END_TEST

/* One line each says which option records what is not there. */
START_TEST(test_no_waits_and_no_cpus)
{
        struct output output;
        json_t *root;

        build("name");
        output = RUN("report", "--off-cpu", "--cpus", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(strstr(output.out, "\n  - waiting: nothing is known; hyprof record --off-cpu"));
        ck_assert_ptr_nonnull(strstr(output.out, "\n  - CPUs: nothing is known; "));
        ck_assert_ptr_nonnull(strstr(output.out, "--no-switches"));
        check_text(output.out);
        free_output(&output);
        output = RUN("report", "--off-cpu", "--cpus", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert(json_is_null(json_object_get(root, "waiting_ns")));
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "places"), "rows")), 0);
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "cpus"), "rows")), 0);
        json_decref(root);
        free_output(&output);
        output = RUN("report", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        ck_assert_ptr_null(json_object_get(root, "places"));
        ck_assert_ptr_null(json_object_get(root, "cpus"));
        ck_assert_uint_eq(
                json_array_size(json_object_get(json_object_get(root, "function_counters"), "rows")), 0);
        json_decref(root);
        free_output(&output);
}
END_TEST

/* A current trace's facts about its call stacks, its counters and its recorder. */
START_TEST(test_header_and_counters)
{
        struct output output;
        json_t *root, *counter;

        small_trace_build(&b);
        output = RUN("report", b.path);
        ck_assert_ptr_nonnull(strstr(output.out, "\n  samples   3 of cycles:u"));
        ck_assert_ptr_null(strstr(output.out, " of instructions:u"));
        ck_assert_ptr_null(strstr(output.out, " of page-faults"));
        ck_assert_ptr_nonnull(
                strstr(output.out, "\n  counters  instructions:u with each sample of cycles:u\n"));
        ck_assert_ptr_nonnull(strstr(output.out, "\n  stacks    50.0% complete (100.0% of them joined"));
        ck_assert_ptr_nonnull(strstr(output.out, " 50.0% truncated: 50.0% deeper"));
        ck_assert_ptr_nonnull(
                strstr(output.out, "unwinding auto, stack copies of 16.4 KB, events by cgroup"));
        ck_assert_ptr_nonnull(strstr(output.out, "of one core"));
        ck_assert_ptr_nonnull(strstr(output.out, "      -  33.3%  [truncated]  "));
        ck_assert_ptr_nonnull(strstr(output.out, "  2.00 M  2.50 M  1.25  load_level\n"));
        free_output(&output);
        output = RUN("report", "--json", b.path);
        root = json_loads(output.out, 0, NULL);
        counter = row_of(root, "function_counters", 0);
        ck_assert_str_eq(json_string_value(json_object_get(counter, "function")), "[all]");
        ck_assert_int_eq(json_integer_value(json_object_get(counter, "total_instructions:u")), 2500000);
        ck_assert_double_eq_tol(json_real_value(json_object_get(counter, "ipc")), 0.8333, 1e-4);
        counter = row_of(root, "function_counters", 1);
        ck_assert_str_eq(json_string_value(json_object_get(counter, "handle")),
                         json_string_value(get(root, "functions", 0, "handle")));
        ck_assert(json_is_integer(json_object_get(counter, "self_instructions:u")));
        ck_assert_int_eq(json_integer_value(json_object_get(root, "n_truncated")), 1);
        ck_assert_int_eq(json_integer_value(json_object_get(root, "n_descriptors")), 24);
        ck_assert_double_gt(json_real_value(json_object_get(root, "recorder_share")), 0);
        ck_assert_str_eq(json_string_value(json_object_get(root, "event")), "cycles:u");
        ck_assert(json_is_false(get(root, "sample_events", 0, "shown")));
        json_decref(root);
        free_output(&output);
}
END_TEST

START_TEST(test_a_cut_off_trace_is_shown_with_a_warning)
{
        struct output output;

        build("name");
        ck_assert_int_eq(ftruncate(b.fd, lseek(b.fd, 0, SEEK_END) - 1), 0);
        output = RUN("report", b.path);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_int_eq(strncmp(output.err, "hyprof: warning: ", 17), 0);
        ck_assert_ptr_nonnull(strstr(output.err, "cut off at byte"));
        ck_assert_ptr_eq(strchr(output.err, '\n'), output.err + strlen(output.err) - 1);
        ck_assert_ptr_nonnull(strstr(output.out, "the trace is cut off"));
        free_output(&output);
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
        struct output output;

        while (argc < 4 && cases[_i].argv[argc])
                argc++;
        output = run(argc, cases[_i].argv);
        ck_assert_int_eq(output.status, cases[_i].status);
        ck_assert_msg(strncmp(output.err, cases[_i].words, strlen(cases[_i].words)) == 0, "%s", output.err);
        ck_assert_str_eq(output.out, "");
        check_text(output.err);
        free_output(&output);
}
END_TEST

/* A trace without the function leads to the list of those that it has; a trace that is not there does not. */
START_LOOP_TEST(test_no_such_function, 0, 3)
{
        static const char list[] = "hyprof report --functions ";
        struct output output;
        const char *path;
        int saved_in = dup(STDIN_FILENO), fd;

        build("name");
        path = _i == 0 ? b.path : _i == 1 ? "-" : "/nonexistent/x.hyp";
        fd = open(b.path, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(dup2(fd, STDIN_FILENO), 0);
        output = RUN("report", "--function", "nosuch", path);
        ck_assert_int_ge(dup2(saved_in, STDIN_FILENO), 0);
        ck_assert_int_eq(output.status, EXIT_STATUS_FAILED);
        ck_assert_str_eq(output.out, "");
        ck_assert_msg((strstr(output.err, "no function 'nosuch'") != NULL) == (_i < 2), "%s", output.err);
        ck_assert_msg((strstr(output.err, list) != NULL) == (_i < 2), "%s", output.err);
        if (_i < 2)
                ck_assert_int_eq(strncmp(strstr(output.err, list) + strlen(list), path, strlen(path)), 0);
        ck_assert_int_eq(strncmp(output.err, "hyprof: error: ", 15), 0);
        check_text(output.err);
        free_output(&output);
        (void)close(fd);
        (void)close(saved_in);
}
END_TEST

START_TEST(test_help)
{
        struct output output = RUN("report", "--help");

        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(strstr(output.out, "--limit N"));
        ck_assert_ptr_nonnull(strstr(output.out, "exit status"));
        check_text(output.out);
        free_output(&output);
}
END_TEST

START_TEST(test_a_full_disk_is_reported)
{
        int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        struct output output;

        ck_assert_int_ge(full_fd, 0);
        build("name");
        output = run_into(full_fd, 2, (const char *const[]){ "report", b.path });
        ck_assert_int_eq(output.status, EXIT_STATUS_FAILED);
        ck_assert_str_eq(output.err, "hyprof: error: writing the answer: No space left on device\n");
        free_output(&output);
}
END_TEST

/* `| head` is not an error. */
START_TEST(test_a_closed_pipe_is_quiet)
{
        struct output output;
        int ends[2];

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        (void)close(ends[0]);
        (void)signal(SIGPIPE, SIG_IGN); /* as main() does */
        build("name");
        output = run_into(ends[1], 2, (const char *const[]){ "report", b.path });
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_str_eq(output.err, "");
        free_output(&output);
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
        trace_builder_deinit(&b);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
