/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "view/document/cell_text.h"
#include "view/document/csv_writer.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define REAL_DIGITS 12

/* The table of the name, or the first that is an answer, or the first; NULL if there is none. */
static const struct view_table *find_section(const struct view_document *d, const char *section)
{
        const struct view_table *first = NULL;

        for (size_t i = 0; i < d->n_tables; i++) {
                const struct view_table *t = d->tables[i];

                if (!t->key || (section && strcmp(t->key, section) != 0))
                        continue;
                if (section || view_table_is_answer(t))
                        return t;
                first = first ? first : t;
        }
        return first;
}

/* Bars, and columns for people alone, are left out. */
static bool is_printed(const struct view_column *column)
{
        return column->key && column->type != VIEW_BAR;
}

static void put_titles(struct csv_writer *w, const struct view_table *t)
{
        if (t->is_tree)
                csv_writer_put_words(w, "depth");
        for (uint32_t c = 0; c < t->n_columns; c++)
                if (is_printed(&t->columns[c]))
                        csv_writer_put_words(w, t->columns[c].key);
        csv_writer_end_row(w);
}

static void put_cell(struct csv_writer *w, const struct view_document *d, enum view_type type,
                     const struct view_cell *cell)
{
        struct byte_buffer text = { .data = NULL };

        if (!cell->is_known) {
                csv_writer_put_empty(w);
                return;
        }
        switch (type) {
        case VIEW_STRING:
        case VIEW_HANDLE:
        case VIEW_PLACE:
        case VIEW_STACK:
                cell_text_add_string(&text, d, type, cell, false);
                csv_writer_put_bytes(w, text.used_bytes != 0 ? (const char *)text.data : "", text.used_bytes);
                if (text.failed && w->code == 0)
                        w->code = -ENOMEM;
                byte_buffer_deinit(&text);
                break;
        case VIEW_BOOL:
                csv_writer_put_words(w, cell->number != 0 ? "yes" : "no");
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

static void put_table(struct csv_writer *w, const struct view_document *d, const struct view_table *t,
                      const struct document_options *options)
{
        size_t first = options->n_skipped, n_rows = view_table_count(t);
        size_t n = options->n_rows_max != 0 ? options->n_rows_max : SIZE_MAX;
        size_t end = first < n_rows && n < n_rows - first ? first + n : n_rows;

        put_titles(w, t);
        for (size_t i = first * t->n_columns; i < end * t->n_columns; i++) {
                size_t c = i % t->n_columns;

                if (c == 0 && t->is_tree)
                        csv_writer_put_number(w, t->depths[i / t->n_columns]);
                if (is_printed(&t->columns[c]))
                        put_cell(w, d, t->columns[c].type, &t->cells[i]);
                if (c + 1 == t->n_columns)
                        csv_writer_end_row(w);
        }
}

/* Writes the facts, and how many rows each table leaves out. */
static void put_facts(struct csv_writer *w, const struct view_document *d)
{
        csv_writer_put_words(w, "key");
        csv_writer_put_words(w, "value");
        csv_writer_end_row(w);
        csv_writer_put_words(w, "schema");
        csv_writer_put_words(w, d->schema);
        csv_writer_end_row(w);
        for (size_t i = 0; i < d->n_facts; i++) {
                if (!d->facts[i].key)
                        continue;
                csv_writer_put_words(w, d->facts[i].key);
                put_cell(w, d, d->facts[i].type, &d->facts[i].cell);
                csv_writer_end_row(w);
        }
        for (size_t i = 0; i < d->n_tables; i++) {
                char key[80];

                if (!d->tables[i]->key)
                        continue;
                (void)snprintf(key, sizeof(key), "%s.left_out", d->tables[i]->key);
                csv_writer_put_words(w, key);
                csv_writer_put_number(w, d->tables[i]->n_left_out);
                csv_writer_end_row(w);
        }
}

static void put_warnings(struct csv_writer *w, const struct byte_buffer *lines)
{
        const char *at = (const char *)lines->data;
        size_t n_left = lines->used_bytes;

        csv_writer_put_words(w, "warning");
        csv_writer_end_row(w);
        while (n_left > 0) {
                const char *end = memchr(at, '\n', n_left);
                size_t n = end ? (size_t)(end - at) : n_left;

                csv_writer_put_bytes(w, at, n);
                csv_writer_end_row(w);
                n += end ? 1 : 0;
                at += n;
                n_left -= n;
        }
}

int document_print_csv(const struct view_document *d, const struct document_options *options, FILE *out,
                       struct error *err)
{
        const char *section = options->section;
        const struct view_table *t = find_section(d, section);
        struct csv_writer w;
        int r;

        if (d->failed)
                return error_set(err, -ENOMEM, "out of memory");
        if (!t && !section)
                return error_set(err, -ENOENT, "there is no table in this answer");
        csv_writer_init(&w, out, options->separator);
        w.is_safe = options->csv_is_safe;
        if (w.separator == '\0')
                w.separator = ',';
        if (t)
                put_table(&w, d, t, options);
        else if (strcmp(section, DOCUMENT_SECTION_FACTS) == 0)
                put_facts(&w, d);
        else
                put_warnings(&w, &d->warnings);
        r = csv_writer_finish(&w);
        csv_writer_deinit(&w);
        /* The caller detects write errors with ferror(out). */
        return r == -ENOMEM ? error_set(err, r, "out of memory") : 0;
}
