/* SPDX-License-Identifier: MIT */
/*
 * view/zones/zone_view.c, view/zones/group_rows.c: what a program said of instances is beside them,
 * and groups of them add up
 */
#include "cli/exit_status.h"
#include "tests/unit/ran_report.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

UNIT_TEST_PLAN(.always_forks = true);

static void say(struct trace_builder *b, uint64_t time_ns, enum trace_op op, const char *text, int64_t value)
{
        struct trace_event event = { .time_ns = time_ns, .op = op, .text = text };

        if (op == TRACE_OP_ZONE_VALUE)
                event.zone_value.value = value;
        else if (op == TRACE_OP_ZONE_NAME)
                event.zone_name.name_bytes = strlen(text);
        else
                event.zone_text.text_bytes = strlen(text);
        event_encoder_add(&b->encoder, &event);
}

/*
 * 30 requests: every third is a GET of 3 us, the next a PUT of 2 us inside of "retry", the last says
 * nothing and takes 1 us.
 */
static void build_requests(struct trace_builder *b)
{
        uint32_t request = trace_builder_location(b, "request"), retry = trace_builder_location(b, "retry");
        uint32_t threads[2] = { trace_builder_thread(b, 1, 1), trace_builder_thread(b, 1, 2) };

        for (uint64_t i = 0; i < 30; i++) {
                uint64_t time_ns = 1000 + i * 100000;

                trace_builder_begin_run(b, threads[i % 3 == 2]);
                if (i % 3 == 1)
                        trace_builder_begin_zone(b, time_ns, retry);
                trace_builder_begin_zone(b, time_ns, request);
                if (i % 3 != 2) {
                        say(b, time_ns, TRACE_OP_ZONE_TEXT, i % 3 == 0 ? "GET" : "PUT\x1b", 0);
                        say(b, time_ns, TRACE_OP_ZONE_VALUE, NULL, (int64_t)(i % 3) * 100 - 42);
                }
                if (i % 3 == 1)
                        say(b, time_ns, TRACE_OP_ZONE_NAME, "upload", 0);
                trace_builder_event(b, time_ns + (3 - i % 3) * 1000, TRACE_OP_ZONE_END);
                if (i % 3 == 1)
                        trace_builder_event(b, time_ns + 50000, TRACE_OP_ZONE_END);
                trace_builder_end_run(b);
        }
}

struct wanted_group {
        const char *group; /* NULL = null */
        long long count, total_ns;
};

/* In the other formats: within the line, and without a character that a terminal obeys. */
static void check_formats_of_groups(const struct trace_builder *b, const char *by)
{
        struct ran_report output = RUN_REPORT(b->path, "--zone", "request", "--group-by", by, "--histogram");

        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ran_report_check_text(output.out);
        ck_assert_ptr_nonnull(strstr(output.out, "By "));
        free(output.out);
        output = RUN_REPORT(b->path, "--zone", "request", "--group-by", by, "--csv", "--section", "groups");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(strstr(output.out, "group,count,total_ns,share"));
        free(output.out);
        output = RUN_REPORT(b->path, "--zone", "request", "--group-by", by, "--format", "md");
        ck_assert_int_eq(output.status, EXIT_STATUS_OK);
        ck_assert_ptr_nonnull(strstr(output.out, "### By "));
        free(output.out);
}

/* loop test */
START_LOOP_TEST(test_groups, 0, 5)
{
        static const struct {
                const char *by;
                struct wanted_group groups[3];
        } wanted[] = {
                { "text", { { "GET", 10, 30000 }, { "PUT\x1b", 10, 20000 }, { NULL, 10, 10000 } } },
                { "name", { { "request", 20, 40000 }, { "upload", 10, 20000 } } },
                { "value", { { "-42", 10, 30000 }, { "58", 10, 20000 }, { NULL, 10, 10000 } } },
                { "thread", { { NULL, 20, 50000 }, { NULL, 10, 10000 } } },
                { "parent", { { NULL, 20, 40000 }, { "retry", 10, 20000 } } },
        };
        struct trace_builder b;
        json_t *root, *row;
        size_t n;

        trace_builder_init(&b);
        build_requests(&b);
        trace_builder_finish(&b);
        root = LOAD_REPORT(b.path, "--zone", "request", "--group-by", wanted[_i].by);
        n = json_array_size(json_object_get(json_object_get(root, "groups"), "rows"));
        ck_assert_uint_eq(n, wanted[_i].groups[2].count != 0 ? 3 : 2);
        ck_assert_str_eq(json_string_value(json_object_get(root, "group_by")), wanted[_i].by);
        ck_assert_int_eq(ran_report_number(root, "n_groups"), (long long)n);
        ck_assert(json_is_null(json_object_get(root, "n_ungrouped")));
        for (size_t i = 0; i < n; i++) {
                const struct wanted_group *group = &wanted[_i].groups[i];

                row = ran_report_row(root, "groups", i);
                if (strcmp(wanted[_i].by, "thread") != 0) {
                        ck_assert_int_eq(json_is_null(json_object_get(row, "group")), !group->group);
                        if (group->group)
                                ck_assert_str_eq(json_string_value(json_object_get(row, "group")),
                                                 group->group);
                }
                ck_assert_int_eq(ran_report_number(row, "count"), group->count);
                ck_assert_int_eq(ran_report_number(row, "total_ns"), group->total_ns);
                ck_assert_int_eq(ran_report_number(row, "mean_ns"), group->total_ns / group->count);
                ck_assert(fabs(json_real_value(json_object_get(row, "share")) -
                               (double)group->total_ns / 60000) < 1e-9);
        }
        if (strcmp(wanted[_i].by, "thread") == 0)
                ck_assert_str_eq(
                        json_string_value(json_object_get(ran_report_row(root, "groups", 0), "handle")),
                        "t1");
        json_decref(root);
        check_formats_of_groups(&b, wanted[_i].by);
        trace_builder_deinit(&b);
}
END_TEST

