/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report.c, report_samples.c, report_gaps.c: a trace with known truth gives that
 * truth, a part of one too
 */
#include "analyze/report/report.h"
#include "base/error.h"
#include "format/trace_schema.h"
#include "format/trace_writer.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static struct trace_builder b;
static struct report *report;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        report_free(report);
        report = NULL;
        trace_builder_deinit(&b);
}

/* The index of the gap with this code; n_rows if there is none. */
static uint32_t find_gap(const char *code)
{
        uint32_t i = 0;

        while (i < report->gaps.n_rows && strcmp(report->gaps.rows[i].code, code) != 0)
                i++;
        return i;
}

static bool has_gap(const char *code)
{
        return find_gap(code) < report->gaps.n_rows;
}

static struct report_gap gap_of(const char *code)
{
        ck_assert(has_gap(code));
        return report->gaps.rows[find_gap(code)];
}

static const struct report_function *function_of(const struct report_functions *functions, const char *name)
{
        for (uint32_t i = 0; i < functions->n_rows; i++)
                if (text_view_is(functions->rows[i].name, name))
                        return &functions->rows[i];
        ck_abort_msg("no function %s", name);
}

static const struct report_zone *zone_of(const char *name)
{
        for (uint32_t i = 0; i < report->n_zones; i++)
                if (text_view_is(report->zones[i].name, name))
                        return &report->zones[i];
        ck_abort_msg("no zone %s", name);
}

static void load_again(const struct report_options *options)
{
        struct error err = ERROR_NONE;

        report_free(report);
        report = NULL;
        ck_assert_msg(report_load(b.path, options, &report, &err) == 0, "%s", err.text);
}

/* The trace is whole now, and this is the report of it. */
static void load(const struct report_options *options)
{
        trace_builder_finish(&b);
        load_again(options);
}

/*
 * outer [0, 100000) holds inner [20000, 60000).  100 samples: 70 in hot() and 20
 * in warm(), both called by shared(); 10 in a library without symbols.  shared()
 * is on all callstacks.  In inner lie 40 of hot and 20 of warm; in outer alone 30
 * of hot and 5 of the library; the other 5 outside of all zones.
 */
static void build_known(void)
{
        uint32_t event = trace_builder_sample_event(&b, "cpu-clock");
        uint32_t program = trace_builder_module(&b, "/bin/program");
        uint32_t library = trace_builder_module(&b, "/lib/libfoo.so");
        uint32_t shared = trace_builder_frame(&b, program, 0x100);
        uint32_t hot = trace_builder_frame(&b, program, 0x200);
        uint32_t warm = trace_builder_frame(&b, program, 0x300);
        uint32_t unnamed = trace_builder_frame(&b, library, 0x400);
        uint32_t in_shared = trace_builder_stack(&b, 0, shared);
        uint32_t in_hot = trace_builder_stack(&b, in_shared, hot);
        uint32_t in_warm = trace_builder_stack(&b, in_shared, warm);
        uint32_t in_unnamed = trace_builder_stack(&b, in_shared, unnamed);
        uint32_t outer = trace_builder_location(&b, "outer");
        uint32_t inner = trace_builder_location(&b, "inner");
        uint32_t in_outer = trace_builder_path(&b, 0, outer);
        uint32_t in_inner = trace_builder_path(&b, in_outer, inner);
        uint64_t now = 1000;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        trace_builder_begin_zone(&b, now, outer);
        for (int i = 0; i < 30; i++)
                trace_builder_sample(&b, now += 100, event, in_outer, in_hot);
        for (int i = 0; i < 5; i++)
                trace_builder_sample(&b, now += 100, event, in_outer, in_unnamed);
        trace_builder_begin_zone(&b, 21000, inner);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);

        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        now = 21000;
        for (int i = 0; i < 40; i++)
                trace_builder_sample(&b, now += 100, event, in_inner, in_hot);
        for (int i = 0; i < 20; i++)
                trace_builder_sample(&b, now += 100, event, in_inner, in_warm);
        trace_builder_event(&b, 41000, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&b, 51000, TRACE_OP_SWITCH_IN);
        trace_builder_event(&b, 61000, TRACE_OP_ZONE_END);
        trace_builder_event(&b, 101000, TRACE_OP_ZONE_END);
        for (int i = 0; i < 5; i++)
                trace_builder_sample(&b, 101100, event, 0, in_unnamed);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);

        trace_builder_symbol(&b, shared, "shared", 0);
        trace_builder_symbol(&b, hot, "hot", 0);
        trace_builder_symbol(&b, warm, "warm", 0);
        trace_builder_meta(&b, "command", "./program --fast");
        trace_builder_meta(&b, "start_raw_ns", "500");
        trace_builder_meta(&b, "end_raw_ns", "200500");
}

