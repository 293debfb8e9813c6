/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_builder.c, timeline_states.c, timeline_shared.c, timeline_ghosts.c, timeline_rates.c:
 * what a
 * trace has is on its lane, whole or in pieces
 */
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "format/trace_rows.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct trace_builder b;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_builder_deinit(&b);
}

static void begin_index(struct timeline_index *t, const struct loaded_trace *trace)
{
        int fd = io_open_unnamed(NULL);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(timeline_index_init(t, fd, trace->start_ns, trace->end_ns - trace->start_ns), 0);
}

static void build(struct timeline_index *t, const char *path)
{
        struct loaded_trace trace;
        struct error err = ERROR_NONE;
        int r;

        ck_assert_int_eq(loaded_trace_open(&trace, path, &err), 0);
        begin_index(t, &trace);
        r = timeline_builder_build(t, &trace, NULL, &err);
        ck_assert_msg(r == 0, "%s", err.text);
        loaded_trace_close(&trace);
}

/* All of a lane: "begin-end:what ", of values "begin=value ". */
static void print_lane(struct timeline_index *t, uint32_t lane, char *text, size_t n_bytes)
{
        struct timeline_view view = { .lane = lane, .to_ns = UINT64_MAX };
        bool has_values = timeline_index_lane_facts(t, lane).has_values;
        struct timeline_columns c = { .n = 0 };
        size_t n = 0;

        text[0] = '\0';
        ck_assert_int_eq(timeline_query_view(t, &view, &c, NULL), 0);
        for (size_t i = 0; i < c.n && n + 80 < n_bytes; i++)
                n += (size_t)(has_values
                                      ? snprintf(text + n, n_bytes - n, "%.0f=%g ", c.begin_ns[i], c.last[i])
                                      : snprintf(text + n, n_bytes - n, "%.0f-%.0f:%x ", c.begin_ns[i],
                                                 c.end_ns[i], c.what[i]));
        timeline_columns_deinit(&c);
}

/* The lane of a track with this title; fails if there is none. */
static void check_lane(struct timeline_index *t, enum timeline_track_kind track, const char *title,
                       enum timeline_lane_kind kind, uint32_t depth, const char *expected)
{
        char text[4096];

        for (uint32_t i = 0; i < t->n_lanes; i++) {
                struct timeline_lane_facts facts = timeline_index_lane_facts(t, i);
                struct text_view name = timeline_index_title(t, facts.track);

                if (facts.kind != kind || facts.depth != depth ||
                    t->tracks[facts.track].kind != (uint32_t)track || name.n_bytes != strlen(title) ||
                    (name.n_bytes != 0 && memcmp(name.bytes, title, name.n_bytes) != 0))
                        continue;
                print_lane(t, i, text, sizeof(text));
                ck_assert_str_eq(text, expected);
                return;
        }
        ck_abort_msg("no lane %s, %s", timeline_lane_kind_name(kind), title);
}

/* Lanes of devices say how exact they are. */
static void check_device_units(const struct timeline_index *t)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < t->n_tracks; i++) {
                struct text_view unit = timeline_index_unit(t, i);

                if (t->tracks[i].kind != TIMELINE_TRACK_DEVICE)
                        continue;
                n++;
                ck_assert(text_view_begins_with(unit, "placed within 4"));
        }
        ck_assert_uint_eq(n, 2);
}

static uint64_t bits_of(double value)
{
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        return bits;
}

/*
 * Thread 1 "one": a [100, 900) with b [200, 300) and b [400, 500) in it; off its CPU [500, 600), woken at 580
 * by
 * thread 2; preempted [700, 750); samples at 150 (main, hot), 160 (main, hot), 170 (main, cold).
 * Thread 2 "two": waits for the lock [200, 400), which thread 1 holds [150, 400), and has it until 450.
 */
