/* SPDX-License-Identifier: MIT */
#include "tests/unit/small_trace.h"

#include "format/thread_state.h"
#include "tests/unit/trace_builder.h"

#include <check.h>
#include <string.h>

#define BEGIN_NS UINT64_C(5000000000)

/* Ids in the tables, by order of arrival. */
enum { MAIN_THREAD = 1, WORKER_THREAD = 2, FIBER = 3 };
enum { FRAME_LOCATION = 1, LOAD_LOCATION = 2, LOCK_LOCATION = 3 };
enum { MUTEX = 1, GPU = 1, CHIP = 2, SOURCE = 1, CODE = 2 };

#define SOURCE_TEXT "func @main() {\n}\n"

/* An event with a text, whose length comes first. */
#define ADD_TEXT(b, time_ns, op, text, ...)                      \
        trace_builder_add((b), (time_ns), TRACE_OP_##op, (text), \
                          (const uint64_t[TRACE_OPERANDS_MAX]){ sizeof(text) - 1, __VA_ARGS__ })
#define ROW(b, table, type, ...) trace_builder_row((b), TRACE_TABLE_##table, &(struct type){ __VA_ARGS__ })

static uint32_t add_bytes(struct trace_builder *b, const char *bytes, size_t n_bytes)
{
        uint32_t id = 0;

        ck_assert_int_eq(trace_dictionary_add_string(&b->dictionary, bytes, n_bytes, &id), 0);
        return id;
}

static void add_first_rows(struct trace_builder *b)
{
        char long_text[400]; /* so that a body is worth packing */
        uint32_t build_id;

        trace_builder_meta(b, "command", "./engine --level \"7\"");
        trace_builder_meta(b, "cpus", "2");
        (void)add_bytes(b, "", 0);
        memset(long_text, 'o', sizeof(long_text));
        (void)add_bytes(b, long_text, sizeof(long_text));
        build_id = add_bytes(b, "\0\1\x7f\x80\xff\n\\", 7);

        ROW(b, PROCESSES, trace_process, .pid = 100, .start_ns = BEGIN_NS);
        ROW(b, RECORDINGS, trace_recording, .label = trace_builder_string(b, "node1:rank0"),
            .hostname = trace_builder_string(b, "node1"), .boot_id = trace_builder_string(b, "0f6e6c8e"),
            .start_ns = BEGIN_NS, .end_ns = BEGIN_NS + 1000, .offset_ns = (uint64_t)-5, .error_ns = 77,
            .clock = TRACE_ALIGNMENT_REALTIME, .first_cpu = 8, .n_cpus = 4);
        ROW(b, PROCESSES, trace_process, .pid = 101, .parent = 1, .start_ns = BEGIN_NS + 5, .recording = 1);
        ROW(b, THREADS, trace_thread, .process = 1, .tid = 100, .start_ns = BEGIN_NS);
        ROW(b, THREADS, trace_thread, .process = 2, .tid = 4294967295, .start_ns = BEGIN_NS + 7,
            .creator = MAIN_THREAD);
        ROW(b, MODULES, trace_module, .path = trace_builder_string(b, "/opt/engine"), .build_id = build_id,
            .kind = TRACE_MODULE_FILE, .device = 0xfd01, .inode = 77);
        ROW(b, MODULES, trace_module, .path = trace_builder_string(b, "//anon"),
            .kind = TRACE_MODULE_ANONYMOUS, .process = 2);
        ROW(b, MAPPINGS, trace_mapping, .start_avma = 0x555555554000, .length_bytes = 0x2000,
            .file_offset_bytes = 0x1000, .time_ns = BEGIN_NS + 1, .process = 1, .module = 1);
        ROW(b, MAPPINGS, trace_mapping, .start_avma = UINT64_C(0xffffffffff600000), .length_bytes = 0x1000,
            .time_ns = BEGIN_NS + 2, .process = 2, .module = 2);
        ROW(b, FRAMES, trace_frame, .offset = 0x1234, .module = 1);
        ROW(b, FRAMES, trace_frame, .offset = 0x1040, .module = 1, .flags = TRACE_FRAME_RETURN_ADDRESS);
        ROW(b, FRAMES, trace_frame, .offset = UINT64_MAX);
        ROW(b, STACKS, trace_stack, .frame = 2);
        ROW(b, STACKS, trace_stack, .parent = 1, .frame = 1);
        trace_builder_location(b, "frame");
        ROW(b, LOCATIONS, trace_location, .name = trace_builder_string(b, "load \"a\"\t\xc3\xa4"), .line = 9,
            .color = 0xff8000);
        trace_builder_path(b, 0, FRAME_LOCATION);
        trace_builder_path(b, 1, LOAD_LOCATION);
        trace_builder_sample_event(b, "cpu-clock");
        ROW(b, SAMPLE_EVENTS, trace_sample_event, .name = trace_builder_string(b, "cycles:u"), .type = 0,
            .config = 0, .rate = 1000003, .mode = TRACE_SAMPLE_MODE_PERIOD,
            .unit = trace_builder_string(b, "cycles"));
        ROW(b, CLOCKS, trace_clock, .ticks = UINT64_C(1) << 62, .raw_ns = BEGIN_NS, .kind = TRACE_CLOCK_TSC,
            .error_ns = 40);
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_THROTTLED, .count = 1, .time_ns = BEGIN_NS + 50);
}

