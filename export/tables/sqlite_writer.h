/* SPDX-License-Identifier: MIT */
/*
 * export/tables/sqlite_writer.h - rows into a new SQLite database, quickly
 *
 * Way of the data:  sqlite_database -> [sqlite_writer] -> libsqlite3 -> file
 *
 * One transaction from opening to finishing, without a journal: a database that was not finished is to be
 * deleted.  Nothing else may use the database meanwhile.  Sticky: after a failure nothing more is written,
 *           and sqlite_writer_finish() says what it was.
 * A thread inserts the rows while the caller makes the next ones; the caller itself inserts them if they are
 * few or no thread can be started.  Not thread-safe.
 */
#ifndef EXPORT_TABLES_SQLITE_WRITER_H
#define EXPORT_TABLES_SQLITE_WRITER_H

#include "base/error.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;
struct sqlite_queue;
struct sqlite_rows;

struct sqlite_writer {
        struct sqlite3 *db;
        struct sqlite_queue *queue; /* of the thread that inserts; NULL = the caller does */
        uint64_t n_batches;         /* inserted without it */
        struct error why;           /* of the first failure that is known of; code 0 = none yet */
};

/* The rows of one table.  They go in batches to a thread that inserts them.  The object does not move. */
struct sqlite_insert {
        struct sqlite_writer *writer;
        const char *table;               /* borrowed */
        struct sqlite3_stmt *one, *many; /* heap; NULL = not needed so far */
        struct sqlite_rows *rows;        /* heap: the batch that is being filled; NULL = no memory */
        int n_columns;
        int column; /* that the next value goes to */
};

/*
 * Creates the database in @path, which must be an empty file or not there yet, and runs @schema.
 * Returns 0 or -EIO with words; to be closed in any case.
 */
int sqlite_writer_open(struct sqlite_writer *w, const char *path, const char *schema, struct error *err);
void sqlite_writer_close(struct sqlite_writer *w);

/* Runs statements that give no rows. */
void sqlite_writer_run(struct sqlite_writer *w, const char *sql);

/* Runs @sql and makes everything permanent.  Returns 0, or -EIO with the words of the first failure. */
int sqlite_writer_finish(struct sqlite_writer *w, const char *sql, struct error *err);

/* @n_columns: 1 .. 32, as the table has them.  Rows are in the table after sqlite_insert_close(). */
void sqlite_insert_open(struct sqlite_insert *i, struct sqlite_writer *w, const char *table, int n_columns);
void sqlite_insert_close(struct sqlite_insert *i);

/* The values of a row, in the order of its columns; missing ones are NULL. */
void sqlite_insert_number(struct sqlite_insert *i, uint64_t number);
void sqlite_insert_signed(struct sqlite_insert *i, int64_t number);
void sqlite_insert_real(struct sqlite_insert *i, double real);
void sqlite_insert_string(struct sqlite_insert *i, struct text_view string); /* empty = NULL */
void sqlite_insert_hex(struct sqlite_insert *i, struct text_view bytes);     /* as digits; at most 32 bytes */
void sqlite_insert_id(struct sqlite_insert *i, uint64_t id);                 /* 0 = NULL */
void sqlite_insert_null(struct sqlite_insert *i);
void sqlite_insert_end_row(struct sqlite_insert *i);

#endif /* EXPORT_TABLES_SQLITE_WRITER_H */