static void build_small(void)
{
        struct trace_sample_event cycles = { .rate = 1000, .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ };
        struct trace_sample_event misses = { .mode = TRACE_SAMPLE_MODE_WITH_LEADER, .leader = 1 };
        struct trace_lock lock = { .process = 1, .number = 1 };
        struct trace_device device = { .process = 1, .period_bits = bits_of(1.0) };
        struct trace_device_clock clock = { .ticks = 0, .raw_ns = 1000, .error_ns = 40, .device = 1 };
        struct trace_plot power = { .format = TRACE_PLOT_WATTS };
        struct trace_track core = { .device = 1, .number = 90 };
        struct trace_track stream = { .device = 1, .parent = 1, .number = 5 };
        /* location, begin, length, lane */
        static const uint64_t spans[][4] = {
                { 2, 340, 50, 5 }, { 1, 300, 50, 0 }, { 2, 310, 10, 5 }, { 1, 300, 50, 5 }
        };
        uint32_t one, two, module, root, hot, cold, frames, plot, pool;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "2000");
        one = trace_builder_thread(&b, 7, 7);
        two = trace_builder_thread(&b, 7, 8);
        cycles.name = trace_builder_string(&b, "cycles");
        cycles.unit = trace_builder_string(&b, "cycles");
        misses.name = trace_builder_string(&b, "misses");
        misses.unit = trace_builder_string(&b, "misses");
        (void)trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &cycles);
        (void)trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &misses);
        (void)trace_builder_location(&b, "a");
        (void)trace_builder_location(&b, "b");
        lock.location = trace_builder_location(&b, "a lock");
        (void)trace_builder_row(&b, TRACE_TABLE_LOCKS, &lock);
        device.name = trace_builder_string(&b, "gpu");
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &device);
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
        core.name = trace_builder_string(&b, "core 9");
        stream.name = trace_builder_string(&b, "BRISC");
        (void)trace_builder_row(&b, TRACE_TABLE_TRACKS, &core);
        (void)trace_builder_row(&b, TRACE_TABLE_TRACKS, &stream);
        power.name = trace_builder_string(&b, "power");
        (void)trace_builder_row(&b, TRACE_TABLE_PLOTS, &power);
        module = trace_builder_module(&b, "/bin/program");
        root = trace_builder_push(&b, 0, module, 1, "main");
        hot = trace_builder_push(&b, root, module, 2, "hot");
        cold = trace_builder_push(&b, root, module, 3, "cold");
        frames = trace_builder_string(&b, "frames of it");
        plot = trace_builder_string(&b, "height");
        pool = trace_builder_string(&b, "pool");
        trace_builder_begin_run(&b, one);
        TRACE_BUILDER_ADD(&b, 1050, THREAD_NAME, trace_builder_string(&b, "one"));
        TRACE_BUILDER_ADD(&b, 1050, SWITCH_IN, 3);
        trace_builder_begin_zone(&b, 1100, 1);
        TRACE_BUILDER_ADD(&b, 1120, FRAME_MARK, frames);
        TRACE_BUILDER_ADD(&b, 1150, LOCK_OBTAIN, 1);
        trace_builder_add(&b, 1150, TRACE_OP_ZONE_TEXT, "a text",
                          (const uint64_t[TRACE_OPERANDS_MAX]){ 6, 0 });
        trace_builder_add(&b, 1150, TRACE_OP_ZONE_NAME, "name", (const uint64_t[TRACE_OPERANDS_MAX]){ 4, 0 });
        trace_builder_sample(&b, 1150, 1, 0, hot);
        trace_builder_sample(&b, 1160, 1, 0, hot);
        trace_builder_sample(&b, 1170, 1, 0, cold);
        trace_builder_begin_zone(&b, 1200, 2);
        TRACE_BUILDER_ADD(&b, 1210, PLOT_F64, plot, bits_of(2.5));
        TRACE_BUILDER_ADD(&b, 1220, PLOT_I64, plot, (uint64_t)-7);
        TRACE_BUILDER_ADD(&b, 1230, MEMORY_ALLOC, pool, 64, 100);
        TRACE_BUILDER_ADD(&b, 1240, MEMORY_ALLOC, pool, 128, 11);
        TRACE_BUILDER_ADD(&b, 1250, MEMORY_FREE, pool, 64);
        trace_builder_event(&b, 1300, TRACE_OP_ZONE_END);
        TRACE_BUILDER_ADD(&b, 1310, FRAME_MARK, frames);
        trace_builder_begin_zone(&b, 1400, 2);
        TRACE_BUILDER_ADD(&b, 1400, LOCK_RELEASE, 1);
        trace_builder_event(&b, 1500, TRACE_OP_ZONE_END);
        TRACE_BUILDER_ADD(&b, 1500, SWITCH_OUT, 3, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, 1580, WAKEUP, 0, two);
        TRACE_BUILDER_ADD(&b, 1600, SWITCH_IN, 4);
        TRACE_BUILDER_ADD(&b, 1650, FRAME_MARK, frames);
        TRACE_BUILDER_ADD(&b, 1700, SWITCH_OUT, 4, 1, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(&b, 1750, SWITCH_IN, 3);
        TRACE_BUILDER_ADD(&b, 1760, MESSAGE, trace_builder_string(&b, "hello"));
        /* The later one first. */
        TRACE_BUILDER_ADD(&b, 1765, DEVICE_VALUE, 1, 1, 330, 90, TRACE_VALUE_DOUBLE, bits_of(2.5));
        TRACE_BUILDER_ADD(&b, 1766, DEVICE_VALUE, 1, 1, 320, 90, TRACE_VALUE_SIGNED, (uint64_t)-1);
        TRACE_BUILDER_ADD(&b, 1767, DEVICE_INSTANT, 1, 1, 345, 5, 0, 0, trace_builder_string(&b, "n=1"));
        for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
                event_encoder_add(&b.encoder, &(struct trace_event){
                                                      .time_ns = 1770,
                                                      .op = TRACE_OP_DEVICE_SPAN,
                                                      .device_span = { 1, spans[i][0], spans[i][1],
                                                                       spans[i][2], spans[i][3], 9, 0, 0 } });
        trace_builder_event(&b, 1900, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, two);
        TRACE_BUILDER_ADD(&b, 1060, THREAD_NAME, trace_builder_string(&b, "two"));
        TRACE_BUILDER_ADD(&b, 1200, LOCK_WAIT, 1);
        TRACE_BUILDER_ADD(&b, 1400, LOCK_OBTAIN, 1);
        TRACE_BUILDER_ADD(&b, 1450, LOCK_RELEASE, 1);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

START_TEST(each_thing_is_on_its_lane)
{
        struct timeline_index t;

        build_small();
        build(&t, b.path);
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_ZONES, 0, "100-900:1 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_ZONES, 1, "200-300:2 400-500:2 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_STATES, 0,
                   "50-500:10000003 500-580:20000002 580-600:30000002 600-700:10000004 700-750:40000004 "
                   "750-1000:10000003 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_SAMPLES, 1,
                   "150-150:2 160-160:2 170-170:3 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_GHOSTS, 0, "150-500:0 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_GHOSTS, 1, "150-170:1 170-500:2 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_MESSAGES, 0, "760-760:1 ");
        ck_assert_int_eq(memcmp(timeline_index_text(&t, 1).bytes, "hello", 5), 0);
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_TEXTS, 0, "100-900:1 ");
        ck_assert(text_view_is(timeline_index_zone_text(&t, 1), "name\na text"));
        check_lane(&t, TIMELINE_TRACK_CPU, "CPU 3", TIMELINE_LANE_CPU, 0, "50-500:1 750-1000:1 ");
        check_lane(&t, TIMELINE_TRACK_CPU, "CPU 4", TIMELINE_LANE_CPU, 0, "600-700:1 ");
        /* It was woken, and later preempted there. */
        check_lane(&t, TIMELINE_TRACK_CPU, "CPU 4", TIMELINE_LANE_UNRECORDED, 0, "580-600:1 700-750:1 ");
        check_lane(&t, TIMELINE_TRACK_LOCK, "a lock", TIMELINE_LANE_HOLDER, 0, "150-400:1 400-450:2 ");
        check_lane(&t, TIMELINE_TRACK_LOCK, "a lock", TIMELINE_LANE_WAITERS, 0, "200-400:2 ");
        check_lane(&t, TIMELINE_TRACK_PLOT, "height", TIMELINE_LANE_PLOT, 0, "210=2.5 220=-7 ");
        check_lane(&t, TIMELINE_TRACK_MEMORY, "pool", TIMELINE_LANE_PLOT, 0, "230=100 240=111 250=11 ");
        check_lane(&t, TIMELINE_TRACK_FRAMES, "frames of it", TIMELINE_LANE_FRAMES, 0,
                   "120-310:1 310-650:2 ");
        check_lane(&t, TIMELINE_TRACK_DEVICE, "gpu lane 0", TIMELINE_LANE_DEVICE, 0, "300-350:1 ");
        /* Those of a lane that cross are further down than all that are in each other. */
        check_lane(&t, TIMELINE_TRACK_DEVICE, "gpu / core 9 / BRISC", TIMELINE_LANE_DEVICE, 0, "300-350:1 ");
        check_lane(&t, TIMELINE_TRACK_DEVICE, "gpu / core 9 / BRISC", TIMELINE_LANE_DEVICE, 1, "310-320:2 ");
        check_lane(&t, TIMELINE_TRACK_DEVICE, "gpu / core 9 / BRISC", TIMELINE_LANE_DEVICE,
                   DEVICE_LANES_DEPTH_MAX, "340-390:2 ");
        check_device_units(&t);
        check_lane(&t, TIMELINE_TRACK_PLOT, "gpu / core 9: power", TIMELINE_LANE_PLOT, 0, "320=-1 330=2.5 ");
        check_lane(&t, TIMELINE_TRACK_DEVICE, "gpu / core 9 / BRISC", TIMELINE_LANE_MESSAGES, 0,
                   "345-345:2 ");
        ck_assert(text_view_is(timeline_index_text(&t, 2), "a: n=1"));
        check_lane(&t, TIMELINE_TRACK_LOAD, "CPU load", TIMELINE_LANE_PLOT, 0, "0=0.8 ");
        check_lane(&t, TIMELINE_TRACK_LOAD, "CPU load", TIMELINE_LANE_CPU_TIME, 0, "0=0 1000=800 ");
        check_lane(&t, TIMELINE_TRACK_LOAD, "CPU load", TIMELINE_LANE_CPU_TIME, 1, "0=0 1000=870 ");
        timeline_index_deinit(&t);
}
END_TEST

