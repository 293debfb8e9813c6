/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/trace_totals.c, sample_stats.c: runs of threads that alternate are told apart;
 * bad bodies are refused
 */
#include "analyze/walk/trace_filter.h"
#include "analyze/zones/trace_totals.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

static struct trace_builder b;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_builder_deinit(&b);
}

/* The events so far as a chunk; the body is the caller's to free. */
static struct trace_item take_item(struct byte_buffer *body)
{
        struct trace_item item = { .header = { .kind = TRACE_CHUNK_EVENTS } };

        ck_assert_int_eq(event_encoder_take(&b.encoder, body, &item.header.first_ns, &item.header.last_ns,
                                            &item.header.n_items),
                         0);
        item.body = body->data;
        item.body_bytes = body->used_bytes;
        return item;
}

/* Two threads in the same zone, in turns of one event. */
static void build_turns(void)
{
        uint32_t threads[2] = { trace_builder_thread(&b, 1, 1), trace_builder_thread(&b, 1, 2) };
        uint32_t zone = trace_builder_location(&b, "zone");
        uint32_t event = trace_builder_sample_event(&b, "cycles");
        uint32_t path = trace_builder_path(&b, 0, zone);

        for (uint64_t i = 0; i < 20; i++) {
                trace_builder_begin_run(&b, threads[i % 2]);
                if (i / 2 % 2 == 0)
                        trace_builder_begin_zone(&b, 100 + i * 10, zone);
                else
                        trace_builder_event(&b, 100 + i * 10, TRACE_OP_ZONE_END);
                trace_builder_sample(&b, 100 + i * 10, event, path, 0);
                trace_builder_end_run(&b);
        }
}

START_TEST(test_threads_are_told_apart)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_totals totals;
        struct trace_item item;

        trace_totals_init(&totals);
        build_turns();
        item = take_item(&body);
        ck_assert_int_eq(trace_totals_start_plain(&totals, &b.dictionary), 0);
        ck_assert_int_eq(trace_walk_chunk(&totals.walk, &item, NULL), 0);
        ck_assert_int_eq(trace_walk_finish(&totals.walk, 0, NULL), 0);
        ck_assert_uint_eq(totals.walk.n_threads, 2);
        for (int i = 0; i < 2; i++) {
                ck_assert_uint_eq(totals.walk.threads[i].n_zones, 5);
                ck_assert_uint_eq(totals.walk.threads[i].timeline.n_unbalanced, 0);
                ck_assert_uint_eq(totals.walk.threads[i].n_samples, 10);
        }
        ck_assert_uint_eq(totals.zones.zones[0].durations_ns.n_values, 10);
        ck_assert_uint_eq(totals.zones.zones[0].total_ns, 10 * 20);
        ck_assert_uint_eq(totals.walk.first_ns, 100);
        ck_assert_uint_eq(totals.walk.last_ns, 290);
        trace_totals_deinit(&totals);
        byte_buffer_deinit(&body);
}
END_TEST

/* By their first and last events: a range has its begin, and not its end. */
START_TEST(test_a_range_has_the_threads_with_events_in_it)
{
        static const struct {
                uint64_t from_ns, to_ns;
                bool wants_first, wants_second;
        } ranges[] = {
                { 0, UINT64_MAX, true, true },
                { 280, UINT64_MAX, true, true },
                { 281, UINT64_MAX, false, true },
                { 290, UINT64_MAX, false, true },
                { 291, UINT64_MAX, false, false },
                { 0, 100, false, false },
                { 0, 101, true, false },
                { 0, 110, true, false },
                { 0, 111, true, true },
        };
        struct byte_buffer body = { .data = NULL };
        struct trace_totals totals;
        struct trace_item item;

        trace_totals_init(&totals);
        build_turns(); /* 100 to 280, 110 to 290 */
        item = take_item(&body);
        ck_assert_int_eq(trace_totals_start_plain(&totals, &b.dictionary), 0);
        ck_assert_int_eq(trace_walk_chunk(&totals.walk, &item, NULL), 0);
        ck_assert(trace_totals_wants_thread(&totals, 1));
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
                struct trace_filter filter = { .from_ns = ranges[i].from_ns, .to_ns = ranges[i].to_ns };

                totals.walk.filter = &filter;
                ck_assert_int_eq(trace_totals_wants_thread(&totals, 1), ranges[i].wants_first);
                ck_assert_int_eq(trace_totals_wants_thread(&totals, 2), ranges[i].wants_second);
                ck_assert(!trace_totals_wants_thread(&totals, 3));
        }
        totals.walk.filter = NULL;
        trace_totals_deinit(&totals);
        byte_buffer_deinit(&body);
}
END_TEST

