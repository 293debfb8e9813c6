/* SPDX-License-Identifier: MIT */
/*
 * cli/views/report_views.c, view/..._view.c: each view of any trace is text that fits, valid JSON and rows
 * of CSV; sums are right
 */
#include "cli/exit_status.h"
#include "tests/unit/ran_report.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace_builder made;
static struct ran_report output; /* of the last RUN() */
static json_t *root;             /* of the last LOAD() */

static void setup(void)
{
        trace_builder_init(&made);
}

static void teardown(void)
{
        json_decref(root);
        root = NULL;
        free(output.out);
        output.out = NULL;
        trace_builder_deinit(&made);
}

static void run(const char *const *words)
{
        free(output.out);
        output = ran_report_run(made.path, words);
}
#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

static void load(const char *const *words)
{
        json_decref(root);
        root = ran_report_load(made.path, words);
}
#define LOAD(...) load((const char *const[]){ __VA_ARGS__, "--json", NULL })

/* ------------------------------------------------------------------ traces */

static void build_nothing(struct trace_builder *b)
{
        (void)b;
}

static void build_unclosed(struct trace_builder *b)
{
        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        trace_builder_begin_zone(b, 100, trace_builder_location(b, "zone"));
        trace_builder_end_run(b);
}

static void build_one_sample(struct trace_builder *b)
{
        uint32_t thread = trace_builder_thread(b, 1, 1);
        uint32_t event = trace_builder_sample_event(b, "cpu-clock");

        trace_builder_begin_run(b, thread);
        trace_builder_sample(b, 100, event, 0, 0);
        trace_builder_end_run(b);
}

static void build_samples(struct trace_builder *b)
{
        uint32_t thread = trace_builder_thread(b, 1, 1);
        uint32_t event = trace_builder_sample_event(b, "cpu-clock");
        uint32_t module = trace_builder_module(b, "/bin/program"), stack = 0;

        for (uint32_t i = 0; i < 100; i++)
                stack = trace_builder_stack(b, stack, trace_builder_frame(b, module, i));
        trace_builder_begin_run(b, thread);
        for (uint32_t i = 0; i < 10; i++)
                trace_builder_sample(b, 100 + i, event, 0, stack - i);
        trace_builder_end_run(b);
}

/* Of 100 zones the i-th takes i us; each is in a zone "around". */
static void build_zones(struct trace_builder *b)
{
        uint32_t around = trace_builder_location(b, "around");
        uint32_t inside = trace_builder_location(b, "inside");
        uint64_t time_ns = 1000;

        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        for (uint64_t i = 1; i <= 100; i++) {
                trace_builder_begin_zone(b, time_ns, around);
                trace_builder_begin_zone(b, time_ns + 10, inside);
                trace_builder_event(b, time_ns + 10 + i * 1000, TRACE_OP_ZONE_END);
                trace_builder_event(b, time_ns + 20 + i * 1000, TRACE_OP_ZONE_END);
                time_ns += 200000;
        }
        trace_builder_end_run(b);
}

