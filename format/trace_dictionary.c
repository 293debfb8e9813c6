/* SPDX-License-Identifier: MIT */
#include "format/trace_dictionary.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/saturating.h"
#include "format/trace_column.h"
#include "format/trace_schema.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STRING_BYTES_PER_ROW 16 /* the limit for bytes of strings is this many times the limit for rows */
#define FIELDS_MAX           16
#define ROWS_PER_BODY        (UINT32_C(1) << 18) /* keeps a body of numbers far below the limit */
#define STRING_BYTES_MAX     (TRACE_CHUNK_RAW_MAX - (UINT32_C(1) << 16))

/* The two columns of the table STRINGS. */
enum { STRING_COLUMN_LENGTHS = 1, STRING_COLUMN_BYTES = 2 };

static size_t index_of(enum trace_table table)
{
        assert(table >= TRACE_TABLE_FIRST && table < TRACE_TABLE_FIRST + TRACE_TABLE_COUNT);
        return (size_t)table - TRACE_TABLE_FIRST;
}

void trace_dictionary_init(struct trace_dictionary *d, uint32_t n_rows_max)
{
        memset(d, 0, sizeof(*d));
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                intern_init(&d->tables[i], trace_schema_find((uint32_t)i + TRACE_TABLE_FIRST)->row_bytes,
                            n_rows_max);
        d->tables[index_of(TRACE_TABLE_STRINGS)].items_bytes_max = (size_t)n_rows_max * STRING_BYTES_PER_ROW;
}

void trace_dictionary_deinit(struct trace_dictionary *d)
{
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                intern_deinit(&d->tables[i]);
        free(d->passing);
        d->passing = NULL;
        d->n_passing = d->passing_capacity = 0;
}

int trace_dictionary_add(struct trace_dictionary *d, enum trace_table table, const void *row,
                         uint32_t *ret_id)
{
        struct intern *t = &d->tables[index_of(table)];
        const struct trace_schema *schema = trace_schema_find(table);
        int r;

        assert(table != TRACE_TABLE_STRINGS);
        if (schema->interned) {
                r = intern_add(t, row, schema->row_bytes, ret_id);
                return r < 0 ? r : 0;
        }
        r = intern_append(t, row, schema->row_bytes);
        if (r == 0)
                *ret_id = t->n_items;
        return r;
}

int trace_dictionary_add_new(struct trace_dictionary *d, enum trace_table table, const void *row,
                             uint32_t *ret_id)
{
        int r = intern_add_new(&d->tables[index_of(table)], row, trace_schema_find(table)->row_bytes, ret_id);

        return r < 0 ? r : 0;
}

int trace_dictionary_append_new(struct trace_dictionary *d, enum trace_table table, const void *row,
                                uint32_t *ret_id)
{
        struct intern *t = &d->tables[index_of(table)];
        uint32_t n_forgotten = d->n_forgotten[index_of(table)];
        uint64_t n_gone = (uint64_t)n_forgotten + d->n_dropped[index_of(table)]; /* readers have them all */
        int r = n_gone < INTERN_ITEMS_MAX - t->n_items
                        ? intern_append(t, row, trace_schema_find(table)->row_bytes)
                        : -EOVERFLOW;

        if (r == 0)
                *ret_id = n_forgotten + t->n_items;
        return r;
}

int trace_dictionary_add_string(struct trace_dictionary *d, const void *text, size_t text_bytes,
                                uint32_t *ret_id)
{
        int r;

        if (text_bytes > STRING_BYTES_MAX)
                return -EOVERFLOW;
        r = intern_add(&d->tables[index_of(TRACE_TABLE_STRINGS)], text, text_bytes, ret_id);
        return r < 0 ? r : 0;
}

static int add_passing(struct trace_dictionary *d, uint32_t id)
{
        struct trace_row_range *last = d->n_passing > 0 ? &d->passing[d->n_passing - 1] : NULL;

        if (last && last->first_id + last->n_rows == id) {
                last->n_rows++;
                return 0;
        }
        if (array_reserve(&d->passing, &d->passing_capacity, d->n_passing + 1, sizeof(*d->passing)) < 0)
                return -ENOMEM;
        d->passing[d->n_passing++] = (struct trace_row_range){ id, 1 };
        return 0;
}

