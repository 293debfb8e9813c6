/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_names.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 320

/* Two numbers that are an id together. */
struct pair {
        uint64_t a, b;
};

struct text_key {
        uint64_t kind, numbers[8];
};

static struct text_view view_of(const char *text)
{
        return (struct text_view){ .bytes = text, .n_bytes = strlen(text) };
}

static void init_session(struct iree_names *n)
{
        intern_init(&n->function_ids, sizeof(struct pair), IREE_FUNCTIONS_MAX);
        intern_init(&n->command_ids, sizeof(struct pair), IREE_COMMANDS_MAX);
        intern_init(&n->metric_ids, sizeof(struct pair), IREE_METRICS_MAX);
        intern_init(&n->instance_ids, sizeof(struct pair), IREE_INSTANCES_MAX);
        byte_buffer_clear(&n->labels);
        n->n_counters = 0;
}

void iree_names_init(struct iree_names *n, struct import_rows *rows)
{
        *n = (struct iree_names){ .rows = rows };
        init_session(n);
        intern_init(&n->text_ids, sizeof(struct text_key), IREE_TEXTS_MAX);
}

static void deinit_session(struct iree_names *n)
{
        intern_deinit(&n->function_ids);
        intern_deinit(&n->command_ids);
        intern_deinit(&n->metric_ids);
        intern_deinit(&n->instance_ids);
}

void iree_names_deinit(struct iree_names *n)
{
        deinit_session(n);
        intern_deinit(&n->text_ids);
        free(n->functions);
        free(n->commands);
        free(n->metrics);
        free(n->instances);
        free(n->texts);
        free(n->counters);
        byte_buffer_deinit(&n->labels);
}

void iree_names_begin_session(struct iree_names *n)
{
        deinit_session(n);
        init_session(n);
}

int iree_names_word(struct iree_names *n, const char *word, uint32_t *ret_id, struct error *err)
{
        size_t i = 0;
        int r;

        while (i < n->n_words && n->words[i].word != word)
                i++;
        if (i < n->n_words) {
                *ret_id = n->words[i].id;
                return 0;
        }
        r = import_rows_string(n->rows, view_of(word), ret_id, err);
        if (r == 0 && n->n_words < IREE_WORDS_MAX) {
                n->words[n->n_words].word = word;
                n->words[n->n_words++].id = *ret_id;
        }
        return r;
}

/* A table here may be out of memory, or full, which the caller counts. */
static int fail(int r, struct error *err)
{
        return r == -ENOMEM ? error_set(err, -ENOMEM, "out of memory") : -E2BIG;
}

/* ------------------------------------------------------------------ what the file says */

static int add_function(struct iree_names *n, const struct iree_record *record, struct error *err)
{
        struct pair key = { record->fields[IREE_F_EXECUTABLE], record->fields[IREE_F_FUNCTION] };
        uint32_t id, name;
        int r;

        if (record->name.n_bytes == 0)
                return 0;
        r = intern_add_row(&n->function_ids, &key, &n->functions, &n->functions_capacity,
                           sizeof(*n->functions), &id);
        if (r < 0)
                return fail(r, err);
        r = import_rows_string(n->rows, record->name, &name, err);
        if (r == 0)
                n->functions[id - 1] = name;
        return r;
}

static int add_command(struct iree_names *n, const struct iree_record *record, struct error *err)
{
        struct pair key = { record->fields[IREE_F_COMMAND_BUFFER], record->fields[IREE_F_COMMAND_INDEX] };
        uint32_t id;
        int r;

        if (record->fields[IREE_F_EXECUTABLE] == 0)
                return 0; /* a barrier or a copy: no dispatch leads here */
        r = intern_add_row(&n->command_ids, &key, &n->commands, &n->commands_capacity, sizeof(*n->commands),
                           &id);
        if (r < 0)
                return fail(r, err);
        n->commands[id - 1] = (struct iree_command){
                .executable = record->fields[IREE_F_EXECUTABLE],
                .function = (uint32_t)record->fields[IREE_F_FUNCTION],
        };
        return 0;
}

