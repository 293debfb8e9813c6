/* SPDX-License-Identifier: MIT */
/*
 * export_perfetto.c, _pprof.c, _perf_data.c, _callgrind.c: any trace is exported whole, and a
 * write that fails is noticed
 */
#include "analyze/walk/loaded_trace.h"
#include "base/bytes.h"
#include "base/error.h"
#include "export/perf_data/perf_data_parts.h"
#include "export/shared/export_format.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static export_function *const functions[] = { export_perfetto, export_pprof, export_perf_data,
                                              export_callgrind };

static struct trace_builder builder;
static struct loaded_trace trace;

/* The last export's output. */
static char *bytes;
static size_t n_bytes;
static struct export_totals totals;

static void open_trace(void)
{
        trace_builder_finish(&builder);
        ck_assert_int_eq(loaded_trace_open(&trace, builder.path, NULL), 0);
}

/* A trace that has everything, and is finished already. */
static void open_small_trace(void)
{
        small_trace_build(&builder);
        ck_assert_int_eq(loaded_trace_open(&trace, builder.path, NULL), 0);
}

static void set_up(void)
{
        trace_builder_init(&builder);
}

static void tear_down(void)
{
        loaded_trace_close(&trace);
        trace_builder_deinit(&builder);
        free(bytes);
        bytes = NULL;
}

static void export_it(export_function *function, uint32_t event, bool zones_as_frames)
{
        struct export_options options = { .event = event, .zones_as_frames = zones_as_frames };
        FILE *out;

        free(bytes);
        bytes = NULL;
        out = open_memstream(&bytes, &n_bytes);
        ck_assert_ptr_nonnull(out);
        totals = (struct export_totals){ .n_samples = 0 };
        ck_assert_int_eq(function(&trace, &options, out, &totals, NULL), 0);
        (void)fclose(out);
}

/* loop test */
START_LOOP_TEST(test_everything_in_it, 0, sizeof(functions) / sizeof(functions[0]))
{
        uint64_t weight;

        open_small_trace();
        for (uint32_t event = 0; event <= 3; event++) {
                export_it(functions[_i], event, false);
                weight = totals.weight;
                export_it(functions[_i], event, true);
                ck_assert_uint_eq(weight, totals.weight);
                ck_assert_uint_gt(n_bytes, 0);
        }
        ck_assert_uint_eq(totals.n_samples, 2); /* of the event that was read with another one */
        ck_assert_uint_eq(totals.weight, 2500000);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_nothing_in_it, 0, sizeof(functions) / sizeof(functions[0]))
{
        open_trace();
        export_it(functions[_i], 0, false);
        ck_assert_uint_eq(totals.n_samples, 0);
}
END_TEST

/* loop test: a stack of 20,000 frames is cut, and that is counted */
START_LOOP_TEST(test_deep_stacks, 0, sizeof(functions) / sizeof(functions[0]))
{
        uint32_t stack = 0;
        uint32_t module, thread, event;

        thread = trace_builder_thread(&builder, 1, 1);
        module = trace_builder_module(&builder, "/bin/deep");
        event = trace_builder_sample_event(&builder, "cpu-clock");
        for (uint32_t i = 0; i < 20000; i++)
                stack = trace_builder_stack(&builder, stack, trace_builder_frame(&builder, module, i + 1));
        trace_builder_begin_run(&builder, thread);
        trace_builder_sample(&builder, 10, event, 0, stack);
        trace_builder_end_run(&builder);
        open_trace();
        export_it(functions[_i], event, false);
        ck_assert_uint_eq(totals.n_samples, 1);
        ck_assert_uint_gt(totals.left_out[EXPORT_LEFT_OUT_LONG_STACKS], 0);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_full_disk, 0, sizeof(functions) / sizeof(functions[0]))
{
        struct export_options options = { .event = 1 };
        FILE *out = fopen("/dev/full", "w");
        struct error err = ERROR_NONE;

        ck_assert_ptr_nonnull(out);
        open_small_trace();
        ck_assert_int_eq(functions[_i](&trace, &options, out, &totals, &err), -EIO);
        ck_assert_str_ne(err.text, "");
        (void)fclose(out);
}
END_TEST

/* The sections of perf's file lie one after the other, and its records fill theirs exactly. */
START_TEST(test_sections_of_perf_data)
{
        struct byte_reader in;
        uint64_t data_offset, data_bytes, features_offset;
        uint32_t n_samples = 0;

        open_small_trace();
        export_it(export_perf_data, 1, false);
        in = byte_reader_of(bytes, n_bytes);
        ck_assert_mem_eq(bytes_take(&in, 8), "PERFILE2", 8);
        (void)bytes_take(&in, 32);
        data_offset = bytes_u64(&in);
        data_bytes = bytes_u64(&in);
        ck_assert_uint_lt(data_offset + data_bytes, n_bytes);
        in = byte_reader_of(bytes + data_offset, (size_t)data_bytes);
        while (!bytes_all_used(&in)) {
                uint32_t type = bytes_u32(&in);
                uint16_t record_bytes;

                (void)bytes_u16(&in);
                record_bytes = bytes_u16(&in);
                ck_assert_uint_ge(record_bytes, 8);
                ck_assert_uint_eq(record_bytes % 8, 0);
                ck_assert_ptr_nonnull(bytes_take(&in, record_bytes - 8U));
                n_samples += type == PERF_DATA_SAMPLE;
        }
        ck_assert_uint_eq(n_samples, 7); /* of all events */
        in = byte_reader_of(bytes + data_offset + data_bytes, 8);
        features_offset = bytes_u64(&in);
        ck_assert_uint_eq(features_offset, data_offset + data_bytes + UINT64_C(7) * 16);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
