/* SPDX-License-Identifier: MIT */
/* Exports to Perfetto and Chrome have an arrow for each wanted wait that a recorded thread ended. */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "export/shared/export_format.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define START_NS  1000000
#define WAKER_TID 12
#define WOKEN_TID 11

static struct trace_builder b;
static uint32_t woken, waker;
static char *text;

static void set_up(void)
{
        trace_builder_init(&b);
        trace_builder_meta(&b, "start_raw_ns", "1000000");
        woken = trace_builder_thread(&b, 1, WOKEN_TID);
        waker = trace_builder_thread(&b, 1, WAKER_TID);
        trace_builder_begin_run(&b, waker);
        TRACE_BUILDER_ADD(&b, START_NS, THREAD_NAME, trace_builder_string(&b, "wa\"ker"));
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, woken);
}

static void tear_down(void)
{
        trace_builder_deinit(&b);
        free(text);
        text = NULL;
}

/* The woken thread leaves its CPU at @us.  10 us later a thread wakes it, or an interrupt if @by is 0. */
static void leave(uint64_t us, uint64_t preempted, uint32_t by)
{
        TRACE_BUILDER_ADD(&b, START_NS + us * 1000, SWITCH_OUT, 0, preempted, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, START_NS + us * 1000 + 10000, WAKEUP, 0, by);
}

static void come_back(uint64_t us)
{
        TRACE_BUILDER_ADD(&b, START_NS + us * 1000, SWITCH_IN, 0);
}

static void finish(void)
{
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

/* Leaves the text of the export. */
static uint64_t count_arrows_of(export_function *function, struct trace_filter_request request, bool no_waits)
{
        struct export_options options = { .no_waits = no_waits };
        struct export_totals totals = { .n_samples = 0 };
        struct trace_filter filter;
        struct loaded_trace trace;
        struct error err = ERROR_NONE;
        size_t n_bytes;
        FILE *out;

        free(text);
        text = NULL;
        out = open_memstream(&text, &n_bytes);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(trace_filter_init(&filter, &request, &trace, &err), 0);
        options.filter = &filter;
        ck_assert_msg(function(&trace, &options, out, &totals, &err) == 0, "%s", err.text);
        ck_assert_int_eq(fclose(out), 0);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return totals.n_arrows;
}

/* In both formats; leaves Chrome's text. */
static void check_count(struct trace_filter_request request, bool no_waits, uint64_t n_wanted)
{
        ck_assert_uint_eq(count_arrows_of(export_perfetto, request, no_waits), n_wanted);
        ck_assert_uint_eq(count_arrows_of(export_chrome, request, no_waits), n_wanted);
}

static void check_event(const json_t *events, size_t i, const char *phase, int tid, double us)
{
        const json_t *event = json_array_get(events, i);

        ck_assert_str_eq(json_string_value(json_object_get(event, "ph")), phase);
        ck_assert_int_eq((int)json_integer_value(json_object_get(event, "tid")), tid);
        ck_assert_double_eq(json_number_value(json_object_get(event, "ts")), us);
        ck_assert_str_eq(json_string_value(json_object_get(event, "cat")), "wake-up");
}

static const char *name_of(const json_t *events, size_t i)
{
        return json_string_value(json_object_get(json_array_get(events, i), "name"));
}

/* Each end of a flow is at the thread and time of an event to which it is bound. */
START_TEST(flows_of_chrome_are_bound)
{
        const json_t *events;
        json_t *root;

        leave(100, 0, waker);
        come_back(120);
        finish();
        check_count((struct trace_filter_request){ .zone = NULL }, false, 1);
        root = json_loads(text, 0, NULL);
        events = json_object_get(root, "traceEvents");
        ck_assert_uint_ge(json_array_size(events), 5);
        ck_assert_str_eq(name_of(events, 0), "hyprof_clock");
        check_event(events, 1, "X", WAKER_TID, 110);
        check_event(events, 2, "s", WAKER_TID, 110);
        check_event(events, 3, "X", WOKEN_TID, 120);
        check_event(events, 4, "f", WOKEN_TID, 120);
        ck_assert_str_eq(name_of(events, 1), "wakes thread 11");
        ck_assert_str_eq(name_of(events, 3), "woken by wa\"ker 12");
        ck_assert_str_eq(name_of(events, 2), name_of(events, 4));
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(events, 4), "bp")), "e");
        json_decref(root);
}
END_TEST

START_TEST(waits_without_an_arrow)
{
        leave(100, 0, 0); /* an interrupt ends it */
        come_back(120);
        leave(200, 1, waker); /* it was preempted */
        come_back(220);
        leave(300, 0, waker); /* it is not on a CPU before the recording ends */
        finish();
        check_count((struct trace_filter_request){ .zone = NULL }, false, 0);
}
END_TEST

START_TEST(both_ends_are_wanted)
{
        leave(100, 0, waker);
        come_back(120);
        leave(200, 0, waker);
        come_back(220);
        finish();
        check_count((struct trace_filter_request){ .zone = NULL }, false, 2);
        check_count((struct trace_filter_request){ .zone = NULL }, true, 0);
        check_count((struct trace_filter_request){ .thread = "11,12" }, false, 2);
        check_count((struct trace_filter_request){ .thread = "11" }, false, 0);
        check_count((struct trace_filter_request){ .has_to = true, .to_ns = 220000 }, false, 1);
        check_count((struct trace_filter_request){ .has_from = true, .from_ns = 150000 }, false, 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
