/* SPDX-License-Identifier: MIT */
#include "view/document/view_document.h"

#include "base/array.h"
#include "view/document/answer_schema.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_BYTES_MAX 63 /* of the name that a key is made of */

void view_document_init(struct view_document *d, const char *schema)
{
        *d = (struct view_document){ .schema = schema };
}

static void free_table(struct view_table *t)
{
        free(t->cells);
        free(t->depths);
        free(t->notes);
        byte_buffer_deinit(&t->about);
        free(t);
}

void view_document_deinit(struct view_document *d)
{
        for (size_t i = 0; i < d->n_tables; i++)
                free_table(d->tables[i]);
        free(d->tables);
        free(d->facts);
        for (size_t i = 0; i < d->n_keys; i++)
                free(d->keys[i]);
        free(d->keys);
        byte_buffer_deinit(&d->title);
        byte_buffer_deinit(&d->strings);
        byte_buffer_deinit(&d->warnings);
        byte_buffer_deinit(&d->hints);
        view_document_init(d, d->schema);
}

/* A name with a line break in it must not make two lines of one. */
static __attribute__((format(printf, 3, 0))) void add_line(struct view_document *d, struct byte_buffer *lines,
                                                           const char *format, va_list args)
{
        size_t n = byte_buffer_add_vformat(lines, format, args);

        for (size_t i = lines->used_bytes - n; i < lines->used_bytes; i++)
                if (lines->data[i] == '\n')
                        lines->data[i] = ' ';
        byte_buffer_add_u8(lines, '\n');
        d->failed = d->failed || lines->failed;
}

void view_document_set_title(struct view_document *d, const char *format, ...)
{
        va_list args;

        byte_buffer_clear(&d->title);
        va_start(args, format);
        (void)byte_buffer_add_vformat(&d->title, format, args);
        va_end(args);
        d->failed = d->failed || d->title.failed;
}

void view_document_warn(struct view_document *d, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        add_line(d, &d->warnings, format, args);
        va_end(args);
}

void view_document_hint(struct view_document *d, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        add_line(d, &d->hints, format, args);
        va_end(args);
}

bool view_type_is_text(enum view_type type)
{
        return type == VIEW_STRING || type == VIEW_HANDLE || type == VIEW_PLACE || type == VIEW_STACK;
}

static bool is_real(enum view_type type)
{
        return type == VIEW_SHARE || type == VIEW_CHANGE || type == VIEW_REAL || type == VIEW_BAR;
}

static bool is_number(enum view_type type)
{
        return !view_type_is_text(type) && !is_real(type) && type != VIEW_DELTA;
}

/* ------------------------------------------------------------------ facts */

static void add_fact(struct view_document *d, const struct view_fact *fact)
{
        if (array_reserve(&d->facts, &d->facts_capacity, d->n_facts + 1, sizeof(*d->facts)) < 0) {
                d->failed = true;
                return;
        }
        d->facts[d->n_facts++] = *fact;
}

static struct view_cell string_cell(struct view_document *d, struct text_view string)
{
        struct view_cell cell = {
                .is_known = true,
                .string = { .at_bytes = d->strings.used_bytes, .n_bytes = string.n_bytes },
        };

        if (string.n_bytes != 0)
                byte_buffer_add(&d->strings, string.bytes, string.n_bytes);
        if (d->strings.failed) {
                d->failed = true;
                return (struct view_cell){ .is_known = false };
        }
        return cell;
}

/* Whether a value may stand in a column. */
static bool fits(enum view_type type, const struct view_value *value)
{
        switch (value->kind) {
        case VIEW_VALUE_UNKNOWN:
                return true;
        case VIEW_VALUE_NUMBER:
                return is_number(type) && (!value->is_time || type == VIEW_COUNT);
        case VIEW_VALUE_DELTA:
                return type == VIEW_DELTA;
        case VIEW_VALUE_REAL:
                return is_real(type) && (!value->is_bytes || type == VIEW_REAL);
        case VIEW_VALUE_HANDLE:
                return type == VIEW_HANDLE;
        case VIEW_VALUE_PLACE:
                return type == VIEW_PLACE;
        case VIEW_VALUE_TEXT:
                return view_type_is_text(type) && type != VIEW_STACK;
        case VIEW_VALUE_STORED:
                return view_type_is_text(type);
        }
        return false;
}

static struct view_cell stored_cell(const struct view_document *d, const struct view_value *value)
{
        return (struct view_cell){
                .is_known = !d->failed,
                .string = { .at_bytes = value->stored.at_bytes, .n_bytes = value->stored.n_bytes },
        };
}

static struct view_cell make_cell(struct view_document *d, const struct view_value *value)
{
        struct view_value made;
        struct view_cell cell;