static void add_first_events(struct trace_builder *b)
{
        trace_builder_begin_run(b, MAIN_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS, THREAD_NAME, trace_builder_string(b, "main"));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 100, FRAME_MARK, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 101, ZONE_BEGIN, FRAME_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 150, SAMPLE, 1, 1, 2, 1, 1000000);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 200, ZONE_BEGIN, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 250, SAMPLE, 2, 1, 1, 2, 999999);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 300, SWITCH_OUT, 1, 0);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 20, SAMPLE, 1, 0, 0, 0, UINT64_MAX);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 30, SWITCH_OUT, 0, 1);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, MAIN_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 900, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1000, ZONE_END, 0);
        trace_builder_end_run(b);
}

static void add_second_events(struct trace_builder *b)
{
        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 2000, PLOT_I64, trace_builder_string(b, "heap"), (uint64_t)INT64_MIN);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 2001, PLOT_I64, trace_builder_string(b, "heap"), 5);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 2002, PLOT_F64, trace_builder_string(b, "load"),
                          UINT64_C(0x3fb999999999999a));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 2003, MESSAGE, trace_builder_string(b, "low\nmemory"), 3, 0xff0000);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 2004, FRAME_MARK, trace_builder_string(b, "audio"));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 2004, THREAD_EXIT, 0);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, MAIN_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1001, ZONE_END, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + (UINT64_C(1) << 40), THREAD_EXIT, 0);
        trace_builder_end_run(b);
}

/* Additions of version 1.1. */
static void add_third_rows(struct trace_builder *b)
{
        uint32_t image;

        ROW(b, THREADS, trace_thread, .process = 2, .start_ns = BEGIN_NS + 1000, .kind = TRACE_THREAD_FIBER,
            .fiber = 7);
        trace_builder_location(b, "cache lock");
        ROW(b, PLOTS, trace_plot, .name = trace_builder_string(b, "heap"),
            .unit = trace_builder_string(b, "bytes"), .format = TRACE_PLOT_BYTES,
            .flags = TRACE_PLOT_STEP | TRACE_PLOT_FILL, .color = 0x00ff7f);
        ROW(b, LOCKS, trace_lock, .process = 2, .location = LOCK_LOCATION, .number = 5);
        ROW(b, DEVICES, trace_device, .process = 2, .name = trace_builder_string(b, "gpu 0"),
            .period_bits = UINT64_C(0x4024000000000000), .kind = 2, .number = 1);
        ROW(b, DEVICE_CLOCKS, trace_device_clock, .ticks = 1000, .raw_ns = BEGIN_NS + 1000, .device = GPU);
        ROW(b, DEVICE_CLOCKS, trace_device_clock, .ticks = 900, .raw_ns = BEGIN_NS + 1900, .device = GPU);
        ROW(b, PROGRAM_INFO, trace_program_info, .process = 2, .key = trace_builder_string(b, "build"),
            .value = trace_builder_string(b, "release"));
        ROW(b, PROGRAM_INFO, trace_program_info, .process = 2,
            .value = trace_builder_string(b, "two levels\nno sound"));
        (void)trace_builder_attachment(b, "kernels/main.mlir", strlen(SOURCE_TEXT));
        image = trace_builder_row(b, TRACE_TABLE_ATTACHMENTS,
                                  &(struct trace_attachment){ .size_bytes = 0,
                                                              .hash = UINT64_C(0xfedcba9876543210),
                                                              .kind = TRACE_ATTACHMENT_CODE_IMAGE,
                                                              .name = trace_builder_string(b, "jit_main") });
        ck_assert_uint_eq(image, CODE);
        ROW(b, CODE_REGIONS, trace_code_region, .start_avma = UINT64_C(0x7f0000001000), .length_bytes = 0x800,
            .time_ns = BEGIN_NS + 1001, .process = 2, .name = trace_builder_string(b, "jit_main"),
            .attachment = CODE);
        ROW(b, CODE_REGIONS, trace_code_region, .start_avma = UINT64_C(0x7f0000001000), .length_bytes = 0x800,
            .time_ns = BEGIN_NS + 1999, .process = 2, .gone = 1);
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_DROPPED_ZONES, .thread = WORKER_THREAD, .count = 12,
            .time_ns = BEGIN_NS + 1000);
        ROW(b, NOTICES, trace_notice, .notice = TRACE_NOTICE_ATTACHED);
}

