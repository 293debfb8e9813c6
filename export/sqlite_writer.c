/* SPDX-License-Identifier: MIT */
#include "export/sqlite_writer.h"

#include "base/byte_buffer.h"
#include "view/utf8.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that go into the table by one statement: a quarter of the time of a row is beginning and ending one. */
#define ROWS_MAX       16
#define COLUMNS_MAX    32
#define TEXT_BYTES_MAX (UINT32_C(64) << 10) /* of rows that wait, before the last of them */

/* Large pages: fewer to fill and to find. */
static const char settings[] = "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                               "PRAGMA locking_mode=EXCLUSIVE; BEGIN";

enum cell_kind {
        CELL_NULL,
        CELL_NUMBER,
        CELL_REAL,
        CELL_TEXT,
};

struct sqlite_cell {
        enum cell_kind kind;
        union {
                int64_t number;
                double real;
                struct {
                        size_t at, n_bytes; /* in `texts` */
                } text;
        };
};

/* @what:  NULL = the file */
static void keep_failure(struct sqlite_writer *w, const char *what)
{
        if (!what && w->db)
                what = sqlite3_db_filename(w->db, "main");
        if (w->why.code == 0)
                (void)error_set(&w->why, -EIO, "%s: %s", what && *what ? what : "the database",
                                w->db ? sqlite3_errmsg(w->db) : "out of memory");
}

void sqlite_writer_run(struct sqlite_writer *w, const char *sql)
{
        if (w->why.code == 0 && sqlite3_exec(w->db, sql, NULL, NULL, NULL) != SQLITE_OK)
                keep_failure(w, NULL);
}

int sqlite_writer_open(struct sqlite_writer *w, const char *path, const char *schema, struct error *err)
{
        *w = (struct sqlite_writer){ .db = NULL };
        if (sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                            NULL) != SQLITE_OK)
                keep_failure(w, path);
        sqlite_writer_run(w, settings);
        sqlite_writer_run(w, schema);
        return w->why.code < 0 ? error_set(err, w->why.code, "%s", w->why.text) : 0;
}

void sqlite_writer_close(struct sqlite_writer *w)
{
        (void)sqlite3_close_v2(w->db);
        w->db = NULL;
}

int sqlite_writer_finish(struct sqlite_writer *w, const char *sql, struct error *err)
{
        sqlite_writer_run(w, sql);
        sqlite_writer_run(w, "COMMIT");
        return w->why.code < 0 ? error_set(err, w->why.code, "%s", w->why.text) : 0;
}

void sqlite_insert_open(struct sqlite_insert *i, struct sqlite_writer *w, const char *table, int n_columns)
{
        *i = (struct sqlite_insert){ .writer = w, .table = table, .n_columns = n_columns };
        i->cells = calloc((size_t)ROWS_MAX * (size_t)n_columns, sizeof(*i->cells));
        if (!i->cells && w->why.code == 0)
                (void)error_set(&w->why, -ENOMEM, "the database: out of memory");
}

/* The statement that inserts @n_rows; NULL after a failure. */
static sqlite3_stmt *prepare(struct sqlite_insert *i, int n_rows)
{
        char sql[128 + ROWS_MAX * (2 * COLUMNS_MAX + 2)];
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
                keep_failure(i->writer, i->table);
        return statement;
}

static void bind_cell(const struct sqlite_insert *i, sqlite3_stmt *statement, int parameter,
                      const struct sqlite_cell *cell)
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
                (void)sqlite3_bind_text64(statement, parameter, (const char *)i->texts.data + cell->text.at,
                                          cell->text.n_bytes, SQLITE_STATIC, SQLITE_UTF8);
                break;
        }
}

static void insert_rows(struct sqlite_insert *i, sqlite3_stmt **statement, int first, int n_rows)
{
        if (!*statement)
                *statement = prepare(i, n_rows);
        if (!*statement)
                return;
        for (int k = 0; i->cells && k < n_rows * i->n_columns; k++)
                bind_cell(i, *statement, k + 1, &i->cells[first * i->n_columns + k]);
        if (sqlite3_step(*statement) != SQLITE_DONE)
                keep_failure(i->writer, NULL);
        (void)sqlite3_reset(*statement);
}