START_TEST(test_known_shares)
{
        const struct report_zone *zone;

        build_known();
        load(NULL);
        ck_assert_int_eq(report->ending, TRACE_ENDING_WHOLE);
        ck_assert(text_view_is(report->recording.command, "./program --fast"));
        ck_assert_uint_eq(report->recording.duration_ns, 200000);
        ck_assert_uint_eq(report->event->sum.n_samples, 100);
        ck_assert_uint_eq(report->event->sum.weight, 100000);
        ck_assert_uint_eq(report->functions.n_rows, 4);
        ck_assert(text_view_is(report->functions.rows[0].name, "hot"));
        ck_assert_uint_eq(report->functions.rows[0].self.n_samples, 70);
        ck_assert_uint_eq(function_of(&report->functions, "warm")->self.weight, 20000);
        ck_assert_uint_eq(function_of(&report->functions, "shared")->self.n_samples, 0);
        ck_assert_uint_eq(function_of(&report->functions, "shared")->total.n_samples, 100);

        ck_assert_uint_eq(report->n_zones, 2);
        zone = zone_of("outer");
        ck_assert_ptr_eq(zone, &report->zones[0]);
        ck_assert_uint_eq(zone->total_ns, 100000);
        ck_assert_uint_eq(zone->self_ns, 60000);
        ck_assert_uint_eq(zone->on_cpu_ns, 90000);
        ck_assert_uint_eq(zone->samples.n_samples, 95);
        ck_assert_uint_eq(function_of(&zone->functions, "hot")->self.n_samples, 70);
        zone = zone_of("inner");
        ck_assert_uint_eq(zone->total_ns, 40000);
        ck_assert_uint_eq(zone->on_cpu_ns, 30000);
        ck_assert_uint_eq(zone->samples.n_samples, 60);
        ck_assert_uint_eq(zone->functions.n_rows, 3);
        ck_assert_uint_eq(function_of(&zone->functions, "hot")->self.n_samples, 40);
        ck_assert_uint_eq(function_of(&zone->functions, "warm")->self.n_samples, 20);
        ck_assert_uint_eq(function_of(&zone->functions, "shared")->total.n_samples, 60);

        ck_assert_uint_eq(report->n_threads, 1);
        ck_assert_uint_eq(report->threads[0].tid, 11);
        ck_assert_uint_eq(report->threads[0].n_samples, 100);
        ck_assert_uint_eq(report->threads[0].on_cpu_ns, 200500 - 1000 - 10000);
}
END_TEST

START_TEST(test_modules_without_symbols_are_named)
{
        struct report_gap gap;

        build_known();
        load(NULL);
        gap = gap_of("NO_SYMBOLS");

        ck_assert(text_view_is(gap.detail, "/lib/libfoo.so"));
        ck_assert(fabs(gap.share - 0.1) < 1e-9);
        ck_assert(has_gap("TIME_WITHOUT_SAMPLES")); /* half of it */
        ck_assert_uint_eq(report->gaps.n_rows, 2);
}
END_TEST

