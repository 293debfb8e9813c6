/* SPDX-License-Identifier: MIT */
/*
 * cli/options/filter_options.c, output_options.c: times to the nanosecond, nothing that is no
 * time, the last format wins
 */
#include "analyze/walk/trace_filter.h"
#include "base/byte_buffer.h"
#include "cli/options/filter_options.h"
#include "cli/options/option_table.h"
#include "cli/options/output_options.h"
#include "tests/unit/unit_test.h"

#include <errno.h>

static const struct {
        const char *text;
        int outcome;
        uint64_t ns;
} times[] = {
        { "0", 0, 0 },
        { "90", 0, UINT64_C(90000000000) },
        { "1.5s", 0, 1500000000 },
        { "1.5", 0, 1500000000 },
        { "1.234567890 s", 0, 1234567890 },
        { "1.2345678909s", 0, 1234567890 },
        { "200ms", 0, 200000000 },
        { "0.001ms", 0, 1000 },
        { "17us", 0, 17000 },
        { "3ns", 0, 3 },
        { "3.9ns", 0, 3 },
        { "1.5m", 0, UINT64_C(90000000000) },
        { "0.25h", 0, UINT64_C(900000000000) },
        { "18446744073709551615ns", 0, UINT64_MAX },
        { "", -EINVAL, 0 },
        { ".5s", -EINVAL, 0 },
        { "1.s", -EINVAL, 0 },
        { "-1s", -EINVAL, 0 },
        { "+1s", -EINVAL, 0 },
        { "1e9", -EINVAL, 0 },
        { "1,5s", -EINVAL, 0 },
        { "1 parsec", -EINVAL, 0 },
        { "1.5 ", 0, 1500000000 },
        { "18446744073709551616ns", -EINVAL, 0 },
        { "18446744073.9s", -EINVAL, 0 },
        { "99999999999999h", -EINVAL, 0 },
};

/* loop test */
START_LOOP_TEST(test_times, 0, sizeof(times) / sizeof(times[0]))
{
        uint64_t ns = 7;

        ck_assert_int_eq(option_parse_duration(times[_i].text, 0, UINT64_MAX, &ns), times[_i].outcome);
        ck_assert_uint_eq(ns, times[_i].outcome == 0 ? times[_i].ns : 7);
}
END_TEST

START_TEST(test_filter)
{
        struct trace_filter_request request = { .has_from = false };

        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_FROM, "1s"), 1);
        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_TO, "2s"), 1);
        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_ZONE, "a/**"), 1);
        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_EVENT, "cycles"), 1);
        ck_assert(request.has_from && request.has_to);
        ck_assert_uint_eq(request.to_ns, 2000000000);
        ck_assert_str_eq(request.zone, "a/**");
        ck_assert_str_eq(request.event, "cycles");
        ck_assert_ptr_null(request.thread);
        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_THREAD, ""), -EINVAL);
        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_TO, "1s"), -EINVAL);
        ck_assert_int_eq(filter_options_take(&request, FILTER_OPTION_FROM, "later"), OPTION_ADVISED);
        ck_assert_int_eq(filter_options_take(&request, 'x', NULL), 0);
}
END_TEST

static const struct {
        struct trace_filter_request request;
        const char *words;
        bool is_empty;
} requests[] = {
        { { .has_from = false }, "", true },
        { { .has_from = true }, "from 0.000000000 s", false },
        { { .has_to = true, .to_ns = 1500000000 }, "to 1.500000000 s", false },
        { { .has_from = true,
            .from_ns = 7,
            .has_to = true,
            .to_ns = UINT64_C(20000000000),
            .process = "init" },
          "from 0.000000007 s, to 20.000000000 s, process init",
          false },
        { { .thread = "worker*", .cpu = "3" }, "thread worker*, CPU 3", false },
        { { .process = "init" }, "process init", false },
        { { .cpu = "3" }, "CPU 3", false },
        { { .zone = "handle:z7", .module = "libc.so.6", .event = "cycles" },
          "zone z7, module libc.so.6, event cycles",
          false },
        { { .thread = "handle:t12" }, "thread t12", false },
        { { .module = "libc.so.6" }, "module libc.so.6", false },
        { { .event = "cycles" }, "event cycles", false },
        { { .zone = "handle:t7" }, "zone handle:t7", false }, /* a thread's */
};

/* loop test */
START_LOOP_TEST(test_filter_words, 0, sizeof(requests) / sizeof(requests[0]))
{
        struct byte_buffer words = { .data = NULL };

        filter_options_describe(&requests[_i].request, &words);
        byte_buffer_add(&words, "", 1);
        ck_assert_str_eq((const char *)words.data, requests[_i].words);
        ck_assert_int_eq(filter_options_is_empty(&requests[_i].request), requests[_i].is_empty);
        byte_buffer_deinit(&words);
}
END_TEST

START_TEST(test_output)
{
        struct output_options o;

        output_options_init(&o);
        ck_assert_uint_eq(output_options_limit(&o, 20), 20);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_JSON, NULL), 1);
        ck_assert_int_eq(o.document.format, DOCUMENT_JSON);
        ck_assert_uint_eq(output_options_limit(&o, 20), 0);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_FORMAT, "json"), 1);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_FORMAT, "md"), -EINVAL);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_CSV, NULL), -EINVAL);
        ck_assert_int_eq(o.document.format, DOCUMENT_JSON);
        output_options_init(&o);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_FORMAT, "md"), 1);
        ck_assert_int_eq(o.document.format, DOCUMENT_MARKDOWN);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_FORMAT, "pdf"), -EINVAL);
        output_options_init(&o);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_CSV, NULL), 1);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_LIMIT, "5"), 1);
        ck_assert_uint_eq(output_options_limit(&o, 20), 5);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_SKIP, "7"), 1);
        ck_assert_uint_eq(o.document.n_skipped, 7);
        ck_assert_uint_eq(output_options_limit(&o, 20), 0);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_SKIP, "x"), -EINVAL);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_LIMIT, "-5"), -EINVAL);
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_COLOR, "always"), 1);
        ck_assert_int_eq(output_options_take(&o, 'x', NULL), 0);
        output_options_complete(&o);
        ck_assert(!o.document.color);
        o.has_format = false;
        ck_assert_int_eq(output_options_take(&o, OUTPUT_OPTION_FORMAT, "text"), 1);
        output_options_complete(&o);
        ck_assert(o.document.color);
        ck_assert_uint_gt(o.document.n_columns, 0);
}
END_TEST
