/* SPDX-License-Identifier: MIT */
/*
 * export/tables/flows_table.h - the steps of flows as a table of SQLite
 *
 * Way of the data:  flow_links -> [flows_table] -> sqlite_writer
 */
#ifndef EXPORT_TABLES_FLOWS_TABLE_H
#define EXPORT_TABLES_FLOWS_TABLE_H

struct error;
struct loaded_trace;
struct sqlite_writer;
struct trace_filter;

/* A pass through the trace.  Returns as flow_links_take(); failures of the database stay in the writer. */
int flows_table_write(struct sqlite_writer *writer, struct loaded_trace *trace,
                      const struct trace_filter *filter, struct error *err);

#endif /* EXPORT_TABLES_FLOWS_TABLE_H */
