/* SPDX-License-Identifier: MIT */
#include "export/tables/sqlite_writer.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "view/text/utf8.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number of rows that one statement inserts: beginning and ending a statement takes a quarter of the
 * time of a row.
 */
#define ROWS_AT_ONCE   32
#define ROWS_CELLS     4096 /* of a batch, at most */
#define QUEUE_MAX      4    /* batches that wait */
#define COLUMNS_MAX    32
#define TEXT_BYTES_MAX (UINT32_C(64) << 10) /* of a batch, before its last row */
#define BATCHES_ALONE  4                    /* inserted before a thread starts: fewer are soon done */

/* Large pages: fewer to fill and to find. */
static const char settings[] = "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                               "PRAGMA locking_mode=EXCLUSIVE; PRAGMA threads=2; BEGIN";

/*
 * @what:  NULL = the file.  While there is a writer thread, the database belongs to it; @why belongs to the
 * owner of the database.
 */
static void keep_failure(struct sqlite3 *db, struct error *why, const char *what)
{
        if (!what && db)
                what = sqlite3_db_filename(db, "main");
        if (why->code == 0)
                (void)error_set(why, -EIO, "%s: %s", what && *what ? what : "the database",
                                db ? sqlite3_errmsg(db) : "out of memory");
}

static void no_memory(struct sqlite_writer *w)
{
        if (w->why.code == 0)
                (void)error_set(&w->why, -ENOMEM, "the database: out of memory");
}

/* ------------------------------------------------------------------ batches */

enum cell_kind {
        CELL_NULL,
        CELL_NUMBER,
        CELL_REAL,
        CELL_TEXT,
};

struct cell {
        enum cell_kind kind;
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
        struct cell cells[ROWS_CELLS];
};

/* NULL without memory. */
static struct sqlite_rows *make_rows(void)
{
        return calloc(1, sizeof(struct sqlite_rows));
}

/* NULL is fine. */
static void free_rows(struct sqlite_rows *rows)
{
        if (rows)
                byte_buffer_deinit(&rows->texts);
        free(rows);
}

/* The statement that inserts @n_rows; NULL after a failure. */
static sqlite3_stmt *prepare(const struct sqlite_insert *i, int n_rows, struct error *why)
{
        char sql[128 + ROWS_AT_ONCE * (2 * COLUMNS_MAX + 2)];
        int n = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES", i->table);
        sqlite3_stmt *statement = NULL;

        for (int row = 0; row < n_rows; row++)
                for (int k = 0; k < i->n_columns; k++)
                        n += snprintf(sql + n, sizeof(sql) - (size_t)n, "%s?%s",
                                      k != 0     ? ","
                                      : row != 0 ? ",("
                                                 : "(",
                                      k + 1 == i->n_columns ? ")" : "");
        if (sqlite3_prepare_v2(i->writer->db, sql, -1, &statement, NULL) != SQLITE_OK)
                keep_failure(i->writer->db, why, i->table);
        return statement;
}

static void bind_cell(const struct sqlite_rows *rows, sqlite3_stmt *statement, int parameter,
                      const struct cell *cell)
{
        switch (cell->kind) {
        case CELL_NULL:
                (void)sqlite3_bind_null(statement, parameter);
                break;
        case CELL_NUMBER:
                (void)sqlite3_bind_int64(statement, parameter, cell->number);
                break;
        case CELL_REAL:
                (void)sqlite3_bind_double(statement, parameter, cell->real);
                break;
        case CELL_TEXT: /* borrowed until the step */
                (void)sqlite3_bind_text64(statement, parameter,
                                          (const char *)rows->texts.data + cell->text.at, cell->text.n_bytes,
                                          SQLITE_STATIC, SQLITE_UTF8);
                break;
        }
}

static void insert_rows(const struct sqlite_rows *rows, sqlite3_stmt **statement, int first, int n_rows,
                        struct error *why)
{
        const struct sqlite_insert *i = rows->insert;

