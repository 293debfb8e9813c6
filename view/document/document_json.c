/* SPDX-License-Identifier: MIT */
/*
 * Rows go through jansson one at a time, so a table of millions of rows needs no more memory than the
 * document already has.  Where the size is bounded, rows are measured up to the bound before they are
 * printed.
 */
#include "view/document/cell_text.h"
#include "view/document/document_format.h"
#include "view/document/json_value.h"
#include "view/document/view_document.h"
#include "view/text/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_FLAGS (JSON_PRESERVE_ORDER | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))

static json_t *pack_stack(struct text_view stack)
{
        json_t *list = json_array();

        while (list && stack.n_bytes != 0)
                if (json_array_append_new(list, json_value_string(cell_text_next_frame(&stack))) < 0) {
                        json_decref(list);
                        list = NULL;
                }
        return list;
}

static json_t *pack_cell(const struct view_document *d, enum view_type type, const struct view_cell *cell)
{
        if (!cell->is_known)
                return json_null();
        switch (type) {
        case VIEW_STRING:
        case VIEW_HANDLE:
        case VIEW_PLACE:
                return json_value_string(cell_text_string(d, cell));
        case VIEW_STACK:
                return pack_stack(cell_text_string(d, cell));
        case VIEW_BOOL:
                return json_boolean(cell->number != 0);
        case VIEW_COUNT:
        case VIEW_ID:
        case VIEW_DURATION:
        case VIEW_TIME:
        case VIEW_BYTES:
                return json_value_number(cell->number);
        case VIEW_DELTA:
                return json_integer(cell->delta);
        case VIEW_SHARE:
        case VIEW_CHANGE:
        case VIEW_REAL:
        case VIEW_BAR:
                break;
        }
        return isfinite(cell->real) ? json_real(cell->real) : json_null();
}

/* Where a value goes, and how long it is. */
struct sink {
        FILE *out; /* NULL = it is only measured */
        size_t n_bytes;
};

static void put(struct sink *sink, const char *bytes, size_t n_bytes)
{
        if (sink->out)
                (void)fwrite(bytes, 1, n_bytes, sink->out);
        sink->n_bytes += n_bytes;
}

/* Escapes what a terminal would not show as a character: jansson does that for ASCII alone. */
static int put_safely(const char *bytes, size_t n_bytes, void *context)
{
        struct sink *sink = context;
        size_t begin = 0, at = 0;

        while (at < n_bytes) {
                char escape[UTF8_ESCAPE_BYTES];
                uint32_t character = 0;
                size_t length = (unsigned char)bytes[at] < 0x80
                                        ? 0
                                        : utf8_decode(bytes + at, n_bytes - at, &character);

                if (length > 0 && !utf8_is_safe(character)) {
                        put(sink, bytes + begin, at - begin);
                        put(sink, escape, utf8_escape_json(character, escape));
                        begin = at + length;
                }
                at += length > 0 ? length : 1;
        }
        put(sink, bytes + begin, n_bytes - begin);
        return 0;
}

/* Writes a value and releases it.  Returns 0 or -ENOMEM. */
static int dump(json_t *json, FILE *out)
{
        struct sink sink = { .out = out };
        int r = json ? json_dump_callback(json, put_safely, &sink, DUMP_FLAGS) : -1;

        json_decref(json);
        /* The caller checks for write errors. */
        return r < 0 && (!json || !ferror(out)) ? -ENOMEM : 0;
}

static int dump_key(const char *key, FILE *out)
{
        int r;

        (void)fputs(",\n  ", out);
        r = dump(json_string(key), out);
        (void)fputs(": ", out);
        return r;
}