/* The rows that wait go into the table. */
static void flush(struct sqlite_insert *i)
{
        if (i->texts.failed && i->writer->why.code == 0)
                (void)error_set(&i->writer->why, -ENOMEM, "the database: out of memory");
        if (i->n_rows == ROWS_MAX && i->writer->why.code == 0)
                insert_rows(i, &i->many, 0, ROWS_MAX);
        else
                for (int row = 0; row < i->n_rows && i->writer->why.code == 0; row++)
                        insert_rows(i, &i->one, row, 1);
        i->n_rows = 0;
        i->texts.used_bytes = 0;
}

void sqlite_insert_close(struct sqlite_insert *i)
{
        flush(i);
        (void)sqlite3_finalize(i->one);
        (void)sqlite3_finalize(i->many);
        free(i->cells);
        byte_buffer_deinit(&i->texts);
        *i = (struct sqlite_insert){ .cells = NULL };
}

static void put_cell(struct sqlite_insert *i, struct sqlite_cell cell)
{
        if (i->cells && i->column < i->n_columns)
                i->cells[i->n_rows * i->n_columns + i->column] = cell;
        i->column++;
}

void sqlite_insert_signed(struct sqlite_insert *i, int64_t number)
{
        put_cell(i, (struct sqlite_cell){ .kind = CELL_NUMBER, .number = number });
}

/* Integers of SQLite have a sign: what does not fit, an address perhaps, keeps its bits. */
void sqlite_insert_number(struct sqlite_insert *i, uint64_t number)
{
        sqlite_insert_signed(i, (int64_t)number);
}

void sqlite_insert_real(struct sqlite_insert *i, double real)
{
        put_cell(i, (struct sqlite_cell){ .kind = CELL_REAL, .real = real });
}

void sqlite_insert_null(struct sqlite_insert *i)
{
        put_cell(i, (struct sqlite_cell){ .kind = CELL_NULL });
}

void sqlite_insert_id(struct sqlite_insert *i, uint64_t id)
{
        if (id == 0)
                sqlite_insert_null(i);
        else
                sqlite_insert_number(i, id);
}

static bool is_plain(struct report_string string)
{
        for (size_t k = 0; k < string.n_bytes; k++)
                if ((unsigned char)string.bytes[k] >= 0x80 || string.bytes[k] == '\0')
                        return false;
        return true;
}

/* What is no UTF-8, or would end the text for C programs, becomes U+FFFD. */
static void add_foreign(struct byte_buffer *texts, struct report_string string)
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

void sqlite_insert_string(struct sqlite_insert *i, struct report_string string)
{
        size_t at = i->texts.used_bytes;

        if (string.n_bytes == 0) {
                sqlite_insert_null(i);
                return;
        }
        if (is_plain(string))
                byte_buffer_add(&i->texts, string.bytes, string.n_bytes);
        else
                add_foreign(&i->texts, string);
        put_cell(i, (struct sqlite_cell){ .kind = CELL_TEXT, .text = { at, i->texts.used_bytes - at } });
}

void sqlite_insert_hex(struct sqlite_insert *i, struct report_string bytes)
{
        static const char digits[] = "0123456789abcdef";
        char hex[64];
        size_t n = 0;

        for (size_t k = 0; k < bytes.n_bytes && n < sizeof(hex); k++) {
                hex[n++] = digits[(unsigned char)bytes.bytes[k] >> 4];
                hex[n++] = digits[(unsigned char)bytes.bytes[k] & 15];
        }
        sqlite_insert_string(i, (struct report_string){ hex, n });
}

void sqlite_insert_end_row(struct sqlite_insert *i)
{
        while (i->column < i->n_columns)
                sqlite_insert_null(i);
        i->column = 0;
        i->n_rows++;
        if (i->n_rows == ROWS_MAX || i->texts.used_bytes > TEXT_BYTES_MAX || !i->cells)
                flush(i);
}