        if (!*statement)
                *statement = prepare(i, n_rows, why);
        if (!*statement)
                return;
        for (int k = 0; k < n_rows * i->n_columns; k++)
                bind_cell(rows, *statement, k + 1, &rows->cells[first * i->n_columns + k]);
        if (sqlite3_step(*statement) != SQLITE_DONE)
                keep_failure(i->writer->db, why, NULL);
        (void)sqlite3_reset(*statement);
}

/* Only the current owner of the database may call this. */
static void insert_batch(struct sqlite_rows *rows, struct error *why)
{
        struct sqlite_insert *i = rows->insert;
        int row = 0;

        for (; row + ROWS_AT_ONCE <= rows->n_rows && why->code == 0; row += ROWS_AT_ONCE)
                insert_rows(rows, &i->many, row, ROWS_AT_ONCE, why);
        for (; row < rows->n_rows && why->code == 0; row++)
                insert_rows(rows, &i->one, row, 1, why);
}

/* ------------------------------------------------------------------ the thread */

/*
 * Rows on their way into the database, which a thread of its own inserts.
 *
 * Rows go in as they were put, and at most QUEUE_MAX batches wait: a caller that puts more waits as well.
 * While batches are on their way the database is the thread's; after drain() it is the caller's.  One thread
 * puts.
 */
struct sqlite_queue {
        pthread_t thread;
        pthread_mutex_t lock; /* guards everything below */
        pthread_cond_t changed;
        struct sqlite_rows *queued[QUEUE_MAX];
        size_t first, n_queued;
        struct sqlite_rows *spare[QUEUE_MAX + 1]; /* empty ones */
        size_t n_spare;
        bool is_writing, ending;
        struct error why; /* the first failure; code 0 = none */
};

/* Called with the lock held; releases it while it writes. */
static void write_first(struct sqlite_queue *q)
{
        struct sqlite_rows *rows = q->queued[q->first];
        struct error why = q->why;

        q->first = (q->first + 1) % QUEUE_MAX;
        q->n_queued--;
        q->is_writing = true;
        (void)pthread_cond_broadcast(&q->changed);
        (void)pthread_mutex_unlock(&q->lock);
        if (why.code == 0)
                insert_batch(rows, &why);
        rows->n_rows = 0;
        byte_buffer_clear(&rows->texts);
        (void)pthread_mutex_lock(&q->lock);
        q->why = why;
        q->is_writing = false;
        q->spare[q->n_spare++] = rows; /* has room for all batches: those queued, and the one being written */
        (void)pthread_cond_broadcast(&q->changed);
}

static void *run(void *context)
{
        struct sqlite_queue *q = context;

        (void)pthread_mutex_lock(&q->lock);
        while (q->n_queued > 0 || !q->ending) {
                if (q->n_queued > 0)
                        write_first(q);
                else
                        (void)pthread_cond_wait(&q->changed, &q->lock);
        }
        (void)pthread_mutex_unlock(&q->lock);
        return NULL;
}

/* Starts the thread.  Returns NULL if there can be none. */
static struct sqlite_queue *start_thread(void)
{
        struct sqlite_queue *q = calloc(1, sizeof(*q));

        if (!q)
                return NULL;
        (void)pthread_mutex_init(&q->lock, NULL);
        (void)pthread_cond_init(&q->changed, NULL);
        if (helper_thread_start(&q->thread, "hyprof-sqlite", run, q) == 0)
                return q;
        (void)pthread_cond_destroy(&q->changed);
        (void)pthread_mutex_destroy(&q->lock);
        free(q);
        return NULL;
}

/* With the lock. */
static void take_failure(const struct sqlite_queue *q, struct error *why)
{
        if (why->code == 0)
                *why = q->why;
}

/*
 * queue_rows() - hand in a batch
 * @why:  the first failure, if there was one by now; else as it was
 * Returns an empty batch in its place, or NULL without memory.
 */
static struct sqlite_rows *queue_rows(struct sqlite_queue *q, struct sqlite_rows *rows, struct error *why)
{
        struct sqlite_rows *empty = NULL;