        switch (value->kind) {
        case VIEW_VALUE_UNKNOWN:
                break;
        case VIEW_VALUE_NUMBER:
                return (struct view_cell){ .is_known = true,
                                           .is_time = value->is_time,
                                           .number = value->number };
        case VIEW_VALUE_DELTA:
                return (struct view_cell){ .is_known = true, .delta = value->delta };
        case VIEW_VALUE_REAL:
                return (struct view_cell){ .is_known = true,
                                           .is_bytes = value->is_bytes,
                                           .real = value->real };
        case VIEW_VALUE_TEXT:
                cell = string_cell(d, value->text); /* which may have a NUL in it */
                if (value->is_cut && cell.is_known)
                        cell.string.n_bytes += view_format(d, "…").stored.n_bytes;
                return cell;
        case VIEW_VALUE_HANDLE:
                made = view_format(d, "%c%" PRIu64, value->letter, value->number);
                return stored_cell(d, &made);
        case VIEW_VALUE_PLACE:
                cell = string_cell(d, value->text);
                if (value->line != 0 && cell.is_known)
                        cell.string.n_bytes += view_format(d, ":%" PRIu32, value->line).stored.n_bytes;
                return cell;
        case VIEW_VALUE_STORED:
                return stored_cell(d, value);
        }
        return (struct view_cell){ .is_known = false };
}

struct view_value view_format(struct view_document *d, const char *format, ...)
{
        struct view_value value = { .kind = VIEW_VALUE_STORED };
        va_list args;

        value.stored.at_bytes = d->strings.used_bytes;
        va_start(args, format);
        value.stored.n_bytes = byte_buffer_add_vformat(&d->strings, format, args);
        va_end(args);
        d->failed = d->failed || d->strings.failed;
        return value;
}

struct view_value view_begin_stack(struct view_document *d)
{
        struct view_value value = { .kind = VIEW_VALUE_STORED };

        value.stored.at_bytes = d->strings.used_bytes;
        value.stored.n_bytes = 0;
        return value;
}

void view_add_frame(struct view_document *d, struct view_value *stack, struct text_view name)
{
        if (d->failed)
                return;
        assert(stack->stored.at_bytes + stack->stored.n_bytes == d->strings.used_bytes);
        byte_buffer_add(&d->strings, name.bytes, name.n_bytes);
        byte_buffer_add_u8(&d->strings, '\0');
        stack->stored.n_bytes += name.n_bytes + 1;
        d->failed = d->strings.failed;
}

void view_document_put(struct view_document *d, const char *key, const char *title, enum view_type type,
                       struct view_value value)
{
        struct view_fact fact = { .key = key, .title = title, .type = type };

        assert(d->failed || fits(type, &value));
        fact.cell = make_cell(d, &value);
        if (view_type_is_text(type) && type != VIEW_STACK)
                fact.cell.is_known = fact.cell.is_known && fact.cell.string.n_bytes != 0;
        add_fact(d, &fact);
}

void view_document_set_answer(struct view_document *d, struct text_view sentence)
{
        view_document_set_title(d, "%.*s", (int)sentence.n_bytes,
                                sentence.n_bytes != 0 ? sentence.bytes : "");
        view_document_put(d, "answer", NULL, VIEW_STRING, view_text(sentence));
}

/* ----------------------------------------------------------------- tables */

const char *view_document_make_key(struct view_document *d, const char *before, struct text_view name)
{
        static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:.";
        size_t n = name.n_bytes < KEY_BYTES_MAX ? name.n_bytes : KEY_BYTES_MAX, n_before = strlen(before);
        char *key;

        if (array_reserve(&d->keys, &d->keys_capacity, d->n_keys + 1, sizeof(*d->keys)) < 0)
                goto fail;
        key = malloc(n_before + n + 1);
        if (!key)
                goto fail;
        memcpy(key, before, n_before);
        for (size_t i = 0; i < n; i++) {
                key[n_before + i] = name.bytes[i];
                if (!memchr(fine, name.bytes[i], sizeof(fine) - 1))
                        key[n_before + i] = '_';
        }
        key[n_before + n] = '\0';
        d->keys[d->n_keys++] = key;
        return key;
fail:
        d->failed = true;
        return NULL;
}

struct view_table *view_document_add_table(struct view_document *d, const char *key, const char *title,
                                           const struct view_column *columns, uint32_t n_columns)
{
        struct view_table *t;

        assert(n_columns > 0);
        if (array_reserve(&d->tables, &d->tables_capacity, d->n_tables + 1, sizeof(struct view_table *)) < 0)
                goto fail;
        t = malloc(sizeof(*t) + n_columns * sizeof(*columns));
        if (!t)
                goto fail;
        *t = (struct view_table){ .key = key, .title = title, .n_columns = n_columns };
        memcpy(t + 1, columns, n_columns * sizeof(*columns));
        t->columns = (const struct view_column *)(const void *)(t + 1);
        d->tables[d->n_tables++] = t;
        return t;
fail:
        d->failed = true;
        return NULL;
}