/* All names are the same text, which a terminal would obey. */
static void build_hostile(struct trace_builder *b)
{
        static const char name[] = "\x1b[2J\x07 | `` \xff\xe2\x80\xae \"std::vector<std::pair<int, "
                                   "std::basic_string<char, std::char_traits<char> > > >::at(unsigned long)";
        uint32_t event = trace_builder_sample_event(b, name);
        uint32_t thread = trace_builder_thread(b, 1, 2);
        uint32_t location = trace_builder_location(b, name);
        uint32_t path = trace_builder_path(b, 0, location);
        uint32_t frame = trace_builder_frame(b, trace_builder_module(b, name), 16);

        trace_builder_meta(b, "command", name);
        trace_builder_symbol(b, frame, name, 0);
        trace_builder_begin_run(b, thread);
        TRACE_BUILDER_ADD(b, 5, THREAD_NAME, trace_builder_string(b, name));
        trace_builder_begin_zone(b, 6, location);
        for (uint32_t i = 0, stack = 0; i < 50; i++) {
                stack = trace_builder_stack(b, stack, frame);
                trace_builder_sample(b, 10 + i, event, path, stack);
        }
        trace_builder_event(b, 300, TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
}

static const struct {
        void (*build)(struct trace_builder *b);
        bool has_zones;
} traces[] = {
        { build_nothing, false },    { build_unclosed, true }, { build_one_sample, false },
        { build_samples, false },    { build_zones, true },    { build_hostile, true },
        { small_trace_build, true },
};
#define N_TRACES ((int)(sizeof(traces) / sizeof(traces[0])))

static void start(int trace)
{
        traces[trace].build(&made);
        if (traces[trace].build != small_trace_build)
                trace_builder_finish(&made);
}

/* ------------------------------------------------------------------ views */

static const char *const views[][2] = {
        { "--functions", "hyprof.functions/2" }, { "--top-down", "hyprof.functions/2" },
        { "--bottom-up", "hyprof.functions/2" }, { "--function=*", "hyprof.functions/2" },
        { "--zones", "hyprof.zones/2" },         { "--histogram", "hyprof.zones/2" },
        { "--zone=*", "hyprof.zone/2" },         { "--threads", "hyprof.threads/2" },
        { "--modules", "hyprof.modules/2" },     { "--lines", "hyprof.lines/1" },
};
#define N_VIEWS ((int)(sizeof(views) / sizeof(views[0])))

/* loop test: views by traces */
START_LOOP_TEST(test_every_view_of_every_trace, 0, N_VIEWS *N_TRACES)
{
        const char *view = views[_i % N_VIEWS][0];
        int trace = _i / N_VIEWS;
        bool is_refused = strcmp(view, "--zone=*") == 0 && !traces[trace].has_zones;
        int wanted = is_refused ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;

        start(trace);
        RUN(view);
        ck_assert_int_eq(output.status, wanted);
        ran_report_check_text(output.out);
        ck_assert(is_refused == (output.out[0] == '\0'));
        RUN(view, "--format", "md", "--limit", "3");
        ck_assert_int_eq(output.status, wanted);
        RUN(view, "--csv");
        ck_assert_int_eq(output.status, wanted);
        ck_assert(is_refused || strchr(output.out, ',') != NULL);
        RUN(view, "--json");
        ck_assert_int_eq(output.status, wanted);
        if (!is_refused) {
                const char *answer;

                root = json_loads(output.out, JSON_REJECT_DUPLICATES, NULL);
                ck_assert_ptr_nonnull(root);
                answer = json_string_value(json_object_get(root, "answer"));
                ck_assert_ptr_nonnull(answer);
                ck_assert_str_ne(answer, "");
                ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), views[_i % N_VIEWS][1]);
        }
}
END_TEST

static void check_ascii(const char *text)
{
        for (; *text; text++)
                ck_assert_msg((unsigned char)*text < 0x80, "not ASCII: %s", text);
}

/* loop test: traces.  In the locale "C" text has nothing else, whatever names and plots are made of. */
START_LOOP_TEST(test_ascii, 0, N_TRACES)
{
        static const char *const also[] = { "--plots", "--locks", "--off-cpu", "--cpus", "--limit=1" };

        ck_assert_int_eq(setenv("LC_ALL", "C", 1), 0);
        start(_i);
        for (int i = 0; i < N_VIEWS; i++) {
                RUN(views[i][0], "--limit", "1");
                check_ascii(output.out);
        }
        for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++) {
                RUN(also[i]);
                check_ascii(output.out);
        }
}
END_TEST

/*
 * loop test: the views that are not made of documents have bold titles as well, and only
 * where they are asked for
 */
START_LOOP_TEST(test_color, 0, 4)
{
        static const char *const overviews[] = { "--limit=5", "--off-cpu", "--cpus", "--zones" };

        start(6);
        RUN(overviews[_i], "--color=always");
        ck_assert_ptr_nonnull(strstr(output.out, "\033[1m"));
        RUN(overviews[_i], "--color=never");
        ck_assert_ptr_null(strchr(output.out, '\033'));
        RUN(overviews[_i], "--color=always", "--json");
        ck_assert_ptr_null(strchr(output.out, '\033'));
}
END_TEST

