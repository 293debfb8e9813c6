/* SPDX-License-Identifier: MIT */
/*
 * Zones of devices belong to the zones of threads with their key, of the same space and process; idle time
 * belongs to the zones in which the next work was prepared
 */
#include "analyze/devices/device_stats.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { SPACE_NONE, SPACE_A, SPACE_B, SPACE_C };
/* They belong to the first process, to none, to the second one, and to one without threads. */
enum { DEVICE_FIRST = 1, DEVICE_FREE, DEVICE_SECOND, DEVICE_ALONE };
enum { THREAD_FIRST = 1, THREAD_SECOND };

/* A zone of a thread and its key, if it has one.  Zones of a thread come one after another. */
struct host {
        uint32_t thread, location;
        uint64_t begin_ns, end_ns;
        uint32_t space;
        uint64_t key;
};

/* A zone of a device, in nanoseconds. */
struct span {
        uint32_t device;
        uint64_t begin_ns, length_ns;
        uint32_t space;
        uint64_t key;
        uint64_t host_begin_ns; /* of the zone to which it belongs; 0 = none */
};

static struct {
        struct trace_builder b;
        struct loaded_trace trace;
        struct device_stats stats;
        uint32_t spaces[4], locations[4];
} f;

static void add_device(uint32_t process, uint32_t number, bool has_clock)
{
        struct trace_device device = { .process = process, .number = number };
        struct trace_device_clock clock = { .ticks = 500, .raw_ns = 500, .device = number };
        double period_ns = 1;

        device.name = trace_builder_string(&f.b, "queue");
        memcpy(&device.period_bits, &period_ns, sizeof(period_ns));
        (void)trace_builder_row(&f.b, TRACE_TABLE_DEVICES, &device);
        if (has_clock)
                (void)trace_builder_row(&f.b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
}

static void begin(bool has_clock)
{
        UNIT_TEST_SPOIL(f);
        trace_builder_init(&f.b);
        (void)trace_builder_thread(&f.b, 1, 1);
        (void)trace_builder_thread(&f.b, 2, 2);
        f.spaces[SPACE_NONE] = 0;
        f.spaces[SPACE_A] = trace_builder_string(&f.b, "submission");
        f.spaces[SPACE_B] = trace_builder_string(&f.b, "ticket");
        f.spaces[SPACE_C] = trace_builder_string(&f.b, "frame");
        f.locations[1] = trace_builder_location(&f.b, "submit");
        f.locations[2] = trace_builder_location(&f.b, "prepare");
        f.locations[3] = trace_builder_location(&f.b, "kernel");
        add_device(1, DEVICE_FIRST, has_clock);
        add_device(0, DEVICE_FREE, has_clock);
        add_device(2, DEVICE_SECOND, has_clock);
        (void)trace_builder_row(&f.b, TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 3 });
        add_device(3, DEVICE_ALONE, has_clock);
}

