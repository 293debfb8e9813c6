/* SPDX-License-Identifier: MIT */
/* The device columns of reports of operations are those that tt-metal's own scripts make of the same log. */
#include "analyze/devices/device_ops.h"
#include "base/error.h"
#include "format/tt_run_key.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/tt_log.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TRUTH_COLUMNS_MAX 32

static struct import_rows rows;
static struct device_ops *ops;

static void setup(void)
{
        fake_import_rows_init(&rows);
        ops = device_ops_new();
        ck_assert_ptr_nonnull(ops);
}

static void teardown(void)
{
        device_ops_free(ops);
        fake_import_rows_deinit(&rows);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static struct text_view text(const char *words)
{
        return (struct text_view){ words, strlen(words) };
}

static uint64_t chip_of(uint32_t track)
{
        while (rows.tracks[track - 1].parent != 0)
                track = rows.tracks[track - 1].parent;
        return rows.tracks[track - 1].number;
}

/* A sum has no key: the firmware that was running on its processor has. */
static uint64_t key_of_sum(const struct import_value *value)
{
        for (size_t i = 0; i < rows.n_spans; i++)
                if (rows.spans[i].track == value->track && rows.spans[i].begin <= value->time &&
                    value->time <= rows.spans[i].end)
                        return rows.spans[i].key.value;
        return 0;
}

static void add_log(void)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(tt_log_read_path(TT_LOG_DATA "profile_log_device.csv.zst", &rows, &err), 0);
        for (size_t i = 0; i < rows.n_spans; i++) {
                const struct import_span *span = &rows.spans[i];
                uint32_t processor = rows.tracks[span->track - 1].name;
                struct device_op_zone zone = { .chip = chip_of(span->track),
                                               .key = span->key.value,
                                               .core = rows.tracks[span->track - 1].parent,
                                               .processor = text(fake_import_rows_text(&rows, processor)),
                                               .name = text(fake_import_rows_text(&rows, span->name)),
                                               .begin = span->begin,
                                               .end = span->end };

                ck_assert_int_eq(device_ops_add_zone(ops, &zone), 0);
        }
        for (size_t i = 0; i < rows.n_values; i++) {
                const struct import_value *value = &rows.values[i];

                ck_assert_int_eq(
                        device_ops_add_sum(
                                ops, chip_of(value->track), key_of_sum(value),
                                text(fake_import_rows_text(&rows, rows.tracks[value->track - 1].name)),
                                text(fake_import_rows_text(&rows, value->name)), value->bits),
                        0);
        }
}

static enum device_op_column find_title(const char *title)
{
        for (int i = 0; i < DEVICE_OP_N_COLUMNS; i++)
                if (strcmp(device_op_title((enum device_op_column)i), title) == 0)
                        return (enum device_op_column)i;
        return DEVICE_OP_N_COLUMNS;
}

/* Compares one operation with a line of tt-metal's report; returns how many columns differ. */
static size_t compare_line(const struct device_op *op, const enum device_op_column *columns, char *line)
{
        struct tt_run run;
        size_t i = 0, n_different = 0;

        ck_assert(tt_run_key_decode(op->key, &run));
        for (char *cell = line; cell; i++) {
                char *next = strchr(cell, ',');
                int64_t value = INT64_MIN;

                if (columns[i] == DEVICE_OP_N_COLUMNS)
                        value = (int64_t)run.run_host_id;
                else
                        ck_assert(device_op_value(op, columns[i], 1000, &value));
                n_different += value != strtoll(cell, NULL, 10);
                cell = next ? next + 1 : NULL;
        }
        ck_assert_uint_eq(i, 18);
        return n_different;
}

static size_t compare_report(size_t *ret_n_ops, size_t *ret_n_different)
{
        FILE *file = fopen(TT_LOG_DATA "truth_ops_perf_results.csv", "re");
        enum device_op_column columns[TRUTH_COLUMNS_MAX];
        size_t n_ops, n = 0, n_columns = 0;
        const struct device_op *list = device_ops_list(ops, &n_ops);
        char line[4096];

        *ret_n_different = 0;
        ck_assert_ptr_nonnull(file);
        ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
        line[strcspn(line, "\r\n")] = '\0';
        for (char *at = line, *next; at; at = next, n_columns++) {
                next = strchr(at, ',');
                if (next)
                        *next++ = '\0';
                columns[n_columns] = find_title(at);
                ck_assert(columns[n_columns] != DEVICE_OP_N_COLUMNS || n_columns == 0);
        }
        for (; fgets(line, sizeof(line), file); n++) {
                ck_assert_uint_lt(n, n_ops);
                *ret_n_different += compare_line(&list[n], columns, line);
        }
        (void)fclose(file);
        *ret_n_ops = n_ops;
        return n;
}

