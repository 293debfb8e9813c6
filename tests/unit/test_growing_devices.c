/* SPDX-License-Identifier: MIT */
/* Devices, readings of their clocks and names of lanes may come after events, in a trace that grows */
#include "analyze/devices/device_tracks.h"

#include "analyze/walk/ordered_events.h"
#include "base/byte_buffer.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct trace_builder builder;
static struct device_tracks tracks;
static uint64_t begins[16];
static size_t n_begins;

static int take(void *context, const struct device_zone *zone, const struct device_place *place,
                struct error *err)
{
        (void)context;
        (void)err;
        ck_assert_uint_ge(place->track, 1);
        ck_assert_uint_lt(n_begins, 16);
        begins[n_begins++] = zone->begin_ns;
        return 0;
}

static void set_up(void)
{
        trace_builder_init(&builder);
        (void)trace_builder_thread(&builder, 1, 1);
        UNIT_TEST_SPOIL(tracks);
        n_begins = 0;
        ck_assert_int_eq(device_tracks_init(&tracks, &builder.dictionary, take, NULL), 0);
}

static void tear_down(void)
{
        device_tracks_deinit(&tracks);
        trace_builder_finish(&builder);
        trace_builder_deinit(&builder);
}

static void add_device(uint32_t number)
{
        const struct trace_device device = { .process = 1,
                                             .number = number,
                                             .name = trace_builder_string(&builder, "gpu") };

        (void)trace_builder_row(&builder, TRACE_TABLE_DEVICES, &device);
}

static void add_reading(uint32_t device, uint64_t ticks, uint64_t raw_ns)
{
        const struct trace_device_clock row = {
                .device = device, .ticks = ticks, .raw_ns = raw_ns, .error_ns = 1
        };

        (void)trace_builder_row(&builder, TRACE_TABLE_DEVICE_CLOCKS, &row);
}

static void add_span(uint32_t device, uint64_t begin_ticks)
{
        const struct ordered_span span = { .device = device,
                                           .location = 1,
                                           .begin_ticks = begin_ticks,
                                           .length_ticks = 5,
                                           .lane = 3,
                                           .thread = 1 };

        ck_assert_int_eq(device_tracks_add_span(&tracks, &span, NULL), 0);
}

static void check_name(uint32_t device, const char *wanted)
{
        struct byte_buffer words = { .data = NULL };

        lane_names_put_whole(&tracks.names, &words, device, 3, 0);
        ck_assert_uint_eq(words.used_bytes, strlen(wanted));
        ck_assert_mem_eq(words.data, wanted, words.used_bytes);
        byte_buffer_deinit(&words);
}

/* Before a device is named nothing is known of its zones. */
START_TEST(test_devices_come_later)
{
        struct trace_track lane = { .device = 1, .number = 3 };

        add_span(1, 1000);
        ck_assert_int_eq(device_tracks_grow(&tracks, 0, NULL), 0);
        add_device(1);
        add_reading(1, 1000, 5000);
        ck_assert_int_eq(device_tracks_grow(&tracks, 0, NULL), 0);
        add_span(1, 1200);
        add_span(1, 1100);
        ck_assert_uint_eq(n_begins, 0);
        check_name(1, "gpu lane 3");
        lane.name = trace_builder_string(&builder, "queue");
        (void)trace_builder_row(&builder, TRACE_TABLE_TRACKS, &lane);
        ck_assert_int_eq(device_tracks_grow(&tracks, 5101, NULL), 0);
        check_name(1, "gpu / queue");
        ck_assert_uint_eq(n_begins, 1);
        ck_assert_uint_eq(begins[0], 5100);

        add_device(2);
        ck_assert_int_eq(device_tracks_grow(&tracks, 5101, NULL), 0);
        add_span(2, 10);
        ck_assert_uint_eq(tracks.n_unplaced, 1);
        add_reading(2, 10, 5150);
        ck_assert_int_eq(device_tracks_grow(&tracks, 5101, NULL), 0);
        add_span(2, 10);
        ck_assert_int_eq(device_tracks_finish(&tracks, NULL), 0);
        ck_assert_uint_eq(n_begins, 3);
        ck_assert_uint_eq(begins[1], 5150);
        ck_assert_uint_eq(begins[2], 5200);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
