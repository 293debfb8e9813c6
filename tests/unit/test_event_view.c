/* SPDX-License-Identifier: MIT */
/*
 * Views of events say what a trace holds, and make sense of one that is empty, has samples or
 * zones alone, or one event
 */

#include "analyze/devices/device_stats.h"
#include "analyze/stats/frame_stats.h"
#include "analyze/stats/frame_zones.h"
#include "analyze/stats/lock_stats.h"
#include "analyze/stats/memory_stats.h"
#include "analyze/stats/message_list.h"
#include "analyze/stats/plot_stats.h"
#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace_builder b;

typedef void viewer(struct view_document *d, struct loaded_trace *trace,
                    const struct event_view_options *options);

static void view_locks(struct view_document *d, struct loaded_trace *trace,
                       const struct event_view_options *options)
{
        struct event_walk walk;
        struct lock_stats stats;

        ck_assert_int_eq(lock_stats_take(&stats, trace, NULL, &walk, NULL), 0);
        locks_view_fill(d, &stats, &walk, trace, options);
        lock_stats_deinit(&stats);
        event_walk_deinit(&walk);
}

static void view_memory(struct view_document *d, struct loaded_trace *trace,
                        const struct event_view_options *options)
{
        struct event_walk walk;
        struct memory_stats stats;

        ck_assert_int_eq(memory_stats_take(&stats, trace, NULL, &walk, NULL), 0);
        memory_view_fill(d, &stats, &walk, trace, options);
        memory_stats_deinit(&stats);
        event_walk_deinit(&walk);
}

static void view_frames(struct view_document *d, struct loaded_trace *trace,
                        const struct event_view_options *options)
{
        struct frame_zones zones;
        struct frame_stats stats;

        ck_assert_int_eq(frame_stats_take(&stats, trace, NULL, NULL), 0);
        ck_assert_int_eq(frame_zones_take(&zones, &stats, trace, NULL, NULL), 0);
        frames_view_fill(d, &zones, trace, options);
        frame_zones_deinit(&zones);
        frame_stats_deinit(&stats);
}

static void view_plots(struct view_document *d, struct loaded_trace *trace,
                       const struct event_view_options *options)
{
        struct plot_stats stats;

        ck_assert_int_eq(plot_stats_take(&stats, trace, NULL, NULL), 0);
        plots_view_fill(d, &stats, trace, options);
        plot_stats_deinit(&stats);
}

static void view_messages(struct view_document *d, struct loaded_trace *trace,
                          const struct event_view_options *options)
{
        struct message_list list;
        struct trace_walk walk;

        message_list_init(&list, 0, 0);
        ck_assert_int_eq(message_list_take(&list, trace, NULL, &walk, NULL), 0);
        messages_view_fill(d, &list, &walk.paths, trace, options);
        message_list_deinit(&list);
        trace_walk_deinit(&walk);
}

static void view_devices(struct view_document *d, struct loaded_trace *trace,
                         const struct event_view_options *options)
{
        struct device_stats stats;

        ck_assert_int_eq(device_stats_take(&stats, trace, NULL, NULL), 0);
        devices_view_fill(d, &stats, trace, options);
        device_stats_deinit(&stats);
}

static viewer *const viewers[] = { view_locks, view_memory,   view_frames,
                                   view_plots, view_messages, view_devices };

#define N_VIEWERS (sizeof(viewers) / sizeof(viewers[0]))

/* The document as it is printed; to be freed. */
static char *show(viewer *view, enum document_format format, uint32_t limit)
{
        struct event_view_options options = { .limit = limit };
        struct document_options how = { .format = format, .separator = ',' };
        struct view_document d;
        struct loaded_trace trace;
        char *text = NULL;
        size_t n_bytes;
        FILE *out = open_memstream(&text, &n_bytes);

        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        ck_assert_int_eq(loaded_trace_read_names(&trace, NULL), 0);
        view_document_init(&d, "hyprof.test/1");
        view(&d, &trace, &options);
        ck_assert(!d.failed);
        ck_assert_int_eq(document_print(&d, &how, out, NULL), 0);
        ck_assert_int_eq(fclose(out), 0);
        view_document_deinit(&d);
        loaded_trace_close(&trace);
        return text;
}

static void has(viewer *view, const char *words)
{
        char *text = show(view, DOCUMENT_JSON, 0);

        ck_assert_msg(strstr(text, words) != NULL, "no %s in %s", words, text);
        free(text);
}

static void text_has(viewer *view, const char *words)
{
        char *text = show(view, DOCUMENT_TEXT, 0);

        ck_assert_msg(strstr(text, words) != NULL, "no %s in %s", words, text);
        free(text);
}

