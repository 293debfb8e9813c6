/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/thread_track.c: one stream in order of time, in which every sample knows its zones
 * and every zone ends once
 */
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/thread_track.h"
#include "tests/unit/event_list.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

#define N_LOCATIONS 8
#define THREAD      1

struct fixture {
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        struct loss_counter losses;
        struct thread_sink sink;
        struct thread_track track;
        struct event_list list;
};

static struct fixture f;

static void add_row(enum trace_table table, const void *row)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, table, row, &id), 0);
}

static void set_up(uint32_t n_rows_max)
{
        memset(&f, 0, sizeof(f));
        trace_dictionary_init(&f.dictionary, n_rows_max);
        event_encoder_init(&f.encoder);
        f.sink = (struct thread_sink){ .encoder = &f.encoder,
                                       .dictionary = &f.dictionary,
                                       .losses = &f.losses };
        add_row(TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 10 });
        add_row(TRACE_TABLE_THREADS, &(struct trace_thread){ .process = 1, .tid = 11 });
        add_row(TRACE_TABLE_SAMPLE_EVENTS, &(struct trace_sample_event){ .rate = 1 });
        for (uint32_t i = 1; i <= N_LOCATIONS && (n_rows_max == 0 || i <= n_rows_max); i++)
                add_row(TRACE_TABLE_LOCATIONS, &(struct trace_location){ .line = i });
        f.track.thread = THREAD;
}

/* The events that were written since the last call. */
static void read_back(void)
{
        thread_sink_switch(&f.sink, NULL);
        event_list_deinit(&f.list);
        event_list_take(&f.list, &f.dictionary, &f.encoder);
}

static void setup(void)
{
        set_up(0);
}

static void teardown(void)
{
        event_list_deinit(&f.list);
        thread_track_deinit(&f.track);
        event_encoder_deinit(&f.encoder);
        trace_dictionary_deinit(&f.dictionary);
}

/* With as many rows of a table at the most. */
static void begin_anew(uint32_t n_rows_max)
{
        teardown();
        set_up(n_rows_max);
}

static void begin_zone(uint64_t time_ns, uint32_t location)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_BEGIN, .time_ns = time_ns };

        event.zone_begin.location = location;
        ck_assert_int_eq(thread_track_write(&f.track, &f.sink, &event, 0), 0);
}

static void end_zone(uint64_t time_ns)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_END, .time_ns = time_ns };

        ck_assert_int_eq(thread_track_write(&f.track, &f.sink, &event, 0), 0);
}

static void add_pending(uint64_t time_ns, enum trace_op op, uint64_t first_operand)
{
        struct pending_event pending = { .event = { .op = op, .time_ns = time_ns } };

        pending.event.operand[0] = first_operand;
        ck_assert_int_eq(thread_track_add_pending(&f.track, &pending), 0);
}

static void write_pending(uint64_t until_ns)
{
        ck_assert_int_eq(thread_track_write_pending(&f.track, &f.sink, until_ns), 0);
}

static const struct trace_event *get(size_t n)
{
        const struct trace_event *event = event_list_get(&f.list, THREAD, n);

        ck_assert_ptr_nonnull(event);
        return event;
}

START_TEST(test_pending_are_put_in_order)
{
        static const uint64_t times[] = { 50, 10, 30, 30, 20, 60, 10 };
        static const uint64_t cpus_in_order[] = { 1, 6, 4, 2, 3, 0, 5 }; /* of equals the later is last */

        for (uint64_t i = 0; i < 7; i++)
                add_pending(times[i], TRACE_OP_SWITCH_IN, i);
        write_pending(30);
        ck_assert_uint_eq(f.track.n_pending, 2);
        read_back();
        ck_assert_uint_eq(f.list.n_events, 5);
        for (size_t i = 0; i < 5; i++) {
                ck_assert_uint_eq(get(i)->time_ns, times[cpus_in_order[i]]);
                ck_assert_uint_eq(get(i)->switch_in.cpu, cpus_in_order[i]);
        }
        write_pending(UINT64_MAX);
        ck_assert_uint_eq(f.track.n_pending, 0);
        read_back();
        ck_assert_uint_eq(f.list.n_events, 2);
        ck_assert_uint_eq(get(0)->switch_in.cpu, 0);
        ck_assert_uint_eq(get(1)->switch_in.cpu, 5);
        write_pending(UINT64_MAX); /* nothing there is nothing to do */
        read_back();
        ck_assert_uint_eq(f.list.n_events, 0);
}
END_TEST