        (void)pthread_mutex_lock(&q->lock);
        while (q->n_queued == QUEUE_MAX)
                (void)pthread_cond_wait(&q->changed, &q->lock);
        q->queued[(q->first + q->n_queued) % QUEUE_MAX] = rows;
        q->n_queued++;
        if (q->n_spare > 0)
                empty = q->spare[--q->n_spare];
        take_failure(q, why);
        (void)pthread_cond_broadcast(&q->changed);
        (void)pthread_mutex_unlock(&q->lock);
        return empty ? empty : make_rows();
}

/* Waits until all batches are inserted.  @why: as above. */
static void drain(struct sqlite_queue *q, struct error *why)
{
        (void)pthread_mutex_lock(&q->lock);
        while (q->n_queued > 0 || q->is_writing)
                (void)pthread_cond_wait(&q->changed, &q->lock);
        take_failure(q, why);
        (void)pthread_mutex_unlock(&q->lock);
}

/* Drains the queue, and ends the thread.  NULL is fine. */
static void stop_thread(struct sqlite_queue *q, struct error *why)
{
        if (!q)
                return;
        drain(q, why);
        (void)pthread_mutex_lock(&q->lock);
        q->ending = true;
        (void)pthread_cond_broadcast(&q->changed);
        (void)pthread_mutex_unlock(&q->lock);
        (void)pthread_join(q->thread, NULL);
        for (size_t i = 0; i < q->n_spare; i++)
                free_rows(q->spare[i]);
        (void)pthread_cond_destroy(&q->changed);
        (void)pthread_mutex_destroy(&q->lock);
        free(q);
}

/* Sends the pending rows on their way into the table. */
static void flush(struct sqlite_insert *i)
{
        struct sqlite_writer *w = i->writer;

        if (!i->rows || i->rows->n_rows == 0)
                return;
        if (i->rows->texts.failed) {
                no_memory(w);
                i->rows->n_rows = 0;
                byte_buffer_clear(&i->rows->texts);
                return;
        }
        if (!w->queue && w->n_batches++ == BATCHES_ALONE)
                w->queue = start_thread();
        if (w->queue) {
                i->rows = queue_rows(w->queue, i->rows, &w->why);
                if (!i->rows)
                        no_memory(w);
                else
                        i->rows->insert = i;
                return;
        }
        if (w->why.code == 0)
                insert_batch(i->rows, &w->why);
        i->rows->n_rows = 0;
        byte_buffer_clear(&i->rows->texts);
}

/* ------------------------------------------------------------------ the database */

void sqlite_writer_run(struct sqlite_writer *w, const char *sql)
{
        if (w->queue)
                drain(w->queue, &w->why);
        if (w->why.code == 0 && sqlite3_exec(w->db, sql, NULL, NULL, NULL) != SQLITE_OK)
                keep_failure(w->db, &w->why, NULL);
}

int sqlite_writer_open(struct sqlite_writer *w, const char *path, const char *schema, struct error *err)
{
        *w = (struct sqlite_writer){ .db = NULL };
        if (sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                            NULL) != SQLITE_OK)
                keep_failure(w->db, &w->why, path);
        sqlite_writer_run(w, settings);
        sqlite_writer_run(w, schema);
        return w->why.code < 0 ? error_set(err, w->why.code, "%s", w->why.text) : 0;
}

void sqlite_writer_close(struct sqlite_writer *w)
{
        stop_thread(w->queue, &w->why);
        w->queue = NULL;
        (void)sqlite3_close_v2(w->db);
        w->db = NULL;
}

int sqlite_writer_finish(struct sqlite_writer *w, const char *sql, struct error *err)
{
        sqlite_writer_run(w, sql);
        sqlite_writer_run(w, "COMMIT");
        return w->why.code < 0 ? error_set(err, w->why.code, "%s", w->why.text) : 0;
}

/* ------------------------------------------------------------------ rows */

