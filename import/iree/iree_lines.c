/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_lines.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/json_pull.h"
#include "import/iree/iree_model.h"
#include "import/iree/iree_record.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX   (UINT32_C(1) << 20) /* of a sample */
#define PREFIX_BYTES 64

/* Where the value of a member goes that is no number. */
enum { PLACE_NAME = JSON_PLACE_OWN, PLACE_BLOCK, PLACE_VALUES, PLACE_EVENT };

struct lines {
        struct import_source *source;
        struct iree_model *model;
        struct import_rows *rows;
        struct byte_buffer name, block; /* without their escapes */
        uint64_t *values;
        size_t values_capacity;
        bool has_file;
        struct iree_record record;

        struct json_shape *shapes; /* heap; by kind: how the row before was written */
        /* The row before up to its kind, which is the one of all that begin alike; no field is in it. */
        char prefix[PREFIX_BYTES];
        size_t n_prefix; /* 0 = it is longer, or has a field */
        enum iree_kind kind;
};

/* ------------------------------------------------------------------ values */

/* A 64-bit number, signed or not; null and what is absent stay as they are. */
static bool take_number(struct json_value value, uint64_t *number)
{
        struct text_view text = value.text;
        bool is_negative = text.n_bytes > 0 && text.bytes[0] == '-';
        uint64_t n;

        if (value.kind == JSON_WORD && text_view_is(text, "null"))
                return true;
        if (value.kind != JSON_NUMBER)
                return false;
        if (is_negative) {
                text.bytes++;
                text.n_bytes--;
        }
        if (!json_pull_unsigned(text, &n) || (is_negative && n > (uint64_t)INT64_MAX + 1))
                return false;
        *number = is_negative ? 0 - n : n;
        return true;
}

static bool take_vector(struct json_value value, uint64_t *numbers, unsigned n)
{
        struct json_pull inside = json_pull_inside(value);

        for (unsigned i = 0; i < n; i++)
                if (json_pull_next(&inside, &value) != 1 || !take_number(value, &numbers[i]))
                        return false;
        return true;
}

/* The two numbers of a metric that the binary form has as well. */
static bool take_pair(struct json_value object, uint64_t pair[2])
{
        struct json_pull inside = json_pull_inside(object);
        struct json_value value;
        struct text_view key;
        bool is_good = true;
        int r;

        pair[0] = pair[1] = 0;
        while ((r = json_pull_member(&inside, &key, &value)) == 1)
                if (text_view_is(key, "metric_id"))
                        is_good &= take_number(value, &pair[0]);
                else if (text_view_is(key, "value_bits"))
                        is_good &= take_number(value, &pair[1]);
        return is_good && r == 0;
}

/* 1, 0 if they are malformed, -ENOMEM. */
static int take_values(struct lines *l, struct json_value array, struct error *err)
{
        struct json_pull inside = json_pull_inside(array);
        bool are_pairs = l->record.kind == IREE_METRIC_SAMPLE, is_good = array.kind == JSON_ARRAY;
        size_t n_each = are_pairs ? 2 : 1, n = 0;
        struct json_value value;
        int r;

        while ((r = json_pull_next(&inside, &value)) == 1 && is_good && n < VALUES_MAX) {
                if (array_reserve(&l->values, &l->values_capacity, n + n_each, sizeof(*l->values)) < 0)
                        return error_set(err, -ENOMEM, "out of memory");
                is_good = are_pairs ? take_pair(value, &l->values[n]) : take_number(value, &l->values[n]);
                n += n_each;
        }
        l->record.values = l->values;
        l->record.n_values = n;
        return is_good && r == 0;
}

/* ------------------------------------------------------------------ rows */

static int take_text(struct json_value value, struct byte_buffer *room, struct text_view *ret,
                     struct error *err)
{
        if (value.kind != JSON_STRING)
                return value.kind == JSON_WORD;
        return json_pull_string(value.text, room, ret) < 0 ? error_set(err, -ENOMEM, "out of memory") : 1;
}

static bool has_name(const struct iree_layout *layout)
{
        return layout->tail == IREE_TAIL_NAME || layout->tail == IREE_TAIL_NAMES;
}

static bool has_values(const struct iree_layout *layout)
{
        return layout->tail == IREE_TAIL_VALUES || layout->tail == IREE_TAIL_PAIRS;
}

