/* SPDX-License-Identifier: MIT */
/*
 * Zones of devices have the times of their queries, in any order; what never comes is counted, and
 * bounded; busy time counts once
 */

#include "analyze/devices/device_stats.h"
#include "analyze/devices/device_zones.h"
#include "analyze/trace/event_order.h"
#include "analyze/walk/ordered_events.h"
#include "format/trace_dictionary.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct {
        struct device_zone zones[16];
        uint32_t n;
} seen;

static struct trace_dictionary d;
static struct device_zones z;

static int take(void *context, const struct device_zone *zone, struct error *err)
{
        (void)context, (void)err;
        ck_assert_uint_lt(seen.n, 16);
        seen.zones[seen.n++] = *zone;
        return 0;
}

/* One device; tick 1000 is 5000 ns, a tick is 2 ns. */
static void set_up(void)
{
        const double period_ns = 2;
        struct trace_process process = { .pid = 1 };
        struct trace_device device = { .process = 1 };
        struct trace_device_clock clock = { .ticks = 1000, .raw_ns = 5000, .device = 1 };
        uint32_t id;

        UNIT_TEST_SPOIL(d);
        UNIT_TEST_SPOIL(z);
        trace_dictionary_init(&d, 0);
        memcpy(&device.period_bits, &period_ns, sizeof(period_ns));
        ck_assert_int_ge(trace_dictionary_add(&d, TRACE_TABLE_PROCESSES, &process, &id), 0);
        ck_assert_int_ge(trace_dictionary_add(&d, TRACE_TABLE_DEVICES, &device, &id), 0);
        ck_assert_int_ge(trace_dictionary_add(&d, TRACE_TABLE_DEVICE_CLOCKS, &clock, &id), 0);
        seen.n = 0;
        ck_assert_int_eq(device_zones_init(&z, &d, take, NULL), 0);
}

static void tear_down(void)
{
        device_zones_deinit(&z);
        trace_dictionary_deinit(&d);
}

static void say(uint32_t op, uint32_t thread, uint64_t query, uint64_t value)
{
        struct ordered_event event = { .op = op, .thread = thread, .subject = 1, .value = { query, value } };

        ck_assert_int_eq(device_zones_add(&z, &event, NULL), 0);
}

START_TEST(test_nested_zones)
{
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 1, 7);
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 2, 8);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 3, 0);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 4, 0);
        say(TRACE_OP_DEVICE_TIME, 2, 4, 1400);
        say(TRACE_OP_DEVICE_TIME, 2, 3, 1300);
        say(TRACE_OP_DEVICE_TIME, 2, 2, 1200);
        ck_assert_uint_eq(seen.n, 1);
        say(TRACE_OP_DEVICE_TIME, 2, 1, 1100);
        device_zones_finish(&z);
        ck_assert_uint_eq(seen.n, 2);
        ck_assert_uint_eq(seen.zones[0].location, 8);
        ck_assert_uint_eq(seen.zones[0].depth, 1);
        ck_assert_uint_eq(seen.zones[0].begin_ns, 5400);
        ck_assert_uint_eq(seen.zones[0].end_ns, 5600);
        ck_assert_uint_eq(seen.zones[1].location, 7);
        ck_assert_uint_eq(seen.zones[1].begin_ns, 5200);
        ck_assert_uint_eq(seen.zones[1].end_ns, 5800);
        ck_assert_uint_eq(z.n_zones, 2);
        ck_assert_uint_eq(z.n_alone + z.n_untimed + z.n_never + z.n_lost, 0);
}
END_TEST

/* Numbers of queries come again and again; a time that comes before the end is kept. */
START_TEST(test_queries_are_used_again)
{
        for (uint32_t i = 0; i < 10; i++) {
                say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 1, 7);
                say(TRACE_OP_DEVICE_TIME, 1, 1, 2000 + 100 * i);
                say(TRACE_OP_DEVICE_ZONE_END, 1, 2, 0);
                say(TRACE_OP_DEVICE_TIME, 1, 2, 2010 + 100 * i);
        }
        ck_assert_uint_eq(seen.n, 10);
        ck_assert_uint_eq(seen.zones[9].end_ns - seen.zones[9].begin_ns, 20);
        ck_assert_uint_eq(z.n_open_slots, 1);
        /* The time of this one does not come before its query is another's. */
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 1, 7);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 2, 0);
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 1, 9);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 2, 0);
        say(TRACE_OP_DEVICE_TIME, 1, 1, 9000);
        say(TRACE_OP_DEVICE_TIME, 1, 2, 9100);
        device_zones_finish(&z);
        ck_assert_uint_eq(seen.n, 11);
        ck_assert_uint_eq(seen.zones[10].location, 9);
        ck_assert_uint_eq(z.n_untimed, 1);
}
END_TEST

