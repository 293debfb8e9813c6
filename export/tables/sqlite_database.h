/* SPDX-License-Identifier: MIT */
/*
 * export/tables/sqlite_database.h - a trace as an SQLite database, for questions that no report asks
 *
 * Way of the data:  loaded_trace, trace_walk -> [sqlite_database] -> sqlite_writer -> file
 * Specification:    docs/use/sqlite.md
 *
 * Events are written as they are walked; memory is the trace's tables.
 */
#ifndef EXPORT_TABLES_SQLITE_DATABASE_H
#define EXPORT_TABLES_SQLITE_DATABASE_H

#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

struct sqlite_database_request {
        const struct trace_filter *filter; /* the events that are written; NULL = all */
        const char *path_zone; /* a pattern: the paths of its instances are written as well; NULL = none */
        const struct trace_filter *path_filter; /* the instances; NULL = `filter` */
};

struct sqlite_database_totals {
        uint64_t n_zones, n_samples, n_waits, n_other; /* rows */
};

/*
 * sqlite_database_write() - make a database of what is wanted
 * @path:  an empty or missing file; its contents after a failure are useless
 * Returns 0, -EIO with SQLite's words, -ENOMEM, what loaded_trace_walk() returns.
 */
int sqlite_database_write(struct loaded_trace *trace, const struct sqlite_database_request *request,
                          const char *path, struct sqlite_database_totals *ret_totals, struct error *err);

/*
 * sqlite_schema.c - the tables and views of a database, as SQL
 *
 * Way of the data:  [sqlite_schema] -> sqlite_database -> libsqlite3
 * Specification:    docs/use/sqlite.md
 */

#define SQLITE_SCHEMA_VERSION "1"

/* SQL that makes the tables, run before the rows are inserted; and the views and indexes, run after that. */
const char *sqlite_schema_tables(void);
const char *sqlite_schema_device_tables(void);
const char *sqlite_schema_views(void);
const char *sqlite_schema_python_views(void);
const char *sqlite_schema_device_views(void);

#endif /* EXPORT_TABLES_SQLITE_DATABASE_H */