static void add_zone_details(struct trace_builder *b)
{
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1000, CALLSTACK, 2);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1000, ZONE_BEGIN, FRAME_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1001, ZONE_BEGIN, LOAD_LOCATION);
        ADD_TEXT(b, BEGIN_NS + 1002, ZONE_TEXT, "level \"7\" time_ns=1\n\xff", 0);
        ADD_TEXT(b, BEGIN_NS + 1003, ZONE_NAME, "load of level 7", 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1004, ZONE_VALUE, (uint64_t)-3, 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1005, ZONE_COLOR, 0x0000ff, 0);
        ADD_TEXT(b, BEGIN_NS + 1006, MESSAGE_TEXT, "loaded", 2, 0x123456);
        ADD_TEXT(b, BEGIN_NS + 1007, MESSAGE_TEXT, "", 0, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1008, ZONE_END, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1009, ZONE_END, 0);
}

static void add_moments(struct trace_builder *b)
{
        uint32_t pool = trace_builder_string(b, "textures");

        TRACE_BUILDER_ADD(b, BEGIN_NS + 1010, FRAME_BEGIN, trace_builder_string(b, "audio"));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1011, FRAME_END, trace_builder_string(b, "audio"));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1012, MEMORY_ALLOC, pool, UINT64_C(0x7f00deadbee0), 4096);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1013, MEMORY_ALLOC, 0, 0x10, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1014, MEMORY_FREE, pool, UINT64_C(0x7f00deadbee0));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1015, MEMORY_DISCARD, pool);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1016, LOCK_WAIT, MUTEX, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1017, LOCK_OBTAIN, MUTEX, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1018, LOCK_MARK, MUTEX, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1019, LOCK_NAME, MUTEX, trace_builder_string(b, "cache of level 7"));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1020, LOCK_RELEASE, MUTEX, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1021, LOCK_OBTAIN, MUTEX, 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1022, LOCK_GONE, MUTEX);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1023, THREAD_GROUP, (uint64_t)-1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1024, DEVICE_ZONE_BEGIN, GPU, 40, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1025, DEVICE_ZONE_END, GPU, 41);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1026, DEVICE_TIME, GPU, 41, 2000);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1027, DEVICE_TIME, GPU, 40, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1028, DEVICE_SPAN, GPU, FRAME_LOCATION, 1500, 300, 2, 99);
}

static void add_third_events(struct trace_builder *b)
{
        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 999, SWITCH_IN, 1);
        add_zone_details(b);
        add_moments(b);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1030, FIBER_ENTER, FIBER);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1040, FIBER_LEAVE, 0);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, FIBER);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1030, THREAD_NAME, trace_builder_string(b, "loader"));
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1030, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1032, ZONE_BEGIN, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1040, SWITCH_OUT, 1, 0);
        trace_builder_end_run(b);
}

