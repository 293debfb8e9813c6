/* SPDX-License-Identifier: MIT */
/* Smallest, largest, mean and course of a plot are those of its values; what is no number is counted */

#include "analyze/stats/plot_stats.h"

#include "analyze/trace/event_order.h"
#include "format/trace_spec.h"
#include "tests/unit/unit_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void plot(struct plot_stats *s, uint64_t time_ns, double value)
{
        struct ordered_event event = { .time_ns = time_ns, .op = TRACE_OP_PLOT_F64, .subject = 1 };

        memcpy(&event.value[0], &value, sizeof(value));
        ck_assert_int_eq(plot_stats_add(s, &event), 0);
}

START_TEST(test_a_ramp)
{
        double heights[PLOT_STATS_BINS];
        struct plot_stats s;

        plot_stats_init(&s, 1000, 7000);
        for (uint32_t i = 0; i < 600; i++)
                plot(&s, 1000 + 10 * i, i);
        ck_assert_uint_eq(s.rows[0].n_values, 600);
        ck_assert_double_eq(s.rows[0].min, 0);
        ck_assert_double_eq(s.rows[0].max, 599);
        ck_assert_double_eq(s.rows[0].first, 0);
        ck_assert_double_eq(s.rows[0].last, 599);
        ck_assert_double_eq_tol(s.rows[0].mean, 299.5, 1e-9);
        ck_assert_uint_eq(s.rows[0].first_ns, 1000);
        ck_assert_uint_eq(s.rows[0].last_ns, 6990);
        plot_stats_course(&s.rows[0], heights);
        for (uint32_t i = 0; i < PLOT_STATS_BINS; i++)
                ck_assert_double_eq_tol(heights[i], (10 * i + 4.5) / 599, 1e-9);
        plot_stats_deinit(&s);
}
END_TEST

/* Before the first value there is nothing; where none is, the last one stands. */
START_TEST(test_a_course_with_gaps)
{
        double heights[PLOT_STATS_BINS];
        struct plot_stats s;

        plot_stats_init(&s, 0, PLOT_STATS_BINS);
        plot(&s, 10, -5);
        plot(&s, 20, 5);
        plot_stats_course(&s.rows[0], heights);
        ck_assert_double_lt(heights[9], 0);
        ck_assert_double_eq(heights[10], 0);
        ck_assert_double_eq(heights[19], 0);
        ck_assert_double_eq(heights[20], 1);
        ck_assert_double_eq(heights[PLOT_STATS_BINS - 1], 1);
        plot_stats_deinit(&s);
}
END_TEST

START_TEST(test_hostile_values)
{
        double heights[PLOT_STATS_BINS];
        struct plot_stats s;

        plot_stats_init(&s, 100, 100); /* no time at all */
        plot(&s, 5, (double)NAN);
        plot(&s, 5, (double)INFINITY);
        ck_assert_uint_eq(s.rows[0].n_not_finite, 2);
        plot_stats_course(&s.rows[0], heights);
        ck_assert_double_lt(heights[PLOT_STATS_BINS - 1], 0);
        plot(&s, 500, DBL_MAX);
        plot(&s, 1, -DBL_MAX);
        plot(&s, 7, DBL_MAX);
        ck_assert(isfinite(s.rows[0].mean));
        plot_stats_course(&s.rows[0], heights);
        for (uint32_t i = 0; i < PLOT_STATS_BINS; i++)
                ck_assert(heights[i] >= -1 && heights[i] <= 1);
        plot_stats_deinit(&s);
}
END_TEST

START_TEST(test_whole_numbers_have_a_sign)
{
        struct ordered_event event = { .op = TRACE_OP_PLOT_I64, .subject = 1, .value = { UINT64_MAX - 6 } };
        struct plot_stats s;

        plot_stats_init(&s, 0, 10);
        ck_assert_int_eq(plot_stats_add(&s, &event), 0);
        ck_assert_double_eq(s.rows[0].min, -7);
        plot_stats_deinit(&s);
}
END_TEST