START_TEST(test_all_columns_of_all_operations)
{
        size_t n_ops, n_different;

        add_log();
        device_ops_finish(ops, DEVICE_OPS_BY_NUMBER);
        ck_assert_uint_eq(compare_report(&n_ops, &n_different), 20);
        ck_assert_uint_eq(n_ops, 20);
        ck_assert_uint_eq(n_different, 0);
        for (size_t i = 0; i < n_ops; i++)
                ck_assert_uint_eq(device_ops_list(ops, &n_ops)[i].n_cores, 4);
}
END_TEST

/* By number, replays of a trace lie in another order than they ran; the latencies in time are the same. */
START_TEST(test_latencies_in_time_by_number)
{
        const struct device_op *list;
        int64_t before = 0, in_time = 0, below_zero = 0;
        size_t n;

        add_log();
        device_ops_finish(ops, DEVICE_OPS_BY_NUMBER);
        list = device_ops_list(ops, &n);
        for (size_t i = 0; i < n; i++) {
                ck_assert(device_op_value(&list[i], DEVICE_OP_LATENCY, 1000, &before));
                ck_assert(device_op_value(&list[i], DEVICE_OP_TIME_LATENCY, 1000, &in_time));
                ck_assert(in_time == 0 ? before == 0 : in_time > 10000 && in_time < 35000);
                below_zero += before < 0;
                ck_assert(device_op_value(&list[i], DEVICE_OP_TIME_LATENCY_DM, 1000, &before));
                ck_assert_int_ge(before, in_time);
        }
        ck_assert_int_eq(below_zero, 2);
}
END_TEST

/* In the order of time, no operation of this log begins before the one before it has ended. */
START_TEST(test_latencies_in_the_order_of_time)
{
        const struct device_op *list;
        size_t n;

        add_log();
        device_ops_finish(ops, DEVICE_OPS_BY_TIME);
        list = device_ops_list(ops, &n);
        ck_assert_uint_eq(n, 20);
        for (size_t i = 0; i < n; i++) {
                bool is_first = i == 0 || list[i].chip != list[i - 1].chip;
                int64_t ns = -1;

                ck_assert(device_op_value(&list[i], DEVICE_OP_LATENCY, 1000, &ns));
                ck_assert(is_first ? ns == 0 : ns > 10000 && ns < 35000);
                if (!is_first)
                        ck_assert_uint_le(list[i - 1].kernel.begin, list[i].kernel.begin);
        }
}
END_TEST

static void add_brisc(uint64_t key, const char *name, uint64_t begin, uint64_t end)
{
        struct device_op_zone zone = { .key = key,
                                       .core = 1,
                                       .processor = text("BRISC"),
                                       .name = text(name),
                                       .begin = begin,
                                       .end = end };

        ck_assert_int_eq(device_ops_add_zone(ops, &zone), 0);
}

START_TEST(test_nothing_counts_without_key_or_name)
{
        size_t n;

        add_brisc(0, "BRISC-FW", 1, 2);
        add_brisc(7, "MATH-LOOP", 1, 2);
        add_brisc(7, "FW", 1, 2);
        ck_assert_int_eq(device_ops_add_sum(ops, 0, 7, text("TRISC_1"), text("CB-COMPUTE-WAIT-FRONT"), 5), 0);
        device_ops_finish(ops, DEVICE_OPS_BY_NUMBER);
        (void)device_ops_list(ops, &n);
        ck_assert_uint_eq(n, 0);
}
END_TEST

/* Empty cells, sums of both ends, halves to even, and a frequency that is not 1 GHz. */
START_TEST(test_cells)
{
        const struct device_op *op;
        int64_t value = 77;
        size_t n;

        add_brisc(7, "BRISC-FW", 100, 105);
        ck_assert_int_eq(device_ops_add_sum(ops, 0, 7, text("TRISC_2"), text("CB-COMPUTE-RESERVE-BACK"), 3),
                         0);
        ck_assert_int_eq(device_ops_add_sum(ops, 0, 7, text("TRISC_2"), text("CB-COMPUTE-RESERVE-BACK"), 4),
                         0);
        device_ops_finish(ops, DEVICE_OPS_BY_NUMBER);
        op = device_ops_list(ops, &n);
        ck_assert_uint_eq(n, 1);
        for (int i = 0; i < DEVICE_OP_N_COLUMNS; i++)
                ck_assert(device_op_value(op, (enum device_op_column)i, 1000, &value) ==
                          (i == DEVICE_OP_FW_BEGIN || i == DEVICE_OP_FW_END || i == DEVICE_OP_FW ||
                           i == DEVICE_OP_RESERVE_BACK));
        ck_assert_int_eq(value, 7);
        ck_assert(device_op_value(op, DEVICE_OP_FW, 2000, &value));
        ck_assert_int_eq(value, 2); /* 2.5 */
        ck_assert(device_op_value(op, DEVICE_OP_RESERVE_BACK, 2000, &value));
        ck_assert_int_eq(value, 4); /* 3.5 */
        ck_assert(!device_op_value(op, DEVICE_OP_FW, 0, &value));
}
END_TEST