/* A fiber has the switches of its thread, but the idle time of the CPU is told once. */
START_TEST(test_a_fiber_repeats_no_idle_time)
{
        struct pending_event in = {
                .event = { .op = TRACE_OP_SWITCH_IN, .time_ns = 40, .switch_in = { .cpu = 3, .idle_ns = 30 } }
        };
        struct thread_track fiber = { .thread = 2 };
        const struct trace_event *copy;

        add_row(TRACE_TABLE_THREADS, &(struct trace_thread){ .process = 1, .kind = TRACE_THREAD_FIBER });
        thread_track_enter_fiber(&f.track, &f.sink, &fiber, 0, 10);
        ck_assert_int_eq(thread_track_add_pending(&f.track, &in), 0);
        write_pending(UINT64_MAX);
        read_back();
        ck_assert_uint_eq(get(1)->switch_in.idle_ns, 30);
        copy = event_list_get(&f.list, 2, 1);
        ck_assert_ptr_nonnull(copy);
        ck_assert_uint_eq(copy->op, TRACE_OP_SWITCH_IN);
        ck_assert_uint_eq(copy->switch_in.cpu, 3);
        ck_assert_uint_eq(copy->switch_in.idle_ns, 0);
        thread_track_deinit(&fiber);
}
END_TEST

/* A sample past the end of a thread goes before it; once the end was written, there is no place for it. */
START_TEST(test_last_sample)
{
        const struct pending_event late = {
                .event = { .op = TRACE_OP_SAMPLE, .time_ns = 40, .sample = { .event = 1 } }
        };

        add_pending(10, TRACE_OP_SAMPLE, 1);
        add_pending(30, TRACE_OP_THREAD_EXIT, 0);
        ck_assert_int_eq(thread_track_add_last_sample(&f.track, &late), 0);
        ck_assert_uint_eq(f.track.n_pending, 3);
        write_pending(UINT64_MAX);
        ck_assert_int_eq(thread_track_add_last_sample(&f.track, &late), 0);
        ck_assert_uint_eq(f.track.n_pending, 0);
        read_back();
        ck_assert_uint_eq(f.list.n_events, 3);
        ck_assert_uint_eq(get(1)->op, TRACE_OP_SAMPLE);
        ck_assert_uint_eq(get(1)->time_ns, 30);
        ck_assert_uint_eq(get(2)->op, TRACE_OP_THREAD_EXIT);
}
END_TEST

/* A thread that the kernel never said anything of. */
START_TEST(test_nothing_pending_ever)
{
        write_pending(UINT64_MAX);
        ck_assert(!f.track.exited);
}
END_TEST

static void expect_path(uint64_t path, const uint32_t *locations, size_t n)
{
        for (; n > 0; n--) {
                const struct trace_zone_path *row;

                ck_assert_uint_ne(path, 0);
                row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_ZONE_PATHS, (uint32_t)path);
                ck_assert_uint_eq(row->location, locations[n - 1]);
                path = row->parent;
        }
        ck_assert_uint_eq(path, 0);
}

START_TEST(test_zone_path_of_samples)
{
        static const uint32_t outer_inner[] = { 3, 5 };
        static const uint32_t outer_other[] = { 3, 6 };

        for (uint64_t t = 5; t <= 65; t += 10)
                add_pending(t, TRACE_OP_SAMPLE, 1);
        write_pending(10); /* 5: no zone */
        begin_zone(10, 3);
        write_pending(20); /* 15: outer */
        begin_zone(20, 5);
        write_pending(30); /* 25: outer, inner */
        end_zone(30);
        write_pending(40); /* 35: outer */
        begin_zone(40, 5);
        write_pending(50); /* 45: outer, inner: the path that is known */
        end_zone(50);
        begin_zone(50, 6);
        write_pending(60); /* 55: outer, other */
        end_zone(60);
        end_zone(60);
        write_pending(70); /* 65: no zone */
        read_back();
        ck_assert_uint_eq(f.list.n_events, 7 + 8);

        expect_path(get(0)->sample.path, NULL, 0);
        expect_path(get(2)->sample.path, outer_inner, 1);
        expect_path(get(4)->sample.path, outer_inner, 2);
        expect_path(get(6)->sample.path, outer_inner, 1);
        expect_path(get(8)->sample.path, outer_inner, 2);
        ck_assert_uint_eq(get(8)->sample.path, get(4)->sample.path);
        expect_path(get(11)->sample.path, outer_other, 2);
        expect_path(get(14)->sample.path, NULL, 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_ZONE_PATHS), 3);
}
END_TEST