#define LONG_NAME   "std::map<" LONG_STRING ", " LONG_STRING ">::insert(" LONG_STRING " const&)"
#define LONG_STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void build_long_names(struct trace_builder *b)
{
        uint32_t thread = trace_builder_thread(b, 1, 1);
        uint32_t event = trace_builder_sample_event(b, "cpu-clock");
        uint32_t frame = trace_builder_frame(b, trace_builder_module(b, "/bin/program"), 16);

        trace_builder_symbol(b, frame, LONG_NAME, 0);
        trace_builder_begin_run(b, thread);
        trace_builder_begin_zone(b, 90, trace_builder_location(b, LONG_NAME));
        trace_builder_sample(b, 100, event, 0, trace_builder_stack(b, 0, frame));
        trace_builder_event(b, 200, TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
}

/*
 * loop test: names are folded where they do not fit, and whole with --full-names, however
 * narrow the terminal is
 */
START_LOOP_TEST(test_full_names, 0, 4)
{
        static const char *const long_views[] = { "--functions", "--top-down", "--zones", "--limit=5" };

        ck_assert_int_eq(setenv("LC_ALL", "C.UTF-8", 1), 0);
        ck_assert_int_eq(setenv("COLUMNS", "80", 1), 0);
        build_long_names(&made);
        trace_builder_finish(&made);
        RUN(long_views[_i]);
        ck_assert_ptr_null(strstr(output.out, LONG_NAME));
        ck_assert_ptr_nonnull(strstr(output.out, "std::map<…>::insert"));
        RUN(long_views[_i], "--full-names");
        ck_assert_ptr_nonnull(strstr(output.out, LONG_NAME));
        RUN(long_views[_i], "--json");
        ck_assert_ptr_nonnull(strstr(output.out, LONG_NAME));
        /* Text that fits is not folded. */
        ck_assert_int_eq(setenv("COLUMNS", "600", 1), 0);
        RUN(long_views[_i]);
        ck_assert_ptr_nonnull(strstr(output.out, LONG_NAME));
}
END_TEST

/* Within 1 %: that is what the histogram promises. */
static void check_near(json_t *object, const char *key, long long wanted)
{
        ck_assert_msg(llabs(ran_report_number(object, key) - wanted) * 100 <= wanted, "%s is %lld", key,
                      ran_report_number(object, key));
}

START_TEST(test_one_zone)
{
        long long n = 0;

        start(4);
        LOAD("--zone", "inside");
        ck_assert_int_eq(ran_report_number(root, "count"), 100);
        ck_assert_int_eq(ran_report_number(root, "total_ns"), 5050 * 1000);
        ck_assert_int_eq(ran_report_number(root, "self_ns"), 5050 * 1000);
        ck_assert_int_eq(ran_report_number(root, "min_ns"), 1000);
        ck_assert_int_eq(ran_report_number(root, "max_ns"), 100000);
        ck_assert_int_eq(ran_report_number(root, "mean_ns"), 50500);
        check_near(root, "p50_ns", 50000);
        check_near(root, "p90_ns", 90000);
        check_near(root, "p99_ns", 99000);
        ck_assert(json_is_null(json_object_get(root, "on_cpu_ns")));
        for (size_t i = 0; i < json_array_size(json_object_get(json_object_get(root, "histogram"), "rows"));
             i++)
                n += ran_report_number(ran_report_row(root, "histogram", i), "count");
        ck_assert_int_eq(n, 100);
        for (size_t i = 0; i < 10; i++)
                ck_assert_int_eq(ran_report_number(ran_report_row(root, "slowest", i), "duration_ns"),
                                 (100 - (long long)i) * 1000);
        ck_assert_int_eq(ran_report_number(json_object_get(root, "slowest"), "left_out"), 90);
        ck_assert_int_eq(ran_report_number(ran_report_row(root, "threads", 0), "count"), 100);
        LOAD("--zone", "around", "--limit", "3");
        ck_assert_int_eq(ran_report_number(root, "count"), 100);
        ck_assert_int_eq(ran_report_number(root, "total_ns"), 5050 * 1000 + 100 * 20);
        ck_assert_int_eq(ran_report_number(root, "self_ns"), 100 * 20);
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "slowest"), "rows")), 3);
        /* Two at once: the time of the inner ones is in that of the outer ones. */
        LOAD("--zone", "around,inside");
        ck_assert_int_eq(ran_report_number(root, "count"), 200);
        ck_assert_int_eq(ran_report_number(root, "total_ns"), 5050 * 1000 + 100 * 20);
}
END_TEST