static int print_facts(const struct view_document *d, FILE *out)
{
        for (size_t i = 0; i < d->n_facts; i++) {
                int r;

                if (!d->facts[i].key)
                        continue;
                r = dump_key(d->facts[i].key, out);
                if (r == 0)
                        r = dump(pack_cell(d, d->facts[i].type, &d->facts[i].cell), out);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_lines(const char *key, const struct byte_buffer *lines, FILE *out)
{
        const char *at = (const char *)lines->data;
        size_t n_left = lines->used_bytes;
        json_t *list = json_array();
        int r;

        while (list && n_left > 0) {
                const char *end = memchr(at, '\n', n_left);
                size_t n = end ? (size_t)(end - at) : n_left;

                if (json_array_append_new(list, json_value_string((struct text_view){ at, n })) < 0) {
                        json_decref(list);
                        list = NULL;
                }
                n += end ? 1 : 0;
                at += n;
                n_left -= n;
        }
        r = dump_key(key, out);
        if (r < 0) {
                json_decref(list);
                return r;
        }
        return dump(list, out);
}

static json_t *pack_row(const struct view_document *d, const struct view_table *t, size_t row)
{
        const struct view_cell *cells = &t->cells[row * t->n_columns];
        json_t *object = json_object();

        if (!object)
                return NULL;
        if (t->is_tree && json_object_set_new(object, "depth", json_integer(t->depths[row])) < 0)
                goto fail;
        for (uint32_t c = 0; c < t->n_columns; c++)
                if (t->columns[c].key && json_object_set_new(object, t->columns[c].key,
                                                             pack_cell(d, t->columns[c].type, &cells[c])) < 0)
                        goto fail;
        return object;
fail:
        json_decref(object);
        return NULL;
}

/* The rows of a table that are printed. */
struct shown {
        size_t first, end;
        bool is_beside; /* another table was asked for: this one gets no rows, and no cursor */
};

static int print_count(const char *before, uint64_t number, FILE *out)
{
        (void)fputs(before, out);
        return dump(json_value_number(number), out);
}

static int print_table(const struct view_document *d, const struct view_table *t, const struct shown *shown,
                       FILE *out)
{
        struct text_view about = { (const char *)t->about.data, t->about.used_bytes };
        uint64_t n_rows = view_table_count(t) + t->n_left_out;
        int r = dump_key(t->key, out);

        if (r < 0)
                return r;
        (void)fputs("{\n    \"about\": ", out);
        r = dump(about.n_bytes != 0 ? json_value_string(about) : json_null(), out);
        (void)fputs(",\n    \"rows\": [", out);
        for (size_t i = shown->first; i < shown->end && r == 0; i++) {
                (void)fputs(i != shown->first ? ",\n      " : "\n      ", out);
                r = dump(pack_row(d, t, i), out);
        }
        (void)fputs(shown->first < shown->end ? "\n    ]" : "]", out);
        if (r == 0)
                r = print_count(",\n    \"n_rows\": ", n_rows, out);
        if (r == 0)
                r = print_count(",\n    \"left_out\": ", n_rows - shown->end, out);
        if (r == 0 && !shown->is_beside && shown->end < view_table_count(t))
                r = print_count(",\n    \"next\": ", shown->end, out);
        else
                (void)fputs(",\n    \"next\": null", out);
        (void)fputs("\n  }", out);
        return r;
}

static int print_all(const struct view_document *d, const struct shown *shown, FILE *out)
{
        int r;

        (void)fputs("{\n  \"schema\": ", out);
        r = dump(json_string(d->schema), out);
        if (r == 0)
                r = print_facts(d, out);
        if (r == 0)
                r = print_lines("warnings", &d->warnings, out);
        for (size_t i = 0; i < d->n_tables && r == 0; i++)
                if (d->tables[i]->key)
                        r = print_table(d, d->tables[i], &shown[i], out);
        if (r == 0)
                r = print_lines("hints", &d->hints, out);
        (void)fputs("\n}\n", out);
        return r;
}

/* ------------------------------------------------------------------ the bound */

#define CURSOR_DIGITS 9 /* that "next" may have beside its first */
#define ROW_MARKS     8 /* bytes around a row: ",\n      " */

/*
 * Counts the first rows that take @budget bytes at most together, but counts at least one.
 * @ret_bytes:  the bytes that they take; more than @budget if not all rows fit
 * Returns their end.
 */
static size_t fit_rows(const struct view_document *d, const struct view_table *t, struct shown shown,
                       size_t budget, size_t *ret_bytes)
{
        size_t n_bytes = 0;

        for (size_t i = shown.first; i < shown.end; i++) {
                json_t *row = pack_row(d, t, i);
                struct sink sink = { .out = NULL };

                if (row && json_dump_callback(row, put_safely, &sink, DUMP_FLAGS) == 0)
                        n_bytes += sink.n_bytes + ROW_MARKS;
                json_decref(row);
                if (n_bytes > budget) {
                        *ret_bytes = n_bytes;
                        return i > shown.first ? i : i + 1;
                }
        }
        *ret_bytes = n_bytes;
        return shown.end;
}

/* The size of the document without any row.  Returns 0 or -ENOMEM. */
static int measure_rest(const struct view_document *d, size_t *ret_bytes)
{
        struct shown *none = calloc(d->n_tables + 1, sizeof(*none));
        char *text = NULL;
        FILE *out = none ? open_memstream(&text, ret_bytes) : NULL;
        int r = out ? print_all(d, none, out) : -ENOMEM;

        if (out && fclose(out) != 0)
                r = -ENOMEM;
        *ret_bytes += d->n_tables * CURSOR_DIGITS;
        free(text);
        free(none);
        return r;
}

/*
 * Cuts tables from their ends until the document has n_bytes_max.  Each table has an equal part of the room:
 * tables that need less stay whole, and the others share the room that these leave.
 */
static int cut_tables(const struct view_document *d, const struct document_options *options,
                      struct shown *shown)
{
        bool *is_settled = calloc(d->n_tables + 1, sizeof(*is_settled));
        size_t rest_bytes = 0, n_open = 0, left, part, n_bytes;
        bool has_changed = true;
        int r = is_settled ? measure_rest(d, &rest_bytes) : -ENOMEM;

        left = rest_bytes < options->n_bytes_max ? options->n_bytes_max - rest_bytes : 0;
        for (size_t i = 0; i < d->n_tables && r == 0; i++) {
                is_settled[i] = !d->tables[i]->key || shown[i].first >= shown[i].end;
                n_open += !is_settled[i];
        }
        while (r == 0 && has_changed && n_open != 0) {
                has_changed = false;
                part = left / n_open;
                for (size_t i = 0; i < d->n_tables; i++) {
                        if (is_settled[i])
                                continue;
                        (void)fit_rows(d, d->tables[i], shown[i], part, &n_bytes);
                        if (n_bytes > part)
                                continue;
                        is_settled[i] = has_changed = true;
                        left -= n_bytes;
                        n_open--;
                }
        }
        for (size_t i = 0; i < d->n_tables && r == 0; i++)
                if (!is_settled[i])
                        shown[i].end = fit_rows(d, d->tables[i], shown[i], left / n_open, &n_bytes);
        free(is_settled);
        return r;
}

int document_print_json(const struct view_document *d, const struct document_options *options, FILE *out)
{
        struct shown *shown = d->failed ? NULL : calloc(d->n_tables + 1, sizeof(*shown));
        int r = shown ? 0 : -ENOMEM;

        for (size_t i = 0; i < d->n_tables && r == 0; i++) {
                const struct view_table *t = d->tables[i];
                size_t n_rows = view_table_count(t);

                shown[i].first = options->n_skipped < n_rows ? options->n_skipped : n_rows;
                shown[i].end = options->n_rows_max != 0 && options->n_rows_max < n_rows - shown[i].first
                                       ? shown[i].first + options->n_rows_max
                                       : n_rows;
                if (options->section && t->key && strcmp(options->section, t->key) != 0)
                        shown[i] = (struct shown){ .is_beside = true };
        }
        if (r == 0 && options->n_bytes_max != 0)
                r = cut_tables(d, options, shown);
        if (r == 0)
                r = print_all(d, shown, out);
        free(shown);
        return r;
}