static void say_hosts(uint32_t thread, const struct host *hosts, size_t n)
{
        trace_builder_begin_run(&f.b, thread);
        for (size_t i = 0; i < n; i++) {
                const struct host *h = &hosts[i];

                if (h->thread != thread)
                        continue;
                trace_builder_begin_zone(&f.b, h->begin_ns, f.locations[h->location]);
                if (h->space != 0 || h->key != 0)
                        TRACE_BUILDER_ADD(&f.b, h->begin_ns, ZONE_KEY, f.spaces[h->space], h->key);
                trace_builder_event(&f.b, h->end_ns, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(&f.b);
}

/* All are reported by the second thread, when all is over. */
static void say_spans_on(const struct span *spans, const uint32_t *lanes, size_t n)
{
        trace_builder_begin_run(&f.b, THREAD_SECOND);
        for (size_t i = 0; i < n; i++) {
                struct trace_event event = { .time_ns = 1000000 + i, .op = TRACE_OP_DEVICE_SPAN };

                event.device_span.device = spans[i].device;
                event.device_span.location = f.locations[3];
                event.device_span.lane = lanes ? lanes[i] : 0;
                event.device_span.begin_ticks = spans[i].begin_ns;
                event.device_span.length_ticks = spans[i].length_ns;
                event.device_span.key = spans[i].key;
                event.device_span.space = f.spaces[spans[i].space];
                event_encoder_add(&f.b.encoder, &event);
        }
        trace_builder_end_run(&f.b);
        trace_builder_finish(&f.b);
}

static void say_spans(const struct span *spans, size_t n)
{
        say_spans_on(spans, NULL, n);
}

static void take(void)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(loaded_trace_open(&f.trace, f.b.path, &err), 0);
        ck_assert_int_eq(device_stats_take(&f.stats, &f.trace, NULL, &err), 0);
}

static void end(void)
{
        device_stats_deinit(&f.stats);
        loaded_trace_close(&f.trace);
        trace_builder_deinit(&f.b);
}

static const struct device_host_row *row_of(uint32_t location)
{
        uint32_t id = intern_find(&f.stats.hosts.locations, &f.locations[location], sizeof(uint32_t));

        ck_assert_uint_ne(id, 0);
        return &f.stats.hosts.rows[id - 1];
}

static const struct device_idle_row *idle_of(uint32_t device, uint32_t location)
{
        struct device_idle_key key = { .line = device,
                                       .location = location != 0 ? f.locations[location] : 0 };
        uint32_t id = intern_find(&f.stats.devices.keys, &key, sizeof(key));

        ck_assert_uint_ne(id, 0);
        return &f.stats.devices.rows[id - 1];
}

static const struct host hosts[] = {
        { THREAD_FIRST, 1, 1000, 1500, SPACE_A, 5 },  { THREAD_FIRST, 1, 3000, 3500, SPACE_A, 6 },
        { THREAD_FIRST, 1, 5000, 5500, SPACE_A, 5 }, /* the number is used again */
        { THREAD_FIRST, 2, 6000, 6500, SPACE_B, 5 },  { THREAD_FIRST, 2, 7000, 7500, SPACE_NONE, 9 },
        { THREAD_FIRST, 2, 8000, 8500, SPACE_A, 0 },  { THREAD_FIRST, 1, 9000, 9500, SPACE_A, 404 },
        { THREAD_SECOND, 1, 2000, 2500, SPACE_A, 6 },
};

static const struct span spans[] = {
        { DEVICE_FIRST, 1100, 10, SPACE_A, 5, 1000 },
        { DEVICE_FIRST, 5100, 10, SPACE_A, 5, 5000 },
        { DEVICE_FIRST, 4999, 10, SPACE_A, 5, 1000 },
        { DEVICE_FIRST, 900, 10, SPACE_A, 5, 1000 }, /* too early: a clock is wrong */
        { DEVICE_FIRST, 6100, 10, SPACE_B, 5, 6000 },
        { DEVICE_FIRST, 6100, 10, SPACE_B, 6, 0 },
        { DEVICE_FIRST, 7100, 10, SPACE_NONE, 5, 0 },
        { DEVICE_FIRST, 7100, 10, SPACE_NONE, 9, 7000 },
        { DEVICE_FIRST, 8100, 10, SPACE_A, 0, 8000 },
        { DEVICE_FIRST, 8100, 10, SPACE_NONE, 0, 0 }, /* it has no key */
        { DEVICE_FIRST, 3100, 10, SPACE_A, 6, 3000 },
        { DEVICE_SECOND, 3100, 10, SPACE_A, 6, 2000 }, /* each process has its own numbers */
        { DEVICE_SECOND, 5100, 10, SPACE_A, 5, 0 },
        { DEVICE_ALONE, 3100, 10, SPACE_A, 6, 0 },
        { DEVICE_FIRST, 6100, 10, SPACE_C, 5, 0 },
        { DEVICE_FREE, 2100, 10, SPACE_A, 6, 2000 },
        { DEVICE_FREE, 3100, 10, SPACE_A, 6, 3000 },
};

START_LOOP_TEST(test_which_zone, 0, (int)LENGTH(spans))
{
        const struct span *span = &spans[_i];

        begin(true);
        say_hosts(THREAD_FIRST, hosts, LENGTH(hosts));
        say_hosts(THREAD_SECOND, hosts, LENGTH(hosts));
        say_spans(span, 1);
        take();
        for (uint32_t i = 0; i < f.stats.hosts.keys.n_zones; i++) {
                const struct device_key_zone *zone = &f.stats.hosts.keys.zones[i];

                ck_assert_uint_eq(zone->has_span, zone->begin_ns == span->host_begin_ns);
        }
        end();
}
END_TEST

START_TEST(test_sums)
{
        const struct device_host_row *submit, *prepare;
        const struct device_hosts *h = &f.stats.hosts;

        begin(true);
        say_hosts(THREAD_FIRST, hosts, LENGTH(hosts));
        say_hosts(THREAD_SECOND, hosts, LENGTH(hosts));
        say_spans(spans, LENGTH(spans));
        take();
        submit = row_of(1);
        prepare = row_of(2);
        ck_assert_uint_eq(submit->n_spans, 8);
        ck_assert_uint_eq(submit->total_ns, 80);
        ck_assert_uint_eq(submit->n_early, 1);
        ck_assert_uint_eq(submit->early_max_ns, 100);
        ck_assert_uint_eq(submit->n_delays, 7);
        ck_assert_uint_eq(submit->delay_max_ns, 3999);
        ck_assert_uint_eq(submit->delay_sum_ns, 100 + 100 + 3999 + 100 + 1100 + 100 + 100);
        ck_assert_uint_eq(submit->n_keys, 5);
        ck_assert_uint_eq(submit->n_without_span, 1);
        ck_assert_uint_eq(prepare->n_spans, 3);
        ck_assert_uint_eq(prepare->n_without_span, 0);
        for (uint32_t i = 0; i < h->n_spaces; i++) {
                const struct device_space_row *s = &h->space_rows[i];
                bool is_a = s->space == f.spaces[SPACE_A], is_b = s->space == f.spaces[SPACE_B];

                bool is_c = s->space == f.spaces[SPACE_C];

                ck_assert_uint_eq(s->n_keys, is_a ? 6 : is_c ? 0 : 1);
                ck_assert_uint_eq(s->n_without_span, is_a ? 1 : 0);
                ck_assert_uint_eq(s->n_spans, is_a ? 11 : is_c ? 1 : 2);
                ck_assert_uint_eq(s->n_without_key, is_a ? 2 : 1);
                ck_assert(is_a || is_b || is_c || s->space == 0);
        }
        ck_assert_uint_eq(h->n_spaces, 4);
        end();
}
END_TEST

/* Times of a device whose clock was never read say nothing of the host: no delay, no gap.  Keys join. */
START_TEST(test_without_a_clock)
{
        begin(false);
        say_hosts(THREAD_FIRST, hosts, LENGTH(hosts));
        say_spans(spans, 3);
        take();
        ck_assert_uint_eq(row_of(1)->n_spans, 3);
        ck_assert_uint_eq(row_of(1)->n_delays + row_of(1)->n_early, 0);
        ck_assert_uint_eq(f.stats.devices.n_all, 0);
        end();
}
END_TEST

static void say_flow(const char *space, uint64_t key, uint64_t time_ns)
{
        trace_builder_begin_zone(&f.b, time_ns, f.locations[2]);
        TRACE_BUILDER_ADD(&f.b, time_ns, FLOW, trace_builder_string(&f.b, space), key, TRACE_FLOW_BEGIN);
        trace_builder_event(&f.b, time_ns + 10, TRACE_OP_ZONE_END);
}

/* A flow between threads is not counted as missing device work; a flow to a device is. */
START_TEST(test_flows)
{
        const struct span work = { DEVICE_FIRST, 5000, 10, SPACE_A, 5, 0 };

        begin(true);
        trace_builder_begin_run(&f.b, THREAD_FIRST);
        say_flow("requests", 5, 1000);
        say_flow("submission", 5, 2000);
        say_flow("submission", 6, 3000);
        trace_builder_end_run(&f.b);
        say_spans(&work, 1);
        take();
        ck_assert_uint_eq(f.stats.hosts.n_spaces, 1);
        ck_assert_uint_eq(f.stats.hosts.space_rows[0].space, f.spaces[SPACE_A]);
        ck_assert_uint_eq(row_of(2)->n_keys, 2);
        ck_assert_uint_eq(row_of(2)->n_without_span, 1);
        ck_assert_uint_eq(row_of(2)->n_spans, 1);
        end();
}
END_TEST

START_TEST(test_no_keys_no_rows)
{
        const struct span plain = { DEVICE_FIRST, 100, 10, SPACE_NONE, 0, 0 };

        begin(true);
        say_spans(&plain, 1);
        take();
        ck_assert_uint_eq(f.stats.hosts.n_rows + f.stats.hosts.n_spaces, 0);
        ck_assert_uint_eq(f.stats.devices.n_gaps, 0);
        end();
}
END_TEST

/*
 * Work is from 1000 to 2000, in two zones that overlap, from 5000 to 5100, from 5100 to 5200, and from 9000
 * on, which is of a thread without zones.  The first thread is in "prepare" from 1500 to 4000 and in "submit"
 * from 4200 to 4700 and from 4950 on.
 */
START_TEST(test_gaps)
{
        static const struct host threads[] = {
                { THREAD_FIRST, 2, 1500, 4000, SPACE_NONE, 0 },
                { THREAD_FIRST, 1, 4200, 4700, SPACE_A, 1 },
                { THREAD_FIRST, 1, 4950, 7000, SPACE_A, 2 },
        };
        static const struct span work[] = {
                { DEVICE_FIRST, 5100, 100, SPACE_A, 2, 0 },    { DEVICE_FIRST, 5000, 100, SPACE_A, 1, 0 },
                { DEVICE_FIRST, 1500, 500, SPACE_NONE, 0, 0 }, { DEVICE_FIRST, 1000, 600, SPACE_NONE, 0, 0 },
                { DEVICE_FIRST, 9000, 100, SPACE_NONE, 0, 0 },
        };
        const struct device_lines *g = &f.stats.devices;

        begin(true);
        say_hosts(THREAD_FIRST, threads, LENGTH(threads));
        say_spans(work, LENGTH(work));
        take();
        ck_assert_uint_eq(g->n_gaps, 2);
        ck_assert_uint_eq(g->gaps[0].begin_ns, 5200);
        ck_assert_uint_eq(g->gaps[0].end_ns, 9000);
        ck_assert_uint_eq(g->gaps[0].thread, THREAD_SECOND);
        ck_assert_uint_eq(g->gaps[0].host_location, 0);
        ck_assert_uint_eq(g->gaps[0].host_ns, 3800);
        ck_assert_uint_eq(g->gaps[1].begin_ns, 2000);
        ck_assert_uint_eq(g->gaps[1].end_ns, 5000);
        ck_assert_uint_eq(g->gaps[1].thread, THREAD_FIRST);
        ck_assert_uint_eq(g->gaps[1].host_location, f.locations[2]);
        ck_assert_uint_eq(g->gaps[1].host_ns, 2000);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 2)->idle_ns, 2000);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 2)->n_gaps, 1);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 1)->idle_ns, 550);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 1)->n_gaps, 0);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 0)->idle_ns, 450 + 3800);
        ck_assert_uint_eq(g->all_ns, 6800);
        ck_assert_uint_eq(g->n_late + g->n_dropped + g->n_lost, 0);
        end();
}
END_TEST