START_TEST(test_functions_without_symbols_are_one_gap)
{
        struct report_gap gap;
        uint32_t event, module, thread;

        event = trace_builder_sample_event(&b, "cpu-clock");
        module = trace_builder_row(
                &b, TRACE_TABLE_MODULES,
                &(struct trace_module){ .kind = TRACE_MODULE_FILE,
                                        .path = trace_builder_string(&b, "/usr/lib/libfoo.so"),
                                        .build_id = trace_builder_string(&b, "id") });
        thread = trace_builder_thread(&b, 10, 11);
        trace_builder_begin_run(&b, thread);
        for (uint32_t i = 0; i < 3; i++) {
                uint32_t frame = trace_builder_frame(&b, module, 0x100 * (i + 1));

                for (uint32_t n = 0; n <= i; n++)
                        trace_builder_sample(&b, 1000 + 10 * i + n, event, 0,
                                             trace_builder_stack(&b, 0, frame));
        }
        trace_builder_end_run(&b);
        trace_builder_symbol(&b, 1, "libfoo+0x100", TRACE_SYMBOL_UNNAMED);
        trace_builder_symbol(&b, 2, "libfoo+0x200", TRACE_SYMBOL_UNNAMED);
        load(NULL);

        ck_assert_uint_eq(report->functions.n_rows, 3);
        ck_assert_uint_eq(function_of(&report->functions, "libfoo+0x200")->self.n_samples, 2);
        ck_assert_int_eq((int)function_of(&report->functions, "libfoo+0x200")->kind, FUNCTION_UNNAMED);
        gap = gap_of("NO_SYMBOLS");
        ck_assert(text_view_is(gap.detail, "/usr/lib/libfoo.so"));
        ck_assert_uint_eq(gap.count, 6);
        ck_assert(strstr(gap.words, "addresses") && strstr(gap.advice, "debuginfod"));
}
END_TEST

/* loop test: code of a compiler that keeps names to itself: the option that works, in its order. */
static const struct {
        const char *path, *words; /* NULL = nothing is known to help */
} runtimes[] = {
        { "/usr/lib/jvm/lib/server/libjvm.so",
          "UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit" },
        { "/usr/bin/luajit", "-DLUAJIT_USE_PERFTOOLS" },
        { "/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2.1.0", "-DLUAJIT_USE_PERFTOOLS" },
        { "/usr/bin/php8.2", "php -d opcache.jit_debug=16" },
        { "/usr/bin/sbcl", "(sb-perf:write-perfmap)" },
        { "/usr/bin/gone", NULL },
};

START_LOOP_TEST(test_generated_code_without_names, 0, sizeof(runtimes) / sizeof(runtimes[0]))
{
        struct report_gap gap;
        uint32_t event, memory, machine, thread;

        event = trace_builder_sample_event(&b, "cpu-clock");
        memory = trace_builder_row(&b, TRACE_TABLE_MODULES,
                                   &(struct trace_module){ .kind = TRACE_MODULE_ANONYMOUS,
                                                           .path = trace_builder_string(&b, "//anon") });
        machine = trace_builder_row(
                &b, TRACE_TABLE_MODULES,
                &(struct trace_module){ .kind = TRACE_MODULE_FILE,
                                        .path = trace_builder_string(&b, runtimes[_i].path) });
        thread = trace_builder_thread(&b, 10, 11);
        trace_builder_begin_run(&b, thread);
        trace_builder_sample(&b, 1000, event, 0,
                             trace_builder_stack(&b, 0, trace_builder_frame(&b, machine, 0x100)));
        trace_builder_sample(&b, 2000, event, 0,
                             trace_builder_stack(&b, 0, trace_builder_frame(&b, memory, 0x200)));
        trace_builder_end_run(&b);
        trace_builder_symbol(&b, 1, "JVM_Main", 0);
        load(NULL);

        gap = gap_of("NO_SYMBOLS");
        ck_assert_int_eq(gap.advice != NULL, runtimes[_i].words != NULL);
        if (gap.advice)
                ck_assert_ptr_nonnull(strstr(gap.advice, runtimes[_i].words));
}
END_TEST

START_TEST(test_limits_inside_zones)
{
        struct report_options options = { .n_zones_inside = 1, .n_functions_inside = 2 };

        build_known();
        load(&options);
        ck_assert(report->zones[0].has_functions);
        ck_assert_uint_eq(report->zones[0].functions.n_rows, 2);
        ck_assert_uint_eq(report->zones[0].functions.n_left_out, 2);
        ck_assert(!report->zones[1].has_functions);
}
END_TEST

