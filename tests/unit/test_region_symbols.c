/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/region_symbols.c: an address is of the region of its own generation, else of the latest
 * earlier one that nothing lies over
 */
#include "symbolize/symbols/region_symbols.h"

#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#define N_GENERATIONS 4
#define N_MANY        300000

struct fixture {
        struct trace_builder b;
        struct region_symbols *symbols;
        uint32_t process;
        uint32_t modules[N_GENERATIONS]; /* by generation */
};

static struct fixture f;

static void setup(void)
{
        struct trace_process process = { .pid = 1 };

        trace_builder_init(&f.b);
        f.process = trace_builder_row(&f.b, TRACE_TABLE_PROCESSES, &process);
        for (uint32_t i = 0; i < N_GENERATIONS; i++) {
                struct trace_module module = { .path = trace_builder_string(&f.b, "//anon"),
                                               .kind = TRACE_MODULE_ANONYMOUS,
                                               .process = f.process,
                                               .generation = i };

                f.modules[i] = trace_builder_row(&f.b, TRACE_TABLE_MODULES, &module);
        }
}

static void teardown(void)
{
        region_symbols_free(f.symbols);
        trace_builder_deinit(&f.b);
}

static uint32_t add(uint64_t start, uint64_t length, uint32_t generation, uint32_t gone)
{
        struct trace_code_region row = { .start_avma = start,
                                         .length_bytes = length,
                                         .process = f.process,
                                         .gone = gone,
                                         .module = f.modules[generation] };

        return trace_builder_row(&f.b, TRACE_TABLE_CODE_REGIONS, &row);
}

static void finish(void)
{
        ck_assert_int_eq(region_symbols_new(&f.b.dictionary, &f.symbols, NULL), 0);
}

/* 0 = nothing is there. */
static uint32_t find(uint32_t generation, uint64_t avma)
{
        struct region_symbol symbol = { .region = 0 };
        int r = region_symbols_find(f.symbols, f.modules[generation], avma, &symbol);

        ck_assert_int_eq(r, symbol.region != 0);
        return symbol.region;
}

START_TEST(test_edges)
{
        uint32_t low, high, last;

        low = add(100, 50, 0, 0);
        high = add(150, 50, 0, 0);
        (void)add(300, 0, 0, 0);
        last = add(UINT64_MAX - 9, 100, 0, 0); /* too long: up to the end */
        finish();
        ck_assert_uint_eq(find(0, 0), 0);
        ck_assert_uint_eq(find(0, 99), 0);
        ck_assert_uint_eq(find(0, 100), low);
        ck_assert_uint_eq(find(0, 149), low);
        ck_assert_uint_eq(find(0, 150), high);
        ck_assert_uint_eq(find(0, 200), 0);
        ck_assert_uint_eq(find(0, 300), 0);
        ck_assert_uint_eq(find(0, UINT64_MAX - 1), last);
}
END_TEST

START_TEST(test_nothing)
{
        finish();
        ck_assert_uint_eq(find(0, 100), 0);
}
END_TEST

START_TEST(test_generations)
{
        uint32_t first, second, third;

        /* In the order in which perf maps may bring them. */
        third = add(100, 100, 3, 0);
        first = add(100, 100, 0, 0);
        second = add(150, 20, 1, 0);
        finish();
        ck_assert_uint_eq(find(0, 160), first);
        ck_assert_uint_eq(find(1, 149), first);
        ck_assert_uint_eq(find(1, 150), second);
        ck_assert_uint_eq(find(1, 170), first);
        ck_assert_uint_eq(find(2, 160), second);
        ck_assert_uint_eq(find(3, 160), third);
}
END_TEST

/* Code that comes after the end of other code at its place is found. */
START_TEST(test_again)
{
        uint32_t again;

        (void)add(100, 100, 0, 0);
        (void)add(100, 100, 0, 1);
        again = add(100, 50, 0, 0);
        finish();
        ck_assert_uint_eq(find(0, 120), again);
        ck_assert_uint_eq(find(1, 120), again);
        ck_assert_uint_eq(find(1, 160), 0);
}
END_TEST

START_TEST(test_gone)
{
        uint32_t first, again;

        first = add(100, 100, 0, 0);
        (void)add(120, 10, 1, 1);
        again = add(122, 2, 2, 0);
        finish();
        ck_assert_uint_eq(find(1, 125), first); /* the frame may have been made before */
        ck_assert_uint_eq(find(2, 125), 0);
        ck_assert_uint_eq(find(2, 119), first);
        ck_assert_uint_eq(find(2, 130), first);
        ck_assert_uint_eq(find(2, 122), again);
        ck_assert_uint_eq(find(1, 122), first);
}
END_TEST

/* The later row of a generation counts; one without a module, of an older trace, is as of the first. */
START_TEST(test_same_generation)
{
        struct trace_code_region row = { .start_avma = 100, .length_bytes = 100 };
        uint32_t old, later;

        row.process = f.process;
        old = trace_builder_row(&f.b, TRACE_TABLE_CODE_REGIONS, &row);
        later = add(150, 100, 0, 0);
        finish();
        ck_assert_uint_eq(find(0, 149), old);
        ck_assert_uint_eq(find(0, 150), later);
        ck_assert_uint_eq(find(3, 149), old);
}
END_TEST