static const struct device_line *lane_of(uint32_t device, uint32_t lane, uint32_t *ret_id)
{
        const struct device_lane_key key = { .device = device, .lane = lane };

        *ret_id = intern_find(&f.stats.lane_keys, &key, sizeof(key));
        ck_assert_uint_ne(*ret_id, 0);
        return &f.stats.lanes.lines[*ret_id - 1];
}

/*
 * One of two lanes always works from 1000 to 5000, so the device has no gap.  The first lane is idle from
 * 2000 to 3000 and from 3500 to 4000, the second one from 3200 to 3400.  A lane of the same number on another
 * device is another lane.
 */
START_TEST(test_gaps_of_lanes)
{
        static const struct host threads[] = {
                { THREAD_FIRST, 2, 1500, 2800, SPACE_NONE, 0 },
                { THREAD_FIRST, 1, 2900, 3300, SPACE_A, 1 },
                { THREAD_FIRST, 1, 3600, 3700, SPACE_A, 2 },
        };
        static const struct span work[] = {
                { DEVICE_FIRST, 1000, 1000, SPACE_NONE, 0, 0 },
                { DEVICE_FIRST, 3000, 500, SPACE_A, 1, 0 },
                { DEVICE_FIRST, 4000, 1000, SPACE_A, 2, 0 },
                { DEVICE_FIRST, 1900, 1300, SPACE_NONE, 0, 0 },
                { DEVICE_FIRST, 3400, 700, SPACE_NONE, 0, 0 },
                { DEVICE_FREE, 2000, 100, SPACE_NONE, 0, 0 },
        };
        static const uint32_t lanes[LENGTH(work)] = { 1, 1, 1, 2, 2, 1 };
        const struct device_lines *g = &f.stats.lanes;
        const struct device_line *line;
        uint32_t first, second, other;

        begin(true);
        say_hosts(THREAD_FIRST, threads, LENGTH(threads));
        say_spans_on(work, lanes, LENGTH(work));
        take();
        ck_assert_uint_eq(f.stats.devices.n_gaps, 0);
        ck_assert_uint_eq(f.stats.devices.lines[DEVICE_FIRST - 1].busy_ns, 4000);
        line = lane_of(DEVICE_FIRST, 1, &first);
        ck_assert_uint_eq(line->busy_ns, 2500);
        ck_assert_uint_eq(line->idle_ns, 1500);
        ck_assert_uint_eq(line->n_gaps, 2);
        ck_assert_uint_eq(line->longest_ns, 1000);
        ck_assert_uint_eq(line->host_location, f.locations[2]);
        ck_assert_uint_eq(line->host_ns, 800);
        line = lane_of(DEVICE_FIRST, 2, &second);
        ck_assert_uint_eq(line->idle_ns, 200);
        ck_assert_uint_eq(line->n_gaps, 1);
        ck_assert_uint_eq(line->host_location, 0); /* of the thread that reported it */
        line = lane_of(DEVICE_FREE, 1, &other);
        ck_assert_uint_eq(line->n_gaps + line->idle_ns, 0);
        ck_assert_uint_eq(g->n_gaps, 3);
        ck_assert_uint_eq(g->gaps[0].line, first);
        ck_assert_uint_eq(g->gaps[0].begin_ns, 2000);
        ck_assert_uint_eq(g->gaps[0].end_ns, 3000);
        ck_assert_uint_eq(g->gaps[0].thread, THREAD_FIRST);
        ck_assert_uint_eq(g->gaps[0].host_location, f.locations[2]);
        ck_assert_uint_eq(g->gaps[0].host_ns, 800);
        ck_assert_uint_eq(g->gaps[1].line, first);
        ck_assert_uint_eq(g->gaps[1].host_location, 0);
        ck_assert_uint_eq(g->gaps[1].host_ns, 400);
        ck_assert_uint_eq(g->gaps[2].line, second);
        ck_assert_uint_eq(g->gaps[2].thread, THREAD_SECOND);
        end();
}
END_TEST