int trace_dictionary_pass_string(struct trace_dictionary *d, const void *text, size_t text_bytes,
                                 uint32_t *ret_id)
{
        struct intern *t = &d->tables[index_of(TRACE_TABLE_STRINGS)];
        int r;

        assert(text_bytes > 0);
        *ret_id = intern_find(t, text, text_bytes);
        if (*ret_id != 0)
                return 0;
        if (text_bytes > STRING_BYTES_MAX)
                return -EOVERFLOW;
        r = intern_append(t, text, text_bytes);
        if (r < 0)
                return r;
        *ret_id = t->n_items;
        return add_passing(d, t->n_items);
}

void trace_dictionary_forget_passed(struct trace_dictionary *d)
{
        assert(d->n_passing == 0 ||
               d->passing[d->n_passing - 1].first_id + d->passing[d->n_passing - 1].n_rows <=
                       d->n_encoded[index_of(TRACE_TABLE_STRINGS)] + 1);
        for (size_t i = 0; i < d->n_passing; i++)
                intern_empty(&d->tables[index_of(TRACE_TABLE_STRINGS)], d->passing[i].first_id,
                             d->passing[i].n_rows);
        d->n_passing = 0;
}

/* Adds a string if it leaves one @share-th of the room for others; a known string is always found. */
static int add_within(struct trace_dictionary *d, unsigned share, const void *text, size_t text_bytes,
                      uint32_t *ret_id)
{
        const struct intern *t = &d->tables[index_of(TRACE_TABLE_STRINGS)];
        size_t bytes_max = t->items_bytes_max - t->items_bytes_max / share;
        uint32_t id = intern_find(t, text, text_bytes);

        if (id != 0) {
                *ret_id = id;
                return 0;
        }
        if (t->n_items >= t->n_items_max - t->n_items_max / share)
                return -EOVERFLOW;
        if (t->items_bytes_max != 0 &&
            (t->items_used_bytes > bytes_max || text_bytes > bytes_max - t->items_used_bytes))
                return -EOVERFLOW;
        return trace_dictionary_add_string(d, text, text_bytes, ret_id);
}

int trace_dictionary_add_program_string(struct trace_dictionary *d, const void *text, size_t text_bytes,
                                        uint32_t *ret_id)
{
        return add_within(d, 2, text, text_bytes, ret_id);
}

int trace_dictionary_add_path(struct trace_dictionary *d, const void *path, size_t path_bytes,
                              uint32_t *ret_id)
{
        return add_within(d, 4, path, path_bytes, ret_id);
}

void trace_dictionary_lift_limits(struct trace_dictionary *d)
{
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                d->tables[i].n_items_max = INTERN_ITEMS_MAX;
        d->tables[index_of(TRACE_TABLE_STRINGS)].items_bytes_max = 0;
}

uint32_t trace_dictionary_count(const struct trace_dictionary *d, enum trace_table table)
{
        return d->n_forgotten[index_of(table)] + d->tables[index_of(table)].n_items;
}

uint32_t trace_dictionary_count_left(const struct trace_dictionary *d, enum trace_table table)
{
        const struct intern *t = &d->tables[index_of(table)];

        return t->n_items < t->n_items_max ? t->n_items_max - t->n_items : 0;
}

const void *trace_dictionary_row(const struct trace_dictionary *d, enum trace_table table, uint32_t id)
{
        return intern_get(&d->tables[index_of(table)], id - d->n_forgotten[index_of(table)], NULL);
}

void trace_dictionary_rename_symbol(struct trace_dictionary *d, uint32_t id, uint32_t name)
{
        struct intern *table = &d->tables[index_of(TRACE_TABLE_SYMBOLS)];
        struct trace_symbol *row = (struct trace_symbol *)(void *)table->items + (id - 1);

        assert(id >= 1 && id <= table->n_items);
        if (row->plain_name == 0)
                row->plain_name = row->function;
        row->function = name;
        if (row->function == row->plain_name)
                row->plain_name = 0;
}

