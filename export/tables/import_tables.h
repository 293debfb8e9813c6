/* SPDX-License-Identifier: MIT */
/*
 * export/tables/import_tables.h - the files that were imported, and what they lack, as tables of SQLite
 *
 * Way of the data:  trace_dictionary (IMPORTS, IMPORT_LOSSES) -> [import_tables] -> sqlite_writer
 */
#ifndef EXPORT_TABLES_IMPORT_TABLES_H
#define EXPORT_TABLES_IMPORT_TABLES_H

struct sqlite_writer;
struct trace_dictionary;

void import_tables_write(struct sqlite_writer *writer, const struct trace_dictionary *dictionary);

#endif /* EXPORT_TABLES_IMPORT_TABLES_H */