START_TEST(test_the_event_can_be_chosen)
{
        struct report_options options = { .event = "faults" };
        struct error err = ERROR_NONE;
        uint32_t event;

        build_known();
        event = trace_builder_sample_event(&b, "faults");
        trace_builder_begin_run(&b, 1);
        trace_builder_sample(&b, 110000, event, 0, 0);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert(text_view_is(report->event->name, "cpu-clock"));
        ck_assert_uint_eq(report->n_events, 2);
        load_again(&options);
        ck_assert(text_view_is(report->event->name, "faults"));
        ck_assert_uint_eq(report->functions.n_rows, 1);
        ck_assert_int_eq(report->functions.rows[0].kind, FUNCTION_NO_CALLSTACK);
        ck_assert_uint_eq(zone_of("outer")->samples.n_samples, 0);
        ck_assert(has_gap("NO_CALLSTACK"));
        options.event = "cylces";
        ck_assert_int_eq(report_load(b.path, &options, &report, &err), -ENOENT);
        ck_assert_ptr_nonnull(strstr(err.text, "cylces"));
}
END_TEST

START_TEST(test_empty_trace)
{
        load(NULL);
        ck_assert_int_eq(report->ending, TRACE_ENDING_WHOLE);
        ck_assert_ptr_null(report->event);
        ck_assert_uint_eq(report->functions.n_rows, 0);
        ck_assert_uint_eq(report->n_zones, 0);
        ck_assert_uint_eq(report->n_threads, 0);
        ck_assert(has_gap("NO_SAMPLES"));
}
END_TEST

START_TEST(test_only_zones)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_begin_zone(&b, 100, trace_builder_location(&b, "alone"));
        trace_builder_event(&b, 350, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert_uint_eq(zone_of("alone")->max_ns, 250);
        ck_assert_uint_eq(zone_of("alone")->samples.n_samples, 0);
        ck_assert(!report->on_cpu_known);
        ck_assert(has_gap("NO_SAMPLES"));
        ck_assert(has_gap("NO_CONTEXT_SWITCHES"));
}
END_TEST

START_TEST(test_only_samples_and_no_symbols)
{
        uint32_t event = trace_builder_sample_event(&b, "cycles");
        uint32_t stack = trace_builder_stack(&b, 0, trace_builder_frame(&b, 0, 0x1234));

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_sample(&b, 100, event, 0, stack);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert_uint_eq(report->functions.n_rows, 1);
        ck_assert_int_eq(report->functions.rows[0].kind, FUNCTION_NO_MODULE);
        ck_assert_uint_eq(report->n_zones, 0);
        ck_assert(has_gap("NO_SYMBOLS_AT_ALL"));
}
END_TEST

/* Equal ones are in the order of the trace's frames, wherever their names lie in memory. */
START_TEST(test_equal_functions_have_one_order)
{
        uint32_t event, early, late, late_frame, early_frame;

        event = trace_builder_sample_event(&b, "cpu-clock");
        early = trace_builder_module(&b, "/lib/early.so");
        late = trace_builder_module(&b, "/lib/late.so");
        late_frame = trace_builder_frame(&b, late, 0x100);
        early_frame = trace_builder_frame(&b, early, 0x100);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        trace_builder_sample(&b, 1000, event, 0, trace_builder_stack(&b, 0, late_frame));
        trace_builder_sample(&b, 1100, event, 0, trace_builder_stack(&b, 0, early_frame));
        trace_builder_end_run(&b);

        load(NULL);
        ck_assert_uint_eq(report->functions.n_rows, 2);
        ck_assert(text_view_is(report->functions.rows[0].module, "/lib/late.so"));
        ck_assert(text_view_is(report->functions.rows[1].module, "/lib/early.so"));
}
END_TEST

