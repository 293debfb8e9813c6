/* SPDX-License-Identifier: MIT */
/* Columns of a heat map are seconds where there are some of them, and each time is in its cell */

#include "analyze/stats/heat_grid.h"

#include "base/clock.h"
#include "tests/unit/unit_test.h"

#define START_NS UINT64_C(1000000000123)

static void check(uint64_t from_ns, uint64_t to_ns, uint64_t column_ns, uint64_t first_ns, uint32_t n_columns)
{
        struct heat_grid g;

        ck_assert_int_eq(heat_grid_init(&g, START_NS, from_ns, to_ns), 0);
        ck_assert_uint_eq(g.row_ns * HEAT_GRID_ROWS, column_ns);
        ck_assert_uint_eq(g.begin_ns - START_NS, first_ns);
        ck_assert_uint_eq(g.n_columns, n_columns);
        ck_assert_uint_le(g.n_columns, HEAT_GRID_COLUMNS_MAX);
        ck_assert_ptr_nonnull(heat_grid_cell(&g, START_NS + from_ns));
        ck_assert_ptr_nonnull(heat_grid_cell(&g, START_NS + to_ns));
        heat_grid_deinit(&g);
}

START_TEST(test_columns_are_seconds)
{
        check(0, 4 * NS_PER_S, NS_PER_S, 0, 5);
        check(0, 4 * NS_PER_S - 1, NS_PER_S / 10, 0, 40);
        check(0, 297 * NS_PER_S, NS_PER_S, 0, 298);
        check(0, 299 * NS_PER_S, 10 * NS_PER_S, 0, 30);
        check(2500 * NS_PER_MS, 7200 * NS_PER_MS, NS_PER_S, 2 * NS_PER_S, 6);
        check(0, 1, 100000, 0, 1);
        check(0, UINT64_C(400) * 86400 * NS_PER_S, UINT64_C(1000000) * NS_PER_S, 0, 35);
}
END_TEST

/* A range of as many columns as may be, which begins and ends within one. */
START_TEST(test_a_range_within_columns)
{
        check(999 * NS_PER_MS, 298 * NS_PER_S + 1, NS_PER_S, 0, 299);
}
END_TEST

START_TEST(test_cells)
{
        struct heat_grid g;

        ck_assert_int_eq(heat_grid_init(&g, START_NS, 3 * NS_PER_S, 9 * NS_PER_S), 0);
        ck_assert_ptr_eq(heat_grid_cell(&g, START_NS + 3 * NS_PER_S), &g.cells[0]);
        ck_assert_ptr_eq(heat_grid_cell(&g, START_NS + 3 * NS_PER_S + 20 * NS_PER_MS - 1), &g.cells[0]);
        ck_assert_ptr_eq(heat_grid_cell(&g, START_NS + 3 * NS_PER_S + 20 * NS_PER_MS), &g.cells[1]);
        ck_assert_ptr_eq(heat_grid_cell(&g, START_NS + 4 * NS_PER_S), &g.cells[HEAT_GRID_ROWS]);
        ck_assert_ptr_null(heat_grid_cell(&g, START_NS + 3 * NS_PER_S - 1));
        ck_assert_ptr_null(heat_grid_cell(&g, START_NS + 10 * NS_PER_S));
        ck_assert_ptr_null(heat_grid_cell(&g, UINT64_MAX));
        ck_assert_uint_eq(heat_grid_time(&g, HEAT_GRID_ROWS + 1) - START_NS, 4 * NS_PER_S + 20 * NS_PER_MS);
        heat_grid_deinit(&g);
}
END_TEST