static void build_silent(struct trace_builder *b)
{
        trace_builder_begin_run(b, trace_builder_thread(b, 1, 1));
        trace_builder_begin_zone(b, 1000, trace_builder_location(b, "inside"));
        trace_builder_event(b, 2000, TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
}

START_TEST(test_words_of_the_slowest)
{
        struct trace_builder b;
        struct ran_report output;
        json_t *root, *row;

        trace_builder_init(&b);
        build_requests(&b);
        trace_builder_finish(&b);
        root = LOAD_REPORT(b.path, "--zone", "request", "--limit", "30");
        row = ran_report_row(root, "slowest", 0);
        ck_assert_str_eq(json_string_value(json_object_get(row, "text")), "GET");
        ck_assert_str_eq(json_string_value(json_object_get(row, "value")), "-42");
        ck_assert(json_is_null(json_object_get(row, "instance_name")));
        row = ran_report_row(root, "slowest", 10);
        ck_assert_str_eq(json_string_value(json_object_get(row, "text")), "PUT\x1b");
        ck_assert_str_eq(json_string_value(json_object_get(row, "instance_name")), "upload");
        row = ran_report_row(root, "slowest", 29);
        ck_assert(json_is_null(json_object_get(row, "text")));
        ck_assert(json_is_null(json_object_get(row, "value")));
        json_decref(root);
        output = RUN_REPORT(b.path, "--zone", "request");
        ck_assert_ptr_nonnull(strstr(output.out, "GET"));
        free(output.out);
        trace_builder_deinit(&b);
        /* Columns that would say nothing are not there in text, and are in CSV. */
        trace_builder_init(&b);
        build_silent(&b);
        trace_builder_finish(&b);
        output = RUN_REPORT(b.path, "--zone", "inside");
        ck_assert_ptr_null(strstr(output.out, "called"));
        free(output.out);
        output = RUN_REPORT(b.path, "--zone", "inside", "--csv", "--section", "slowest");
        ck_assert_ptr_nonnull(strstr(output.out, ",name,text,value,instance_name"));
        free(output.out);
        trace_builder_deinit(&b);
}
END_TEST

/* A thread of the C library itself: the innermost of its functions names the place. */
START_TEST(test_waits_in_the_c_library_alone)
{
        struct trace_builder b;
        uint32_t libc, stack;
        json_t *root;

        trace_builder_init(&b);
        libc = trace_builder_module(&b, "/usr/lib/x86_64-linux-gnu/libc.so.6");
        stack = trace_builder_push(&b, 0, libc, 0x100, "start_thread");
        stack = trace_builder_push(&b, stack, libc, 0x200, "helper_of_timers");
        stack = trace_builder_push(&b, stack, libc, 0x300, "sigwaitinfo");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        TRACE_BUILDER_ADD(&b, 900, SWITCH_IN, 0);
        trace_builder_begin_zone(&b, 1000, trace_builder_location(&b, "inside"));
        TRACE_BUILDER_ADD(&b, 1100, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, 1500, SWITCH_IN, 0);
        trace_builder_event(&b, 2000, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        root = LOAD_REPORT(b.path, "--zone", "inside");
        ck_assert_str_eq(json_string_value(json_object_get(ran_report_row(root, "waits", 0), "place")),
                         "sigwaitinfo");
        json_decref(root);
        root = LOAD_REPORT(b.path, "--off-cpu");
        ck_assert_str_eq(json_string_value(json_object_get(ran_report_row(root, "places", 0), "place")),
                         "sigwaitinfo");
        json_decref(root);
        trace_builder_deinit(&b);
}
END_TEST