/* One event of each op, which refers to the first row of every table: no event may upset anything. */
START_LOOP_TEST(test_one_event, 1, TRACE_OP_COUNT)
{
        const struct trace_op_schema *schema = trace_op_schema_find((uint64_t)_i);
        struct trace_event event = { .time_ns = 100, .op = (uint64_t)_i, .text = "" };
        enum trace_op op = (enum trace_op)_i;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        (void)trace_builder_location(&b, "open");
        (void)trace_builder_sample_event(&b, "cycles");
        (void)trace_builder_row(&b, TRACE_TABLE_LOCKS, &(struct trace_lock){ .process = 1, .location = 1 });
        (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &(struct trace_device){ .process = 1 });
        (void)trace_builder_row(&b, TRACE_TABLE_PLOTS, &(struct trace_plot){ .name = 1 });
        (void)trace_builder_row(&b, TRACE_TABLE_ATTACHMENTS, &(struct trace_attachment){ .hash = 1 });
        for (uint32_t i = 0; i < schema->n_operands; i++)
                event.operand[i] = schema->operands[i].reference == TRACE_REFERENCE_REQUIRED;
        event_encoder_add(&b.encoder, &event);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "400");
        load(NULL);
        ck_assert_uint_eq(report->n_threads, 1);
        if (op == TRACE_OP_ZONE_BEGIN) {
                ck_assert_uint_eq(zone_of("open")->n_unclosed, 1);
                ck_assert_uint_eq(zone_of("open")->total_ns, 300);
                ck_assert_uint_eq(gap_of("ZONES_UNCLOSED").count, 1);
        }
        if (op == TRACE_OP_ZONE_END)
                ck_assert_uint_eq(gap_of("ZONES_UNBALANCED").count, 1);
        ck_assert_uint_eq(report->also.n_messages, op == TRACE_OP_MESSAGE || op == TRACE_OP_MESSAGE_TEXT);
        ck_assert_uint_eq(report->also.n_plot_values, op == TRACE_OP_PLOT_I64 || op == TRACE_OP_PLOT_F64);
        ck_assert_uint_eq(report->also.n_frame_marks, op == TRACE_OP_FRAME_MARK);
        ck_assert_uint_eq(report->also.n_frame_begins, op == TRACE_OP_FRAME_BEGIN);
        ck_assert_uint_eq(report->also.n_frame_ends, op == TRACE_OP_FRAME_END);
        ck_assert_uint_eq(report->also.n_allocations, op == TRACE_OP_MEMORY_ALLOC);
        ck_assert_uint_eq(report->also.n_frees, op == TRACE_OP_MEMORY_FREE);
        ck_assert_uint_eq(report->also.n_discards, op == TRACE_OP_MEMORY_DISCARD);
        ck_assert_uint_eq(report->also.n_lock_waits, op == TRACE_OP_LOCK_WAIT);
        ck_assert_uint_eq(report->also.n_lock_obtains, op == TRACE_OP_LOCK_OBTAIN);
        ck_assert_uint_eq(report->also.n_fiber_enters, op == TRACE_OP_FIBER_ENTER);
        ck_assert_uint_eq(report->also.n_device_zones, op == TRACE_OP_DEVICE_ZONE_BEGIN);
        ck_assert_uint_eq(report->also.n_device_spans, op == TRACE_OP_DEVICE_SPAN);
        ck_assert_uint_eq(report->also.n_zone_texts, op == TRACE_OP_ZONE_TEXT);
        ck_assert_uint_eq(report->also.n_zone_names, op == TRACE_OP_ZONE_NAME);
        ck_assert_uint_eq(report->also.n_zone_values, op == TRACE_OP_ZONE_VALUE);
        ck_assert_uint_eq(report->also.n_zone_colors, op == TRACE_OP_ZONE_COLOR);
}
END_TEST

