/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/frame_addresses.c: a frame's address is where its byte was mapped, in the process or
 * in the one it came from
 */
#include "export/perf_data/perf_data_parts.h"

#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

static struct trace_builder builder;
static uint32_t parent, child, stranger; /* processes */
static uint32_t module, other, kernel;

static void add_mapping(uint32_t process, uint32_t of, uint64_t start_avma, uint64_t file_offset_bytes)
{
        struct trace_mapping row = { .start_avma = start_avma,
                                     .length_bytes = 0x1000,
                                     .file_offset_bytes = file_offset_bytes,
                                     .process = process,
                                     .module = of };

        (void)trace_builder_row(&builder, TRACE_TABLE_MAPPINGS, &row);
}

static void set_up(void)
{
        struct trace_process row = { .pid = 1 };
        struct trace_module kernel_row = { .kind = TRACE_MODULE_KERNEL };

        trace_builder_init(&builder);
        parent = trace_builder_row(&builder, TRACE_TABLE_PROCESSES, &row);
        row = (struct trace_process){ .pid = 2, .parent = parent };
        child = trace_builder_row(&builder, TRACE_TABLE_PROCESSES, &row);
        row = (struct trace_process){ .pid = 3 };
        stranger = trace_builder_row(&builder, TRACE_TABLE_PROCESSES, &row);
        module = trace_builder_module(&builder, "/bin/a");
        other = trace_builder_module(&builder, "/bin/b");
        kernel_row.path = trace_builder_string(&builder, "[kernel]");
        kernel = trace_builder_row(&builder, TRACE_TABLE_MODULES, &kernel_row);
        add_mapping(parent, other, 0x900000, 0);
        add_mapping(parent, module, 0x400000, 0x1000);
        add_mapping(parent, module, 0x700000, 0x1000); /* again: the first one counts */
        add_mapping(parent, module, 0x500000, 0x2000);
        add_mapping(child, other, 0xa00000, 0);
}

static void tear_down(void)
{
        trace_builder_deinit(&builder);
}

static uint64_t address(uint32_t process, uint32_t of, uint64_t offset, uint32_t flags)
{
        struct trace_frame row = { .module = of, .offset = offset, .flags = flags };
        uint32_t frame = trace_builder_row(&builder, TRACE_TABLE_FRAMES, &row);
        struct frame_addresses a;
        uint64_t first, again;

        ck_assert_int_eq(frame_addresses_init(&a, &builder.dictionary), 0);
        ck_assert_int_eq(frame_addresses_find(&a, process, frame, &first), 0);
        ck_assert_int_eq(frame_addresses_find(&a, process, frame, &again), 0);
        ck_assert_uint_eq(first, again);
        frame_addresses_deinit(&a);
        return first;
}

START_TEST(test_mappings)
{
        ck_assert_uint_eq(address(parent, module, 0x1000, 0), 0x400000);
        ck_assert_uint_eq(address(parent, module, 0x1fff, 0), 0x400fff);
        ck_assert_uint_eq(address(parent, module, 0x2000, 0), 0x500000);
        ck_assert_uint_eq(address(parent, other, 0x10, 0), 0x900010);
        ck_assert_uint_eq(address(child, other, 0x10, 0), 0xa00010);
}
END_TEST

START_TEST(test_child_has_what_its_parent_mapped)
{
        ck_assert_uint_eq(address(child, module, 0x1010, 0), 0x400010);
        ck_assert_uint_eq(address(stranger, module, 0x1010, 0), 0x1010);
}
END_TEST

/* A call at the very end of a mapping returns past it. */
START_TEST(test_return_addresses)
{
        ck_assert_uint_eq(address(parent, module, 0x2000, TRACE_FRAME_RETURN_ADDRESS), 0x401000);
        ck_assert_uint_eq(address(parent, module, 0x3000, TRACE_FRAME_RETURN_ADDRESS), 0x501000);
}
END_TEST

START_TEST(test_addresses_already)
{
        ck_assert_uint_eq(address(parent, kernel, UINT64_C(0xffffffff81000000), 0),
                          UINT64_C(0xffffffff81000000));
        ck_assert_uint_eq(address(parent, 0, 0x77, 0), 0x77);
        ck_assert_uint_eq(address(parent, module, 0x8000, 0), 0x8000);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
