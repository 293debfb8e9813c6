/* SPDX-License-Identifier: MIT */
/*
 * cli/top/top_head.c: the first line has the numbers of the window that it names and what was lost as
 * `record` counts it; state, losses, subject and load fit 80 columns
 */
#include "cli/top/top_head.h"

#include "analyze/live/live_stats.h"
#include "base/clock.h"
#include "cli/top/top_input.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "tests/unit/lossy_trace.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

#define START_NS (UINT64_C(1000) * NS_PER_S)

static struct trace_dictionary dictionary;
static struct top_input in;
static char line[512];

static void setup(void)
{
        trace_dictionary_init(&dictionary, 0);
        in = (struct top_input){ .is_over = true };
        ck_assert_int_eq(live_stats_init(&in.stats, &dictionary), 0);
        in.stats.first_ns = START_NS;
        in.stats.now_ns = START_NS + 11 * NS_PER_S - 1;
}

static void teardown(void)
{
        live_stats_deinit(&in.stats);
        trace_dictionary_deinit(&dictionary);
}

static void lose(uint32_t reason, uint64_t n)
{
        struct trace_loss row = { .reason = reason, .count = n, .time_ns = START_NS };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_LOSSES, &row, &id), 0);
}

/* How many fell into the second @i of the recording, and into all of it so far. */
static void happen(uint64_t i, uint64_t n_samples, uint64_t n_zones)
{
        uint64_t second = live_slot_second(START_NS + i * NS_PER_S);

        in.stats.tallies[second % LIVE_SLOTS] =
                (struct live_tally){ .second = second, .n_samples = n_samples, .n_zones = n_zones };
        in.stats.tallies[LIVE_SLOT_ALL].n_samples += n_samples;
        in.stats.tallies[LIVE_SLOT_ALL].n_zones += n_zones;
}

static const char *head(bool all)
{
        top_head_print(&in, &(struct top_head){ .title = "app", .all = all }, line, sizeof(line));
        return line;
}

START_TEST(test_the_numbers_are_those_of_the_window)
{
        setup();
        happen(0, 100, 7); /* eleven seconds ago */
        happen(1, 40, 0);
        happen(10, 2, 1);
        ck_assert_str_eq(head(false), "hyprof top: ended, app, last 10.0 s: 42 samples, 1 zone");
        ck_assert_str_eq(head(true), "hyprof top: ended, app, all 11.0 s: 142 samples, 8 zones");
        teardown();
}
END_TEST

START_TEST(test_only_losses_are_lost)
{
        setup();
        lose(TRACE_LOSS_STACK_TRUNCATED, 3);
        lose(TRACE_LOSS_SWITCHES_UNSEEN, 40);
        lose(TRACE_LOSS_THROTTLED, 500);
        lose(TRACE_LOSS_COUNT, 6000); /* of a later version */
        ck_assert_str_eq(head(true), "hyprof top: ended, app, all 11.0 s: 0 samples, 0 zones");
        lose(TRACE_LOSS_KERNEL_RING_FULL, 1);
        ck_assert_str_eq(head(true), "hyprof top: ended, 1 lost in all, app, all 11.0 s: 0 samples, 0 zones");
        lose(TRACE_LOSS_CLIENT_RING_FULL, UINT64_MAX);
        lose(TRACE_LOSS_DROPPED_ZONES, 1);
        ck_assert_msg(strstr(head(true), "18.4 E lost in all"), "%s", line);
        teardown();
}
END_TEST

static void add_process(uint32_t pid)
{
        struct trace_process row = { .pid = pid };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_PROCESSES, &row, &id), 0);
}

START_TEST(test_what_is_lost_the_subject_and_its_load_fit_80_columns)
{
        setup();
        happen(10, 1234567, 1234567);
        lose(TRACE_LOSS_CLIENT_RING_FULL, UINT64_C(8589934592));
        add_process(4194304);
        add_process(12);
        top_head_print(&in, &(struct top_head){ .title = "a-title-of-24-characters" }, line, sizeof(line));
        ck_assert_str_eq(line,
                         "hyprof top: ended, 8.59 G lost in all, a-title-of-24-characters (PID 4194304 and 1 "
                         "more), last 10.0 s: 1.23 M samples, 1.23 M zones");
        ck_assert_uint_le((size_t)(strstr(line, " and 1 more") - line), 80);
        teardown();
}
END_TEST

START_TEST(test_what_is_not_listed_and_jumps_of_the_clock_are_said)
{
        setup();
        in.stats.tallies[LIVE_SLOT_ALL] = (struct live_tally){ .n_zones = 9, .n_zones_beside = 5 };
        in.stats.n_clock_jumps = 1;
        ck_assert_str_eq(
                head(true),
                "hyprof top: ended, 1 clock jump, app, all 11.0 s: 0 samples, 9 zones (5 not listed)");
        teardown();
}
END_TEST

START_TEST(test_python_functions_are_said)
{
        setup();
        top_head_print(&in, &(struct top_head){ .title = "app", .is_python = true }, line, sizeof(line));
        ck_assert_ptr_nonnull(strstr(line, ", Python functions with native code (--native: apart)"));
        teardown();
}
END_TEST

/* A title of any length is cut, and nothing is written after the room that there is. */
START_TEST(test_a_long_title)
{
        char title[2 * sizeof(line)], small[16];
        const struct top_head what = { .title = title, .all = true };

        setup();
        memset(title, 'x', sizeof(title) - 1);
        title[sizeof(title) - 1] = '\0';
        top_head_print(&in, &what, line, sizeof(line));
        ck_assert_str_eq(line, "hyprof top: ended, xxxxxxxxxxxxxxxxxxxxxxxx, all 11.0 s: 0 samples, 0 zones");
        memcpy(title + 20, "\xe2\x82\xac\xe2\x82\xac", 6); /* the second one ends after the 24th byte */
        top_head_print(&in, &what, line, sizeof(line));
        ck_assert_str_eq(
                line, "hyprof top: ended, xxxxxxxxxxxxxxxxxxxx\xe2\x82\xac, all 11.0 s: 0 samples, 0 zones");
        top_head_print(&in, &what, small, sizeof(small));
        ck_assert_str_eq(small, "hyprof top: end");
        teardown();
}
END_TEST

/* _i: half of the samples were lost; none; half of the time is in the kernel, which may not be sampled. */
START_LOOP_TEST(test_time_without_samples, 0, 3)
{
        const struct lossy_trace trace = { .n_samples = 2000,
                                           .lost = _i == 1 ? 0 : 0.5,
                                           .is_silent = _i == 2,
                                           .is_kernel_refused = _i == 2 };
        struct trace_reader *reader;
        struct trace_item item;
        struct trace_builder b;

        lossy_trace_build(&b, &trace);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, NULL), 0);
        in = (struct top_input){ .is_over = true };
        ck_assert_int_eq(live_stats_init(&in.stats, trace_reader_dictionary(reader)), 0);
        while (trace_reader_next(reader, &item, NULL) == 1)
                ck_assert_int_eq(live_stats_add(&in.stats, &item, NULL), 0);
        ck_assert_msg((strstr(head(true), "% unsampled, ") != NULL) == (_i != 1), "%s", line);
        ck_assert_msg((strstr(line, " lost in all, ") != NULL) == (_i == 0), "%s", line);
        live_stats_deinit(&in.stats);
        trace_reader_close(reader);
        trace_builder_deinit(&b);
}
END_TEST
