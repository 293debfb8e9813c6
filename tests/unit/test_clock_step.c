/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/clock_step.c: on a clock of 10 MHz times are said to be in steps of 100 ns, no bar of a
 * histogram is narrower, and why explains nothing that is below; a fine clock changes nothing
 */
#include "analyze/report/report.h"
#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/clock_step.h"
#include "analyze/why/why.h"
#include "base/error.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define N_ZONES    4000
#define ONE_SLOW   50 /* of so many */
#define START_NS   UINT64_C(1000000)
#define READ_NS    UINT64_C(500000000) /* between two readings of the clock */
#define TICK_NS    UINT64_C(100)
#define LONG_TICKS 2000

static void add_clock(struct trace_builder *b, uint32_t kind, uint64_t ticks, uint64_t ns)
{
        const struct trace_clock row = { .ticks = ticks, .raw_ns = ns, .kind = kind };

        trace_builder_row(b, TRACE_TABLE_CLOCKS, &row);
}

/* Zones of no tick or one; slow ones wait for @n_more ticks. */
static void build(struct trace_builder *b, double tick_ns, uint64_t n_more)
{
        uint32_t outer, inner, thread;
        uint64_t now = START_NS;

        trace_builder_init(b);
        thread = trace_builder_thread(b, 1, 1);
        outer = trace_builder_location(b, "outer");
        inner = trace_builder_location(b, "inner");
        add_clock(b, TRACE_CLOCK_RDTIME, 1000, START_NS);
        add_clock(b, TRACE_CLOCK_RDTIME, 1000 + (uint64_t)((double)READ_NS / tick_ns), START_NS + READ_NS);
        trace_builder_begin_run(b, thread);
        trace_builder_event(b, now, TRACE_OP_SWITCH_IN);
        for (uint64_t i = 0; i < N_ZONES; i++) {
                trace_builder_begin_zone(b, now, outer);
                trace_builder_begin_zone(b, now, inner);
                now += TICK_NS * (i % 3 == 0);
                if (i % ONE_SLOW == 1) {
                        trace_builder_event(b, now, TRACE_OP_SWITCH_OUT);
                        now += TICK_NS * n_more;
                        trace_builder_event(b, now, TRACE_OP_SWITCH_IN);
                }
                trace_builder_event(b, now, TRACE_OP_ZONE_END);
                trace_builder_event(b, now, TRACE_OP_ZONE_END);
                now += 10 * TICK_NS;
        }
        trace_builder_event(b, now, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

/* The words, and the narrowest bar of the first zone. */
START_LOOP_TEST(test_report, 0, 2)
{
        bool is_coarse = _i == 0;
        struct histogram_bins bins;
        struct report *report = NULL;
        struct error err = ERROR_NONE;
        struct trace_builder b;
        bool found = false;

        build(&b, is_coarse ? (double)TICK_NS : 0.4, LONG_TICKS);
        ck_assert_int_eq(report_load(b.path, NULL, &report, &err), 0);
        ck_assert_uint_eq(report->clock_step_ns, is_coarse ? TICK_NS : 0);
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                found |= strcmp(report->gaps.rows[i].code, "TIMES_IN_STEPS") == 0 &&
                         strcmp(report->gaps.rows[i].words, "times are in steps of 100 ns") == 0;
        ck_assert(found == is_coarse);
        histogram_bins_fill(&bins, &report->totals.zones.zones[report->zones[0].location - 1].durations_ns,
                            report->clock_step_ns);
        ck_assert_uint_gt(bins.n_bins, 1);
        for (uint32_t i = 0; is_coarse && i < bins.n_bins; i++)
                ck_assert_uint_ge(bins.bins[i].to - bins.bins[i].from, TICK_NS);
        if (!is_coarse)
                ck_assert_uint_eq(bins.bins[0].to, 1);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST

/* _i: the clock, fine or coarse; one tick more in slow ones, or many */
START_LOOP_TEST(test_why, 0, 4)
{
        bool is_coarse = _i % 2 == 0, is_below = _i / 2 == 0;
        struct why_request request = { .zone = "outer", .slowest = 0.01, .by = WHY_BY_WALL };
        struct trace_builder b;
        static struct asked_why asked; /* too large for a stack beside the others */

        build(&b, is_coarse ? (double)TICK_NS : 0.4, is_below ? 1 : LONG_TICKS);
        asked_why_ask(&asked, b.path, &request);
        ck_assert(why_is_below_clock(&asked.why) == (is_coarse && is_below));
        ck_assert((why_find_answer(&asked.why) != NULL) == !(is_coarse && is_below));
        ck_assert_msg((strstr(asked.answer, "by less than two steps of the clock, of 100 ns each") != NULL) ==
                              (is_coarse && is_below),
                      "%s", asked.answer);
        asked_why_deinit(&asked);
        trace_builder_deinit(&b);
}
END_TEST

/* Readings that make no sense are of no clock. */
START_TEST(test_hostile_clocks)
{
        static const struct {
                uint32_t kind;
                uint64_t ticks[2], ns[2], step_ns;
        } cases[] = {
                { TRACE_CLOCK_RDTIME, { 10, 10 }, { 0, UINT64_MAX }, 0 },
                { TRACE_CLOCK_RDTIME, { 10, 5 }, { 0, 1000 }, 0 },
                { TRACE_CLOCK_RDTIME, { 0, 1 }, { 0, UINT64_MAX }, 0 },
                { TRACE_CLOCK_RDTIME, { 0, UINT64_MAX }, { 5, 5 }, 0 },
                { TRACE_CLOCK_RDTIME, { 0, UINT64_MAX }, { UINT64_MAX - 1, 1 }, 0 },
                /* differences that look like 100 ns once they have wrapped */
                { TRACE_CLOCK_RDTIME, { UINT64_MAX, 9 }, { 0, 1000 }, 0 },
                { TRACE_CLOCK_RDTIME, { 0, 10 }, { UINT64_MAX, 999 }, 0 },
                { TRACE_CLOCK_RDTIME, { 0, 1 }, { 0, UINT64_C(2000000000) }, 0 }, /* two seconds */
                { UINT32_MAX, { 0, 10 }, { 0, 1000 }, 0 },                        /* no clock that is known */
                { TRACE_CLOCK_RDTIME, { 0, 10 }, { 0, 1000 }, 100 },              /* the null case */
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct trace_builder b;

                trace_builder_init(&b);
                for (int k = 0; k < 2; k++)
                        add_clock(&b, cases[i].kind, cases[i].ticks[k], cases[i].ns[k]);
                ck_assert_uint_eq(clock_step_ns(&b.dictionary), cases[i].step_ns);
                trace_builder_deinit(&b);
        }
}
END_TEST