/* The sentence says what the first row of its table says. */
START_LOOP_TEST(test_answers, 0, 8)
{
        static const struct {
                void (*build)(struct trace_builder *b);
                const char *view, *answer;
        } cases[] = {
                { build_zones, "--zones", "zone around took 5.05 ms in all, the most of 2 zones" },
                { build_zones, "--zone=inside",
                  "zone inside: 100 instances, 5.05 ms in all; median 49.9 us, longest 100 us" },
                { build_zones, "--threads", "1 thread in 1 process" },
                { build_zones, "--functions", "no samples" },
                { build_samples, "--functions", "10 samples: too few to say where the time went" },
                { build_samples, "--modules", "100.0% of the samples are in program" },
                { build_samples, "--lines", "10 samples: too few to say where the time went" },
                { build_nothing, "--off-cpu", "waiting is unknown: no context switches were recorded" },
        };

        cases[_i].build(&made);
        trace_builder_finish(&made);
        RUN(cases[_i].view, "--json");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        root = json_loads(output.out, 0, NULL);
        ck_assert_str_eq(json_string_value(json_object_get(root, "answer")), cases[_i].answer);
        RUN(cases[_i].view);
        ck_assert_int_eq(strncmp(output.out, cases[_i].answer, strlen(cases[_i].answer)), 0);
}
END_TEST

START_TEST(test_filters)
{
        start(4);
        LOAD("--zones", "--zone", "around/**");
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "zones"), "rows")), 1);
        ck_assert_str_eq(json_string_value(json_object_get(ran_report_row(root, "zones", 0), "name")),
                         "inside");
        ck_assert_str_eq(json_string_value(json_object_get(root, "filter")), "zone around/**");
        LOAD("--zones", "--thread", "t1");
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "zones"), "rows")), 2);
}
END_TEST

/*
 * 100 us of two threads; a switch off and onto the CPU every 10 us, and the lock of that number in between.
 */