static uint16_t find_place(const void *context, struct text_view key)
{
        const struct iree_layout *layout = context;

        for (uint16_t i = 0; i < layout->n_places; i++)
                if (text_view_equal(key, layout->places[i].json))
                        return JSON_PLACE_NUMBERS(layout->places[i].field, layout->places[i].n_fields);
        if (has_name(layout) && text_view_is(key, "name"))
                return PLACE_NAME;
        if (has_name(layout) && text_view_is(key, "block"))
                return PLACE_BLOCK;
        if (has_values(layout) && text_view_is(key, "values"))
                return PLACE_VALUES;
        return text_view_is(key, "event") ? PLACE_EVENT : JSON_PLACE_NONE;
}

/* A member of a row that is no plain number.  1, 0 if it is malformed, -errno. */
static int take_member(struct lines *l, uint16_t place, struct json_value value, struct error *err)
{
        uint64_t *fields = l->record.fields;

        switch (place) {
        case PLACE_NAME:
                return take_text(value, &l->name, &l->record.name, err);
        case PLACE_BLOCK:
                return take_text(value, &l->block, &l->record.block, err);
        case PLACE_VALUES:
                return take_values(l, value, err);
        case PLACE_EVENT:
                return 1;
        default:
                fields += JSON_PLACE_AT(place);
                return JSON_PLACE_N(place) == 1 ? take_number(value, fields)
                                                : take_vector(value, fields, JSON_PLACE_N(place));
        }
}

/* 1, 0 if the row is malformed, -errno. */
static int take_row(struct lines *l, struct json_value row, bool *ret_is_begin, struct error *err)
{
        const struct iree_layout *layout = iree_layout_of(l->kind);
        bool may_end = l->kind < IREE_N_CHUNK_KINDS && layout->tail == IREE_TAIL_NONE && layout->n_places > 0;
        struct json_numbers numbers = {
                .pull = json_pull_inside(row),
                .shape = &l->shapes[l->kind],
                .find_place = find_place,
                .context = layout,
                .numbers = l->record.fields,
                /* The second half of most rows is what the exporter derived: that is not looked at. */
                .n_wanted = may_end ? layout->n_places : SIZE_MAX,
        };
        struct json_value value;
        uint16_t place;
        int r;

        if (l->n_prefix != 0)
                numbers.pull.at = row.text.bytes + l->n_prefix;
        iree_record_clear(&l->record, l->kind);
        l->record.at = import_source_line(l->source);
        *ret_is_begin = false;
        while ((r = json_numbers_next(&numbers, &place, &value)) == 1) {
                if (l->kind == IREE_SESSION && place == PLACE_EVENT)
                        *ret_is_begin = text_view_is(value.text, "begin");
                r = take_member(l, place, value, err);
                if (r != 1)
                        return r;
        }
        return r >= 0;
}

/* Keeps how the row begins, up to the end of its kind, for the next one. */
static void keep_prefix(struct lines *l, struct text_view prefix)
{
        struct json_pull p = json_pull_text((struct text_view){ prefix.bytes + 1, prefix.n_bytes - 1 });
        struct json_value value;
        struct text_view key;

        if (prefix.n_bytes > sizeof(l->prefix))
                return;
        while (json_pull_member(&p, &key, &value) == 1)
                if (find_place(iree_layout_of(l->kind), key) != JSON_PLACE_NONE)
                        return;
        memcpy(l->prefix, prefix.bytes, prefix.n_bytes);
        l->n_prefix = prefix.n_bytes;
}

/* Returns false for a row without a kind.  @ret_name: of one that is not known. */
static bool find_kind(struct lines *l, struct json_value row, struct text_view *ret_name)
{
        struct json_pull inside = json_pull_inside(row);
        struct json_value value;
        struct text_view key;

        if (l->n_prefix != 0 && row.text.n_bytes > l->n_prefix &&
            memcmp(row.text.bytes, l->prefix, l->n_prefix) == 0)
                return true;
        l->n_prefix = 0;
        while (json_pull_member(&inside, &key, &value) == 1) {
                if (!text_view_is(key, "record_type"))
                        continue;
                *ret_name = value.text;
                l->kind = iree_kind_of_json(value.text);
                if (l->kind != IREE_N_KINDS && value.kind == JSON_STRING)
                        keep_prefix(l, (struct text_view){ row.text.bytes,
                                                           (size_t)(inside.at - row.text.bytes) });
                return value.kind == JSON_STRING;
        }
        return false;
}

