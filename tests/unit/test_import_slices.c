/* SPDX-License-Identifier: MIT */
/* import/rows/import_slices.c: begins and ends out of order, alone, and on more lanes than are kept */
#include "base/error.h"
#include "import/rows/import_slices.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <stddef.h>

#define LANES 400000

static struct import_rows rows;
static struct import_slices slices;
static struct error err;
static uint32_t track;

static void setup(void)
{
        const struct import_clock clock = { .kind = IMPORT_CLOCK_RAW };
        struct import_track of = { .kind = IMPORT_TRACK_OTHER, .name = { "t", 1 } };

        fake_import_rows_init(&rows);
        import_slices_init(&slices, &rows);
        ck_assert_int_eq(import_rows_clock(&rows, &clock, &of.clock, &err), 0);
        ck_assert_int_eq(import_rows_track(&rows, &of, &track, &err), 0);
}

static void teardown(void)
{
        import_slices_deinit(&slices);
        fake_import_rows_deinit(&rows);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static void add(uint64_t lane, uint64_t time, bool is_end)
{
        struct import_span span = { .track = track, .begin = time };

        ck_assert_int_eq(is_end ? import_slices_end(&slices, lane, &span, &err)
                                : import_slices_begin(&slices, lane, &span, &err),
                         0);
}

START_TEST(test_out_of_order)
{
        add(1, 50, true);
        add(1, 10, false);
        add(1, 20, false);
        add(1, 30, true);
        add(2, 5, true);
        add(2, 60, false);
        ck_assert_int_eq(import_slices_finish(&slices, &err), 0);
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), 50);
        ck_assert_uint_eq(rows.n_instants, 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "end without begin"), 1);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "begin without end"), 1);
}
END_TEST

/* A lane that is open all the time, and many that are used once. */
START_TEST(test_lanes_are_forgotten)
{
        add(1, 0, false);
        for (uint64_t i = 0; i < LANES; i++) {
                add(2 + i, 1 + 2 * i, false);
                add(2 + i, 2 + 2 * i, true);
        }
        add(1, 3 * LANES, true);
        ck_assert_uint_lt(slices.lanes.n_items, LANES / 2);
        ck_assert_int_eq(import_slices_finish(&slices, &err), 0);
        ck_assert_uint_eq(rows.n_spans, LANES + 1);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), 4 * LANES);
        ck_assert_uint_eq(rows.n_left_out, 0);
}
END_TEST
