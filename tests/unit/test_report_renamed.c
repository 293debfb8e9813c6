/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_renamed.c, analyze/walk/name_times.c: what a thread did counts for the name that it
 * had then, in order and in the range of time; a name with less than 1% is left out, and a former name finds
 * its thread
 */
#include "analyze/report/report.h"
#include "analyze/walk/name_times.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>

#define US UINT64_C(1000)

struct fixture {
        struct trace_builder b;
        struct report *report;
        uint32_t worker, other;
};

static struct fixture f;

static void name_at(uint64_t at_us, const char *name)
{
        TRACE_BUILDER_ADD(&f.b, at_us * US, THREAD_NAME, trace_builder_string(&f.b, name));
}

/*
 * The worker runs from 0 to 1,000 us, but for a wait from 300 to 400: as "maker" for 5 us, then as "first"
 * until 200, as "second" until 500, as "first" until 600, as "third".  The other is "maker" for 5 us, then
 * "first".
 */
static void setup(void)
{
        uint32_t event;

        trace_builder_init(&f.b);
        f.worker = trace_builder_thread(&f.b, 10, 11);
        f.other = trace_builder_thread(&f.b, 10, 12);
        event = trace_builder_sample_event(&f.b, "cycles");
        trace_builder_begin_run(&f.b, f.worker);
        TRACE_BUILDER_ADD(&f.b, 1 * US, SWITCH_IN, 0);
        name_at(1, "maker");
        name_at(6, "first");
        trace_builder_sample(&f.b, 100 * US, event, 0, 0);
        name_at(200, "second");
        TRACE_BUILDER_ADD(&f.b, 300 * US, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&f.b, 400 * US, SWITCH_IN, 0);
        trace_builder_sample(&f.b, 450 * US, event, 0, 0);
        trace_builder_sample(&f.b, 460 * US, event, 0, 0);
        name_at(500, "first");
        name_at(600, "third");
        name_at(700, "third");
        TRACE_BUILDER_ADD(&f.b, 1000 * US, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&f.b);
        trace_builder_begin_run(&f.b, f.other);
        TRACE_BUILDER_ADD(&f.b, 1 * US, SWITCH_IN, 1);
        name_at(1, "maker");
        name_at(6, "first");
        TRACE_BUILDER_ADD(&f.b, 900 * US, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&f.b);
}

static int load(const struct trace_filter_request *filter)
{
        const struct report_options options = { .filter = filter };

        report_free(f.report);
        f.report = NULL;
        return report_load(f.b.path, &options, &f.report, NULL);
}

static void finish(void)
{
        trace_builder_finish(&f.b);
        ck_assert_int_eq(load(NULL), 0);
}

static void teardown(void)
{
        report_free(f.report);
        f.report = NULL;
        trace_builder_deinit(&f.b);
}

static void expect_row(size_t at, const char *name, uint64_t on_cpu_us, uint64_t n_samples)
{
        const struct report_renamed_row *row = &f.report->renamed.rows[at];

        ck_assert_uint_lt(at, f.report->renamed.n_rows);
        ck_assert_msg(text_view_is(row->name, name), "row %zu: %.*s", at, (int)row->name.n_bytes,
                      row->name.bytes);
        ck_assert_uint_eq(row->thread, f.worker);
        ck_assert_uint_eq(row->on_cpu_ns, on_cpu_us * US);
        ck_assert_uint_eq(row->n_samples, n_samples);
}

START_TEST(test_time_counts_for_the_name_of_then)
{
        finish();
        ck_assert_uint_eq(f.report->renamed.n_rows, 3);
        expect_row(0, "first", 194 + 100, 1);
        expect_row(1, "second", 200, 2);
        expect_row(2, "third", 400, 0);
        ck_assert_uint_eq(f.report->renamed.rows[0].first_ns, 6 * US);
        ck_assert_uint_eq(f.report->renamed.rows[0].last_ns, 600 * US);
        ck_assert_uint_eq(f.report->renamed.rows[2].last_ns, 1000 * US);
        ck_assert(f.report->renamed.rows[1].share > 0.2 && f.report->renamed.rows[1].share < 0.23);
}
END_TEST

/*
 * The trace begins at 1 us.  From 250 to 550 us the worker is "second", then "first": "third" is of later,
 * and "first" not of before.
 */
START_TEST(test_names_are_of_the_range_of_time)
{
        const struct trace_filter_request request = {
                .from_ns = 249 * US, .to_ns = 549 * US, .has_from = true, .has_to = true
        };

        finish();
        ck_assert_int_eq(load(&request), 0);
        ck_assert_uint_eq(f.report->renamed.n_rows, 2);
        expect_row(0, "second", 50 + 100, 2);
        expect_row(1, "first", 50, 0);
        ck_assert_uint_eq(f.report->renamed.rows[0].first_ns, 250 * US);
        ck_assert_uint_eq(f.report->renamed.rows[1].first_ns, 500 * US);
}
END_TEST

/* Threads whose last name it is come first; handles stay one for each thread. */
START_TEST(test_a_former_name_finds_its_thread)
{
        const struct trace_filter_request second = { .thread = "second" }, first = { .thread = "first" };
        const struct trace_filter_request both = { .thread = "second,first" }, none = { .thread = "fourth" };

        finish();
        ck_assert_int_eq(load(&second), 0);
        ck_assert_uint_eq(f.report->n_threads, 1);
        ck_assert_uint_eq(f.report->threads[0].thread, f.worker);
        ck_assert_int_eq(load(&first), 0);
        ck_assert_uint_eq(f.report->n_threads, 1);
        ck_assert_uint_eq(f.report->threads[0].thread, f.other);
        ck_assert_uint_eq(f.report->renamed.n_rows, 0);
        ck_assert_int_eq(load(&both), 0);
        ck_assert_uint_eq(f.report->n_threads, 2);
        ck_assert_int_eq(load(&none), -ENOENT);
}
END_TEST

/*
 * A pool that renames its thread for each job has as many rows as there is room for, and loses no time.
 * 1: each name has less than 1%, and the later ones together are a row all the same.
 */
START_LOOP_TEST(test_many_names_are_few_rows, 0, 2)
{
        unsigned n_jobs = _i == 0 ? 50 : 1000;
        uint64_t sum_ns = 0, n_more = 0;

        trace_builder_begin_run(&f.b, f.other);
        TRACE_BUILDER_ADD(&f.b, 1000 * US, SWITCH_IN, 1);
        for (unsigned i = 0; i < n_jobs; i++) {
                char name[16];

                (void)snprintf(name, sizeof(name), "job %u", i);
                name_at(1000 + i * 100, name);
        }
        TRACE_BUILDER_ADD(&f.b, (1000 + n_jobs * 100) * US, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&f.b);
        trace_builder_finish(&f.b);
        ck_assert_int_eq(load(NULL), 0);
        ck_assert_uint_le(f.report->totals.names.keys.n_items, 2 * (NAME_TIMES_PER_THREAD + 1));
        for (size_t i = 0; i < f.report->renamed.n_rows; i++)
                if (f.report->renamed.rows[i].thread == f.other) {
                        sum_ns += f.report->renamed.rows[i].on_cpu_ns;
                        n_more += f.report->renamed.rows[i].is_more;
                }
        if (_i == 0)
                ck_assert_uint_eq(sum_ns, (894 + 5000) * US);
        ck_assert_uint_eq(n_more, 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