/* Additions of version 1.2. */
static void add_fourth_rows(struct trace_builder *b)
{
        trace_builder_meta(b, "unwind", "auto");
        trace_builder_meta(b, "stack_copy_bytes", "16384");
        trace_builder_meta(b, "scope", "cgroup");
        trace_builder_meta(b, "descriptors", "24");
        trace_builder_meta(b, "recorder_cpu_ns", "21000000");
        trace_builder_meta(b, "idle", "1");
        trace_builder_meta(b, "cpu_idle", "0=1000;3=250;");
        ROW(b, MODULES, trace_module, .path = trace_builder_string(b, "[truncated]"),
            .kind = TRACE_MODULE_MARK);
        ROW(b, FRAMES, trace_frame, .module = 3);
        ROW(b, STACKS, trace_stack, .frame = 4);
        ROW(b, STACKS, trace_stack, .parent = 3, .frame = 1);
        ROW(b, SAMPLE_EVENTS, trace_sample_event, .name = trace_builder_string(b, "instructions:u"),
            .config = 1, .mode = TRACE_SAMPLE_MODE_WITH_LEADER,
            .unit = trace_builder_string(b, "instructions"), .leader = 2);
        ROW(b, SAMPLE_EVENTS, trace_sample_event, .name = trace_builder_string(b, "page-faults"), .type = 1,
            .config = 2, .mode = TRACE_SAMPLE_MODE_COUNTED);
        ROW(b, COUNTERS, trace_counter, .event = 4, .value = 100, .enabled_ns = 1000, .running_ns = 1000);
        ROW(b, COUNTERS, trace_counter, .event = 3, .value = UINT64_MAX, .enabled_ns = 2000000000,
            .running_ns = 500000000);
        ROW(b, COUNTERS, trace_counter, .event = 4, .value = 250, .enabled_ns = 2000, .running_ns = 2000);
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_STACK_TRUNCATED, .thread = WORKER_THREAD, .count = 3,
            .time_ns = BEGIN_NS + 1200);
        ROW(b, NOTICES, trace_notice, .notice = TRACE_NOTICE_COUNTERS_SHARED);
}

/* The states of callstacks, and a wait with all that is known of it. */
static void add_fourth_events(struct trace_builder *b)
{
        trace_builder_begin_run(b, WORKER_THREAD);
        ADD_TEXT(b, BEGIN_NS + 1100, STACK_COPY,
                 "\x3e\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\x10\xe0\xff\xff\xff\x7f\0\0stack", 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1100, SAMPLE, 2, 1, 4, 0, 1000003, TRACE_STACK_TRUNCATED);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1100, SAMPLE, 3, 1, 4, 0, 0, TRACE_STACK_TRUNCATED);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1101, SAMPLE, 2, 1, 2, 0, 1000003, TRACE_STACK_STITCHED);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1101, SAMPLE, 3, 1, 2, 0, 2500000, TRACE_STACK_STITCHED);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1110, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING, 2, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1150, WAKEUP, 0, MAIN_THREAD, trace_builder_string(b, "main"), 1,
                          TRACE_STACK_APPROXIMATE);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1160, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1170, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1180, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1190, SWITCH_OUT, 0, 0, 99, 4, 99);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1195, WAKEUP, 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1196, SWITCH_IN, 1, 2, TRACE_STACK_COMPLETE);
        trace_builder_end_run(b);
}

/* Additions of 1.4: the program of a thread is replaced while zones are open. */
static void add_sixth_events(struct trace_builder *b)
{
        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1210, ZONE_BEGIN, FRAME_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1211, ZONE_BEGIN, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1220, ZONES_GONE, 0);
        trace_builder_end_run(b);
}

