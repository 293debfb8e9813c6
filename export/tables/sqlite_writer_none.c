/* SPDX-License-Identifier: MIT */
/* Replaces sqlite_writer.c where hyprof is built without SQLite (HYPROF_NO_SQLITE=1). */
#include "export/tables/sqlite_writer.h"

#include <errno.h>

int sqlite_writer_open(struct sqlite_writer *w, const char *path, const char *schema, struct error *err)
{
        *w = (struct sqlite_writer){ .db = NULL };
        (void)path, (void)schema;
        return error_set(err, -ENOSYS,
                         "this hyprof was built without SQLite (HYPROF_NO_SQLITE); `hyprof export csv` and "
                         "--csv have the same tables");
}

void sqlite_writer_close(struct sqlite_writer *w)
{
        (void)w;
}

void sqlite_writer_run(struct sqlite_writer *w, const char *sql)
{
        (void)w, (void)sql;
}

int sqlite_writer_finish(struct sqlite_writer *w, const char *sql, struct error *err)
{
        (void)w, (void)sql;
        return error_set(err, -ENOSYS, "no SQLite");
}

void sqlite_insert_open(struct sqlite_insert *i, struct sqlite_writer *w, const char *table, int n_columns)
{
        *i = (struct sqlite_insert){ .writer = w, .table = table, .n_columns = n_columns };
}

void sqlite_insert_close(struct sqlite_insert *i)
{
        (void)i;
}

void sqlite_insert_number(struct sqlite_insert *i, uint64_t number)
{
        (void)i, (void)number;
}

void sqlite_insert_signed(struct sqlite_insert *i, int64_t number)
{
        (void)i, (void)number;
}

void sqlite_insert_real(struct sqlite_insert *i, double real)
{
        (void)i, (void)real;
}

void sqlite_insert_string(struct sqlite_insert *i, struct text_view string)
{
        (void)i, (void)string;
}

void sqlite_insert_hex(struct sqlite_insert *i, struct text_view bytes)
{
        (void)i, (void)bytes;
}

void sqlite_insert_id(struct sqlite_insert *i, uint64_t id)
{
        (void)i, (void)id;
}

void sqlite_insert_null(struct sqlite_insert *i)
{
        (void)i;
}

void sqlite_insert_end_row(struct sqlite_insert *i)
{
        (void)i;
}