/* Things that events name are counted once, not by how often they are named. */
START_TEST(test_also_recorded)
{
        struct trace_code_region region = { .process = 1 };
        struct trace_attachment image = { .kind = TRACE_ATTACHMENT_CODE_IMAGE, .size_bytes = 1000 };

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint32_t i = 0; i < 12; i++) {
                struct trace_event event = { .time_ns = 100 + i, .op = TRACE_OP_PLOT_I64 + i % 2 };
                char name[2] = { (char)('a' + i % 3), '\0' };

                event.plot_i64.name = trace_builder_string(&b, name);
                event_encoder_add(&b.encoder, &event);
                event.op = i % 2 ? TRACE_OP_FRAME_BEGIN : TRACE_OP_FRAME_MARK;
                event.operand[0] = i % 4 == 0 ? 0 : trace_builder_string(&b, "frame");
                event_encoder_add(&b.encoder, &event);
                event.op = i % 2 ? TRACE_OP_MEMORY_FREE : TRACE_OP_MEMORY_ALLOC;
                event.operand[0] = trace_builder_string(&b, "pool");
                event_encoder_add(&b.encoder, &event);
        }
        trace_builder_end_run(&b);
        (void)trace_builder_fiber(&b, 1, 7);
        (void)trace_builder_fiber(&b, 1, 8);
        (void)trace_builder_attachment(&b, "a.mlir", 30);
        (void)trace_builder_attachment(&b, "b.mlir", 12);
        (void)trace_builder_row(&b, TRACE_TABLE_ATTACHMENTS, &image);
        (void)trace_builder_row(&b, TRACE_TABLE_CODE_REGIONS, &region);
        region.gone = 1;
        (void)trace_builder_row(&b, TRACE_TABLE_CODE_REGIONS, &region);
        load(NULL);
        ck_assert_uint_eq(report->also.n_plot_values, 12);
        ck_assert_uint_eq(report->also.n_plots, 3);
        ck_assert_uint_eq(report->also.n_frame_names, 2);
        ck_assert_uint_eq(report->also.n_pools, 1);
        ck_assert_uint_eq(report->also.n_allocations, 6);
        ck_assert_uint_eq(report->also.n_fibers, 2);
        ck_assert_uint_eq(report->also.n_source_texts, 2);
        ck_assert_uint_eq(report->also.n_source_bytes, 42);
        ck_assert_uint_eq(report->also.n_code_regions, 1);
        ck_assert_uint_eq(report->also.n_locks + report->also.n_devices, 0);
}
END_TEST

/* loop test: without a thread and with one; a fiber's switches do not make those of threads known */
START_LOOP_TEST(test_a_fiber, 0, 2)
{
        uint32_t n_threads = (uint32_t)_i;
        uint32_t zone;

        zone = trace_builder_location(&b, "zone");
        trace_builder_begin_run(&b, trace_builder_fiber(&b, 1, 7));
        trace_builder_event(&b, 100, TRACE_OP_SWITCH_IN);
        trace_builder_begin_zone(&b, 110, zone);
        trace_builder_event(&b, 150, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&b, 190, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);
        if (_i == 1) {
                trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
                trace_builder_event(&b, 100, TRACE_OP_SWITCH_IN);
                trace_builder_end_run(&b);
        }
        load(NULL);
        ck_assert_uint_eq(zone_of("zone")->total_ns, 80);
        ck_assert_uint_eq(zone_of("zone")->on_cpu_ns, 40);
        ck_assert(report->on_cpu_known == (_i == 1));
        ck_assert_uint_eq(report->also.n_switches, n_threads);
        ck_assert_uint_eq(report->n_threads, 1 + n_threads);
        ck_assert_uint_eq(report->n_kernel_threads, n_threads);
        ck_assert(report->threads[n_threads].is_fiber); /* the thread ran for longer */
        ck_assert_uint_eq(report->threads[n_threads].n_zones, 1);
}
END_TEST

/* loop test: each kind of event that a full ring may have cost */
START_LOOP_TEST(test_drops_are_missing, 0, 7)
{
        static const char *const codes[] = { "DROPPED_ZONES",  "DROPPED_MESSAGES", "DROPPED_PLOTS",
                                             "DROPPED_FRAMES", "DROPPED_MEMORY",   "DROPPED_LOCKS",
                                             "DROPPED_DEVICES" };
        struct trace_loss loss = { .reason = TRACE_LOSS_DROPPED_ZONES + (uint32_t)_i, .count = 3 };

        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        loss.thread = trace_builder_thread(&b, 1, 1);
        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        load(NULL);
        ck_assert_uint_eq(gap_of(codes[_i]).count, 6);
        ck_assert_ptr_nonnull(strstr(gap_of(codes[_i]).words, "dropped by the program"));
}
END_TEST

