/* SPDX-License-Identifier: MIT */
#include "export/tables/import_tables.h"

#include "export/tables/sqlite_writer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

static void put_import(struct sqlite_insert *i, const struct trace_dictionary *d, uint32_t id)
{
        const struct trace_import *row = trace_dictionary_row(d, TRACE_TABLE_IMPORTS, id);

        sqlite_insert_number(i, id);
        sqlite_insert_string(i, trace_dictionary_text(d, row->file));
        sqlite_insert_string(i, trace_dictionary_text(d, row->format));
        sqlite_insert_string(i, trace_dictionary_text(d, row->version));
        sqlite_insert_number(i, row->n_rows);
        sqlite_insert_number(i, row->n_malformed);
        sqlite_insert_id(i, row->first_malformed_at);
        sqlite_insert_string(i, trace_dictionary_text(d, row->first_malformed));
        sqlite_insert_number(i, row->n_dropped);
        sqlite_insert_string(i, trace_dictionary_text(d, row->clock));
        if (row->error_ns != UINT64_MAX)
                sqlite_insert_number(i, row->error_ns);
        else
                sqlite_insert_null(i);
        sqlite_insert_id(i, row->cut_at);
        sqlite_insert_end_row(i);
}

static void put_import_loss(struct sqlite_insert *i, const struct trace_dictionary *d, uint32_t id)
{
        const struct trace_import_loss *row = trace_dictionary_row(d, TRACE_TABLE_IMPORT_LOSSES, id);

        sqlite_insert_number(i, row->import);
        sqlite_insert_string(i, trace_dictionary_text(d, row->kind));
        sqlite_insert_number(i, row->count);
        sqlite_insert_end_row(i);
}

void import_tables_write(struct sqlite_writer *writer, const struct trace_dictionary *dictionary)
{
        struct sqlite_insert insert;

        sqlite_insert_open(&insert, writer, "imports", 12);
        for (uint32_t id = 1; id <= trace_dictionary_count(dictionary, TRACE_TABLE_IMPORTS); id++)
                put_import(&insert, dictionary, id);
        sqlite_insert_close(&insert);
        sqlite_insert_open(&insert, writer, "import_losses", 3);
        for (uint32_t id = 1; id <= trace_dictionary_count(dictionary, TRACE_TABLE_IMPORT_LOSSES); id++)
                put_import_loss(&insert, dictionary, id);
        sqlite_insert_close(&insert);
}