static void say(uint64_t time_ns, enum trace_op op, uint64_t first, uint64_t second, uint64_t third)
{
        struct trace_event event = { .time_ns = time_ns, .op = op, .operand = { first, second, third } };

        event_encoder_add(&b.encoder, &event);
}

static void show_all(void)
{
        for (size_t i = 0; i < N_VIEWERS; i++)
                for (int format = DOCUMENT_TEXT; format <= DOCUMENT_CSV; format++) {
                        char *text = show(viewers[i], (enum document_format)format, 25);

                        ck_assert_uint_gt(strlen(text), 0);
                        free(text);
                }
}

static void all_say_none(void)
{
        has(view_locks, "the program reported no locks");
        has(view_memory, "the program reported no allocations");
        has(view_frames, "the program marked no frames");
        has(view_plots, "the program plotted nothing");
        has(view_messages, "the program wrote no messages");
        has(view_devices, "the program reported no devices");
        show_all();
}

START_TEST(test_an_empty_trace)
{
        trace_builder_finish(&b);
        all_say_none();
}
END_TEST

/* Without BPF the lock of a Python program is not known, which the view says in its place. */
START_TEST(test_a_gil_that_is_missing)
{
        const struct trace_notice notice = { .notice = TRACE_NOTICE_PYTHON_APPROXIMATE };

        (void)trace_builder_row(&b, TRACE_TABLE_NOTICES, &notice);
        trace_builder_finish(&b);
        has(view_locks, "no locks are known: the GIL needs BPF");
        has(view_locks, "the lock of Python (GIL) is missing: it was recorded without BPF");
}
END_TEST

START_LOOP_TEST(test_samples_alone_and_zones_alone, 0, 2)
{
        uint32_t thread, location;

        thread = trace_builder_thread(&b, 1, 1);
        location = trace_builder_location(&b, "a");
        (void)trace_builder_sample_event(&b, "cycles");
        trace_builder_begin_run(&b, thread);
        if (_i == 0) {
                trace_builder_sample(&b, 100, 1, 0, 0);
        } else {
                trace_builder_begin_zone(&b, 100, location);
                trace_builder_event(&b, 200, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        all_say_none();
}
END_TEST

/* A trace of one event, each op in turn, with what it refers to. */
START_LOOP_TEST(test_one_event, TRACE_OP_SWITCH_OUT, TRACE_OP_COUNT)
{
        struct trace_device device = { .process = 1 };
        struct trace_lock lock = { .process = 1 };
        struct trace_event event = { .time_ns = 100, .op = (uint64_t)_i, .operand = { 1, 1, 1 } };
        uint32_t thread;

        if (!trace_op_schema_find((uint64_t)_i) || _i == TRACE_OP_FIBER_ENTER)
                return;
        thread = trace_builder_thread(&b, 1, 1);
        lock.location = trace_builder_location(&b, "a");
        (void)trace_builder_row(&b, TRACE_TABLE_LOCKS, &lock);
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &device);
        (void)trace_builder_row(&b, TRACE_TABLE_PLOTS, &(struct trace_plot){ .name = 1 });
        (void)trace_builder_stack(&b, 0, trace_builder_frame(&b, trace_builder_module(&b, "/bin/x"), 1));
        event.text = "x";
        trace_builder_begin_run(&b, thread);
        event_encoder_add(&b.encoder, &event);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        show_all();
}
END_TEST

/* How exact times of devices are, and what is wrong with their clocks. */
START_TEST(test_clocks_of_devices)
{
        static const struct trace_device_clock readings[] = {
                { .ticks = 1000, .raw_ns = 1000000, .error_ns = 300, .device = 1 },
                { .ticks = 101000, .raw_ns = 1100000, .error_ns = 300, .device = 1 },
                { .ticks = 100, .raw_ns = 1300000, .error_ns = 300, .device = 1, .epoch = 1 },
                { .ticks = 100100, .raw_ns = 1400000, .error_ns = 300, .device = 1, .epoch = 1 },
                { .ticks = 1000, .raw_ns = 1000000, .error_ns = 300, .device = 2 },
                { .ticks = 101000, .raw_ns = 1100000, .error_ns = 300, .device = 2 },
        };
        const double wrong = 7;
        struct trace_device device = { .process = 1 };

        (void)trace_builder_thread(&b, 1, 1);
        device.name = trace_builder_string(&b, "chip");
        device.clock_name = trace_builder_string(&b, "the counter");
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &device);
        memcpy(&device.period_bits, &wrong, sizeof(wrong));
        device.clock_name = 0;
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &device);
        for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
                (void)trace_builder_row(&b, TRACE_TABLE_DEVICE_CLOCKS, &readings[i]);
        trace_builder_finish(&b);
        has(view_devices, "\"placed\": \"placed within 0.4 us\"");
        has(view_devices, "\"quality\": \"proven\", \"epochs\": 2");
        has(view_devices, "\"clock_name\": \"the counter\"");
        has(view_devices, "1 time that the clock of a device was set or jumped");
        has(view_devices, "1 device whose clock does not have the period that was stated");
}
END_TEST