/* The innermost zone counts, and after its end the one around it. */
START_TEST(test_zones_in_zones)
{
        static const struct span work[] = {
                { DEVICE_FIRST, 1000, 1000, SPACE_NONE, 0, 0 },
                { DEVICE_FIRST, 5000, 100, SPACE_A, 1, 0 },
        };

        begin(true);
        trace_builder_begin_run(&f.b, THREAD_FIRST);
        trace_builder_begin_zone(&f.b, 1500, f.locations[2]);
        trace_builder_begin_zone(&f.b, 2500, f.locations[1]);
        TRACE_BUILDER_ADD(&f.b, 2500, ZONE_KEY, f.spaces[SPACE_A], 1, 1); /* of the outer zone */
        trace_builder_event(&f.b, 3200, TRACE_OP_ZONE_END);
        trace_builder_event(&f.b, 4000, TRACE_OP_ZONE_END);
        trace_builder_end_run(&f.b);
        say_spans(work, LENGTH(work));
        take();
        ck_assert_uint_eq(row_of(2)->n_spans, 1);
        ck_assert_uint_eq(row_of(2)->delay_sum_ns, 3500);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 1)->idle_ns, 700);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 2)->idle_ns, 500 + 800);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 0)->idle_ns, 1000);
        ck_assert_uint_eq(f.stats.devices.gaps[0].host_location, f.locations[2]);
        end();
}
END_TEST