uint32_t trace_dictionary_next_symbol(const struct trace_dictionary *d, uint32_t id)
{
        const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, id), *next;

        if (!(row->flags & TRACE_SYMBOL_INLINED) || id == trace_dictionary_count(d, TRACE_TABLE_SYMBOLS))
                return 0;
        next = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, id + 1);
        return next->frame == row->frame ? id + 1 : 0;
}

uint32_t *trace_dictionary_find_symbols(const struct trace_dictionary *d)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS), next = 0;
        uint32_t *first = calloc((size_t)trace_dictionary_count(d, TRACE_TABLE_FRAMES) + 1, sizeof(*first));

        for (uint32_t id = 1; first && id <= n; id++) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, id);

                if (id != next)
                        first[row->frame] = id;
                next = trace_dictionary_next_symbol(d, id);
        }
        return first;
}

bool trace_dictionary_has_notice(const struct trace_dictionary *d, enum trace_notice_id notice)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_NOTICES); i++) {
                const struct trace_notice *row = trace_dictionary_row(d, TRACE_TABLE_NOTICES, i);

                if (row->notice == notice)
                        return true;
        }
        return false;
}

uint64_t trace_dictionary_loss_count(const struct trace_dictionary *d, enum trace_loss_reason reason)
{
        uint64_t n = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_LOSSES); i++) {
                const struct trace_loss *row = trace_dictionary_row(d, TRACE_TABLE_LOSSES, i);

                if (row->reason == reason)
                        n = saturating_add(n, row->count);
        }
        return n;
}

const char *trace_dictionary_string(const struct trace_dictionary *d, uint32_t id, size_t *ret_bytes)
{
        if (id == 0) {
                *ret_bytes = 0;
                return "";
        }
        return intern_get(&d->tables[index_of(TRACE_TABLE_STRINGS)], id, ret_bytes);
}

/* ---- encoding ------------------------------------------------------------------------------------------ */

static void add_column_list(struct byte_buffer *body, const struct byte_buffer *columns, const uint32_t *ids,
                            uint32_t n_columns)
{
        byte_buffer_add_varint(body, n_columns);
        for (uint32_t i = 0; i < n_columns; i++) {
                byte_buffer_add_varint(body, ids[i]);
                byte_buffer_add_varint(body, columns[i].used_bytes);
        }
        for (uint32_t i = 0; i < n_columns; i++)
                byte_buffer_add(body, columns[i].data, columns[i].used_bytes);
}

static uint32_t encode_strings(const struct intern *t, uint32_t first_id, struct byte_buffer columns[2])
{
        uint32_t n = 0;

        while (first_id + n <= t->n_items && n < ROWS_PER_BODY) {
                size_t n_bytes;
                const void *bytes = intern_get(t, first_id + n, &n_bytes);

                if (n > 0 && columns[1].used_bytes + n_bytes > STRING_BYTES_MAX / 2)
                        break;
                byte_buffer_add_varint(&columns[0], n_bytes);
                byte_buffer_add(&columns[1], bytes, n_bytes);
                n++;
        }
        return n;
}

static uint32_t encode_rows(const struct intern *t, uint32_t first_id, const struct trace_schema *schema,
                            struct byte_buffer *columns)
{
        uint32_t n = t->n_items - first_id + 1;

        if (n > ROWS_PER_BODY)
                n = ROWS_PER_BODY;
        for (uint32_t f = 0; f < schema->n_fields; f++) {
                const struct trace_field *field = &schema->fields[f];
                uint64_t previous = 0;

                for (uint32_t i = 0; i < n; i++)
                        trace_column_add(&columns[f], field->encoding, &previous,
                                         trace_field_get(field, intern_get(t, first_id + i, NULL)));
        }
        return n;
}

