/* SPDX-License-Identifier: MIT */
/*
 * Rows go through jansson one at a time, so a table of millions of rows needs no more memory than the
 * document already has.
 */
#include "view/document/cell_text.h"
#include "view/document/document_format.h"
#include "view/document/json_value.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
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

/* Writes a value and lets it go.  Returns 0 or -ENOMEM. */
static int dump(json_t *json, FILE *out)
{
        int r = json ? json_dumpf(json, out, DUMP_FLAGS) : -1;

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
                if (json_object_set_new(object, t->columns[c].key,
                                        pack_cell(d, t->columns[c].type, &cells[c])) < 0)
                        goto fail;
        return object;
fail:
        json_decref(object);
        return NULL;
}

static int print_table(const struct view_document *d, const struct view_table *t, FILE *out)
{
        struct text_view about = { (const char *)t->about.data, t->about.used_bytes };
        size_t n_rows = view_table_count(t);
        int r = dump_key(t->key, out);

        if (r < 0)
                return r;
        (void)fputs("{\n    \"about\": ", out);
        r = dump(about.n_bytes != 0 ? json_value_string(about) : json_null(), out);
        (void)fputs(",\n    \"rows\": [", out);
        for (size_t i = 0; i < n_rows && r == 0; i++) {
                (void)fputs(i != 0 ? ",\n      " : "\n      ", out);
                r = dump(pack_row(d, t, i), out);
        }
        if (r < 0)
                return r;
        (void)fputs(n_rows != 0 ? "\n    ],\n    \"left_out\": " : "],\n    \"left_out\": ", out);
        r = dump(json_value_number(t->n_left_out), out);
        (void)fputs("\n  }", out);
        return r;
}

int document_print_json(const struct view_document *d, FILE *out)
{
        int r;

        if (d->failed)
                return -ENOMEM;
        (void)fputs("{\n  \"schema\": ", out);
        r = dump(json_string(d->schema), out);
        if (r != 0)
                goto done;
        r = print_facts(d, out);
        if (r != 0)
                goto done;
        r = print_lines("warnings", &d->warnings, out);
        if (r != 0)
                goto done;
        for (size_t i = 0; i < d->n_tables && r == 0; i++)
                if (d->tables[i]->key)
                        r = print_table(d, d->tables[i], out);
        if (r != 0)
                goto done;
        r = print_lines("hints", &d->hints, out);

done:
        (void)fputs("\n}\n", out);
        return r;
}