/* Zones in which no sample falls cost no path. */
START_TEST(test_paths_are_made_when_asked_for)
{
        for (uint32_t i = 1; i <= N_LOCATIONS; i++)
                begin_zone(i, i);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_ZONE_PATHS), 0);
        add_pending(100, TRACE_OP_SAMPLE, 1);
        write_pending(100);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_ZONE_PATHS), N_LOCATIONS);
}
END_TEST

START_TEST(test_full_path_table)
{
        static const uint32_t locations[] = { 1, 2 };

        begin_anew(3);
        begin_zone(1, 1);
        begin_zone(1, 2);
        begin_zone(1, 3);
        begin_zone(1, 1);
        end_zone(2);
        end_zone(2);
        begin_zone(3, 1);
        begin_zone(3, 2);
        add_pending(4, TRACE_OP_SAMPLE, 1);
        add_pending(5, TRACE_OP_SAMPLE, 1);
        write_pending(5);
        read_back();
        /* The third zone found room, the fourth did not: the sample has the path to the third. */
        ck_assert_uint_eq(get(8)->op, TRACE_OP_SAMPLE);
        ck_assert_uint_eq(get(8)->sample.path, 3);
        ck_assert_uint_eq(get(9)->sample.path, 3);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_PATH_TABLE_FULL], 2);
        end_zone(6);
        end_zone(6);
        add_pending(7, TRACE_OP_SAMPLE, 1);
        write_pending(7);
        read_back();
        expect_path(get(2)->sample.path, locations, 2);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_PATH_TABLE_FULL], 2);
}
END_TEST

START_TEST(test_unbalanced_end)
{
        end_zone(1);
        begin_zone(2, 1);
        end_zone(3);
        end_zone(4);
        read_back();
        ck_assert_uint_eq(f.list.n_events, 2);
        ck_assert_uint_eq(get(0)->op, TRACE_OP_ZONE_BEGIN);
        ck_assert_uint_eq(get(1)->op, TRACE_OP_ZONE_END);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 2);
}
END_TEST

static void add_call(struct pending_event pending)
{
        ck_assert_int_eq(thread_track_add_pending(&f.track, &pending), 0);
        write_pending(pending.event.time_ns);
}

static void call(uint64_t time_ns, enum trace_op op, uint64_t location, uint64_t frame_avma)
{
        add_call((struct pending_event){ .event = { .op = op, .time_ns = time_ns, .operand = { location } },
                                         .frame_avma = frame_avma });
}

static void point(uint64_t time_ns, enum trace_op op, uint64_t location, bool is_syscall)
{
        add_call((struct pending_event){ .event = { .op = op, .time_ns = time_ns, .operand = { location } },
                                         .frame_avma = UINT64_MAX,
                                         .is_static = true,
                                         .is_point = true,
                                         .is_syscall = is_syscall });
}

#define FRAME       UINT64_C(0x7ffe00001000)
#define OTHER_STACK (FRAME + (UINT64_C(64) << 20))

/* Stacks grow down: a call whose frame a later one has, or one below, was left without an end. */
START_TEST(test_a_call_that_was_left)
{
        call(1, TRACE_OP_ZONE_BEGIN, 1, FRAME + 64);
        call(2, TRACE_OP_ZONE_BEGIN, 2, FRAME);
        call(3, TRACE_OP_ZONE_BEGIN, 3, FRAME - 64); /* a callee */
        call(4, TRACE_OP_ZONE_BEGIN, 4, FRAME);      /* instead of both */
        ck_assert_uint_eq(f.track.n_zones, 2);
        ck_assert_uint_eq(f.sink.n_without_end, 2);
        call(5, TRACE_OP_ZONE_BEGIN, 5, OTHER_STACK); /* nothing is known of frames there */
        ck_assert_uint_eq(f.track.n_zones, 3);
        call(6, TRACE_OP_ZONE_END, 5, OTHER_STACK);
        begin_zone(7, 6); /* the program's own stays, and what is around it */
        call(8, TRACE_OP_ZONE_BEGIN, 7, FRAME);
        ck_assert_uint_eq(f.track.n_zones, 4);
        ck_assert_uint_eq(f.sink.n_without_end, 2);
        call(9, TRACE_OP_ZONE_END, 1, FRAME + 64);
        ck_assert_uint_eq(f.track.n_zones, 0);
        read_back();
        for (size_t i = 3; i < 5; i++) {
                ck_assert_uint_eq(get(i)->op, TRACE_OP_ZONE_END);
                ck_assert_uint_eq(get(i)->time_ns, 4);
        }
}
END_TEST

