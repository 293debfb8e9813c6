/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_launches.c: an index knows which zone of a thread handed which zone of a device over, and
 * to which zone of another thread work went, from both ends; while the trace grows, and after it was a file
 */
#include "timeline/timeline_launches.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "format/trace_rows.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_directory.h"
#include "timeline/timeline_index.h"

#include <string.h>
#include <unistd.h>

#define START_NS UINT64_C(1000)
#define LATE_NS  UINT64_C(5000000000)

enum { SUBMIT = 1, KERNEL };

static struct trace_builder b;
static struct loaded_trace trace;
static struct timeline_index made;

static void add_span(uint64_t key, uint64_t begin, uint64_t length, uint32_t lane)
{
        struct trace_event event = { .time_ns = LATE_NS, .op = TRACE_OP_DEVICE_SPAN };

        event.device_span.device = 1;
        event.device_span.location = KERNEL;
        event.device_span.lane = lane;
        event.device_span.begin_ticks = begin;
        event.device_span.length_ticks = length;
        event.device_span.key = key;
        event_encoder_add(&b.encoder, &event);
}

/*
 * Zones at 2000 with the keys 7 and 8, and at 3000 with the key 9.  Work: of key 7 twice, on two lanes, of
 * key 8 once, of a key that no zone said, and of none.  A flow goes from the zone at 3000 to a place outside
 * of zones, from there to a zone of the other thread, which comes first in the chunk, and is over there.  Its
 * last event comes long after, so that a trace that grows shows the work.
 */
static void set_up(void)
{
        struct trace_device device = { .process = 1, .number = 1 };
        const struct trace_device_clock clock = { .ticks = START_NS, .raw_ns = START_NS, .device = 1 };
        const double period_ns = 1;

        trace_builder_init(&b);
        trace_builder_meta(&b, "start_raw_ns", "1000");
        (void)trace_builder_thread(&b, 1, 1);
        (void)trace_builder_thread(&b, 1, 2);
        (void)trace_builder_location(&b, "submit");
        (void)trace_builder_location(&b, "kernel");
        device.name = trace_builder_string(&b, "gpu");
        memcpy(&device.period_bits, &period_ns, sizeof(period_ns));
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &device);
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
        trace_builder_begin_run(&b, 2);
        trace_builder_begin_zone(&b, 3040, KERNEL);
        TRACE_BUILDER_ADD(&b, 3060, FLOW, 0, 3, TRACE_FLOW_END);
        TRACE_BUILDER_ADD(&b, 3061, FLOW, 0, 3, TRACE_FLOW_END);
        trace_builder_event(&b, 3070, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, 1);
        trace_builder_begin_zone(&b, 2000, SUBMIT);
        TRACE_BUILDER_ADD(&b, 2000, ZONE_KEY, 0, 7);
        TRACE_BUILDER_ADD(&b, 2010, ZONE_KEY, 0, 8);
        trace_builder_event(&b, 2100, TRACE_OP_ZONE_END);
        trace_builder_begin_zone(&b, 3000, SUBMIT);
        TRACE_BUILDER_ADD(&b, 3000, ZONE_KEY, 0, 9);
        TRACE_BUILDER_ADD(&b, 3020, FLOW, 0, 3, TRACE_FLOW_BEGIN);
        trace_builder_event(&b, 3030, TRACE_OP_ZONE_END);
        TRACE_BUILDER_ADD(&b, 3050, FLOW, 0, 3, TRACE_FLOW_STEP);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, 2);
        add_span(8, 2500, 100, 0);
        add_span(7, 2200, 300, 0);
        add_span(7, 2210, 20, 1);
        add_span(99, 2700, 10, 0);
        add_span(0, 2800, 10, 0);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);
        trace_builder_begin_run(&b, 1);
        trace_builder_begin_zone(&b, LATE_NS, SUBMIT);
        trace_builder_event(&b, LATE_NS + 10, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        ck_assert_int_eq(timeline_index_init(&made, io_open_unnamed(NULL), START_NS, trace.end_ns - START_NS),
                         0);
}

