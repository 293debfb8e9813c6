/* SPDX-License-Identifier: MIT */
#include "tests/unit/small_trace.h"

#include "tests/unit/trace_builder.h"

#include <check.h>
#include <string.h>

#define BEGIN_NS UINT64_C(5000000000)

/* Ids in the tables, by order of arrival. */
enum { MAIN_THREAD = 1, WORKER_THREAD = 2, FRAME_LOCATION = 1, LOAD_LOCATION = 2 };

static void add(struct trace_builder *b, uint64_t time_ns, enum trace_op op, const uint64_t *operands)
{
        struct trace_event event = { .time_ns = time_ns, .op = op };

        memcpy(event.operand, operands, trace_op_schema_find(op)->n_operands * sizeof(*operands));
        event_encoder_add(&b->encoder, &event);
}

/* The rest of the operands are 0. */
#define ADD(b, time_ns, op, ...) \
        add((b), (time_ns), TRACE_OP_##op, (const uint64_t[TRACE_OPERANDS_MAX]){ __VA_ARGS__ })
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
        ROW(b, PROCESSES, trace_process, .pid = 101, .parent = 1, .start_ns = BEGIN_NS + 5);
        ROW(b, THREADS, trace_thread, .process = 1, .tid = 100, .start_ns = BEGIN_NS);
        ROW(b, THREADS, trace_thread, .process = 2, .tid = 4294967295, .start_ns = BEGIN_NS + 7);
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
        ADD(b, BEGIN_NS, SWITCH_IN, 1);
        ADD(b, BEGIN_NS, THREAD_NAME, trace_builder_string(b, "main"));
        ADD(b, BEGIN_NS + 100, FRAME_MARK, 0);
        ADD(b, BEGIN_NS + 101, ZONE_BEGIN, FRAME_LOCATION);
        ADD(b, BEGIN_NS + 150, SAMPLE, 1, 1, 2, 1, 1000000);
        ADD(b, BEGIN_NS + 200, ZONE_BEGIN, LOAD_LOCATION);
        ADD(b, BEGIN_NS + 250, SAMPLE, 2, 1, 1, 2, 999999);
        ADD(b, BEGIN_NS + 300, SWITCH_OUT, 1, 0);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, WORKER_THREAD);
        ADD(b, BEGIN_NS + 20, SAMPLE, 1, 0, 0, 0, UINT64_MAX);
        ADD(b, BEGIN_NS + 30, SWITCH_OUT, 0, 1);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, MAIN_THREAD);
        ADD(b, BEGIN_NS + 900, SWITCH_IN, 0);
        ADD(b, BEGIN_NS + 1000, ZONE_END, 0);
        trace_builder_end_run(b);
}

static void add_second_events(struct trace_builder *b)
{
        trace_builder_begin_run(b, WORKER_THREAD);
        ADD(b, BEGIN_NS + 2000, PLOT_I64, trace_builder_string(b, "heap"), (uint64_t)INT64_MIN);
        ADD(b, BEGIN_NS + 2001, PLOT_I64, trace_builder_string(b, "heap"), 5);
        ADD(b, BEGIN_NS + 2002, PLOT_F64, trace_builder_string(b, "load"), UINT64_C(0x3fb999999999999a));
        ADD(b, BEGIN_NS + 2003, MESSAGE, trace_builder_string(b, "low\nmemory"), 3, 0xff0000);
        ADD(b, BEGIN_NS + 2004, FRAME_MARK, trace_builder_string(b, "audio"));
        ADD(b, BEGIN_NS + 2004, THREAD_EXIT, 0);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, MAIN_THREAD);
        ADD(b, BEGIN_NS + 1001, ZONE_END, 0);
        ADD(b, BEGIN_NS + (UINT64_C(1) << 40), THREAD_EXIT, 0);
        trace_builder_end_run(b);
}

void small_trace_build(struct trace_builder *b)
{
        add_first_rows(b);
        add_first_events(b);
        trace_builder_flush(b);

        add_second_events(b);
        trace_builder_symbol(b, 1, "load_level", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(b, 1, "main", 0);
        trace_builder_symbol(b, 2, NULL, TRACE_SYMBOL_STALE_FILE);
        ROW(b, LOSSES, trace_loss, .reason = TRACE_LOSS_CLIENT_RING_FULL, .thread = WORKER_THREAD,
            .count = UINT64_C(1) << 33, .time_ns = BEGIN_NS + 3000);
        ROW(b, NOTICES, trace_notice, .notice = TRACE_NOTICE_NO_HARDWARE_COUNTERS);
        ROW(b, NOTICES, trace_notice, .notice = TRACE_NOTICE_NO_KERNEL_STACKS,
            .detail = trace_builder_string(b, "perf_event_paranoid is 2"));
        trace_builder_finish(b);
}
