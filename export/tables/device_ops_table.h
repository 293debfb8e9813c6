/* SPDX-License-Identifier: MIT */
/*
 * export/tables/device_ops_table.h - the table device_ops of a database: runs on tt-metal's chips
 *
 * Way of the data:  device_ops -> [device_ops_table] -> sqlite_writer -> python/src/hyprof/device_ops.py
 *
 * A row for each run of a program on a chip, in the order of tt-metal's reports; a column for each of the
 * report's, in nanoseconds of the chip's nominal frequency.  No rows in traces without such chips.
 */
#ifndef EXPORT_TABLES_DEVICE_OPS_TABLE_H
#define EXPORT_TABLES_DEVICE_OPS_TABLE_H

struct device_ops;
struct sqlite_writer;
struct trace_dictionary;

/* Makes the table and its rows; @ops: finished, with ids of DEVICES as chips.  Failures stick to @writer. */
void device_ops_table_write(struct sqlite_writer *writer, const struct trace_dictionary *dictionary,
                            const struct device_ops *ops);

#endif /* EXPORT_TABLES_DEVICE_OPS_TABLE_H */