/* Additions of 1.7: who got the CPU of a preempted thread, idle CPUs, and interrupts that wake threads. */
static void add_seventh_events(struct trace_builder *b)
{
        static const uint64_t successors[] = { TRACE_SUCCESSOR_IDLE, TRACE_SUCCESSOR_OTHER,
                                               TRACE_SUCCESSOR_OTHER + MAIN_THREAD };
        uint64_t now_ns = BEGIN_NS + 1230;

        trace_builder_begin_run(b, WORKER_THREAD);
        for (size_t i = 0; i < sizeof(successors) / sizeof(successors[0]); i++, now_ns += 10) {
                TRACE_BUILDER_ADD(b, now_ns, SWITCH_OUT, 1, 1, TRACE_WAIT_PREEMPTED, 0, 0, successors[i]);
                TRACE_BUILDER_ADD(b, now_ns + 5, SWITCH_IN, 1, 0, 0, i == 0 ? 4 : 0);
        }
        TRACE_BUILDER_ADD(b, now_ns, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(b, now_ns + 1, WAKEUP, 0, 0, 0, 1, TRACE_STACK_FRAME_POINTERS, MAIN_THREAD);
        TRACE_BUILDER_ADD(b, now_ns + 2, SWITCH_IN, 1);
        trace_builder_end_run(b);
}

/* Additions of 1.8: clocks, a device of no process with its tracks, keys, imported files. */
static void add_eighth_rows(struct trace_builder *b)
{
        uint32_t file = trace_builder_string(b, "run.ireeprof");

        ROW(b, CLOCKS, trace_clock, .ticks = BEGIN_NS + 266688671, .raw_ns = BEGIN_NS, .error_ns = 20,
            .kind = TRACE_CLOCK_MONOTONIC);
        ROW(b, CLOCKS, trace_clock, .ticks = UINT64_C(1796000000000000000), .raw_ns = BEGIN_NS,
            .error_ns = 21, .kind = TRACE_CLOCK_REALTIME);
        ROW(b, CLOCKS, trace_clock, .ticks = BEGIN_NS + 366688671, .raw_ns = BEGIN_NS, .error_ns = 22,
            .kind = TRACE_CLOCK_BOOTTIME);
        ROW(b, DEVICES, trace_device, .name = trace_builder_string(b, "chip 0"), .number = 3,
            .clock_name = trace_builder_string(b, "AICLK"), .recording = 1);
        ROW(b, DEVICE_CLOCKS, trace_device_clock, .ticks = 7000, .raw_ns = BEGIN_NS + 1250, .device = CHIP,
            .error_ns = 450, .epoch = 1);
        ROW(b, DEVICE_CLOCKS, trace_device_clock, .ticks = 7, .raw_ns = BEGIN_NS + 1350, .device = CHIP,
            .error_ns = 480, .epoch = 2);
        ROW(b, TRACKS, trace_track, .device = CHIP, .number = 10, .name = trace_builder_string(b, "core 1-2"),
            .kind = TRACE_TRACK_CORE);
        ROW(b, TRACKS, trace_track, .device = CHIP, .parent = 1, .number = 11,
            .name = trace_builder_string(b, "BRISC"), .kind = TRACE_TRACK_PROCESSOR);
        ROW(b, IMPORTS, trace_import, .file = file, .format = trace_builder_string(b, "ireeprof"),
            .version = trace_builder_string(b, "1.6"), .n_rows = 300, .n_malformed = 2,
            .first_malformed_at = 104, .first_malformed = trace_builder_string(b, "no such record type"),
            .n_dropped = 5, .clock = trace_builder_string(b, "CLOCK_MONOTONIC"), .error_ns = UINT64_MAX,
            .cut_at = 135000);
        ROW(b, IMPORTS, trace_import, .file = file);
        ROW(b, IMPORT_LOSSES, trace_import_loss, .import = 1,
            .kind = trace_builder_string(b, "executable_trace"), .count = UINT64_C(1) << 40);
}

/* Additions of 1.9: a recording whose clock has another rate, and readings of clocks over a connection. */
static void add_ninth_rows(struct trace_builder *b)
{
        ROW(b, RECORDINGS, trace_recording, .label = trace_builder_string(b, "node2"),
            .clock = TRACE_ALIGNMENT_EXCHANGED, .error_ns = 210000, .drift = (uint64_t)-5);
        ROW(b, EXCHANGES, trace_exchange, .taker_high = UINT64_C(0xfedcba9876543210), .taker_low = 7,
            .asked_ns = 5000000, .heard_ns = BEGIN_NS + 100, .answered_ns = BEGIN_NS + 200, .got_ns = 5000900,
            .recording = 2);
        ROW(b, EXCHANGES, trace_exchange, .taker_high = UINT64_C(0xfedcba9876543210), .taker_low = 7,
            .asked_ns = UINT64_MAX, .heard_ns = BEGIN_NS + 100);
}

/* Additions of 1.10: copies of stacks beyond their limit. */
static void add_tenth_rows(struct trace_builder *b)
{
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_STACK_COPIES_FULL, .count = 4,
            .time_ns = BEGIN_NS + 1500);
}