/*
 * Each ends with where to go on: the zones, the peak, the slowest frame, the part where the plot is highest.
 */
static void all_go_on(void)
{
        has(view_locks, "\"hyprof report --zone z2\"");
        has(view_memory, "\"hyprof report --memory --to 301ns\"");
        has(view_frames, "\"hyprof report --zones --from 1000ns --to 2000ns\"");
        has(view_plots, "\"hyprof report --plots --from ");
        has(view_messages, "\"hyprof report --zone z2\"");
        has(view_devices, "\"hyprof report\"");
}

/* Names, zones, threads and callstacks are there, and numbers with their units. */
START_TEST(test_what_they_say)
{
        struct trace_lock lock = { .process = 1 };
        struct trace_plot row = { .format = TRACE_PLOT_BYTES };
        struct trace_event text = { .time_ns = 1900, .op = TRACE_OP_MESSAGE_TEXT, .text = "hello" };
        uint32_t main_thread, worker, name, frame, client, stack;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "1001000");
        main_thread = trace_builder_thread(&b, 11, 11);
        worker = trace_builder_thread(&b, 11, 12);
        lock.location = trace_builder_location(&b, "the lock");
        (void)trace_builder_location(&b, "work zone");
        (void)trace_builder_row(&b, TRACE_TABLE_LOCKS, &lock);
        name = trace_builder_string(&b, "queue length");
        row.name = name;
        (void)trace_builder_row(&b, TRACE_TABLE_PLOTS, &row);
        frame = trace_builder_frame(&b, trace_builder_module(&b, "/bin/x"), 1);
        trace_builder_symbol(&b, frame, "leaky", 0);
        client = trace_builder_frame(&b, trace_builder_module(&b, "/bin/x"), 2);
        trace_builder_symbol(&b, client, "hyprof_memory_alloc_callstack", 0);
        stack = trace_builder_stack(&b, trace_builder_stack(&b, 0, frame), client);
        /* The thread that is announced first comes later: its events are put in order. */
        trace_builder_begin_run(&b, worker);
        trace_builder_begin_zone(&b, 1500, 2);
        say(1600, TRACE_OP_LOCK_WAIT, 1, 0, 0);
        say(1800, TRACE_OP_LOCK_OBTAIN, 1, 0, 0);
        say(1850, TRACE_OP_LOCK_RELEASE, 1, 0, 0);
        say(1860, TRACE_OP_MEMORY_FREE, 0, 0x10, 0);
        text.message_text.text_bytes = 5;
        text.message_text.severity = 3;
        event_encoder_add(&b.encoder, &text);
        trace_builder_event(&b, 2000, TRACE_OP_ZONE_END);
        trace_builder_begin_zone(&b, 2100, 2);
        trace_builder_event(&b, 2400, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, main_thread);
        say(1000, TRACE_OP_THREAD_NAME, trace_builder_string(&b, "the main one"), 0, 0);
        say(1100, TRACE_OP_LOCK_OBTAIN, 1, 0, 0);
        say(1200, TRACE_OP_MEMORY_ALLOC, 0, 0x10, 100);
        say(1300, TRACE_OP_CALLSTACK, stack, 0, 0);
        say(1300, TRACE_OP_MEMORY_ALLOC, 0, 0x20, 77);
        say(1700, TRACE_OP_LOCK_RELEASE, 1, 0, 0);
        say(2000, TRACE_OP_FRAME_MARK, 0, 0, 0);
        say(2900, TRACE_OP_PLOT_I64, name, 1234567, 0);
        say(3000, TRACE_OP_FRAME_MARK, 0, 0, 0);
        say(3000, TRACE_OP_PLOT_I64, name, UINT64_MAX, 0);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        has(view_locks,
            "\"lock\": \"the lock\", \"n_obtains\": 2, \"n_waits\": 1, \"n_contended\": 1, \"wait_ns\": 200");
        has(view_locks, "\"thread_name\": \"the main one\", \"blocked_ns\": 100");
        has(view_locks, "\"zones\": \"work zone\"");
        has(view_memory, "\"live_bytes\": 77, \"n_live\": 1, \"peak_bytes\": 177, \"peak_at_ns\": 300");
        has(view_memory, "\"n_freed_unknown\": 0");
        has(view_memory, "\"callstack\": [\"leaky\"]");
        has(view_frames, "\"count\": 1, \"fps\": 1000000");
        has(view_frames, "\"duration_ns\": 1000, \"at_ns\": 1000");
        has(view_plots, "\"max\": 1234567.0, \"last\": -1.0, \"unit\": \"B\"");
        text_has(view_plots, "1.23 MB");
        has(view_plots, "\"name\": \"queue length\"");
        has(view_messages,
            "\"at_ns\": 900, \"thread\": \"t2\", \"severity\": \"warning\", \"text\": \"hello\"");
        all_go_on();
        show_all();
}
END_TEST