static void tear_down(void)
{
        timeline_index_deinit(&made);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

static uint32_t track_of(const struct timeline_index *index, enum timeline_track_kind kind, uint32_t thread,
                         uint32_t lane)
{
        for (uint32_t i = 0; i < index->n_tracks; i++)
                if (index->tracks[i].kind == (uint32_t)kind && index->tracks[i].thread == thread &&
                    index->tracks[i].lane == lane)
                        return i;
        ck_abort_msg("no such track");
        return 0;
}

static void check(const struct timeline_index *index)
{
        const uint32_t host = track_of(index, TIMELINE_TRACK_THREAD, 1, 0);
        const uint32_t lanes[] = { track_of(index, TIMELINE_TRACK_DEVICE, 0, 0),
                                   track_of(index, TIMELINE_TRACK_DEVICE, 0, 1) };
        struct timeline_launch_search search = { .begin_ns = 1000, .track = host, .location = SUBMIT };
        const struct timeline_launch *found[3] = { NULL };

        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 3);
        ck_assert_uint_eq(found[0]->device_ns, 1200);
        ck_assert_uint_eq(found[0]->device_track, lanes[0]);
        ck_assert_uint_eq(found[0]->device_location, KERNEL);
        ck_assert_uint_eq(found[1]->device_ns, 1210);
        ck_assert_uint_eq(found[1]->device_track, lanes[1]);
        ck_assert_uint_eq(found[2]->device_ns, 1500);
        found[1] = NULL;
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 1), 3);
        ck_assert_ptr_null(found[1]);
        search.begin_ns = 2000; /* its key has no work, but a flow begins in it */
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 1);
        ck_assert_uint_eq(found[0]->from_ns, 2020);
        ck_assert_uint_eq(found[0]->to_ns, 2050);
        ck_assert_uint_eq(found[0]->device_ns, 2050);
        ck_assert_uint_eq(found[0]->device_track, host);
        ck_assert_uint_eq(found[0]->device_location, 0);
        search = (struct timeline_launch_search){ 2040, track_of(index, TIMELINE_TRACK_THREAD, 2, 0), KERNEL,
                                                  true };
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 1);
        ck_assert_uint_eq(found[0]->from_ns, 2050);
        ck_assert_uint_eq(found[0]->to_ns, 2060);
        ck_assert_uint_eq(found[0]->host_location, 0);
        ck_assert_uint_eq(index->n_launches, 5);
        search = (struct timeline_launch_search){ 1210, lanes[1], KERNEL, true };
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 1);
        ck_assert_uint_eq(found[0]->host_ns, 1000);
        ck_assert_uint_eq(found[0]->host_track, host);
        ck_assert_uint_eq(found[0]->host_location, SUBMIT);
        search.location = SUBMIT;
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 0);
        search = (struct timeline_launch_search){ 1700, lanes[0], KERNEL, true }; /* no zone said its key */
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 0);
        search.begin_ns = 1800;
        ck_assert_uint_eq(timeline_launches_find(index, &search, found, 3), 0);
        ck_assert_uint_eq(index->tracks[lanes[0]].busy_ns, 420);
        ck_assert_uint_eq(index->tracks[lanes[1]].busy_ns, 20);
}

/* The arrows are as long as 200, 210, 500, 30 and 10 ns. */
START_TEST(all_between_two_times)
{
        static const uint64_t views[][3] = { /* from, to, how many */
                                             { 0, 1000, 0 },    { 0, 1001, 3 },    { 1300, 1400, 1 },
                                             { 1500, 1501, 1 }, { 1501, 2020, 0 }, { 2050, 2051, 2 },
                                             { 2061, 9000, 0 }
        };
        const struct timeline_launch *found[5];

        ck_assert_int_eq(timeline_builder_build(&made, &trace, NULL, NULL), 0);
        for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
                ck_assert_uint_eq(timeline_launches_view(&made, views[i][0], views[i][1], found, 5),
                                  views[i][2]);
        ck_assert_uint_eq(timeline_launches_view(&made, 0, 9000, found, 5), 5);
        ck_assert_uint_eq(found[4]->to_ns, 2060);
        found[3] = NULL;
        ck_assert_uint_eq(timeline_launches_view(&made, 0, 9000, found, 3), 5);
        ck_assert_uint_eq(found[2]->to_ns, 1500);
        ck_assert_ptr_null(found[3]);
        found[2] = NULL;
        ck_assert_uint_eq(timeline_launches_view(&made, 0, 9000, found, 2), 5);
        ck_assert_uint_eq(found[0]->to_ns, 1200);
        ck_assert_uint_eq(found[1]->to_ns, 1500);
        ck_assert_ptr_null(found[2]);
        ck_assert_uint_eq(timeline_launches_view(&made, 0, 9000, found, 0), 5);
}
END_TEST

START_TEST(both_ends_of_a_whole_trace)
{
        ck_assert_int_eq(timeline_builder_build(&made, &trace, NULL, NULL), 0);
        check(&made);
}
END_TEST

START_TEST(both_ends_while_the_trace_grows)
{
        static struct timeline_builder builder;
        struct trace_item item;

        ck_assert_int_eq(timeline_builder_init(&builder, &made, trace.dictionary, NULL), 0);
        while (trace_reader_next(trace.reader, &item, NULL) == 1) {
                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                ck_assert_int_eq(timeline_builder_add(&builder, &item, NULL), 0);
                ck_assert_int_eq(timeline_launches_join(&builder.shared.launches), 0);
        }
        check(&made);
        timeline_builder_deinit(&builder);
}
END_TEST

START_TEST(both_ends_of_an_index_in_a_file)
{
        struct timeline_identity identity = { .inode = 1 };
        struct timeline_index read;
        struct error err = ERROR_NONE;
        int r;

        ck_assert_int_eq(timeline_builder_build(&made, &trace, NULL, NULL), 0);
        made.n_launches_left_out = 5;
        ck_assert_int_eq(timeline_directory_save(&made, &identity, NULL), 0);
        r = timeline_directory_open(&read, dup(made.pages.fd), &identity, &err);
        ck_assert_msg(r == 0, "%s", err.text);
        check(&read);
        ck_assert_uint_eq(read.n_launches_left_out, 5);
        timeline_index_deinit(&read);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