static int find_unit(struct iree_names *n, const char *const *words, size_t n_words, uint64_t unit,
                     uint32_t *ret_id, struct error *err)
{
        *ret_id = 0;
        return unit < n_words && words[unit] ? iree_names_word(n, words[unit], ret_id, err) : 0;
}

/* Counters of two blocks may have one name; many are named after their block. */
static void add_label(struct iree_names *n, const struct iree_record *record, struct iree_counter *counter)
{
        struct text_view name = record->name, block = record->block;
        bool has_block = block.n_bytes > 0 && (name.n_bytes < block.n_bytes ||
                                               memcmp(name.bytes, block.bytes, block.n_bytes) != 0);
        size_t n_block = has_block && block.n_bytes < IREE_LABEL_BYTES ? block.n_bytes : 0;
        size_t n_name = name.n_bytes;

        if (n_name > IREE_LABEL_BYTES)
                n_name = IREE_LABEL_BYTES;
        counter->label_at = n->labels.used_bytes;
        if (n_block) {
                byte_buffer_add(&n->labels, block.bytes, n_block);
                byte_buffer_add_u8(&n->labels, ':');
        }
        if (n_name)
                byte_buffer_add(&n->labels, name.bytes, n_name);
        counter->label_bytes = n->labels.used_bytes - counter->label_at;
}

static struct text_view label_of(const struct iree_names *n, const struct iree_counter *counter)
{
        if (counter->label_bytes == 0)
                return (struct text_view){ .bytes = NULL };
        return (struct text_view){ (const char *)n->labels.data + counter->label_at, counter->label_bytes };
}

static int add_counter(struct iree_names *n, const struct iree_record *record, struct error *err)
{
        static const char *const units[] = { NULL, NULL, "cycles", "bytes" };
        struct iree_counter counter = {
                .set = record->fields[IREE_F_SET],
                .offset = record->fields[IREE_F_OFFSET],
                .n_values = record->fields[IREE_F_N_VALUES],
        };
        int r;

        if (n->n_counters == IREE_COUNTERS_MAX)
                return -E2BIG;
        add_label(n, record, &counter);
        if (n->labels.failed)
                return fail(-ENOMEM, err);
        r = import_rows_string(n->rows, label_of(n, &counter), &counter.name, err);
        if (r == 0)
                r = find_unit(n, units, sizeof(units) / sizeof(units[0]), record->fields[IREE_F_UNIT],
                              &counter.unit, err);
        if (r < 0)
                return r;
        if (array_reserve(&n->counters, &n->counters_capacity, n->n_counters + 1, sizeof(counter)) < 0)
                return fail(-ENOMEM, err);
        n->counters[n->n_counters++] = counter;
        return 0;
}

static int add_metric(struct iree_names *n, const struct iree_record *record, struct error *err)
{
        static const char *const units[] = {
                [2] = "Hz",           [3] = "bytes",      [4] = "bytes/s",     [5] = "millipercent",
                [6] = "millidegrees", [7] = "microwatts", [8] = "microjoules", [9] = "bits",
        };
        struct pair key = { record->fields[IREE_F_SET], record->fields[IREE_F_ITEM] };
        struct iree_metric metric = { .kind = IMPORT_VALUE_UNSIGNED };
        uint32_t id;
        int r = import_rows_string(n->rows, record->name, &metric.name, err);

        if (r == 0)
                r = find_unit(n, units, sizeof(units) / sizeof(units[0]), record->fields[IREE_F_UNIT],
                              &metric.unit, err);
        if (r < 0)
                return r;
        if (record->fields[IREE_F_VALUE_KIND] == 1)
                metric.kind = IMPORT_VALUE_SIGNED;
        if (record->fields[IREE_F_VALUE_KIND] == 3)
                metric.kind = IMPORT_VALUE_DOUBLE;
        r = intern_add_row(&n->metric_ids, &key, &n->metrics, &n->metrics_capacity, sizeof(*n->metrics), &id);
        if (r < 0)
                return fail(r, err);
        n->metrics[id - 1] = metric;
        return 0;
}

