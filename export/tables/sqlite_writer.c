/* SPDX-License-Identifier: MIT */
#include "export/tables/sqlite_writer.h"

#include "base/byte_buffer.h"
#include "export/tables/sqlite_queue.h"
#include "view/text/utf8.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number of rows that one statement inserts: beginning and ending a statement takes a quarter of the
 * time of a row.
 */
#define ROWS_AT_ONCE   32
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

void sqlite_writer_run(struct sqlite_writer *w, const char *sql)
{
        if (w->queue)
                sqlite_queue_drain(w->queue, &w->why);
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
        sqlite_queue_stop(w->queue, &w->why);
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

/* ------------------------------------------------------------------ batches */

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
                      const struct sqlite_cell *cell)
{
        switch (cell->kind) {
        case SQLITE_CELL_NULL:
                (void)sqlite3_bind_null(statement, parameter);
                break;
        case SQLITE_CELL_NUMBER:
                (void)sqlite3_bind_int64(statement, parameter, cell->number);
                break;
        case SQLITE_CELL_REAL:
                (void)sqlite3_bind_double(statement, parameter, cell->real);
                break;
        case SQLITE_CELL_TEXT: /* borrowed until the step */
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
                w->queue = sqlite_queue_start(insert_batch);
        if (w->queue) {
                i->rows = sqlite_queue_put(w->queue, i->rows, &w->why);
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

/* ------------------------------------------------------------------ rows */

void sqlite_insert_open(struct sqlite_insert *i, struct sqlite_writer *w, const char *table, int n_columns)
{
        *i = (struct sqlite_insert){ .writer = w, .table = table, .n_columns = n_columns };
        i->rows = sqlite_rows_new();
        if (i->rows)
                i->rows->insert = i;
        else
                no_memory(w);
}

void sqlite_insert_close(struct sqlite_insert *i)
{
        flush(i);
        if (i->writer->queue)
                sqlite_queue_drain(i->writer->queue, &i->writer->why);
        (void)sqlite3_finalize(i->one);
        (void)sqlite3_finalize(i->many);
        sqlite_rows_free(i->rows);
        *i = (struct sqlite_insert){ .rows = NULL };
}

static void put_cell(struct sqlite_insert *i, struct sqlite_cell cell)
{
        if (i->rows && i->column < i->n_columns)
                i->rows->cells[i->rows->n_rows * i->n_columns + i->column] = cell;
        i->column++;
}

void sqlite_insert_signed(struct sqlite_insert *i, int64_t number)
{
        put_cell(i, (struct sqlite_cell){ .kind = SQLITE_CELL_NUMBER, .number = number });
}

/* SQLite's integers are signed: a larger value, such as an address, keeps its bits. */
void sqlite_insert_number(struct sqlite_insert *i, uint64_t number)
{
        sqlite_insert_signed(i, (int64_t)number);
}

void sqlite_insert_real(struct sqlite_insert *i, double real)
{
        put_cell(i, (struct sqlite_cell){ .kind = SQLITE_CELL_REAL, .real = real });
}

void sqlite_insert_null(struct sqlite_insert *i)
{
        put_cell(i, (struct sqlite_cell){ .kind = SQLITE_CELL_NULL });
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
        put_cell(i, (struct sqlite_cell){ .kind = SQLITE_CELL_TEXT,
                                          .text = { at, (uint32_t)texts->used_bytes - at } });
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
        if ((rows->n_rows + 1) * i->n_columns > SQLITE_ROWS_CELLS || rows->texts.used_bytes > TEXT_BYTES_MAX)
                flush(i);
}