/* More work than is kept at once, from the last to the first in groups: each gap is found, once. */
START_TEST(test_many_gaps)
{
        const uint32_t n = 3 * DEVICE_LINES_SPANS_MAX;
        const struct device_lines *g = &f.stats.devices;

        begin(true);
        trace_builder_begin_run(&f.b, THREAD_SECOND);
        for (uint32_t i = 0; i < n; i++) {
                struct trace_event event = { .time_ns = 100000000 + i, .op = TRACE_OP_DEVICE_SPAN };

                event.device_span.device = DEVICE_FIRST;
                event.device_span.location = f.locations[3];
                event.device_span.begin_ticks = 1000 * (uint64_t)(i / 1024 * 1024 + 1023 - i % 1024);
                event.device_span.length_ticks = 400;
                event_encoder_add(&f.b.encoder, &event);
        }
        trace_builder_end_run(&f.b);
        trace_builder_finish(&f.b);
        take();
        ck_assert_uint_eq(g->n_all, n - 1);
        ck_assert_uint_eq(g->all_ns, UINT64_C(600) * (n - 1));
        ck_assert_uint_eq(g->n_late, 0);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 0)->idle_ns, g->all_ns);
        ck_assert_uint_eq(idle_of(DEVICE_FIRST, 0)->n_gaps, g->n_all);
        end();
}
END_TEST