static void build_long(struct trace_builder *b)
{
        uint32_t event = trace_builder_sample_event(b, "cpu-clock");

        uint32_t thread = trace_builder_thread(b, 1, 1);

        trace_builder_meta(b, "start_raw_ns", "1000");
        trace_builder_meta(b, "end_raw_ns", "101000");
        for (uint32_t i = 1; i <= 10; i++) {
                struct trace_lock lock = { .process = 1, .number = i };

                lock.location = trace_builder_location(b, "lock");
                (void)trace_builder_row(b, TRACE_TABLE_LOCKS, &lock);
        }
        trace_builder_begin_run(b, thread);
        for (uint64_t i = 0; i < 10; i++) {
                trace_builder_sample(b, 1001 + i * 10000, event, 0, 0);
                TRACE_BUILDER_ADD(b, 1002 + i * 10000, LOCK_OBTAIN, i + 1);
                trace_builder_event(b, 5000 + i * 10000, TRACE_OP_SWITCH_OUT);
                trace_builder_event(b, 6000 + i * 10000, TRACE_OP_SWITCH_IN);
        }
        trace_builder_end_run(b);
        trace_builder_begin_run(b, trace_builder_thread(b, 1, 2));
        trace_builder_sample(b, 1500, event, 0, 0);
        trace_builder_event(b, 2000, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

START_TEST(test_head_of_a_range)
{
        build_long(&made);
        RUN("--from", "20us", "--to", "50us");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(strstr(output.out, "range     30.0 us of a recording of 100 us, 1 thread in 1 "
                                                 "process\n"));
        ck_assert_ptr_nonnull(strstr(output.out, "samples   3 of cpu-clock"));
        ck_assert_ptr_nonnull(strstr(output.out, "switches  6 of threads"));
        ck_assert_ptr_nonnull(strstr(output.out, "locks     3 locks, 3 times obtained\n"));
        LOAD("--from", "20us", "--to", "50us");
        ck_assert_int_eq(ran_report_number(root, "duration_ns"), 100000);
        ck_assert_int_eq(ran_report_number(root, "range_at_ns"), 20000);
        ck_assert_int_eq(ran_report_number(root, "range_ns"), 30000);
        ck_assert_int_eq(ran_report_number(root, "n_switches"), 6);
        /* Beyond the end there is nothing to look at. */
        LOAD("--from", "90us", "--to", "1s", "--locks");
        ck_assert_int_eq(ran_report_number(root, "range_ns"), 10000);
        ck_assert_int_eq(ran_report_number(root, "duration_ns"), 100000);
        LOAD("--threads", "--thread", "t2");
        ck_assert(json_is_null(json_object_get(root, "range_ns")));
        ck_assert_int_eq(ran_report_number(root, "n_samples"), 1);
        LOAD("--limit", "1");
        ck_assert(json_is_null(json_object_get(root, "range_ns")));
        ck_assert_int_eq(ran_report_number(root, "n_switches"), 20);
}
END_TEST

/* loop test: without a view there are the tables that the text has, whatever the trace has */
START_LOOP_TEST(test_overview_as_tables, 0, N_TRACES)
{
        static const char *const sections[][2] = {
                { "functions", "handle,self_share,total_share,function," },
                { "zones", "handle,name," },
                { "threads", "handle,name,works_on,kind," },
        };

        start(_i);
        RUN("--format", "md");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_eq(strstr(output.out, "## "), output.out);
        for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
                RUN("--csv", "--section", sections[i][0]);
                ck_assert_int_eq(output.status, EXIT_STATUS_OK);
                ck_assert_ptr_eq(strstr(output.out, sections[i][1]), output.out);
        }
}
END_TEST

/* A share of few samples is no answer. */
START_LOOP_TEST(test_answer_of_few_samples, 19, 21)
{
        uint32_t thread = trace_builder_thread(&made, 1, 1);
        uint32_t event = trace_builder_sample_event(&made, "cpu-clock");
        uint32_t stack = trace_builder_stack(
                &made, 0, trace_builder_frame(&made, trace_builder_module(&made, "/bin/program"), 1));

        trace_builder_begin_run(&made, thread);
        for (int i = 0; i < _i; i++)
                trace_builder_sample(&made, 100 + (uint64_t)i, event, 0, stack);
        trace_builder_end_run(&made);
        trace_builder_finish(&made);
        RUN("--json");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_int_eq(strstr(output.out, "\"answer\": \"19 samples: too few to say") != NULL, _i == 19);
        ck_assert_int_eq(strstr(output.out, "\"answer\": \"100.0% of the samples are in") != NULL, _i == 20);
}
END_TEST

/* In the thread of build_zones(). */
static void build_switches(struct trace_builder *b)
{
        trace_builder_begin_run(b, 1);
        trace_builder_event(b, 20001000, TRACE_OP_SWITCH_OUT);
        trace_builder_event(b, 20002000, TRACE_OP_SWITCH_IN);
        trace_builder_end_run(b);
}

/* Without context switches each view says so where it would have times on a CPU; with them none does. */
START_LOOP_TEST(test_no_context_switches, 0, 10)
{
        static const char *const options[] = { "--color=never", "--zones", "--threads", "--off-cpu",
                                               "--zone=*" };
        const char *option = options[_i / 2];
        bool has_switches = _i % 2 == 1, says;

        build_zones(&made);
        if (has_switches)
                build_switches(&made);
        trace_builder_finish(&made);
        RUN("--format=md", option);
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        says = strstr(output.out, "no context switches") != NULL;
        ck_assert_msg(says == !has_switches, "%s: %s", option, output.out);
}
END_TEST

/* Names are found as reports print them, also if a glob would read them otherwise. */
START_TEST(test_names_as_they_are_printed)
{
        static const char *const names[][2] = {
                { "--function", "to_string[abi:cxx11](int)" },
                { "--function", "to_string[abi:cxx11]" },
                { "--module", "[kernel]" },
                { "--thread", "[1]" },
                { "--zone", "GET /a,b" },
        };
        uint32_t event = trace_builder_sample_event(&made, "cpu-clock");
        uint32_t thread = trace_builder_thread(&made, 7, 7);
        uint32_t location = trace_builder_location(&made, "GET /a,b");
        uint32_t path = trace_builder_path(&made, 0, location);
        uint32_t frame = trace_builder_frame(&made, trace_builder_module(&made, "[kernel]"), 16);

        trace_builder_symbol(&made, frame, "to_string[abi:cxx11](int)", 0);
        trace_builder_begin_run(&made, thread);
        TRACE_BUILDER_ADD(&made, 5, THREAD_NAME, trace_builder_string(&made, "[1]"));
        trace_builder_begin_zone(&made, 6, location);
        trace_builder_sample(&made, 10, event, path, trace_builder_stack(&made, 0, frame));
        trace_builder_event(&made, 300, TRACE_OP_ZONE_END);
        trace_builder_end_run(&made);
        trace_builder_finish(&made);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                RUN(names[i][0], names[i][1], "--functions", "--csv");
                ck_assert_msg(output.status == EXIT_STATUS_OK, "%s %s", names[i][0], names[i][1]);
                ck_assert_ptr_nonnull(strstr(output.out, "to_string[abi:cxx11](int)"));
        }
}
END_TEST