void sqlite_insert_open(struct sqlite_insert *i, struct sqlite_writer *w, const char *table, int n_columns)
{
        *i = (struct sqlite_insert){ .writer = w, .table = table, .n_columns = n_columns };
        i->rows = make_rows();
        if (i->rows)
                i->rows->insert = i;
        else
                no_memory(w);
}

void sqlite_insert_close(struct sqlite_insert *i)
{
        flush(i);
        if (i->writer->queue)
                drain(i->writer->queue, &i->writer->why);
        (void)sqlite3_finalize(i->one);
        (void)sqlite3_finalize(i->many);
        free_rows(i->rows);
        *i = (struct sqlite_insert){ .rows = NULL };
}

static void put_cell(struct sqlite_insert *i, struct cell cell)
{
        if (i->rows && i->column < i->n_columns)
                i->rows->cells[i->rows->n_rows * i->n_columns + i->column] = cell;
        i->column++;
}

void sqlite_insert_signed(struct sqlite_insert *i, int64_t number)
{
        put_cell(i, (struct cell){ .kind = CELL_NUMBER, .number = number });
}

/* SQLite's integers are signed: a larger value, such as an address, keeps its bits. */
void sqlite_insert_number(struct sqlite_insert *i, uint64_t number)
{
        sqlite_insert_signed(i, (int64_t)number);
}

void sqlite_insert_real(struct sqlite_insert *i, double real)
{
        put_cell(i, (struct cell){ .kind = CELL_REAL, .real = real });
}

void sqlite_insert_null(struct sqlite_insert *i)
{
        put_cell(i, (struct cell){ .kind = CELL_NULL });
}

void sqlite_insert_id(struct sqlite_insert *i, uint64_t id)
{
        if (id == 0)
                sqlite_insert_null(i);
        else
                sqlite_insert_number(i, id);
}

static bool is_plain(struct text_view string)
{
        for (size_t k = 0; k < string.n_bytes; k++)
                if ((unsigned char)string.bytes[k] >= 0x80 || string.bytes[k] == '\0')
                        return false;
        return true;
}

/* Invalid UTF-8, and bytes that would end the text for C programs, become U+FFFD. */
static void add_foreign(struct byte_buffer *texts, struct text_view string)
{
        for (size_t k = 0; k < string.n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(string.bytes + k, string.n_bytes - k, &character);

                if (length == 0 || character == 0)
                        byte_buffer_add(texts, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
                else
                        byte_buffer_add(texts, string.bytes + k, length);
                k += length != 0 ? length : 1;
        }
}

void sqlite_insert_string(struct sqlite_insert *i, struct text_view string)
{
        struct byte_buffer *texts = i->rows ? &i->rows->texts : NULL;
        uint32_t at;

        if (string.n_bytes == 0 || !texts) {
                sqlite_insert_null(i);
                return;
        }
        at = (uint32_t)texts->used_bytes;
        if (is_plain(string))
                byte_buffer_add(texts, string.bytes, string.n_bytes);
        else
                add_foreign(texts, string);
        put_cell(i, (struct cell){ .kind = CELL_TEXT, .text = { at, (uint32_t)texts->used_bytes - at } });
}

void sqlite_insert_hex(struct sqlite_insert *i, struct text_view bytes)
{
        static const char digits[] = "0123456789abcdef";
        char hex[64];
        size_t n = 0;

        for (size_t k = 0; k < bytes.n_bytes && n < sizeof(hex); k++) {
                hex[n++] = digits[(unsigned char)bytes.bytes[k] >> 4];
                hex[n++] = digits[(unsigned char)bytes.bytes[k] & 15];
        }
        sqlite_insert_string(i, (struct text_view){ hex, n });
}

void sqlite_insert_end_row(struct sqlite_insert *i)
{
        struct sqlite_rows *rows = i->rows;

        while (i->column < i->n_columns)
                sqlite_insert_null(i);
        i->column = 0;
        if (!rows)
                return;
        rows->n_rows++;
        if ((rows->n_rows + 1) * i->n_columns > ROWS_CELLS || rows->texts.used_bytes > TEXT_BYTES_MAX)
                flush(i);
}