/* Files that were joined have several of these rows: the first one counts. */
static int add_file(struct lines *l, struct error *err)
{
        const uint64_t *fields = l->record.fields;
        char version[80];
        int n;

        if (l->has_file)
                return 0;
        l->has_file = true;
        n = snprintf(version, sizeof(version), "%llu of %llu.%llu", (unsigned long long)fields[IREE_F_ITEM],
                     (unsigned long long)fields[IREE_F_TYPE], (unsigned long long)fields[IREE_F_SET]);
        return import_rows_file(l->rows, "ireeperf-jsonl", (struct text_view){ version, (size_t)n }, err);
}

static int add_row(struct lines *l, bool is_begin, struct error *err)
{
        const uint64_t *fields = l->record.fields;

        if (l->record.kind == IREE_SCHEMA)
                return add_file(l, err);
        if (l->record.kind == IREE_SESSION)
                return is_begin ? iree_model_begin_session(l->model, err)
                                : iree_model_end_session(l->model, fields[IREE_F_STATUS], err);
        if (l->record.kind != IREE_DIAGNOSTIC)
                return iree_model_add(l->model, &l->record, err);
        import_rows_left_out(l->rows, "chunks that the program says are truncated", 1);
        if (fields[IREE_F_N_VALUES])
                import_rows_dropped(l->rows, fields[IREE_F_N_VALUES]);
        return 0;
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

static struct text_view trim(struct text_view line)
{
        while (line.n_bytes > 0 && is_space(line.bytes[line.n_bytes - 1]))
                line.n_bytes--;
        while (line.n_bytes > 0 && is_space(line.bytes[0])) {
                line.bytes++;
                line.n_bytes--;
        }
        return line;
}

static int read_line(struct lines *l, struct text_view line, struct error *err)
{
        struct json_value row = { .kind = JSON_OBJECT, .text = trim(line) };
        size_t n = row.text.n_bytes;
        struct text_view name = { NULL, 0 };
        bool is_begin;
        int r;

        if (n == 0)
                return 0;
        if (row.text.bytes[0] != '{' || row.text.bytes[n - 1] != '}' || !find_kind(l, row, &name)) {
                import_rows_malformed(l->rows, import_source_line(l->source), "no row of JSON");
                return 0;
        }
        if (l->kind == IREE_N_KINDS) {
                import_rows_count_row(l->rows);
                iree_model_count_unknown(l->model, name);
                return 0;
        }
        r = take_row(l, row, &is_begin, err);
        if (r < 0)
                return r;
        if (r == 0) {
                import_rows_malformed(l->rows, import_source_line(l->source),
                                      "a field that is not of its kind");
                return 0;
        }
        return add_row(l, is_begin, err);
}

bool iree_lines_recognise(struct text_view head)
{
        struct json_pull pull = json_pull_text(head);
        struct json_value row, value;

        return json_pull_next(&pull, &row) == 1 && row.kind == JSON_OBJECT &&
               json_pull_find(row, "record_type", &value) == 1 && text_view_is(value.text, "schema") &&
               json_pull_find(row, "format", &value) == 1 && text_view_is(value.text, "ireeperf-jsonl");
}

int iree_lines_read(struct import_source *source, struct iree_model *model, struct import_rows *rows,
                    struct error *err)
{
        struct lines l = { .source = source, .model = model, .rows = rows };
        struct text_view line;
        int r;

        l.shapes = calloc(IREE_N_KINDS, sizeof(*l.shapes));
        if (!l.shapes)
                return error_set(err, -ENOMEM, "out of memory");
        while ((r = import_source_next_line(source, &line, err)) == 1) {
                r = read_line(&l, line, err);
                if (r < 0)
                        break;
        }
        if (r == -EBADMSG)
                r = 0; /* packing that is cut off: what came before it is good */
        if (r == 0 && iree_model_is_in_session(model))
                import_rows_cut(rows, import_source_line(source));
        byte_buffer_deinit(&l.name);
        byte_buffer_deinit(&l.block);
        free(l.values);
        free(l.shapes);
        return r;
}
