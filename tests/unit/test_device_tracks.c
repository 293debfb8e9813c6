/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_tracks.c, export/shared/lock_waits.c: zones of devices come by their begin,
 * outermost first; a wait ends with its lock
 */
#include "analyze/devices/device_tracks.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "export/shared/lock_waits.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

struct seen {
        struct device_zone last;
        size_t n;
        uint64_t total_ns;
};

static int see(void *context, const struct device_zone *zone, const struct device_place *place,
               struct error *err)
{
        struct seen *s = context;

        (void)err;
        ck_assert_uint_ge(place->track, 1);
        if (s->n > 0) {
                ck_assert_uint_ge(zone->begin_ns, s->last.begin_ns);
                ck_assert(zone->begin_ns > s->last.begin_ns || zone->end_ns <= s->last.end_ns);
        }
        s->n++;
        s->total_ns += zone->end_ns - zone->begin_ns;
        s->last = *zone;
        return 0;
}

static void span(struct trace_builder *b, uint64_t time_ns, uint64_t begin_ticks, uint64_t length_ticks)
{
        struct trace_event event = { .time_ns = time_ns, .op = TRACE_OP_DEVICE_SPAN };

        event.device_span.device = 1;
        event.device_span.location = 1;
        event.device_span.begin_ticks = begin_ticks;
        event.device_span.length_ticks = length_ticks;
        event_encoder_add(&b->encoder, &event);
}