/* Tracepoints are in no frame: they nest, leave the program's zones alone, and end with the thread. */
START_TEST(test_zones_of_tracepoints)
{
        begin_zone(1, 1);
        call(2, TRACE_OP_ZONE_BEGIN, 2, FRAME);
        point(3, TRACE_OP_ZONE_BEGIN, 3, false);
        point(4, TRACE_OP_ZONE_BEGIN, 3, false);
        ck_assert_uint_eq(f.track.n_zones, 4);
        point(5, TRACE_OP_ZONE_END, 3, false);
        ck_assert_uint_eq(f.track.n_zones, 3);
        point(6, TRACE_OP_ZONE_END, 4, false);
        ck_assert_uint_eq(f.sink.n_points_without_begin, 1);
        call(7, TRACE_OP_ZONE_END, 2, FRAME);
        ck_assert_uint_eq(f.track.n_zones, 1);
        ck_assert_uint_eq(f.sink.n_points_without_end, 1);
        point(8, TRACE_OP_ZONE_BEGIN, 3, false);
        add_call((struct pending_event){ .event = { .op = TRACE_OP_THREAD_EXIT, .time_ns = 9 } });
        ck_assert_uint_eq(f.track.n_zones, 1);
        ck_assert_uint_eq(f.sink.n_points_without_end, 2);
        ck_assert_uint_eq(f.sink.n_without_end, 0);
}
END_TEST

/* A thread is in one system call at a time, and in none where the program itself says something. */
START_TEST(test_zones_of_system_calls)
{
        point(1, TRACE_OP_ZONE_BEGIN, 1, true);
        point(2, TRACE_OP_ZONE_BEGIN, 2, true); /* the end of the first one was lost */
        ck_assert_uint_eq(f.track.n_zones, 1);
        ck_assert_uint_eq(f.sink.n_points_without_end, 1);
        begin_zone(3, 3);
        ck_assert_uint_eq(f.track.n_zones, 1);
        point(4, TRACE_OP_ZONE_END, 0, true); /* late */
        ck_assert_uint_eq(f.track.n_zones, 1);
        point(5, TRACE_OP_ZONE_BEGIN, 2, true);
        end_zone(6);
        ck_assert_uint_eq(f.track.n_zones, 0);
        point(7, TRACE_OP_ZONE_BEGIN, 2, true);
        add_call((struct pending_event){ .event = { .op = TRACE_OP_THREAD_EXIT, .time_ns = 8 } });
        ck_assert_uint_eq(f.track.n_zones, 0);
        ck_assert_uint_eq(f.sink.n_points_without_end, 1);
        ck_assert_uint_eq(f.sink.n_points_without_begin, 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 0);
}
END_TEST

/* The ends of what was left out are left out as well, so that the rest stays nested. */
START_TEST(test_too_deep)
{
        const size_t n_deeper = 10;

        for (uint64_t i = 0; i < THREAD_TRACK_ZONES_MAX + n_deeper; i++)
                begin_zone(i, 1);
        ck_assert_uint_eq(f.track.n_zones, THREAD_TRACK_ZONES_MAX);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_TOO_DEEP], n_deeper);
        for (uint64_t i = 0; i < n_deeper; i++)
                end_zone(10000 + i);
        ck_assert_uint_eq(f.track.n_zones, THREAD_TRACK_ZONES_MAX);
        begin_zone(20000, 1);
        end_zone(20001);
        end_zone(20002);
        ck_assert_uint_eq(f.track.n_zones, THREAD_TRACK_ZONES_MAX - 1);
        read_back();
        ck_assert_uint_eq(f.list.n_events, THREAD_TRACK_ZONES_MAX + 1);
        ck_assert_uint_eq(get(THREAD_TRACK_ZONES_MAX)->op, TRACE_OP_ZONE_END);
        ck_assert_uint_eq(get(THREAD_TRACK_ZONES_MAX)->time_ns, 20002);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_TOO_DEEP], n_deeper + 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 0);
}
END_TEST

