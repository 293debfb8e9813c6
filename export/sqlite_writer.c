/* SPDX-License-Identifier: MIT */
#include "export/sqlite_writer.h"

#include "base/byte_buffer.h"
#include "view/utf8.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 32

static void keep_failure(struct sqlite_writer *w, const char *what)
{
        if (w->why.code == 0)
                (void)error_set(&w->why, -EIO, "%s: %s", what,
                                w->db ? sqlite3_errmsg(w->db) : "out of memory");
}

void sqlite_writer_run(struct sqlite_writer *w, const char *sql)
{
        if (w->why.code == 0 && sqlite3_exec(w->db, sql, NULL, NULL, NULL) != SQLITE_OK)
                keep_failure(w, "the database");
}

int sqlite_writer_open(struct sqlite_writer *w, const char *path, const char *schema, struct error *err)
{
        *w = (struct sqlite_writer){ .db = NULL };
        if (sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
                keep_failure(w, path);
        sqlite_writer_run(
                w, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN");
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
        char sql[128 + 2 * COLUMNS_MAX];
        int n = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(?", table);

        *i = (struct sqlite_insert){ .writer = w, .column = 1 };
        for (int k = 1; k < n_columns && k < COLUMNS_MAX; k++)
                n += snprintf(sql + n, sizeof(sql) - (size_t)n, ",?");
        (void)snprintf(sql + n, sizeof(sql) - (size_t)n, ")");
        if (w->why.code == 0 && sqlite3_prepare_v2(w->db, sql, -1, &i->statement, NULL) != SQLITE_OK)
                keep_failure(w, table);
}

void sqlite_insert_close(struct sqlite_insert *i)
{
        (void)sqlite3_finalize(i->statement);
        i->statement = NULL;
}

void sqlite_insert_signed(struct sqlite_insert *i, int64_t number)
{
        (void)sqlite3_bind_int64(i->statement, i->column++, number);
}

/* Integers of SQLite have a sign: what does not fit, an address perhaps, keeps its bits. */
void sqlite_insert_number(struct sqlite_insert *i, uint64_t number)
{
        sqlite_insert_signed(i, (int64_t)number);
}

void sqlite_insert_real(struct sqlite_insert *i, double real)
{
        (void)sqlite3_bind_double(i->statement, i->column++, real);
}

void sqlite_insert_null(struct sqlite_insert *i)
{
        i->column++;
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
static void bind_foreign(struct sqlite_insert *i, struct report_string string)
{
        struct byte_buffer text = { .data = NULL };

        for (size_t k = 0; k < string.n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(string.bytes + k, string.n_bytes - k, &character);

                if (length == 0 || character == 0)
                        byte_buffer_add(&text, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
                else
                        byte_buffer_add(&text, string.bytes + k, length);
                k += length != 0 ? length : 1;
        }
        if (text.failed && i->writer->why.code == 0)
                (void)error_set(&i->writer->why, -ENOMEM, "the database: out of memory");
        (void)sqlite3_bind_text64(i->statement, i->column++, (const char *)text.data, text.used_bytes,
                                  SQLITE_TRANSIENT, SQLITE_UTF8);
        byte_buffer_deinit(&text);
}

void sqlite_insert_string(struct sqlite_insert *i, struct report_string string)
{
        if (string.n_bytes == 0)
                sqlite_insert_null(i);
        else if (!is_plain(string))
                bind_foreign(i, string);
        else /* borrowed until the end of the row */
                (void)sqlite3_bind_text64(i->statement, i->column++, string.bytes, string.n_bytes,
                                          SQLITE_STATIC, SQLITE_UTF8);
}

void sqlite_insert_hex(struct sqlite_insert *i, struct report_string bytes)
{
        static const char digits[] = "0123456789abcdef";
        char hex[64];
        size_t n = 0;

        if (bytes.n_bytes == 0) {
                sqlite_insert_null(i);
                return;
        }
        for (size_t k = 0; k < bytes.n_bytes && n < sizeof(hex); k++) {
                hex[n++] = digits[(unsigned char)bytes.bytes[k] >> 4];
                hex[n++] = digits[(unsigned char)bytes.bytes[k] & 15];
        }
        (void)sqlite3_bind_text(i->statement, i->column++, hex, (int)n, SQLITE_TRANSIENT);
}

void sqlite_insert_end_row(struct sqlite_insert *i)
{
        i->column = 1;
        if (!i->statement) /* something failed before it could be prepared: sqlite3_clear_bindings() takes no NULL */
                return;
        if (i->writer->why.code == 0 && sqlite3_step(i->statement) != SQLITE_DONE)
                keep_failure(i->writer, "the database");
        (void)sqlite3_reset(i->statement);
        (void)sqlite3_clear_bindings(i->statement);
}
