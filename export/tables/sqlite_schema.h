/* SPDX-License-Identifier: MIT */
/*
 * export/tables/sqlite_schema.h - the tables and views of a database, as SQL
 *
 * Way of the data:  [sqlite_schema] -> sqlite_database -> libsqlite3
 * Specification:    docs/use/sqlite.md
 */
#ifndef EXPORT_TABLES_SQLITE_SCHEMA_H
#define EXPORT_TABLES_SQLITE_SCHEMA_H

#define SQLITE_SCHEMA_VERSION "1"

/* Tables, before the rows come; views and indexes, after. */
const char *sqlite_schema_tables(void);
const char *sqlite_schema_views(void);
const char *sqlite_schema_python_views(void);

#endif /* EXPORT_TABLES_SQLITE_SCHEMA_H */