START_TEST(test_what_never_happened)
{
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 1, 7);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 2, 0);
        say(TRACE_OP_DEVICE_TIME, 1, 1, 0);
        say(TRACE_OP_DEVICE_TIME, 1, 2, 0);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 5, 0);  /* of none */
        say(TRACE_OP_DEVICE_TIME, 1, 77, 12345); /* likewise */
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 1, 7);
        say(TRACE_OP_DEVICE_ZONE_END, 1, 2, 0);
        say(TRACE_OP_DEVICE_TIME, 1, 1, 300);
        say(TRACE_OP_DEVICE_TIME, 1, 2, 200); /* before it began */
        say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, 8, 7);
        device_zones_finish(&z);
        ck_assert_uint_eq(seen.n, 0);
        ck_assert_uint_eq(z.n_never, 1);
        ck_assert_uint_eq(z.n_alone, 2);
        ck_assert_uint_eq(z.n_backwards, 1);
        ck_assert_uint_eq(z.n_untimed, 1);
}
END_TEST

START_TEST(test_the_limit_of_open_zones)
{
        for (uint32_t i = 0; i < DEVICE_ZONES_OPEN_MAX + 100; i++)
                say(TRACE_OP_DEVICE_ZONE_BEGIN, 1, i, 7);
        ck_assert_uint_eq(z.n_lost, 100);
        ck_assert_uint_eq(z.n_open_slots, DEVICE_ZONES_OPEN_MAX);
}
END_TEST

START_TEST(test_spans)
{
        struct ordered_span span = { .said_ns = 9000,
                                     .begin_ticks = 1500,
                                     .length_ticks = 250,
                                     .key = UINT64_C(1) << 40,
                                     .device = 1,
                                     .location = 6,
                                     .lane = 12,
                                     .thread = 1 };

        ck_assert_int_eq(device_zones_add_span(&z, &span, NULL), 0);
        ck_assert_uint_eq(seen.n, 1);
        ck_assert_uint_eq(seen.zones[0].location, 6);
        ck_assert_uint_eq(seen.zones[0].begin_ns, 6000);
        ck_assert_uint_eq(seen.zones[0].end_ns, 6500);
        ck_assert_uint_eq(seen.zones[0].lane, 12);
        ck_assert_uint_eq(seen.zones[0].key, UINT64_C(1) << 40);
        ck_assert_uint_eq(seen.zones[0].said_ns, 9000);
        span.length_ticks = UINT64_MAX;
        ck_assert_int_eq(device_zones_add_span(&z, &span, NULL), 0);
        ck_assert_uint_eq(seen.n, 1);
        ck_assert_uint_eq(z.n_backwards, 1);
}
END_TEST

static void add_busy(struct device_lines *g, uint64_t begin_ns, uint64_t end_ns)
{
        const struct device_zone zone = { .begin_ns = begin_ns, .end_ns = end_ns, .location = 1 };

        ck_assert_int_eq(device_lines_add(g, 1, &zone, 1, false), 0);
}

static void finish_busy(struct device_lines *g, struct device_line *line)
{
        struct device_lines *const sets[] = { g };

        ck_assert_int_eq(device_lines_finish(sets, 1, NULL, NULL), 0);
        ck_assert_uint_eq(g->n_gaps, 0);
        *line = g->lines[0];
        line->spans = NULL;
        device_lines_deinit(g);
}

START_TEST(test_busy_time_counts_once)
{
        struct device_lines g;
        struct device_line line;

        ck_assert_int_eq(device_lines_init(&g, 1), 0);
        add_busy(&g, 300, 400);
        add_busy(&g, 100, 200);
        add_busy(&g, 150, 250);
        add_busy(&g, 120, 130);
        finish_busy(&g, &line);
        ck_assert_uint_eq(line.busy_ns, 150 + 100);
        ck_assert_uint_eq(line.total_ns, 310);
        ck_assert_uint_eq(line.first_ns, 100);
        ck_assert_uint_eq(line.last_ns, 400);
        /* As many as there are, each apart from the others, in turns of two threads. */
        ck_assert_int_eq(device_lines_init(&g, 1), 0);
        for (uint64_t i = 0; i < 100000; i++)
                add_busy(&g, (i ^ 1) * 10, (i ^ 1) * 10 + 4);
        ck_assert_uint_le(g.lines[0].n_spans, DEVICE_LINES_SPANS_MAX);
        finish_busy(&g, &line);
        ck_assert_uint_eq(line.busy_ns, 400000);
        /* A value that comes after its time was settled does not count again. */
        ck_assert_int_eq(device_lines_init(&g, 1), 0);
        for (uint64_t i = 0; i < 2 * DEVICE_LINES_SPANS_MAX; i++)
                add_busy(&g, i * 10, i * 10 + 4);
        add_busy(&g, 0, 4);
        add_busy(&g, 10, 13);
        finish_busy(&g, &line);
        ck_assert_uint_eq(line.busy_ns, 2 * DEVICE_LINES_SPANS_MAX * 4);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