struct view_table *view_document_add_part(struct view_document *d, const struct answer_part *part,
                                          const char *title)
{
        struct view_table *t = view_document_add_table(d, part->key, title, part->columns, part->n_columns);

        if (t)
                t->is_tree = part->is_tree;
        return t;
}

void view_table_set_about(struct view_document *d, struct view_table *t, const char *format, ...)
{
        va_list args;

        if (!t)
                return;
        byte_buffer_clear(&t->about);
        va_start(args, format);
        (void)byte_buffer_add_vformat(&t->about, format, args);
        va_end(args);
        d->failed = d->failed || t->about.failed;
}

void view_table_begin_row(struct view_document *d, struct view_table *t, uint32_t depth)
{
        size_t row;

        if (!t || d->failed)
                return;
        assert(t->is_tree && t->n_cells % t->n_columns == 0);
        row = view_table_count(t);
        if (array_reserve(&t->depths, &t->depths_capacity, row + 1, sizeof(*t->depths)) < 0) {
                d->failed = true;
                return;
        }
        t->depths[row] = depth;
}

/* The type of the column that the next cell belongs to. */
static enum view_type next_type(const struct view_table *t)
{
        return t->columns[t->n_cells % t->n_columns].type;
}

static void put_cell(struct view_document *d, struct view_table *t, struct view_cell cell)
{
        /*
         * A failed document may have incomplete rows, but it is not printed, and nothing more is added to
         * it.
         */
        if (d->failed)
                return;
        if (array_reserve(&t->cells, &t->cells_capacity, t->n_cells + 1, sizeof(*t->cells)) < 0) {
                d->failed = true;
                return;
        }
        assert(!t->is_tree || view_table_count(t) < t->depths_capacity);
        t->cells[t->n_cells++] = cell;
}

void view_table_put(struct view_document *d, struct view_table *t, struct view_value value)
{
        if (!t)
                return;
        assert(d->failed || fits(next_type(t), &value));
        put_cell(d, t, make_cell(d, &value));
}

void view_table_add_note(struct view_document *d, struct view_table *t, enum view_note_kind kind,
                         struct text_view words)
{
        struct view_cell cell;

        if (!t)
                return;
        assert(t->n_cells % t->n_columns == 0);
        cell = string_cell(d, words);
        if (array_reserve(&t->notes, &t->notes_capacity, t->n_notes + 1, sizeof(*t->notes)) < 0) {
                d->failed = true;
                return;
        }
        t->notes[t->n_notes++] = (struct view_note){ .kind = kind,
                                                     .row = t->n_cells / t->n_columns,
                                                     .at_bytes = cell.string.at_bytes,
                                                     .n_bytes = cell.is_known ? cell.string.n_bytes : 0 };
}

/* ------------------------------------------------------------------ the order of rows */

/* Sorting moves these items only, until the order is known. */
struct sorted_row {
        const struct view_cell *cells;
};

struct row_order {
        const struct view_document *document;
        enum view_type type;
        uint32_t column;
        bool is_reversed;
};

static struct text_view text_of(const struct view_document *d, const struct view_cell *cell)
{
        if (!cell->is_known || cell->string.n_bytes == 0)
                return (struct text_view){ .bytes = "", .n_bytes = 0 };
        return (struct text_view){ (const char *)d->strings.data + cell->string.at_bytes,
                                   cell->string.n_bytes };
}

static int compare_texts(struct text_view a, struct text_view b)
{
        int r = memcmp(a.bytes, b.bytes, a.n_bytes < b.n_bytes ? a.n_bytes : b.n_bytes);

        return r != 0 ? r : (a.n_bytes > b.n_bytes) - (a.n_bytes < b.n_bytes);
}

static int compare_cells(const struct row_order *order, const struct view_cell *a, const struct view_cell *b)
{
        if (view_type_is_text(order->type))
                return compare_texts(text_of(order->document, a), text_of(order->document, b));
        if (is_real(order->type))
                return (a->real < b->real) - (a->real > b->real);
        if (order->type == VIEW_DELTA)
                return (a->delta < b->delta) - (a->delta > b->delta);
        return (a->number < b->number) - (a->number > b->number);
}

static int compare_rows(const void *left, const void *right, void *context)
{
        const struct sorted_row *x = left, *y = right;
        const struct row_order *order = context;
        const struct view_cell *a = x->cells + order->column, *b = y->cells + order->column;
        int r;

        if (a->is_known != b->is_known)
                return a->is_known ? -1 : 1;
        r = a->is_known ? compare_cells(order, a, b) : 0;
        if (r != 0)
                return order->is_reversed ? -r : r;
        return a < b ? -1 : a > b;
}