int trace_dictionary_encode(struct trace_dictionary *d, enum trace_table table, struct byte_buffer *body,
                            uint32_t *ret_n_rows)
{
        const struct trace_schema *schema = trace_schema_find(table);
        struct intern *t = &d->tables[index_of(table)];
        uint32_t first_id = d->n_encoded[index_of(table)] + 1;
        uint32_t first = first_id - d->n_forgotten[index_of(table)] - d->n_dropped[index_of(table)];
        struct byte_buffer columns[FIELDS_MAX] = { { .data = NULL } };
        uint32_t ids[FIELDS_MAX] = { STRING_COLUMN_LENGTHS, STRING_COLUMN_BYTES };
        uint32_t n_columns = table == TRACE_TABLE_STRINGS ? 2 : schema->n_fields;
        bool failed = false;
        uint32_t n;

        if (first > t->n_items) {
                *ret_n_rows = 0;
                return 0;
        }
        if (table == TRACE_TABLE_STRINGS) {
                n = encode_strings(t, first, columns);
        } else {
                n = encode_rows(t, first, schema, columns);
                for (uint32_t f = 0; f < schema->n_fields; f++)
                        ids[f] = schema->fields[f].column;
        }
        byte_buffer_add_varint(body, first_id);
        byte_buffer_add_varint(body, n);
        add_column_list(body, columns, ids, n_columns);

        for (uint32_t f = 0; f < n_columns; f++) {
                failed = failed || columns[f].failed;
                byte_buffer_deinit(&columns[f]);
        }
        if (failed || body->failed)
                return -ENOMEM;
        d->n_encoded[index_of(table)] += n;
        *ret_n_rows = n;
        return 0;
}

uint64_t trace_dictionary_count_new(const struct trace_dictionary *d)
{
        uint64_t n = 0;

        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                n += d->tables[i].n_items + d->n_forgotten[i] + d->n_dropped[i] - d->n_encoded[i];
        return n;
}

const char *trace_dictionary_find_full(const struct trace_dictionary *d)
{
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                if (d->tables[i].n_items >= d->tables[i].n_items_max)
                        return trace_schema_find((uint32_t)i + TRACE_TABLE_FIRST)->name;
        return NULL;
}

void trace_dictionary_keep_last(struct trace_dictionary *d, enum trace_table table, uint32_t n_rows)
{
        struct intern *t = &d->tables[index_of(table)];
        size_t n_bytes = (size_t)n_rows * t->item_bytes;

        assert(table != TRACE_TABLE_STRINGS && !trace_schema_find(table)->interned);
        assert(d->n_encoded[index_of(table)] == 0);
        if (n_rows >= t->n_items)
                return;
        memmove(t->items, t->items + t->items_used_bytes - n_bytes, n_bytes);
        t->items_used_bytes = n_bytes;
        t->n_items = n_rows;
}

/* How many of the rows in memory were encoded. */
static uint32_t count_encoded(const struct trace_dictionary *d, size_t at)
{
        return d->n_encoded[at] - d->n_forgotten[at] - d->n_dropped[at];
}

/* Leaves out the first rows in memory but @n_kept of them, which lie first already. */
static void leave_out(struct intern *t, uint32_t n_first, uint32_t n_kept)
{
        size_t n_bytes = (size_t)(t->n_items - n_first) * t->item_bytes;

        assert(t->item_bytes != 0 && t->n_hashed == 0);
        if (n_bytes > 0)
                memmove(t->items + n_kept * t->item_bytes, t->items + n_first * t->item_bytes, n_bytes);
        t->n_items -= n_first - n_kept;
        t->items_used_bytes = t->n_items * t->item_bytes;
}

void trace_dictionary_forget(struct trace_dictionary *d, enum trace_table table)
{
        size_t at = index_of(table);
        uint32_t n = count_encoded(d, at);

        leave_out(&d->tables[at], n, 0);
        d->n_forgotten[at] += n;
}

uint32_t trace_dictionary_drop(struct trace_dictionary *d, enum trace_table table,
                               bool (*keeps)(void *context, const void *row), void *context)
{
        size_t at = index_of(table), item_bytes = d->tables[at].item_bytes;
        uint32_t n = count_encoded(d, at), n_kept = 0;
        uint8_t *items = d->tables[at].items;

        for (uint32_t i = 0; i < n; i++) {
                if (!keeps(context, items + i * item_bytes))
                        continue;
                if (n_kept < i)
                        memcpy(items + n_kept * item_bytes, items + i * item_bytes, item_bytes);
                n_kept++;
        }
        leave_out(&d->tables[at], n, n_kept);
        d->n_dropped[at] += n - n_kept;
        return n_kept;
}