/* Additions of 1.11: pictures of frames. */
static void add_eleventh_events(struct trace_builder *b)
{
        uint32_t picture = ROW(b, ATTACHMENTS, trace_attachment, .size_bytes = 16, .hash = 2,
                               .kind = TRACE_ATTACHMENT_FRAME_PICTURE);

        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1510, FRAME_PICTURE, picture, 2);
        trace_builder_end_run(b);
}

static void add_eighth_events(struct trace_builder *b)
{
        uint32_t space = trace_builder_string(b, "correlation");
        uint32_t text = trace_builder_string(b, "{\"grid\":[8,1,1]}");
        uint64_t key = UINT64_C(0xfedcba9876543210), pi = UINT64_C(0x400921fb54442d18);

        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1300, ZONE_BEGIN, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1301, ZONE_KEY, space, key);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1302, ZONE_END, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1303, DEVICE_SPAN, CHIP, FRAME_LOCATION, 7100, 200, 11, key, space,
                          text);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1304, DEVICE_VALUE, CHIP, 1, 7150, 11, TRACE_VALUE_DOUBLE, pi);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1305, DEVICE_VALUE, CHIP, 1, 7160, 11, TRACE_VALUE_SIGNED,
                          (uint64_t)-4);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1306, DEVICE_VALUE, CHIP, 1, 7170, 10, TRACE_VALUE_UNSIGNED,
                          UINT64_MAX);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1307, DEVICE_INSTANT, CHIP, FRAME_LOCATION, 7180, 10, key, space,
                          text);
        trace_builder_end_run(b);
}

/* Additions of 1.11: a flow from thread to thread, within zones and outside. */
static void add_ninth_events(struct trace_builder *b)
{
        uint32_t space = trace_builder_string(b, "correlation");

        trace_builder_begin_run(b, WORKER_THREAD);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1310, ZONE_BEGIN, LOAD_LOCATION);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1311, FLOW, space, UINT64_MAX - 1, TRACE_FLOW_BEGIN);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1312, FLOW, 0, 5, TRACE_FLOW_BEGIN);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1313, ZONE_END, 0);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1314, FLOW, space, UINT64_MAX - 1, TRACE_FLOW_STEP);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, 1);
        TRACE_BUILDER_ADD(b, BEGIN_NS + 1320, FLOW, space, UINT64_MAX - 1, TRACE_FLOW_END);
        trace_builder_end_run(b);
}

/* Additions of 1.3: code that was kept, and the lines of code that was made. */
static void add_fifth_rows(struct trace_builder *b)
{
        uint32_t image = trace_builder_string(b, "[image 3f0c91d2]");

        ROW(b, MODULES, trace_module, .path = image, .kind = TRACE_MODULE_IMAGE,
            .content = UINT64_C(0x3f0c91d200000001));
        ROW(b, MODULES, trace_module, .path = trace_builder_string(b, "//anon"),
            .kind = TRACE_MODULE_ANONYMOUS, .process = 1, .generation = 1);
        ROW(b, ATTACHMENTS, trace_attachment, .size_bytes = 4, .hash = 1,
            .kind = TRACE_ATTACHMENT_MODULE_PARTS, .name = image);
        ROW(b, MODULE_IMAGES, trace_module_image, .module = 1, .state = TRACE_IMAGE_TOO_LATE);
        ROW(b, MODULE_IMAGES, trace_module_image, .module = 4, .attachment = 3, .state = TRACE_IMAGE_KEPT);
        ROW(b, CODE_REGIONS, trace_code_region, .start_avma = UINT64_C(0x7f0000003000), .length_bytes = 0x40,
            .time_ns = BEGIN_NS + 1200, .process = 1, .name = trace_builder_string(b, "jit_add"),
            .source = TRACE_CODE_SOURCE_JITDUMP, .module = 5);
        ROW(b, CODE_LINES, trace_code_line, .region = 1, .file = image, .line = 3);
        ROW(b, CODE_LINES, trace_code_line, .region = 3, .offset_bytes = 0x10, .file = image, .line = 2);
        ROW(b, CODE_LINES, trace_code_line, .region = 3, .offset_bytes = 0x20, .file = image);
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_CODE_TOO_LATE, .count = 1,
            .time_ns = BEGIN_NS + 1201);
}