/* All of a lane, at the finest; the caller deinitialises it. */
static struct timeline_columns read_lane(struct timeline_index *t, uint32_t lane)
{
        const struct timeline_view view = { .lane = lane, .to_ns = UINT64_MAX };
        struct timeline_columns c = { .n = 0 };

        ck_assert_int_eq(timeline_query_view(t, &view, &c, NULL), 0);
        return c;
}

static double part_before(double begin_ns, double end_ns, double time_ns)
{
        return time_ns <= begin_ns ? 0 : (end_ns < time_ns ? end_ns : time_ns) - begin_ns;
}

/* The sum until then of the lanes of the CPUs, and of the states of threads that could run and did not. */
static double sum_spans(struct timeline_index *t, enum timeline_use use, double time_ns)
{
        double sum_ns = 0;

        for (uint32_t i = 0; i < t->n_lanes; i++) {
                enum timeline_lane_kind kind = timeline_index_lane_facts(t, i).kind;
                struct timeline_columns c;

                if (kind != TIMELINE_LANE_CPU && (kind != TIMELINE_LANE_STATES || use != TIMELINE_USE_WANTED))
                        continue;
                c = read_lane(t, i);
                for (size_t k = 0; k < c.n; k++)
                        if (kind == TIMELINE_LANE_CPU ||
                            c.what[k] >> TIMELINE_STATE_SHIFT >= TIMELINE_STATE_RUNNABLE)
                                sum_ns += part_before(c.begin_ns[k], c.end_ns[k], time_ns);
                timeline_columns_deinit(&c);
        }
        return sum_ns;
}

