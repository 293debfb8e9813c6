/* SPDX-License-Identifier: MIT */
/*
 * export/tables/sqlite_queue.h - rows on their way into a database, which a thread of its own inserts
 *
 * Way of the data:  sqlite_insert -> [sqlite_queue] -> the thread -> libsqlite3
 *
 * Rows go in as they were put, and at most SQLITE_QUEUE_MAX batches wait: who puts more waits as well.
 * While batches are on their way the database is the thread's; after sqlite_queue_drain() it is the caller's.
 * One thread puts.
 */
#ifndef EXPORT_TABLES_SQLITE_QUEUE_H
#define EXPORT_TABLES_SQLITE_QUEUE_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct sqlite_insert;
struct sqlite_queue;

#define SQLITE_QUEUE_MAX  4
#define SQLITE_ROWS_CELLS 4096 /* of a batch */

enum sqlite_cell_kind {
        SQLITE_CELL_NULL,
        SQLITE_CELL_NUMBER,
        SQLITE_CELL_REAL,
        SQLITE_CELL_TEXT,
};

struct sqlite_cell {
        enum sqlite_cell_kind kind;
        union {
                int64_t number;
                double real;
                struct {
                        uint32_t at, n_bytes; /* in `texts` */
                } text;
        };
};

/* Rows of one table. */
struct sqlite_rows {
        struct sqlite_insert *insert; /* borrowed */
        int n_rows;
        struct byte_buffer texts; /* of the cells */
        struct sqlite_cell cells[SQLITE_ROWS_CELLS];
};

/* Returns NULL without memory. */
struct sqlite_rows *sqlite_rows_new(void);
void sqlite_rows_free(struct sqlite_rows *rows); /* NULL is fine */

/*
 * sqlite_queue_start() - start the thread
 * @write:  inserts a batch, in the thread; a failure goes into @why, and is not called again afterwards
 * Returns NULL if there can be none.
 */
struct sqlite_queue *sqlite_queue_start(void (*write)(struct sqlite_rows *rows, struct error *why));

/*
 * sqlite_queue_put() - hand in a batch
 * @why:  the first failure, if there was one by now; else as it was
 * Returns an empty batch in its place, or NULL without memory.
 */
struct sqlite_rows *sqlite_queue_put(struct sqlite_queue *q, struct sqlite_rows *rows, struct error *why);

/* Waits until all are inserted.  @why: as above. */
void sqlite_queue_drain(struct sqlite_queue *q, struct error *why);

/* Drains it, and ends the thread.  NULL is fine. */
void sqlite_queue_stop(struct sqlite_queue *q, struct error *why);

#endif /* EXPORT_TABLES_SQLITE_QUEUE_H */