void trace_dictionary_lower_losses(struct trace_dictionary *d, enum trace_loss_reason reason, uint64_t count)
{
        struct intern *t = &d->tables[index_of(TRACE_TABLE_LOSSES)];

        d->n_encoded[index_of(TRACE_TABLE_LOSSES)] = 0;
        for (uint32_t i = 0; i < t->n_items; i++) {
                struct trace_loss *row = (struct trace_loss *)(void *)t->items + i;
                uint64_t n = row->count < count ? row->count : count;

                if (row->reason != reason)
                        continue;
                row->count -= n;
                count -= n;
        }
}

void trace_dictionary_mark_encoded(struct trace_dictionary *d)
{
        for (size_t i = 0; i < TRACE_TABLE_COUNT; i++)
                d->n_encoded[i] = d->tables[i].n_items + d->n_forgotten[i] + d->n_dropped[i];
}

/* ---- decoding ------------------------------------------------------------------------------------------ */

/* The contents of one body while it is read. */
struct incoming {
        const struct trace_schema *schema;
        uint32_t first_id;
        uint32_t n_rows;
        struct byte_reader columns[FIELDS_MAX];
        bool seen[FIELDS_MAX];
};

static int find_columns(struct incoming *in, struct trace_column_list *list, struct error *err)
{
        uint32_t n_known = in->schema->n_fields ? in->schema->n_fields : 2;
        struct trace_column_entry entry;
        int r;

        while ((r = trace_column_list_next(list, &entry, err)) == 1) {
                if (entry.column < 1 || entry.column > n_known)
                        continue;
                if (in->seen[entry.column - 1])
                        return error_set(err, -EBADMSG, "column %" PRIu64 " appears twice", entry.column);
                in->columns[entry.column - 1] = entry.bytes;
                in->seen[entry.column - 1] = true;
        }
        if (r < 0)
                return r;
        /*
         * Every column of the table's first version must be present, so that the length of a body bounds the
         * number of its rows.
         */
        for (uint32_t i = 0; i < n_known; i++)
                if (!in->seen[i] && !(in->schema->n_fields > 0 && in->schema->fields[i].optional))
                        return error_set(err, -EBADMSG, "column %" PRIu32 " is missing", i + 1);
        return 0;
}

static int check_value(const struct trace_dictionary *d, const struct trace_field *field, uint64_t value,
                       uint32_t id, struct error *err)
{
        uint64_t limit = trace_field_max(field);

        switch ((enum trace_reference)field->reference) {
        case TRACE_REFERENCE_NONE:
                break;
        case TRACE_REFERENCE_REQUIRED:
        case TRACE_REFERENCE_OPTIONAL:
                limit = trace_dictionary_count(d, (enum trace_table)field->table);
                break;
        case TRACE_REFERENCE_EARLIER:
                limit = id - 1;
                break;
        case TRACE_REFERENCE_SUCCESSOR: /* of events only */
                break;
        }
        if (value > limit || (value == 0 && field->reference == TRACE_REFERENCE_REQUIRED))
                return error_set(err, -EBADMSG, "row %" PRIu32 ": %s is %" PRIu64 ", at most %" PRIu64, id,
                                 field->name, value, limit);
        return 0;
}

static int decode_row(struct trace_dictionary *d, struct incoming *in, uint64_t *previous, uint32_t id,
                      struct error *err)
{
        _Alignas(8) uint8_t row[TRACE_ROW_BYTES_MAX] = { 0 };

        for (uint32_t f = 0; f < in->schema->n_fields; f++) {
                const struct trace_field *field = &in->schema->fields[f];
                uint64_t value;
                int r;

                if (!in->seen[f]) /* the row is of an older version */
                        continue;
                value = trace_column_next(&in->columns[f], field->encoding, &previous[f]);
                if (in->columns[f].short_read)
                        return error_set(err, -EBADMSG, "row %" PRIu32 ": %s is cut off", id, field->name);
                r = check_value(d, field, value, id, err);
                if (r < 0)
                        return r;
                trace_field_set(field, row, value);
        }
        return intern_append(&d->tables[index_of(in->schema->table)], row, in->schema->row_bytes);
}

