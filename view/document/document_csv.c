/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "view/document/cell_text.h"
#include "view/document/csv_writer.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define REAL_DIGITS 12

static int complain_of_section(const struct view_document *d, const char *section, struct error *err)
{
        struct byte_buffer keys = { .data = NULL };
        int r;

        for (size_t i = 0; i < d->n_tables; i++) {
                byte_buffer_add(&keys, ", ", i != 0 ? 2 : 0);
                byte_buffer_add(&keys, d->tables[i]->key, strlen(d->tables[i]->key));
        }
        if (keys.failed)
                r = error_set(err, -ENOMEM, "out of memory");
        else if (d->n_tables == 0)
                r = error_set(err, -ENOENT, "there is no table in this answer");
        else
                r = error_set(err, -ENOENT, "no section '%s'; expected one of %.*s", section,
                              (int)keys.used_bytes, (const char *)keys.data);
        byte_buffer_deinit(&keys);
        return r;
}

/* Its place among the tables; their number if there is none. */
static size_t find_section(const struct view_document *d, const char *section)
{
        size_t i = 0;

        while (i < d->n_tables && section && strcmp(d->tables[i]->key, section) != 0)
                i++;
        return i;
}

static void put_titles(struct csv_writer *w, const struct view_table *t)
{
        if (t->is_tree)
                csv_writer_put_words(w, "depth");
        for (uint32_t c = 0; c < t->n_columns; c++)
                if (t->columns[c].type != VIEW_BAR)
                        csv_writer_put_words(w, t->columns[c].key);
        csv_writer_end_row(w);
}

static void put_cell(struct csv_writer *w, const struct view_document *d, enum view_type type,
                     const struct view_cell *cell)
{
        struct report_string s;

        if (!cell->is_known) {
                csv_writer_put_empty(w);
                return;
        }
        switch (type) {
        case VIEW_STRING:
        case VIEW_HANDLE:
        case VIEW_PLACE:
                s = cell_text_string(d, type, cell, false);
                csv_writer_put_bytes(w, s.bytes, s.n_bytes);
                break;
        case VIEW_COUNT:
        case VIEW_ID:
        case VIEW_DURATION:
        case VIEW_TIME:
        case VIEW_BYTES:
                csv_writer_put_number(w, cell->number);
                break;
        case VIEW_DELTA:
                csv_writer_put_signed(w, cell->delta);
                break;
        case VIEW_SHARE:
        case VIEW_CHANGE:
        case VIEW_REAL:
                if (isfinite(cell->real))
                        csv_writer_put_real(w, cell->real, REAL_DIGITS);
                else
                        csv_writer_put_empty(w);
                break;
        case VIEW_BAR:
                break;
        }
}

int document_print_csv(const struct view_document *d, const struct document_options *options, FILE *out,
                       struct error *err)
{
        size_t place = find_section(d, options->section);
        const struct view_table *t;
        struct csv_writer w;
        int r;

        if (d->failed)
                return error_set(err, -ENOMEM, "out of memory");
        if (place == d->n_tables)
                return complain_of_section(d, options->section, err);
        t = d->tables[place];
        csv_writer_init(&w, out, options->separator);
        w.is_safe = options->csv_is_safe;
        if (w.separator == '\0')
                w.separator = ',';
        put_titles(&w, t);
        for (size_t i = 0; i < t->n_cells; i++) {
                size_t c = i % t->n_columns;

                if (c == 0 && t->is_tree)
                        csv_writer_put_number(&w, t->depths[i / t->n_columns]);
                if (t->columns[c].type != VIEW_BAR)
                        put_cell(&w, d, t->columns[c].type, &t->cells[i]);
                if (c + 1 == t->n_columns)
                        csv_writer_end_row(&w);
        }
        r = csv_writer_finish(&w);
        csv_writer_deinit(&w);
        /* The caller sees in ferror(out) what could not be written. */
        return r == -ENOMEM ? error_set(err, r, "out of memory") : 0;
}