/* A fiber's zones are sampled on its threads: the rows of threads come to all samples inside. */
START_TEST(test_samples_of_fibers)
{
        struct trace_thread fiber = { .kind = TRACE_THREAD_FIBER };
        uint32_t event, thread, location, path;

        event = trace_builder_sample_event(&made, "cpu-clock");
        thread = trace_builder_thread(&made, 7, 7);
        fiber.process = 1;
        location = trace_builder_location(&made, "work");
        path = trace_builder_path(&made, 0, location);
        trace_builder_begin_run(&made, trace_builder_row(&made, TRACE_TABLE_THREADS, &fiber));
        trace_builder_begin_zone(&made, 6, location);
        trace_builder_event(&made, 300, TRACE_OP_ZONE_END);
        trace_builder_end_run(&made);
        trace_builder_begin_run(&made, thread);
        trace_builder_sample(&made, 10, event, path, 0);
        trace_builder_end_run(&made);
        trace_builder_finish(&made);
        RUN("--zone", "work", "--csv", "--section", "threads");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(strstr(output.out, "t1,"));
        ck_assert_ptr_nonnull(strstr(output.out, "t2,"));
}
END_TEST

/* Waiting of a fiber is suspension: one row, without which the rows would not add up to it. */
START_TEST(test_waits_of_fibers)
{
        struct trace_thread fiber = { .kind = TRACE_THREAD_FIBER, .process = 1 };

        trace_builder_begin_run(&made, trace_builder_thread(&made, 7, 7));
        trace_builder_event(&made, 1, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&made, 2, TRACE_OP_SWITCH_IN);
        trace_builder_end_run(&made);
        trace_builder_begin_run(&made, trace_builder_row(&made, TRACE_TABLE_THREADS, &fiber));
        trace_builder_event(&made, 5, TRACE_OP_SWITCH_IN);
        trace_builder_begin_zone(&made, 10, trace_builder_location(&made, "work"));
        trace_builder_event(&made, 100, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&made, 150, TRACE_OP_SWITCH_IN);
        trace_builder_event(&made, 210, TRACE_OP_ZONE_END);
        trace_builder_end_run(&made);
        trace_builder_finish(&made);
        RUN("--zone", "work", "--csv", "--section", "waits");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_msg(strstr(output.out, "\n50,0.25,suspended (fiber),") != NULL, "%s", output.out);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_usage, 0, 10)
{
        static const char *const wrong[][3] = {
                { "--zones", "--functions" }, { "--zones", "--off-cpu" },
                { "--csv", "--section=no" },  { "--min-share", "lots" },
                { "--depth", "-1" },          { "--from", "soon" },
                { "--format", "pdf" },        { "--zones", "--section=no" },
                { "--group-by", "text" },     { "--zone=inside", "--group-by=colour" },
        };
        const char *words[4] = { wrong[_i][0], wrong[_i][1], NULL };

        start(4);
        if (strcmp(wrong[_i][1], "--section=no") == 0)
                words[2] = "--csv";
        run(words);
        ck_assert_int_eq(output.status, EXIT_STATUS_USAGE);
        ck_assert_str_eq(output.out, "");
}
END_TEST

UNIT_TEST_PLAN(.always_forks = true, .setup = setup, .teardown = teardown);