START_TEST(test_time_never_steps_back)
{
        begin_zone(100, 1);
        add_pending(90, TRACE_OP_SWITCH_OUT, 0);
        write_pending(200);
        end_zone(80);
        begin_zone(101, 2);
        read_back();
        ck_assert_uint_eq(get(1)->time_ns, 100);
        ck_assert_uint_eq(get(2)->time_ns, 100);
        ck_assert_uint_eq(get(3)->time_ns, 101);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLOCK_CORRECTED], 2);
}
END_TEST

START_TEST(test_close_zones)
{
        for (uint32_t i = 0; i < THREAD_TRACK_ZONES_MAX + 3; i++)
                begin_zone(10, 1);
        thread_track_close_zones(&f.track, &f.sink, 0, 20);
        ck_assert_uint_eq(f.track.n_zones, 0);
        end_zone(30); /* of the zones that were too deep: they are over as well */
        read_back();
        ck_assert_uint_eq(f.list.n_events, 2 * THREAD_TRACK_ZONES_MAX);
        ck_assert_uint_eq(get(f.list.n_events - 1)->op, TRACE_OP_ZONE_END);
        ck_assert_uint_eq(get(f.list.n_events - 1)->time_ns, 20);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 1);

        begin_zone(50, 1);
        thread_track_close_zones(&f.track, &f.sink, 0,
                                 40); /* not before it began, and that is no correction */
        read_back();
        ck_assert_uint_eq(get(1)->time_ns, 50);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLOCK_CORRECTED], 0);
}
END_TEST

/* A new program: the zones of the one before never end, and its samples have none. */
START_TEST(test_pending_closes_zones)
{
        struct pending_event exec = { .event = { .op = TRACE_OP_THREAD_NAME, .time_ns = 20 },
                                      .closes_zones = true };

        begin_zone(10, 1);
        begin_zone(11, 2);
        add_pending(15, TRACE_OP_SAMPLE, 1);
        ck_assert_int_eq(thread_track_add_pending(&f.track, &exec), 0);
        add_pending(25, TRACE_OP_SAMPLE, 1);
        add_pending(30, TRACE_OP_THREAD_EXIT, 0);
        write_pending(25);
        ck_assert(!f.track.exited);
        write_pending(30);
        ck_assert(f.track.exited);
        read_back();
        ck_assert_uint_eq(get(2)->op, TRACE_OP_SAMPLE);
        ck_assert_uint_ne(get(2)->sample.path, 0);
        ck_assert_uint_eq(get(3)->op, TRACE_OP_ZONES_GONE);
        ck_assert_uint_eq(get(3)->time_ns, 20);
        ck_assert_uint_eq(get(4)->op, TRACE_OP_THREAD_NAME);
        ck_assert_uint_eq(get(5)->op, TRACE_OP_SAMPLE);
        ck_assert_uint_eq(get(5)->sample.path, 0);
        ck_assert_uint_eq(get(6)->op, TRACE_OP_THREAD_EXIT);
}
END_TEST