/* A thread that runs for 3.5 ms, is preempted for 1 ms and sleeps, in a recording of 20 ms. */
static void build_long_runs(void)
{
        trace_builder_meta(&b, "start_raw_ns", "1000000");
        trace_builder_meta(&b, "end_raw_ns", "21000000");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 7, 7));
        for (uint64_t at = 1000000; at < 20000000; at += 5000000) {
                TRACE_BUILDER_ADD(&b, at, SWITCH_IN, 0);
                TRACE_BUILDER_ADD(&b, at + 2500000, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
                TRACE_BUILDER_ADD(&b, at + 3500000, SWITCH_IN, 0);
                TRACE_BUILDER_ADD(&b, at + 4500000, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

/* Between two values it grows evenly: at each of them it is the sum of the spans, and values are few. */
START_TEST(cpu_time_is_the_sum_of_what_ran_and_could_run)
{
        struct timeline_index t;
        int n_lanes = 0;

        build_long_runs();
        build(&t, b.path);
        for (uint32_t i = 0; i < t.n_lanes; i++) {
                struct timeline_lane_facts facts = timeline_index_lane_facts(&t, i);
                struct timeline_columns c;

                if (facts.kind != TIMELINE_LANE_CPU_TIME)
                        continue;
                n_lanes++;
                c = read_lane(&t, i);
                ck_assert_uint_ge(c.n, 10);
                ck_assert_uint_lt(c.n, 40); /* of 19532 parts */
                for (size_t k = 0; k < c.n; k++)
                        ck_assert_double_eq_tol(c.first[k],
                                                sum_spans(&t, (enum timeline_use)facts.depth, c.begin_ns[k]),
                                                0.5);
                ck_assert_double_eq_tol(c.begin_ns[c.n - 1], 19500000, 1024);
                timeline_columns_deinit(&c);
        }
        ck_assert_int_eq(n_lanes, TIMELINE_USES);
        timeline_index_deinit(&t);
}
END_TEST

/* The thread was on its CPU before its own timer's interrupt, and after it. */
START_TEST(a_thread_that_wakes_itself_runs)
{
        struct timeline_index t;
        uint32_t thread = trace_builder_thread(&b, 7, 7);

        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_begin_run(&b, thread);
        TRACE_BUILDER_ADD(&b, 1100, WAKEUP, 0, 0, 0, 0, 0, thread);
        TRACE_BUILDER_ADD(&b, 1150, THREAD_NAME, trace_builder_string(&b, "one"));
        TRACE_BUILDER_ADD(&b, 1200, SWITCH_OUT, 3);
        TRACE_BUILDER_ADD(&b, 1300, SWITCH_IN, 3);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_STATES, 0,
                   "100-200:10000003 200-300:20000000 300-300:10000003 ");
        timeline_index_deinit(&t);
}
END_TEST

/* Loop test: when an imported thread was on a CPU is known from its context switches alone. */
START_LOOP_TEST(an_imported_thread_does_not_run, 0, 2)
{
        const struct trace_process process = { .pid = 7 };
        struct trace_thread thread = { .kind = TRACE_THREAD_IMPORTED, .tid = 7 };
        uint32_t n_lanes = 0, id;
        struct timeline_index t;

        thread.process = trace_builder_row(&b, TRACE_TABLE_PROCESSES, &process);
        id = trace_builder_row(&b, TRACE_TABLE_THREADS, &thread);
        trace_builder_meta(&b, "start_raw_ns", "1000");
        (void)trace_builder_location(&b, "a");
        trace_builder_begin_run(&b, id);
        TRACE_BUILDER_ADD(&b, 1050, THREAD_NAME, trace_builder_string(&b, "one"));
        trace_builder_begin_zone(&b, 1100, 1);
        trace_builder_event(&b, 1300, TRACE_OP_ZONE_END);
        if (_i == 1) {
                TRACE_BUILDER_ADD(&b, 1400, SWITCH_IN, 3);
                TRACE_BUILDER_ADD(&b, 1450, SWITCH_OUT, 3);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        for (uint32_t i = 0; i < t.n_lanes; i++)
                n_lanes += timeline_index_lane_facts(&t, i).kind == TIMELINE_LANE_STATES;
        ck_assert_uint_eq(n_lanes, (uint32_t)_i);
        if (_i == 1)
                check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_STATES, 0,
                           "400-450:10000003 450-450:20000000 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "one", TIMELINE_LANE_ZONES, 0, "100-300:1 ");
        timeline_index_deinit(&t);
}
END_TEST

/* A count of 500 in 100 ns is 5,000,000,000 a second; the time off the CPU does not count. */
START_TEST(counters_are_rates_of_the_time_on_a_cpu)
{
        struct trace_sample_event event = { .mode = TRACE_SAMPLE_MODE_PERIOD };
        struct timeline_index t;
        uint32_t thread;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        thread = trace_builder_thread(&b, 7, 7);
        event.name = event.unit = trace_builder_string(&b, "cycles");
        (void)trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &event);
        trace_builder_begin_run(&b, thread);
        TRACE_BUILDER_ADD(&b, 1000, SWITCH_IN, 0);
        for (uint64_t i = 1; i <= 3; i++) {
                struct trace_event sample = { .time_ns = 1000 + 100 * i + (i == 3 ? 1000 : 0),
                                              .op = TRACE_OP_SAMPLE };

                if (i == 3) {
                        TRACE_BUILDER_ADD(&b, 1250, SWITCH_OUT, 0, 0, 2);
                        TRACE_BUILDER_ADD(&b, 2250, SWITCH_IN, 0);
                }
                sample.sample.event = 1;
                sample.sample.weight = 500;
                event_encoder_add(&b.encoder, &sample);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        check_lane(&t, TIMELINE_TRACK_COUNTER, "cycles", TIMELINE_LANE_PLOT, 0,
                   "100=5e+09 200=5e+09 1300=5e+09 ");
        ck_assert_int_eq(memcmp(timeline_index_unit(&t, 1).bytes, "cycles/s", 8), 0);
        timeline_index_deinit(&t);
}
END_TEST

/* ---- in pieces ----------------------------------------------------------------------------------------- */

/* Threads in turns: zones up to 6 deep, switches, wake-ups, samples, plots, locks. */
static void add_random_run(uint32_t thread, uint64_t *now_ns, uint32_t *depth, uint64_t *random)
{
        trace_builder_begin_run(&b, thread);
        for (int i = 0; i < 40; i++) {
                uint64_t kind = fixed_random_next(random) % 16;

                *now_ns += fixed_random_next(random) % 500;
                if (kind < 6 && *depth < 6) {
                        trace_builder_begin_zone(&b, *now_ns, 1 + (uint32_t)(kind % 2));
                        ++*depth;
                } else if (kind < 11 && *depth > 0) {
                        trace_builder_event(&b, *now_ns, TRACE_OP_ZONE_END);
                        --*depth;
                } else if (kind == 11) {
                        TRACE_BUILDER_ADD(&b, *now_ns, SWITCH_OUT, thread % 3, 0, TRACE_WAIT_SLEEPING);
                        TRACE_BUILDER_ADD(&b, *now_ns + 7, WAKEUP, 0, 1);
                        TRACE_BUILDER_ADD(&b, *now_ns + 9, SWITCH_IN, thread % 3);
                        *now_ns += 9;
                } else if (kind == 12) {
                        trace_builder_sample(&b, *now_ns, 1, 0,
                                             1 + (uint32_t)(fixed_random_next(random) % 2));
                } else if (kind == 13) {
                        TRACE_BUILDER_ADD(&b, *now_ns, PLOT_I64, 1, fixed_random_next(random) % 100);
                } else if (kind == 14) {
                        TRACE_BUILDER_ADD(&b, *now_ns, LOCK_OBTAIN, 1);
                        TRACE_BUILDER_ADD(&b, *now_ns, LOCK_RELEASE, 1);
                }
        }
        trace_builder_end_run(&b);
}

static void build_random(uint64_t random)
{
        struct trace_lock lock = { .process = 1 };
        uint64_t now_ns[3] = { 1000, 1000, 1000 };
        uint32_t depth[3] = { 0 }, module;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        for (uint32_t i = 0; i < 3; i++)
                (void)trace_builder_thread(&b, 7, 7 + i);
        (void)trace_builder_sample_event(&b, "cpu-clock");
        (void)trace_builder_location(&b, "a");
        lock.location = trace_builder_location(&b, "b");
        (void)trace_builder_row(&b, TRACE_TABLE_LOCKS, &lock);
        module = trace_builder_module(&b, "/bin/program");
        (void)trace_builder_push(&b, 0, module, 1, "main");
        (void)trace_builder_push(&b, 1, module, 2, "inner");
        for (int chunk = 0; chunk < 60; chunk++) {
                for (uint32_t i = 0; i < 3; i++)
                        add_random_run(i + 1, &now_ns[i], &depth[i], &random);
                trace_builder_flush(&b);
        }
        trace_builder_finish(&b);
}

/* All lanes as text, in the order of their tracks: ids may differ. */
static void compare(struct timeline_index *one, struct timeline_index *other)
{
        char *x = malloc(1 << 20), *y = malloc(1 << 20);

        ck_assert_ptr_nonnull(x);
        ck_assert_ptr_nonnull(y);
        ck_assert_uint_eq(one->n_lanes, other->n_lanes);
        ck_assert_uint_eq(one->n_tracks, other->n_tracks);
        for (uint32_t i = 0; i < one->n_lanes; i++) {
                print_lane(one, i, x, 1 << 20);
                print_lane(other, i, y, 1 << 20);
                ck_assert_str_eq(x, y);
        }
        free(x);
        free(y);
}

/* Chunk by chunk, with questions in between, the index is the same as all at once. */
START_LOOP_TEST(an_index_that_grew_in_pieces_is_the_same, 0, 5)
{
        static struct timeline_builder builder;
        struct timeline_index whole, grown;
        struct loaded_trace trace;
        struct trace_item item;
        uint64_t n_before = 0;
        static char text[4096];

        build_random(17 + (uint64_t)_i);
        build(&whole, b.path);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        begin_index(&grown, &trace);
        ck_assert_int_eq(timeline_builder_init(&builder, &grown, trace.dictionary, NULL), 0);
        while (trace_reader_next(trace.reader, &item, NULL) == 1) {
                uint64_t n_items = 0;

                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                ck_assert_int_eq(timeline_builder_add(&builder, &item, NULL), 0);
                for (uint32_t i = 0; i < grown.n_lanes; i++) {
                        print_lane(&grown, i, text, sizeof(text));
                        n_items += timeline_index_lane_facts(&grown, i).n_items;
                }
                ck_assert_uint_gt(n_items, n_before);
                n_before = n_items;
        }
        ck_assert_int_eq(timeline_builder_finish(&builder, trace.end_ns, NULL), 0);
        timeline_builder_deinit(&builder);
        ck_assert_uint_gt(n_before, 2000);
        compare(&whole, &grown);
        timeline_index_deinit(&whole);
        timeline_index_deinit(&grown);
        loaded_trace_close(&trace);
}
END_TEST

/* ---- odd traces ---------------------------------------------------------------------------------------- */

START_TEST(an_empty_trace_has_an_empty_index)
{
        struct timeline_index t;

        trace_builder_finish(&b);
        build(&t, b.path);
        ck_assert_uint_eq(t.n_lanes, 0);
        timeline_index_deinit(&t);
}
END_TEST

START_TEST(one_event_is_enough)
{
        struct timeline_index t;
        char name[2001];

        memset(name, 'n', 2000);
        name[2000] = '\0';
        (void)trace_builder_thread(&b, 1, 1);
        (void)trace_builder_location(&b, "a");
        trace_builder_begin_run(&b, 1);
        TRACE_BUILDER_ADD(&b, 5000, THREAD_NAME, trace_builder_string(&b, name));
        trace_builder_begin_zone(&b, 5000, 1);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        check_lane(&t, TIMELINE_TRACK_THREAD, name, TIMELINE_LANE_ZONES, 0, "0-0:1 ");
        timeline_index_deinit(&t);
}
END_TEST

/* Zones that were not closed end with the recording; all 4096 levels are there. */
START_TEST(zones_may_be_deep_and_unclosed)
{
        struct timeline_index t;

        (void)trace_builder_thread(&b, 1, 1);
        (void)trace_builder_location(&b, "a");
        trace_builder_begin_run(&b, 1);
        for (uint64_t i = 0; i < 5000; i++)
                trace_builder_begin_zone(&b, 1000 + i, 1);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        ck_assert_uint_eq(t.n_lanes, THREAD_TIMELINE_DEPTH_MAX);
        check_lane(&t, TIMELINE_TRACK_THREAD, "", TIMELINE_LANE_ZONES, 4095, "4095-4999:1 ");
        timeline_index_deinit(&t);
}
END_TEST

/* A thousand threads of a hundred levels are more lanes than there may be: the rest is counted. */
START_TEST(lanes_have_a_limit)
{
        struct timeline_index t;

        (void)trace_builder_location(&b, "a");
        for (uint32_t i = 1; i <= 1000; i++)
                (void)trace_builder_thread(&b, 1, i);
        for (uint32_t i = 1; i <= 1000; i++) {
                trace_builder_begin_run(&b, i);
                for (uint64_t k = 0; k < 100; k++)
                        trace_builder_begin_zone(&b, 1000 + k, 1);
                trace_builder_end_run(&b);
        }
        trace_builder_finish(&b);
        build(&t, b.path);
        ck_assert_uint_eq(t.n_lanes, TIMELINE_LANES_MAX);
        ck_assert_uint_eq(t.n_left_out, 1000 * 100 - TIMELINE_LANES_MAX);
        timeline_index_deinit(&t);
}
END_TEST

/* Longer than 78 hours: in a coarser unit; nothing is lost, nothing overflows. */
START_TEST(times_may_be_as_long_as_they_like)
{
        static const uint64_t long_ns = UINT64_C(1) << 62;
        struct timeline_view view = { .to_ns = UINT64_MAX };
        struct timeline_columns c = { .n = 0 };
        struct timeline_index t;

        (void)trace_builder_thread(&b, 1, 1);
        (void)trace_builder_location(&b, "a");
        trace_builder_begin_run(&b, 1);
        trace_builder_begin_zone(&b, 1, 1);
        trace_builder_event(&b, long_ns, TRACE_OP_ZONE_END);
        trace_builder_begin_zone(&b, long_ns + (long_ns >> 2), 1);
        trace_builder_event(&b, long_ns + (long_ns >> 1), TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        ck_assert_uint_ne(t.unit_log2, 0);
        for (view.bucket_log2 = 0; view.bucket_log2 < 70; view.bucket_log2++) {
                ck_assert_int_eq(timeline_query_view(&t, &view, &c, NULL), 0);
                ck_assert_uint_le(c.n, 2);
                ck_assert_double_eq_tol(c.end_ns[c.n - 1], 1.5 * (double)long_ns, 1e9);
        }
        timeline_columns_deinit(&c);
        timeline_index_deinit(&t);
}
END_TEST

/* Each length of a trace: what is there of it is on its lanes. */
START_TEST(a_trace_that_is_cut_off_has_an_index)
{
        struct timeline_index t;
        struct loaded_trace trace;
        off_t length;
        int n_built = 0;

        small_trace_build(&b);
        for (length = lseek(b.fd, 0, SEEK_END); length > 0; length -= 7) {
                ck_assert_int_eq(ftruncate(b.fd, length), 0);
                if (loaded_trace_open(&trace, b.path, NULL) == 0) {
                        begin_index(&t, &trace);
                        ck_assert_int_eq(timeline_builder_build(&t, &trace, NULL, NULL), 0);
                        timeline_index_deinit(&t);
                        n_built++;
                }
                loaded_trace_close(&trace);
        }
        ck_assert_int_gt(n_built, 10);
}
END_TEST

/* The stack of a switch is that of the whole wait; three periods without a sample end all functions. */
START_TEST(ghost_zones_go_on_while_a_thread_waits)
{
        struct trace_sample_event event = { .rate = 1000, .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ };
        struct timeline_index t;
        uint32_t thread, module, root, hot, cold;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "99001000");
        thread = trace_builder_thread(&b, 7, 7);
        event.name = trace_builder_string(&b, "cpu-clock");
        (void)trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &event);
        module = trace_builder_module(&b, "/bin/program");
        root = trace_builder_push(&b, 0, module, 1, "main");
        hot = trace_builder_push(&b, root, module, 2, "hot");
        cold = trace_builder_push(&b, root, module, 3, "cold");
        trace_builder_begin_run(&b, thread);
        trace_builder_sample(&b, 1100, 1, 0, hot);
        event_encoder_add(&b.encoder, &(struct trace_event){ .time_ns = 1200,
                                                             .op = TRACE_OP_SWITCH_OUT,
                                                             .switch_out = { .wait = 2, .stack = cold } });
        TRACE_BUILDER_ADD(&b, 50001200, SWITCH_IN, 0);
        trace_builder_sample(&b, 50001300, 1, 0, hot);
        trace_builder_sample(&b, 80001300, 1, 0, hot);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        build(&t, b.path);
        check_lane(&t, TIMELINE_TRACK_THREAD, "", TIMELINE_LANE_GHOSTS, 0,
                   "100-50000300:0 80000300-81000300:0 ");
        check_lane(&t, TIMELINE_TRACK_THREAD, "", TIMELINE_LANE_GHOSTS, 1,
                   "100-200:1 200-50000300:2 50000300-50000300:1 80000300-81000300:1 ");
        timeline_index_deinit(&t);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);