/* The state of the first thread that a reader which begins here needs. */
static void add_states(struct trace_builder *b)
{
        static const uint32_t zones[] = { 1 };
        struct thread_state state = {
                .time_ns = BEGIN_NS + 1000, .thread = 1, .name = 1, .zones = zones, .n_zones = 1
        };

        state.last_switch = (struct trace_event){ .time_ns = BEGIN_NS, .op = TRACE_OP_SWITCH_IN };
        thread_state_encode(&state, &b->encoder);
        trace_builder_flush_states(b);
}

void small_trace_build(struct trace_builder *b)
{
        struct trace_symbol symbol;
        add_first_rows(b);
        add_first_events(b);
        trace_builder_flush(b);

        add_third_rows(b);
        add_third_events(b);
        trace_builder_flush(b);
        trace_builder_attachment_part(b, SOURCE, 0, SOURCE_TEXT, 5);
        trace_builder_attachment_part(b, SOURCE, 5, &SOURCE_TEXT[5], strlen(SOURCE_TEXT) - 5);

        add_fourth_rows(b);
        add_fourth_events(b);
        trace_builder_flush(b);

        add_fifth_rows(b);
        add_sixth_events(b);
        add_seventh_events(b);
        add_eighth_rows(b);
        add_eighth_events(b);
        add_ninth_rows(b);
        add_tenth_rows(b);
        add_ninth_events(b);
        add_eleventh_events(b);
        trace_builder_flush(b);
        trace_builder_attachment_part(b, 3, 0,
                                      "\x7f"
                                      "ELF",
                                      4);
        add_states(b);

        add_second_events(b);
        symbol = (struct trace_symbol){ .frame = 1,
                                        .function = trace_builder_string(b, "load_level"),
                                        .flags = TRACE_SYMBOL_INLINED,
                                        .declared_file = trace_builder_string(b, "/src/level.c"),
                                        .declared_line = 12,
                                        .instance = 1 };
        (void)trace_builder_row(b, TRACE_TABLE_SYMBOLS, &symbol);
        symbol = (struct trace_symbol){ .frame = 1,
                                        .function = trace_builder_string(b, "main"),
                                        .start_svma = 0x1000,
                                        .aliases = trace_builder_string(b, "start\nentry") };
        (void)trace_builder_row(b, TRACE_TABLE_SYMBOLS, &symbol);
        trace_builder_symbol(b, 2, NULL, TRACE_SYMBOL_STALE_FILE);
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_CLIENT_RING_FULL, .thread = WORKER_THREAD,
            .count = UINT64_C(1) << 33, .time_ns = BEGIN_NS + 3000);
        ROW(b, NOTICES, trace_notice, .notice = TRACE_NOTICE_NO_HARDWARE_COUNTERS);
        ROW(b, NOTICES, trace_notice, .notice = TRACE_NOTICE_NO_KERNEL_STACKS,
            .detail = trace_builder_string(b, "perf_event_paranoid is 2"));
        ROW(b, SYSCALLS, trace_syscall, .thread = WORKER_THREAD, .name = trace_builder_string(b, "write"),
            .n_calls = 25842, .n_errors = 1, .time_ns = 46000000, .longest_ns = 8000000, .n_bytes = 13231104);
        ROW(b, SYSCALLS, trace_syscall, .name = trace_builder_string(b, "futex"), .n_calls = UINT64_MAX,
            .time_ns = UINT64_MAX);
        trace_builder_finish(b);
}