/* 3 of the first program's 4 zones are lost, one of them by its depth, and no zone of another one. */
START_TEST(test_lost_zones)
{
        struct trace_loss loss = { .reason = TRACE_LOSS_DROPPED_ZONES, .count = 2 };
        struct trace_loss too_deep = { .reason = TRACE_LOSS_ZONE_TOO_DEEP, .count = 1 };
        struct trace_filter_request others = { .process = "2" }, early = { .has_to = true, .to_ns = 15 };
        const struct report_options filtered = { .filter = &others }, ranged = { .filter = &early };
        char words[LOST_ZONES_WORDS_BYTES];

        for (uint32_t pid = 1; pid <= 2; pid++) {
                uint32_t thread = trace_builder_thread(&b, pid, pid);

                trace_builder_begin_run(&b, thread);
                trace_builder_begin_zone(&b, 10, trace_builder_location(&b, "zone"));
                trace_builder_event(&b, 20, TRACE_OP_ZONE_END);
                trace_builder_end_run(&b);
                if (pid == 1) {
                        loss.thread = too_deep.thread = thread;
                        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
                        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &too_deep);
                }
        }
        load(NULL);
        lost_zones_words(&report->lost, words);
        ck_assert_str_eq(words, "at least: up to 75.0% of a program's zones were lost");
        load_again(&ranged);
        lost_zones_words(&report->lost, words);
        ck_assert_str_eq(words, "at least: 3 zones were lost in the whole recording");
        others.process = "1";
        load_again(&filtered);
        lost_zones_words(&report->lost, words);
        ck_assert_str_eq(words, "at least: 75.0% of this program's zones were lost");
        others.process = "2";
        load_again(&filtered);
        lost_zones_words(&report->lost, words);
        ck_assert_str_eq(words, "");
}
END_TEST

START_TEST(test_losses_and_notices)
{
        struct trace_loss loss = { .reason = TRACE_LOSS_KERNEL_RING_FULL, .count = 3 };
        struct trace_notice notice = { .notice = TRACE_NOTICE_NO_KERNEL_STACKS };

        notice.detail = trace_builder_string(&b, "perf_event_paranoid is 2");
        (void)trace_builder_row(&b, TRACE_TABLE_NOTICES, &notice);
        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        loss.count = 4;
        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        loss.reason = 9999;
        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        load(NULL);
        ck_assert_uint_eq(gap_of("KERNEL_RING_FULL").count, 7);
        ck_assert_int_eq(gap_of("KERNEL_RING_FULL").source, REPORT_GAP_LOSS);
        ck_assert_uint_eq(gap_of("UNKNOWN_LOSS").count, 4);
        ck_assert_int_eq(gap_of("NO_KERNEL_STACKS").source, REPORT_GAP_NOTICE);
        ck_assert(text_view_is(gap_of("NO_KERNEL_STACKS").detail, "perf_event_paranoid is 2"));
}
END_TEST

/* Any beginning of a trace is either refused with words or shown, with a gap that says so. */
START_TEST(test_cut_at_every_byte)
{
        off_t n_bytes;
        uint32_t n_shown = 0;

        build_known();
        trace_builder_finish(&b);
        n_bytes = lseek(b.fd, 0, SEEK_END);
        ck_assert_int_gt(n_bytes, 100);
        for (off_t cut = n_bytes - 1; cut >= 0; cut--) {
                struct error err = ERROR_NONE;
                int r;

                ck_assert_int_eq(ftruncate(b.fd, cut), 0);
                r = report_load(b.path, NULL, &report, &err);
                if (r < 0) {
                        ck_assert_uint_gt(strlen(err.text), 0);
                        continue;
                }
                ck_assert_int_eq(report->ending, TRACE_ENDING_CUT_OFF);
                ck_assert(has_gap("CUT_OFF"));
                report_free(report);
                report = NULL;
                n_shown++;
        }
        ck_assert_uint_gt(n_shown, 100);
}
END_TEST