/* The short way leaves the same as the long one, and steps aside where something is unusual. */
START_TEST(test_short_way)
{
        thread_sink_switch(&f.sink, &f.track);
        ck_assert(!thread_track_begin_zone(&f.track, &f.sink, 10, 1)); /* no room yet */
        ck_assert(!thread_track_end_zone(&f.track, &f.sink, 10));
        begin_zone(10, 1);
        ck_assert(thread_track_begin_zone(&f.track, &f.sink, 20, 2));
        ck_assert(thread_track_end_zone(&f.track, &f.sink, 15));
        ck_assert(thread_track_end_zone(&f.track, &f.sink, 30));
        ck_assert(!thread_track_end_zone(&f.track, &f.sink, 40));
        read_back();
        ck_assert_uint_eq(f.list.n_events, 4);
        ck_assert_uint_eq(get(1)->op, TRACE_OP_ZONE_BEGIN);
        ck_assert_uint_eq(get(1)->zone_begin.location, 2);
        ck_assert_uint_eq(get(2)->op, TRACE_OP_ZONE_END);
        ck_assert_uint_eq(get(2)->time_ns, 20);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLOCK_CORRECTED], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ZONE_UNBALANCED], 0);

        for (uint32_t i = 0; i < THREAD_TRACK_ZONES_MAX; i++)
                begin_zone(50, 1);
        ck_assert(!thread_track_begin_zone(&f.track, &f.sink, 50, 1));
        begin_zone(50, 1);
        ck_assert(!thread_track_end_zone(&f.track, &f.sink, 60)); /* of the one that is too deep */
}
END_TEST

START_TEST(test_levels)
{
        uint64_t level = 99;

        ck_assert(!thread_track_find_level(&f.track, 0, &level));
        ck_assert(!thread_track_find_level(&f.track, 1, &level));
        for (uint32_t i = 1; i <= 3; i++)
                begin_zone(i, i);
        ck_assert(thread_track_find_level(&f.track, 0, &level));
        ck_assert_uint_eq(level, 0);
        for (uint64_t depth = 1; depth <= 3; depth++) {
                ck_assert(thread_track_find_level(&f.track, depth, &level));
                ck_assert_uint_eq(level, 3 - depth);
        }
        ck_assert(!thread_track_find_level(&f.track, 4, &level));
        ck_assert(!thread_track_find_level(&f.track, UINT64_MAX, &level));
        f.track.n_too_deep = 1; /* the innermost one is not in the stream */
        ck_assert(!thread_track_find_level(&f.track, 0, &level));
        ck_assert(thread_track_find_level(&f.track, 3, &level));
        ck_assert_uint_eq(level, 0);
}
END_TEST

/* Those that remain are the outermost; zones that are too deep for the stream are counted among them. */
START_TEST(test_close_some_zones)
{
        for (uint32_t i = 0; i < THREAD_TRACK_ZONES_MAX + 5; i++)
                begin_zone(10, 1);
        thread_track_close_zones(&f.track, &f.sink, THREAD_TRACK_ZONES_MAX + 9, 20);
        ck_assert_uint_eq(f.track.n_too_deep, 5);
        thread_track_close_zones(&f.track, &f.sink, THREAD_TRACK_ZONES_MAX + 2, 20);
        ck_assert_uint_eq(f.track.n_too_deep, 2);
        ck_assert_uint_eq(f.track.n_zones, THREAD_TRACK_ZONES_MAX);
        thread_track_close_zones(&f.track, &f.sink, 3, 20);
        ck_assert_uint_eq(f.track.n_too_deep, 0);
        ck_assert_uint_eq(f.track.n_zones, 3);
        read_back();
        ck_assert_uint_eq(f.list.n_events, 2 * THREAD_TRACK_ZONES_MAX - 3);
}
END_TEST

START_TEST(test_callstacks)
{
        struct trace_event begin = { .op = TRACE_OP_ZONE_BEGIN, .time_ns = 20, .operand = { 1 } };
        struct trace_event end = { .op = TRACE_OP_ZONE_END, .time_ns = 30 };

        add_row(TRACE_TABLE_FRAMES, &(struct trace_frame){ .offset = 1 });
        add_row(TRACE_TABLE_STACKS, &(struct trace_stack){ .frame = 1 });
        ck_assert_int_eq(thread_track_write(&f.track, &f.sink, &end, 1),
                         0); /* left out, and so is its stack */
        f.track.last_ns = 25;
        ck_assert_int_eq(thread_track_write(&f.track, &f.sink, &begin, 1), 0);
        read_back();
        ck_assert_uint_eq(f.list.n_events, 2);
        ck_assert_uint_eq(get(0)->op, TRACE_OP_CALLSTACK);
        ck_assert_uint_eq(get(0)->callstack.stack, 1);
        ck_assert_uint_eq(get(0)->time_ns, 25);
        ck_assert_uint_eq(get(1)->op, TRACE_OP_ZONE_BEGIN);
        ck_assert_uint_eq(get(1)->time_ns, 25);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLOCK_CORRECTED], 1); /* both are one */
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