static void build(struct trace_builder *b, uint32_t n_spans, bool has_clock)
{
        struct trace_device device = { .process = 1, .number = 1 };
        struct trace_device_clock clock = { .ticks = 1000, .raw_ns = 1001000, .device = 1 };
        double period_ns = 1;
        uint32_t thread;

        trace_builder_init(b);
        thread = trace_builder_thread(b, 1, 1);
        (void)trace_builder_location(b, "kernel");
        device.name = trace_builder_string(b, "queue");
        memcpy(&device.period_bits, &period_ns, sizeof(period_ns));
        (void)trace_builder_row(b, TRACE_TABLE_DEVICES, &device);
        if (has_clock)
                (void)trace_builder_row(b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
        trace_builder_begin_run(b, thread);
        /* Each pair is known from the inside outwards, and pairs in groups of a thousand backwards. */
        for (uint32_t i = 0; i < n_spans; i++) {
                uint64_t at = 10000 + 100 * (uint64_t)(i / 1000 * 1000 + 999 - i % 1000);

                span(b, 2000000 + i, at, 10);
                span(b, 2000000 + i, at, 50);
        }
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

/* More than are kept at once. */
START_TEST(test_order)
{
        const uint32_t n = DEVICE_TRACKS_ZONES_MAX;
        struct error err = ERROR_NONE;
        struct device_tracks tracks;
        struct loaded_trace trace;
        struct trace_builder b;
        struct seen seen = { .n = 0 };

        build(&b, n, true);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(device_tracks_init(&tracks, trace.dictionary, see, &seen), 0);
        ck_assert_int_eq(device_tracks_take(&tracks, &trace, NULL, &err), 0);
        ck_assert_uint_eq(seen.n, 2 * n);
        ck_assert_uint_eq(tracks.n_handed, 2 * n);
        ck_assert_uint_eq(seen.total_ns, (uint64_t)n * 60);
        ck_assert_uint_eq(device_tracks_left_out(&tracks), 0);
        device_tracks_deinit(&tracks);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}
END_TEST

/* Its time is unknown. */
START_TEST(test_without_a_clock)
{
        struct error err = ERROR_NONE;
        struct device_tracks tracks;
        struct loaded_trace trace;
        struct trace_builder b;
        struct seen seen = { .n = 0 };

        build(&b, 5, false);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(device_tracks_init(&tracks, trace.dictionary, see, &seen), 0);
        ck_assert_int_eq(device_tracks_take(&tracks, &trace, NULL, &err), 0);
        ck_assert_uint_eq(seen.n, 0);
        ck_assert_uint_eq(device_tracks_left_out(&tracks), 10);
        device_tracks_deinit(&tracks);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}
END_TEST

/* The spans that begin in [from, to) ns since the start of the trace. */
static struct seen seen_in_range(struct loaded_trace *trace, uint64_t from_ns, uint64_t to_ns)
{
        const struct trace_filter_request request = {
                .from_ns = from_ns, .to_ns = to_ns, .has_from = true, .has_to = true
        };
        struct error err = ERROR_NONE;
        struct device_tracks tracks;
        struct trace_filter filter;
        struct seen seen = { .n = 0 };

        ck_assert_int_eq(trace_filter_init(&filter, &request, trace, &err), 0);
        ck_assert_int_eq(device_tracks_init(&tracks, trace->dictionary, see, &seen), 0);
        ck_assert_int_eq(device_tracks_take(&tracks, trace, &filter, &err), 0);
        device_tracks_deinit(&tracks);
        trace_filter_deinit(&filter);
        return seen;
}

/* It is about when they ran: they are handed over a millisecond later, when it is long past. */
START_TEST(test_range_of_time)
{
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_builder b;
        struct seen seen;

        build(&b, 1000, true);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        trace.start_ns = 1000000;
        /* Pairs begin at 1010000 + 100 i; the second range has only a part of one, which began before it. */
        seen = seen_in_range(&trace, 20000, 30000);
        ck_assert_uint_eq(seen.n, 2 * 100);
        ck_assert_uint_eq(seen.last.begin_ns, 1029900);
        ck_assert_uint_eq(seen_in_range(&trace, 20010, 20100).n, 0);
        ck_assert_uint_eq(seen_in_range(&trace, 20000, 20001).n, 2);
        ck_assert_uint_eq(seen_in_range(&trace, 0, 10000).n, 0);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}
END_TEST

static bool say(struct lock_waits *w, uint64_t time_ns, enum trace_op op, uint32_t lock,
                uint64_t *ret_begin_ns)
{
        struct trace_event event = { .time_ns = time_ns, .op = op, .operand = { lock } };

        return lock_waits_take(w, 1, &event, ret_begin_ns);
}

START_TEST(test_waits)
{
        struct trace_event naming = { .time_ns = 1, .op = TRACE_OP_LOCK_NAME };
        struct trace_lock lock = { .process = 1 };
        struct trace_builder b;
        struct lock_waits w;
        struct text_view name;
        uint64_t begin_ns = 0;

        trace_builder_init(&b);
        (void)trace_builder_thread(&b, 1, 1);
        lock.location = trace_builder_location(&b, "the lock");
        for (lock.number = 1; lock.number <= 2; lock.number++)
                (void)trace_builder_row(&b, TRACE_TABLE_LOCKS, &lock);
        naming.lock_name.lock = 2;
        naming.lock_name.name = trace_builder_string(&b, "another name");
        ck_assert_int_eq(lock_waits_init(&w, &b.dictionary), 0);
        ck_assert(!say(&w, 10, TRACE_OP_LOCK_OBTAIN, 1, &begin_ns)); /* without waiting */
        ck_assert(!say(&w, 20, TRACE_OP_LOCK_WAIT, 1, &begin_ns));
        ck_assert(!say(&w, 30, TRACE_OP_LOCK_OBTAIN, 2, &begin_ns)); /* another one */
        ck_assert(say(&w, 40, TRACE_OP_LOCK_OBTAIN, 1, &begin_ns));
        ck_assert_uint_eq(begin_ns, 20);
        ck_assert(!say(&w, 50, TRACE_OP_LOCK_OBTAIN, 1, &begin_ns)); /* that wait is over */
        ck_assert(!say(&w, 60, TRACE_OP_LOCK_WAIT, 2, &begin_ns));
        lock_waits_give_up(&w, 1);
        ck_assert(!say(&w, 70, TRACE_OP_LOCK_OBTAIN, 2, &begin_ns));
        ck_assert_uint_eq(w.n_waits, 1);
        ck_assert(!lock_waits_take(&w, 1, &naming, &begin_ns));
        name = lock_waits_name(&w, 2);
        ck_assert_uint_eq(name.n_bytes, strlen("another name"));
        ck_assert_mem_eq(name.bytes, "another name", name.n_bytes);
        name = lock_waits_name(&w, 1);
        ck_assert_mem_eq(name.bytes, "the lock", strlen("the lock"));
        lock_waits_deinit(&w);
        trace_builder_finish(&b);
        trace_builder_deinit(&b);
}
END_TEST