static int decode_string(struct trace_dictionary *d, struct incoming *in, uint32_t id, struct error *err)
{
        uint64_t n_bytes = bytes_varint(&in->columns[STRING_COLUMN_LENGTHS - 1]);
        const uint8_t *bytes = bytes_take(&in->columns[STRING_COLUMN_BYTES - 1], n_bytes);

        if (in->columns[STRING_COLUMN_LENGTHS - 1].short_read || !bytes)
                return error_set(err, -EBADMSG, "string %" PRIu32 " is cut off", id);
        return intern_append(&d->tables[index_of(TRACE_TABLE_STRINGS)], bytes, n_bytes);
}

static int decode_rows(struct trace_dictionary *d, struct incoming *in, struct error *err)
{
        uint64_t previous[FIELDS_MAX] = { 0 };
        int r = 0;

        for (uint32_t i = 0; i < in->n_rows && r == 0; i++) {
                if (in->schema->table == TRACE_TABLE_STRINGS)
                        r = decode_string(d, in, in->first_id + i, err);
                else
                        r = decode_row(d, in, previous, in->first_id + i, err);
        }
        if (r == -ENOMEM || r == -EOVERFLOW)
                return error_set(err, r, "no memory for %" PRIu32 " rows", in->n_rows);
        for (uint32_t i = 0; i < FIELDS_MAX && r == 0; i++)
                if (in->columns[i].left > 0)
                        r = error_set(err, -EBADMSG, "column %" PRIu32 ": %zu bytes too many", i + 1,
                                      in->columns[i].left);
        return r;
}

/* Removes the rows of a body that turned out to be malformed. */
static void forget_rows(struct intern *t, uint32_t n_items, size_t items_used_bytes)
{
        t->n_items = n_items;
        t->items_used_bytes = items_used_bytes;
}

int trace_dictionary_decode(struct trace_dictionary *d, enum trace_table table, const uint8_t *body,
                            size_t body_bytes, struct trace_row_range *ret_rows, struct error *err)
{
        struct intern *t = &d->tables[index_of(table)];
        struct byte_reader in_bytes = byte_reader_of(body, body_bytes);
        struct incoming in = { .schema = trace_schema_find(table) };
        uint32_t n_items = t->n_items;
        size_t items_used_bytes = t->items_used_bytes;
        uint64_t first_id = bytes_varint(&in_bytes);
        uint64_t n_rows = bytes_varint(&in_bytes);
        struct trace_column_list list;
        int r;

        if (in_bytes.short_read)
                return error_set(err, -EBADMSG, "table %s: cut off", in.schema->name);
        if (first_id != (uint64_t)n_items + 1 || n_rows > body_bytes)
                return error_set(err, -EBADMSG, "table %s: %" PRIu64 " rows from %" PRIu64 " after %" PRIu32,
                                 in.schema->name, n_rows, first_id, n_items);
        in.first_id = (uint32_t)first_id;
        in.n_rows = (uint32_t)n_rows;

        r = trace_column_list_init(&list, in_bytes, err);
        if (r == 0)
                r = find_columns(&in, &list, err);
        if (r == 0)
                r = decode_rows(d, &in, err);
        if (r < 0) {
                forget_rows(t, n_items, items_used_bytes);
                return error_prefix(err, r, "table %s", in.schema->name);
        }
        *ret_rows = (struct trace_row_range){ .first_id = in.first_id, .n_rows = in.n_rows };
        return 0;
}

bool trace_dictionary_is_kernel_frame(const struct trace_dictionary *d, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
        const struct trace_module *module;

        if (row->module == 0)
                return false;
        module = trace_dictionary_row(d, TRACE_TABLE_MODULES, row->module);
        return module->kind == TRACE_MODULE_KERNEL;
}
