/* SPDX-License-Identifier: MIT */
#include "export/tables/device_ops_table.h"

#include "analyze/devices/device_ops.h"
#include "export/tables/sqlite_writer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "format/tt_run_key.h"

#define N_KEYS 5

static const char create[] =
        "CREATE TABLE device_ops(chip INTEGER, run_host_id INTEGER, trace INTEGER, replay INTEGER, "
        "cores INTEGER"
#define COLUMN(name, title) ", \"" title "\" INTEGER"
        DEVICE_OP_COLUMNS(COLUMN)
#undef COLUMN
                ");\n";

/* 0 = not known: then there are no nanoseconds. */
static double find_mhz(const struct trace_dictionary *d, uint64_t device)
{
        const struct trace_device *row = trace_dictionary_row(d, TRACE_TABLE_DEVICES, (uint32_t)device);
        double period_ns;

        memcpy(&period_ns, &row->period_bits, sizeof(period_ns));
        return period_ns > 0 ? 1000 / period_ns : 0;
}

static void put_optional(struct sqlite_insert *i, uint64_t number)
{
        if (number == TT_RUN_NONE)
                sqlite_insert_null(i);
        else
                sqlite_insert_number(i, number);
}

static void put_op(struct sqlite_insert *i, const struct device_op *op, const struct tt_run *run, double mhz)
{
        sqlite_insert_number(i, run->chip);
        sqlite_insert_number(i, run->run_host_id);
        put_optional(i, run->trace);
        put_optional(i, run->replay);
        sqlite_insert_number(i, op->n_cores);
        for (int c = 0; c < DEVICE_OP_N_COLUMNS; c++) {
                int64_t value;

                if (device_op_value(op, (enum device_op_column)c, mhz, &value))
                        sqlite_insert_signed(i, value);
                else
                        sqlite_insert_null(i);
        }
        sqlite_insert_end_row(i);
}

void device_ops_table_write(struct sqlite_writer *writer, const struct trace_dictionary *dictionary,
                            const struct device_ops *ops)
{
        struct sqlite_insert insert;
        size_t n;
        const struct device_op *list = device_ops_list(ops, &n);

        sqlite_writer_run(writer, create);
        sqlite_insert_open(&insert, writer, "device_ops", N_KEYS + DEVICE_OP_N_COLUMNS);
        for (size_t i = 0; i < n; i++) {
                struct tt_run run;

                if (tt_run_key_decode(list[i].key, &run))
                        put_op(&insert, &list[i], &run, find_mhz(dictionary, list[i].chip));
        }
        sqlite_insert_close(&insert);
}