/* The fiber's zone spans a run of each of two threads, and its switches are not the kernel's. */
START_TEST(test_fibers_are_timelines_of_their_own)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_totals totals;
        struct trace_item item;
        uint32_t thread, fiber, zone;

        trace_totals_init(&totals);
        thread = trace_builder_thread(&b, 1, 1);
        fiber = trace_builder_fiber(&b, 1, 1);
        zone = trace_builder_location(&b, "zone");
        trace_builder_begin_run(&b, thread);
        trace_builder_begin_zone(&b, 100, zone);
        trace_builder_event(&b, 900, TRACE_OP_SWITCH_OUT);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, fiber);
        trace_builder_event(&b, 200, TRACE_OP_SWITCH_IN);
        trace_builder_begin_zone(&b, 210, zone);
        trace_builder_event(&b, 250, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&b, 600, TRACE_OP_SWITCH_IN);
        trace_builder_event(&b, 630, TRACE_OP_ZONE_END);
        trace_builder_event(&b, 640, TRACE_OP_SWITCH_OUT);
        trace_builder_end_run(&b);
        item = take_item(&body);
        ck_assert_int_eq(trace_totals_start_plain(&totals, &b.dictionary), 0);
        ck_assert_int_eq(trace_walk_chunk(&totals.walk, &item, NULL), 0);
        ck_assert_int_eq(trace_walk_finish(&totals.walk, 0, NULL), 0);
        ck_assert(!totals.walk.threads[thread - 1].timeline.is_fiber &&
                  totals.walk.threads[fiber - 1].timeline.is_fiber);
        ck_assert_uint_eq(totals.walk.n_switches, 1);
        ck_assert_uint_eq(totals.walk.threads[fiber - 1].timeline.ran_ns, 90);
        ck_assert_uint_eq(totals.zones.zones[zone - 1].durations_ns.n_values, 1);
        ck_assert_uint_eq(totals.zones.zones[zone - 1].durations_ns.sum, 420);
        ck_assert_uint_eq(totals.zones.zones[zone - 1].n_unclosed, 1); /* the thread's */
        ck_assert_uint_eq(totals.zones.zones[zone - 1].on_cpu_ns, 800 + 70);
        trace_totals_deinit(&totals);
        byte_buffer_deinit(&body);
}
END_TEST

START_TEST(test_equal_samples_are_one_row)
{
        static const struct sample_key keys[] = {
                { 1, 0, 0 }, { 1, 2, 3 }, { 1, 2, 3 }, { 1, 3, 2 }, { 2, 2, 3 }
        };
        struct sample_stats stats;

        sample_stats_init(&stats);
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
                struct trace_event event = { .op = TRACE_OP_SAMPLE };

                event.sample.event = keys[i].event;
                event.sample.path = keys[i].path;
                event.sample.stack = keys[i].stack;
                event.sample.weight = 10 * i;
                ck_assert_int_eq(sample_stats_add(&stats, &event, false), 0);
        }
        ck_assert_uint_eq(sample_stats_count(&stats), 4);
        ck_assert_uint_eq(stats.sums[0].weight, 1); /* none was given */
        ck_assert_uint_eq(stats.sums[1].n_samples, 2);
        ck_assert_uint_eq(stats.sums[1].weight, 30);
        ck_assert_uint_eq(sample_stats_key(&stats, 3)->event, 2);
        sample_stats_deinit(&stats);
}
END_TEST

/* A body that is cut off is refused with words, and everything before the fault may be finished. */
START_TEST(test_cut_bodies_are_refused)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_item item;
        size_t whole_bytes;

        build_turns();
        item = take_item(&body);
        whole_bytes = item.body_bytes;
        for (size_t cut = 0; cut < whole_bytes; cut++) {
                struct error err = ERROR_NONE;
                struct trace_totals totals;

                item.body_bytes = cut;
                trace_totals_init(&totals);
                ck_assert_int_eq(trace_totals_start_plain(&totals, &b.dictionary), 0);
                ck_assert_int_eq(trace_walk_chunk(&totals.walk, &item, &err), -EBADMSG);
                ck_assert_uint_gt(strlen(err.text), 0);
                ck_assert_int_eq(trace_walk_finish(&totals.walk, 0, NULL), 0);
                trace_totals_deinit(&totals);
        }
        byte_buffer_deinit(&body);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