/* The checksum is right, the events are not: the report is of everything before. */
START_TEST(test_a_chunk_that_makes_no_sense)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };

        build_known();
        trace_builder_flush(&b);
        ck_assert_int_eq(trace_writer_put(b.writer, header, (const uint8_t *)"\x05garbage", 8, NULL), 0);
        load(NULL);
        ck_assert_int_eq(report->ending, TRACE_ENDING_DAMAGED);
        ck_assert_ptr_nonnull(strstr(report->ending_words, "damaged in the chunk at byte "));
        ck_assert(has_gap("DAMAGED"));
        ck_assert_uint_eq(report->event->sum.n_samples, 100);
}
END_TEST

/* A zone that began before the recording did has samples and no events. */
START_TEST(test_a_zone_known_from_samples_only)
{
        uint32_t event = trace_builder_sample_event(&b, "cycles");
        uint32_t path = trace_builder_path(&b, 0, trace_builder_location(&b, "old"));

        (void)trace_builder_location(&b, "never reached");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_sample(&b, 100, event, path, 0);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert_uint_eq(report->n_zones, 1);
        ck_assert_uint_eq(zone_of("old")->samples.n_samples, 1);
        ck_assert_uint_eq(zone_of("old")->n_closed, 0);
}
END_TEST

/*
 * A program that is replaced leaves its zones open: they never end, and nothing of the
 * next program is in them.
 */
START_TEST(test_replaced_program)
{
        uint32_t outer, inner, after;

        outer = trace_builder_location(&b, "outer");
        inner = trace_builder_location(&b, "inner");
        after = trace_builder_location(&b, "after");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_begin_zone(&b, 100, outer);
        trace_builder_begin_zone(&b, 150, inner);
        trace_builder_event(&b, 200, TRACE_OP_ZONES_GONE);
        trace_builder_begin_zone(&b, 300, after);
        trace_builder_event(&b, 350, TRACE_OP_ZONE_END);
        trace_builder_event(&b, 1000, TRACE_OP_FRAME_MARK);
        trace_builder_end_run(&b);
        load(NULL);
        ck_assert_uint_eq(zone_of("outer")->n_closed, 0);
        ck_assert_uint_eq(zone_of("outer")->n_unclosed, 1);
        ck_assert_uint_eq(zone_of("outer")->total_ns, 100);
        ck_assert_uint_eq(zone_of("outer")->self_ns, 50);
        ck_assert_uint_eq(zone_of("inner")->n_unclosed, 1);
        ck_assert_uint_eq(zone_of("after")->n_closed, 1);
        ck_assert_uint_eq(gap_of("ZONES_UNCLOSED").count, 2);
        ck_assert(!has_gap("ZONES_UNBALANCED"));
}
END_TEST

/* Addresses of the kernel's code count, not those of programs, nor the number of a system call. */
START_TEST(test_kernel_addresses)
{
        static const struct {
                enum trace_module_kind kind;
                uint64_t offset;
                bool tells;
        } frames[] = {
                { TRACE_MODULE_FILE, UINT64_MAX - 15, false },
                { TRACE_MODULE_KERNEL, 17, false },
                { TRACE_MODULE_ANONYMOUS, UINT64_C(0x7fffffffffff), false },
                { TRACE_MODULE_KERNEL, UINT64_C(0xffffffff81000130), true },
                { TRACE_MODULE_ANONYMOUS, UINT64_C(0xffffffffc0000000), true },
        };

        for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
                uint32_t module;

                if (i > 0) {
                        teardown();
                        setup();
                }
                module = trace_builder_module_of(&b, frames[i].kind, "module");
                (void)trace_builder_push(&b, 0, module, frames[i].offset, "function");
                load(NULL);
                ck_assert_msg(report->recording.has_kernel_addresses == frames[i].tells, "frame %zu", i);
        }
}
END_TEST

START_TEST(test_no_trace_at_all)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(report_load("/nonexistent/trace.hyp", NULL, &report, &err), -ENOENT);
        ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/trace.hyp"));
        ck_assert_int_lt(report_load("/dev/null", NULL, &report, &err), 0);
        ck_assert_int_lt(report_load("/proc/self/exe", NULL, &report, &err), 0);
        report_free(NULL);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