/* Those of several threads come in the order of time, and in the trace's where their times are the same. */
START_TEST(test_messages_of_several_threads)
{
        static const struct {
                uint32_t tid;
                uint64_t time_ns;
                const char *words;
        } said[] = { { 12, 300, "second" },
                     { 12, 500, "fourth" },
                     { 11, 100, "first" },
                     { 11, 400, "third" },
                     { 11, 500, "fifth" } };
        static const char *const ordered[] = { "first", "second", "third", "fourth", "fifth" };
        struct loaded_trace trace;
        struct message_list list;
        struct trace_walk walk;

        for (size_t i = 0; i < 5; i++) {
                struct trace_event event = { .time_ns = said[i].time_ns,
                                             .op = TRACE_OP_MESSAGE_TEXT,
                                             .text = said[i].words };

                event.message_text.text_bytes = strlen(said[i].words);
                trace_builder_begin_run(&b, trace_builder_thread(&b, 11, said[i].tid));
                event_encoder_add(&b.encoder, &event);
                trace_builder_end_run(&b);
        }
        trace_builder_finish(&b);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        message_list_init(&list, 0, 0);
        ck_assert_int_eq(message_list_take(&list, &trace, NULL, &walk, NULL), 0);
        ck_assert_uint_eq(list.n_messages - list.first, 5);
        for (size_t i = 0; i < 5; i++)
                ck_assert_mem_eq(list.messages[list.first + i].text, ordered[i], strlen(ordered[i]));
        message_list_deinit(&list);
        trace_walk_deinit(&walk);
        loaded_trace_close(&trace);
}
END_TEST

/* A list that is full keeps the newest, and their text. */
static void fill_small_list(void)
{
        struct loaded_trace trace;
        struct message_list list;
        struct trace_walk walk;

        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        message_list_init(&list, 0, 10);
        ck_assert_int_eq(message_list_take(&list, &trace, NULL, &walk, NULL), 0);
        ck_assert_uint_eq(list.n_messages - list.first, 10);
        ck_assert_uint_eq(list.n_fit, 100);
        ck_assert_int_eq(memcmp(list.messages[list.first].text, "number 90.", 10), 0);
        ck_assert_uint_eq(list.n_bytes, 100);
        message_list_deinit(&list);
        trace_walk_deinit(&walk);
        loaded_trace_close(&trace);
}

/* The newest stay, in order, and how many there were is said. */
START_TEST(test_the_newest_messages)
{
        char *text;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint32_t i = 0; i < 100; i++) {
                char words[16];
                struct trace_event event = { .time_ns = 100 + i, .op = TRACE_OP_MESSAGE_TEXT, .text = words };

                event.message_text.text_bytes = (uint64_t)snprintf(words, sizeof(words), "number %u.", i);
                event_encoder_add(&b.encoder, &event);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        fill_small_list();
        text = show(view_messages, DOCUMENT_CSV, 7);
        ck_assert_ptr_null(strstr(text, "number 92."));
        ck_assert_ptr_nonnull(strstr(text, "number 93."));
        ck_assert_ptr_nonnull(strstr(text, "number 99."));
        ck_assert_ptr_null(strstr(text, "number 0."));
        free(text);
        text = show(view_messages, DOCUMENT_TEXT, 7);
        ck_assert_ptr_null(strstr(text, "no room")); /* it is the limit that they are beyond */
        ck_assert_ptr_nonnull(strstr(text, "the newest 7 of 100"));
        free(text);
}
END_TEST

static void set_up(void)
{
        trace_builder_init(&b);
}

static void tear_down(void)
{
        trace_builder_deinit(&b);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
