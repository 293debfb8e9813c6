/* SPDX-License-Identifier: MIT */
/*
 * export/tables/device_tables.h - devices and their tracks as tables of SQLite
 *
 * Way of the data:  trace_dictionary, device_clock -> [device_tables] -> sqlite_writer
 */
#ifndef EXPORT_TABLES_DEVICE_TABLES_H
#define EXPORT_TABLES_DEVICE_TABLES_H

#include <stdint.h>

struct device_clocks;
struct error;
struct ordered_mark;
struct sqlite_insert;
struct sqlite_writer;
struct trace_dictionary;

/*
 * @start_ns: the first moment of the trace.  Returns 0, or -ENOMEM after error_set(); failures of the
 * database stay in the writer.
 */
int device_tables_write(struct sqlite_writer *writer, const struct trace_dictionary *dictionary,
                        const struct device_clocks *clocks, uint64_t start_ns, struct error *err);

/* Name and value of a row of device_values. */
void device_tables_put_value(struct sqlite_insert *i, const struct trace_dictionary *dictionary,
                             const struct ordered_mark *value);

#endif /* EXPORT_TABLES_DEVICE_TABLES_H */