START_TEST(test_processes)
{
        struct trace_process other_process = { .pid = 2 };
        struct trace_module other_module = { .kind = TRACE_MODULE_ANONYMOUS };
        struct trace_code_region row = { .start_avma = 100, .length_bytes = 100 };
        struct region_symbol symbol;
        uint32_t module, ours, theirs;

        other_module.process = trace_builder_row(&f.b, TRACE_TABLE_PROCESSES, &other_process);
        module = trace_builder_row(&f.b, TRACE_TABLE_MODULES, &other_module);
        row.process = other_module.process;
        row.module = module;
        theirs = trace_builder_row(&f.b, TRACE_TABLE_CODE_REGIONS, &row);
        ours = add(50, 60, 0, 0);
        finish();
        ck_assert_uint_eq(find(0, 100), ours);
        ck_assert_uint_eq(find(0, 110), 0);
        ck_assert_int_eq(region_symbols_find(f.symbols, module, 100, &symbol), 1);
        ck_assert_uint_eq(symbol.region, theirs);
        ck_assert_int_eq(region_symbols_find(f.symbols, 0, 100, &symbol), 0);
}
END_TEST

/* Each of many processes has its own regions, or none, wherever it stands among the others. */
START_TEST(test_some_processes_have_none)
{
        static const bool has_region[] = { false, true, true, false, true, false, false, true, false };
        enum { N = sizeof(has_region) / sizeof(has_region[0]) };
        uint32_t modules[N], regions[N] = { 0 };

        for (uint32_t i = 0; i < N; i++) {
                struct trace_process process = { .pid = i + 2 };
                struct trace_module module = { .kind = TRACE_MODULE_ANONYMOUS };
                struct trace_code_region row = { .start_avma = 100, .length_bytes = 100 };

                module.process = row.process = trace_builder_row(&f.b, TRACE_TABLE_PROCESSES, &process);
                modules[i] = row.module = trace_builder_row(&f.b, TRACE_TABLE_MODULES, &module);
                if (has_region[i])
                        regions[i] = trace_builder_row(&f.b, TRACE_TABLE_CODE_REGIONS, &row);
        }
        finish();
        ck_assert_uint_eq(find(0, 150), 0);
        for (uint32_t i = 0; i < N; i++) {
                struct region_symbol symbol = { .region = 0 };

                ck_assert_int_eq(region_symbols_find(f.symbols, modules[i], 150, &symbol), has_region[i]);
                ck_assert_uint_eq(symbol.region, regions[i]);
        }
}
END_TEST

START_TEST(test_lines)
{
        struct trace_code_line line = { .offset_bytes = 4, .line = 7 };
        struct region_symbol symbol;
        uint32_t without = add(100, 100, 0, 0);
        uint32_t region = add(200, 100, 0, 0);

        line.region = region;
        line.file = trace_builder_string(&f.b, "kernel.mlir");
        (void)trace_builder_row(&f.b, TRACE_TABLE_CODE_LINES, &line);
        line.offset_bytes = 10;
        line.line = 8;
        (void)trace_builder_row(&f.b, TRACE_TABLE_CODE_LINES, &line);
        finish();
        ck_assert_int_eq(region_symbols_find(f.symbols, f.modules[0], 203, &symbol), 1);
        ck_assert_uint_eq(symbol.line, 0);
        ck_assert_int_eq(region_symbols_find(f.symbols, f.modules[0], 204, &symbol), 1);
        ck_assert_uint_eq(symbol.line, 7);
        ck_assert_uint_eq(symbol.file, line.file);
        ck_assert_int_eq(region_symbols_find(f.symbols, f.modules[0], 299, &symbol), 1);
        ck_assert_uint_eq(symbol.line, 8);
        ck_assert_int_eq(region_symbols_find(f.symbols, f.modules[0], 150, &symbol), 1);
        ck_assert_uint_eq(symbol.region, without);
        ck_assert_uint_eq(symbol.line, 0);
}
END_TEST

/* The same as looking at all rows one by one. */
START_TEST(test_any_overlap)
{
        struct trace_code_region rows[64];
        uint32_t generations[64];
        uint64_t random = 1;

        for (uint32_t i = 0; i < 64; i++) {
                uint64_t start = fixed_random_next(&random) % 200;
                uint64_t length = fixed_random_next(&random) % 60;

                generations[i] = (uint32_t)(fixed_random_next(&random) % N_GENERATIONS);
                rows[i] = (struct trace_code_region){ .start_avma = start,
                                                      .length_bytes = length,
                                                      .gone = fixed_random_next(&random) % 4 == 0 };
                (void)add(start, length, generations[i], rows[i].gone);
        }
        finish();
        for (uint32_t g = 0; g < N_GENERATIONS; g++) {
                for (uint64_t avma = 0; avma < 270; avma++) {
                        uint64_t best = 0, gone = 0;

                        for (uint32_t i = 0; i < 64; i++) {
                                uint64_t key = ((uint64_t)generations[i] << 32) + i + 1;
                                uint64_t *highest = rows[i].gone ? &gone : &best;

                                if (avma >= rows[i].start_avma &&
                                    avma < rows[i].start_avma + rows[i].length_bytes &&
                                    generations[i] + rows[i].gone <= g && key > *highest)
                                        *highest = key;
                        }
                        best = best > gone ? best & UINT32_MAX : 0;
                        ck_assert_uint_eq(find(g, avma), best);
                }
        }
}
END_TEST

/* Regions within each other in any number cost no more than others: this ends. */
START_TEST(test_many)
{
        for (uint64_t i = 0; i < N_MANY; i++)
                (void)add(i, (uint64_t)N_MANY * 2 - 2 * i, 0, 0);
        finish();
        for (uint64_t i = 0; i < N_MANY; i++)
                ck_assert_uint_eq(find(0, i), i + 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