int iree_names_add(struct iree_names *n, const struct iree_record *record, struct error *err)
{
        if (record->kind == IREE_FUNCTION)
                return add_function(n, record, err);
        if (record->kind == IREE_COMMAND_OPERATION)
                return add_command(n, record, err);
        return record->kind == IREE_COUNTER ? add_counter(n, record, err) : add_metric(n, record, err);
}

/* ------------------------------------------------------------------ what its ids stand for */

const struct iree_command *iree_names_command(const struct iree_names *n, uint64_t buffer, uint64_t index)
{
        struct pair key = { buffer, index };
        uint32_t id = n->command_ids.n_items ? intern_find(&n->command_ids, &key, sizeof(key)) : 0;

        return id ? &n->commands[id - 1] : NULL;
}

uint32_t iree_names_function(const struct iree_names *n, uint64_t executable, uint64_t function)
{
        struct pair key = { executable, function };
        uint32_t id = n->function_ids.n_items ? intern_find(&n->function_ids, &key, sizeof(key)) : 0;

        return id ? n->functions[id - 1] : 0;
}

int iree_names_number(struct iree_names *n, uint64_t executable, uint64_t function, uint32_t *ret_id,
                      struct error *err)
{
        char text[TEXT_BYTES];

        (void)snprintf(text, sizeof(text), "executable %llu function %llu", (unsigned long long)executable,
                       (unsigned long long)function);
        return import_rows_string(n->rows, view_of(text), ret_id, err);
}

int iree_names_metric(struct iree_names *n, uint64_t source, uint64_t metric, struct iree_metric *ret_metric,
                      struct error *err)
{
        struct pair key = { source, metric };
        uint32_t id = n->metric_ids.n_items ? intern_find(&n->metric_ids, &key, sizeof(key)) : 0;
        char text[TEXT_BYTES];

        if (id && n->metrics[id - 1].name) {
                *ret_metric = n->metrics[id - 1];
                return 0;
        }
        (void)snprintf(text, sizeof(text), "metric %llu", (unsigned long long)metric);
        *ret_metric = (struct iree_metric){ .kind = IMPORT_VALUE_UNSIGNED };
        return import_rows_string(n->rows, view_of(text), &ret_metric->name, err);
}

int iree_names_instance(struct iree_names *n, size_t counter, uint32_t which, uint32_t *ret_id,
                        struct error *err)
{
        const struct iree_counter *c = &n->counters[counter];
        struct pair key = { counter, which };
        struct text_view label = label_of(n, c);
        char text[2 * IREE_LABEL_BYTES + 16];
        uint32_t id;
        int r, end;

        *ret_id = c->name;
        if (c->n_values == 1)
                return 0;
        r = intern_add_row(&n->instance_ids, &key, &n->instances, &n->instances_capacity,
                           sizeof(*n->instances), &id);
        if (r == -EOVERFLOW)
                return 0;
        if (r < 0)
                return fail(r, err);
        if (r == 1) {
                if (label.n_bytes)
                        memcpy(text, label.bytes, label.n_bytes);
                end = snprintf(text + label.n_bytes, sizeof(text) - label.n_bytes, "[%u]", which);
                r = import_rows_string(n->rows, (struct text_view){ text, label.n_bytes + (size_t)end },
                                       &n->instances[id - 1], err);
                if (r < 0)
                        return r;
        }
        *ret_id = n->instances[id - 1];
        return 0;
}

/* ------------------------------------------------------------------ texts of spans */