void view_table_sort(struct view_document *d, struct view_table *t, uint32_t column, bool is_reversed)
{
        struct sorted_row *rows;
        struct row_order order;
        struct view_cell *cells;
        size_t n_rows;

        if (!t || d->failed || t->n_cells == 0)
                return;
        assert(!t->is_tree && t->n_notes == 0 && column < t->n_columns);
        n_rows = view_table_count(t);
        order = (struct row_order){ d, t->columns[column].type, column, is_reversed };
        rows = malloc(n_rows * sizeof(*rows));
        cells = malloc(t->n_cells * sizeof(*cells));
        d->failed = !rows || !cells;
        if (!d->failed) {
                memcpy(cells, t->cells, t->n_cells * sizeof(*cells));
                for (size_t i = 0; i < n_rows; i++)
                        rows[i].cells = &cells[i * t->n_columns];
                qsort_r(rows, n_rows, sizeof(*rows), compare_rows, &order);
                for (size_t i = 0; i < n_rows; i++)
                        memcpy(&t->cells[i * t->n_columns], rows[i].cells, t->n_columns * sizeof(*cells));
        }
        free(cells);
        free(rows);
}

static bool holds_words(struct text_view text, const char *words)
{
        size_t n = strlen(words);

        for (size_t i = 0; i + n <= text.n_bytes; i++)
                if (strncasecmp(text.bytes + i, words, n) == 0)
                        return true;
        return false;
}

static bool is_row_wanted(const struct view_document *d, const struct view_table *t,
                          const struct view_cell *cells, const char *words)
{
        for (uint32_t c = 0; c < t->n_columns; c++)
                if (t->columns[c].title && view_type_is_text(t->columns[c].type) &&
                    holds_words(text_of(d, &cells[c]), words))
                        return true;
        return false;
}

void view_table_filter(const struct view_document *d, struct view_table *t, const char *words)
{
        size_t n_cells = 0;

        if (!t || d->failed)
                return;
        assert(!t->is_tree && t->n_notes == 0);
        for (size_t i = 0; i < t->n_cells; i += t->n_columns) {
                if (!is_row_wanted(d, t, &t->cells[i], words))
                        continue;
                memmove(&t->cells[n_cells], &t->cells[i], t->n_columns * sizeof(*t->cells));
                n_cells += t->n_columns;
        }
        t->n_cells = n_cells;
}

void view_table_cut(struct view_table *t, size_t n_rows)
{
        if (!t || view_table_count(t) <= n_rows)
                return;
        t->n_left_out += view_table_count(t) - n_rows;
        t->n_cells = n_rows * t->n_columns;
}

/* ------------------------------------------------------------------ as people see it */

bool view_table_is_shown(const struct view_table *t)
{
        return t->title && (!t->is_hidden_if_empty || t->n_cells != 0 || t->n_left_out != 0);
}

bool view_table_is_answer(const struct view_table *t)
{
        return t->title != NULL;
}

static bool is_column_shown(const struct view_table *t, uint32_t column)
{
        if (!t->columns[column].title)
                return false;
        if (!t->columns[column].is_optional && (t->optional_from == 0 || column < t->optional_from))
                return true;
        for (size_t i = column; i < t->n_cells; i += t->n_columns)
                if (t->cells[i].is_known)
                        return true;
        return false;
}

int view_table_pack(const struct view_table *t, struct view_table *ret)
{
        const size_t cells_bytes = t->n_cells * sizeof(*t->cells);
        struct view_cell *cells = calloc(1, cells_bytes +
                                                    t->n_columns * (sizeof(*t->columns) + sizeof(bool)) + 1);
        struct view_column *columns;
        uint32_t n_columns = 0;
        size_t n_cells = 0;
        bool *is_shown;

        if (!cells)
                return -ENOMEM;
        columns = (struct view_column *)(cells + t->n_cells);
        is_shown = (bool *)(columns + t->n_columns);
        for (uint32_t c = 0; c < t->n_columns; c++) {
                is_shown[c] = is_column_shown(t, c);
                if (is_shown[c])
                        columns[n_columns++] = t->columns[c];
        }
        for (size_t row = 0; row < t->n_cells; row += t->n_columns)
                for (uint32_t c = 0; c < t->n_columns; c++)
                        if (is_shown[c])
                                cells[n_cells++] = t->cells[row + c];
        *ret = *t;
        ret->columns = columns;
        ret->n_columns = n_columns;
        ret->cells = cells;
        ret->n_cells = n_cells;
        return 0;
}

void view_table_unpack(struct view_table *packed)
{
        free(packed->cells);
}