/* The fields of a record that each kind of text has, in its order. */
static const enum iree_field text_fields[][8] = {
        [IREE_TEXT_DISPATCH] = { IREE_F_COUNT_X, IREE_F_COUNT_Y, IREE_F_COUNT_Z, IREE_F_SIZE_X, IREE_F_SIZE_Y,
                                 IREE_F_SIZE_Z },
        [IREE_TEXT_EXECUTION] = { IREE_F_COUNT_X, IREE_F_COUNT_Y, IREE_F_COUNT_Z, IREE_F_SIZE_X,
                                  IREE_F_SIZE_Y, IREE_F_SIZE_Z, IREE_F_TILES, IREE_F_STATUS },
        [IREE_TEXT_OPERATION] = { IREE_F_LENGTH },
        [IREE_TEXT_REGION] = { IREE_F_ITEM, IREE_F_DISPATCHES, IREE_F_TILES, IREE_F_WORKERS, IREE_F_DRAINS,
                               IREE_F_IDLE_DRAINS },
};
static const size_t n_text_fields[] = {
        [IREE_TEXT_DISPATCH] = 6,
        [IREE_TEXT_EXECUTION] = 8,
        [IREE_TEXT_OPERATION] = 1,
        [IREE_TEXT_REGION] = 6,
};

struct text {
        char bytes[TEXT_BYTES];
        size_t used;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
        va_list args;
        int n;

        if (t->used == 0)
                t->bytes[t->used++] = '{';
        else
                t->bytes[t->used++] = ',';
        va_start(args, format);
        n = vsnprintf(t->bytes + t->used, sizeof(t->bytes) - t->used - 2, format, args);
        va_end(args);
        t->used += (size_t)n;
}

static void add_workgroups(struct text *t, const uint64_t v[6])
{
        if (v[0] || v[1] || v[2])
                add(t, "\"workgroup_count\":[%u,%u,%u]", (uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]);
        if (v[3] || v[4] || v[5])
                add(t, "\"workgroup_size\":[%u,%u,%u]", (uint32_t)v[3], (uint32_t)v[4], (uint32_t)v[5]);
}

/* All numbers but lengths and tiles are of 32 bits: the longest text has 250 bytes. */
static void write_text(struct text *t, enum iree_text kind, const uint64_t v[8])
{
        switch (kind) {
        case IREE_TEXT_DISPATCH:
                add_workgroups(t, v);
                break;
        case IREE_TEXT_EXECUTION:
                add_workgroups(t, v);
                if (v[6])
                        add(t, "\"tile_count\":%llu", (unsigned long long)v[6]);
                if (v[7] && v[7] != IREE_ABSENT)
                        add(t, "\"status_code\":%u", (uint32_t)v[7]);
                break;
        case IREE_TEXT_OPERATION:
                if (v[0])
                        add(t, "\"payload_length\":%llu", (unsigned long long)v[0]);
                break;
        case IREE_TEXT_REGION:
                add(t, "\"region_index\":%d", (int32_t)(uint32_t)v[0]);
                add(t, "\"region_dispatch_count\":%u", (uint32_t)v[1]);
                add(t, "\"region_tile_count\":%u", (uint32_t)v[2]);
                add(t, "\"worker_count\":%u", (uint32_t)v[3]);
                add(t, "\"useful_drain_count\":%u", (uint32_t)v[4]);
                add(t, "\"no_work_drain_count\":%u", (uint32_t)v[5]);
                break;
        }
        if (t->used)
                t->bytes[t->used++] = '}';
}

int iree_names_text(struct iree_names *n, enum iree_text kind, const struct iree_record *record,
                    uint32_t *ret_id, struct error *err)
{
        struct text_key key = { .kind = kind };
        struct text text = { .used = 0 };
        uint32_t id;
        int r;

        for (size_t i = 0; i < n_text_fields[kind]; i++)
                key.numbers[i] = record->fields[text_fields[kind][i]];
        r = intern_add_row(&n->text_ids, &key, &n->texts, &n->texts_capacity, sizeof(*n->texts), &id);
        *ret_id = 0;
        if (r == -EOVERFLOW) {
                n->n_texts_left_out++;
                return 0;
        }
        if (r < 0)
                return fail(r, err);
        if (r == 1) {
                write_text(&text, kind, key.numbers);
                r = text.used ? import_rows_string(n->rows, (struct text_view){ text.bytes, text.used },
                                                   &n->texts[id - 1], err)
                              : 0;
                if (r < 0)
                        return r;
        }
        *ret_id = n->texts[id - 1];
        return 0;
}
