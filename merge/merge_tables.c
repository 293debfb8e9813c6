/* SPDX-License-Identifier: MIT */
#include "merge/merge_tables.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_schema.h"
#include "merge/merge_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void merge_tables_init(struct merge_tables *t)
{
        *t = (struct merge_tables){ .counters = NULL };
        trace_dictionary_init(&t->dictionary, 0);
        intern_init(&t->notices, sizeof(struct trace_notice), 0);
}

void merge_tables_deinit(struct merge_tables *t)
{
        trace_dictionary_deinit(&t->dictionary);
        intern_deinit(&t->notices);
        free(t->counters);
        free(t->named);
        free(t->kept);
}

static int add_text(struct merge_tables *t, struct text_view text, uint32_t *ret_id)
{
        *ret_id = 0;
        return text.n_bytes == 0
                       ? 0
                       : trace_dictionary_add_string(&t->dictionary, text.bytes, text.n_bytes, ret_id);
}

int merge_tables_add_meta(struct merge_tables *t, const char *key, struct text_view value)
{
        struct trace_meta row;
        uint32_t id;
        int r = trace_dictionary_add_string(&t->dictionary, key, strlen(key), &row.key);

        if (r == 0)
                r = add_text(t, value, &row.value);
        return r < 0 ? r : trace_dictionary_add(&t->dictionary, TRACE_TABLE_META, &row, &id);
}

static int put_notice(struct merge_tables *t, const struct trace_notice *row)
{
        uint32_t id;
        int r = intern_add(&t->notices, row, sizeof(*row), &id);

        return r == 1 ? trace_dictionary_add(&t->dictionary, TRACE_TABLE_NOTICES, row, &id) : r;
}

int merge_tables_add_notice(struct merge_tables *t, uint32_t notice, struct text_view detail)
{
        struct trace_notice row = { .notice = notice };
        int r = add_text(t, detail, &row.detail);

        return r < 0 ? r : put_notice(t, &row);
}

/* ---- recordings ---------------------------------------------------------------------------------------- */

static int add_part(struct merge_tables *t, const struct merge_input *in, struct merge_part *part)
{
        struct trace_recording row = {
                .start_ns = merge_input_time(in, part->start_ns),
                .end_ns = merge_input_time(in, part->end_ns),
                .offset_ns = (uint64_t)part->offset_ns,
                .error_ns = part->error_ns,
                .drift = (uint64_t)part->drift,
                .clock = part->clock,
                .first_cpu = part->first_cpu,
                .n_cpus = part->n_cpus,
        };
        int r = add_text(t, (struct text_view){ part->label, strlen(part->label) }, &row.label);

        if (r == 0)
                r = add_text(t, part->hostname, &row.hostname);
        if (r == 0)
                r = add_text(t, part->boot_id, &row.boot_id);
        if (r == 0)
                r = add_text(t, part->command, &row.command);
        if (r == 0)
                r = add_text(t, part->trace, &row.trace);
        return r < 0 ? r : trace_dictionary_add(&t->dictionary, TRACE_TABLE_RECORDINGS, &row, &part->id);
}

int merge_tables_add_recordings(struct merge_tables *t, struct merge_input *inputs, size_t n_inputs,
                                struct error *err)
{
        for (size_t i = 0; i < n_inputs; i++) {
                for (uint32_t j = 0; j < inputs[i].n_parts; j++) {
                        int r = add_part(t, &inputs[i], &inputs[i].parts[j]);

                        if (r < 0)
                                return error_set(err, r, "%s: no memory for its tables", inputs[i].path);
                }
        }
        return 0;
}

/* ---- names with a label -------------------------------------------------------------------------------- */

int merge_tables_label_words(struct merge_tables *t, const struct merge_input *in, struct text_view words,
                             uint32_t *ret_string)
{
        struct byte_buffer name = { .data = NULL };
        int r;

        *ret_string = 0;
        if (in->n_parts > 1)
                return 0;
        byte_buffer_add(&name, words.bytes, words.n_bytes);
        byte_buffer_add_format(&name, "@%s", in->parts[0].label);
        r = name.failed ? -ENOMEM
                        : add_text(t, (struct text_view){ (char *)name.data, name.used_bytes }, ret_string);
        byte_buffer_deinit(&name);
        return r;
}

int merge_tables_label(struct merge_tables *t, struct merge_input *in, uint64_t string, uint64_t *ret_string)
{
        int r = 0;

        *ret_string = merge_input_id(in, TRACE_TABLE_STRINGS, string);
        if (in->n_parts > 1 || string == 0)
                return 0;
        if (in->labelled[string] == 0)
                r = merge_tables_label_words(t, in, trace_dictionary_text(in->dictionary, (uint32_t)string),
                                             &in->labelled[string]);
        *ret_string = in->labelled[string];
        return r;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/*
 * True if modules with equal content are one module on all hosts; any other module belongs to its
 * recording.
 */
static bool is_known_by_content(const struct trace_module *row)
{
        return row->build_id != 0 || row->kind == TRACE_MODULE_MARK ||
               (row->kind == TRACE_MODULE_IMAGE && row->content != 0);
}

/* The kernel's code is at other addresses after each boot, whatever its build-id. */
static bool has_fixed_offsets(const struct trace_module *row)
{
        return row->kind != TRACE_MODULE_KERNEL && row->kind != TRACE_MODULE_PYTHON;
}

static void own_module(const struct merge_input *in, struct trace_module *row)
{
        if (is_known_by_content(row) && has_fixed_offsets(row))
                row->recording = 0;
        else if (row->recording == 0)
                row->recording = in->parts[0].id;
}

static int own_plot(struct merge_tables *t, struct merge_input *in, uint32_t id, struct trace_plot *row)
{
        const struct trace_plot *was = trace_dictionary_row(in->dictionary, TRACE_TABLE_PLOTS, id);
        uint64_t name;
        int r = merge_tables_label(t, in, was->name, &name);

        row->name = r < 0 ? 0 : (uint32_t)name;
        return r;
}

static int grow_counters(struct merge_tables *t)
{
        uint32_t n_events = trace_dictionary_count(&t->dictionary, TRACE_TABLE_SAMPLE_EVENTS);
        size_t n_before = t->counters_capacity;

        if (array_reserve(&t->counters, &t->counters_capacity, (size_t)n_events + 1, sizeof(*t->counters)) <
            0)
                return -ENOMEM;
        memset(t->counters + n_before, 0, (t->counters_capacity - n_before) * sizeof(*t->counters));
        return 0;
}

/* The last row of each event counts. */
static int sum_counters(struct merge_tables *t, const struct merge_input *in)
{
        const struct trace_dictionary *d = in->dictionary;
        uint32_t n_events = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS);
        bool *seen = calloc((size_t)n_events + 1, sizeof(*seen));

        if (!seen || grow_counters(t) < 0) {
                free(seen);
                return -ENOMEM;
        }
        for (uint32_t i = trace_dictionary_count(d, TRACE_TABLE_COUNTERS); i > 0; i--) {
                const struct trace_counter *row = trace_dictionary_row(d, TRACE_TABLE_COUNTERS, i);
                uint32_t event = merge_input_id(in, TRACE_TABLE_SAMPLE_EVENTS, row->event);
                struct trace_counter *sum = &t->counters[event];

                if (seen[row->event])
                        continue;
                seen[row->event] = true;
                sum->event = event;
                sum->value += row->value;
                sum->enabled_ns += row->enabled_ns;
                sum->running_ns += row->running_ns;
        }
        free(seen);
        return 0;
}

int merge_tables_add_counters(struct merge_tables *t, struct error *err)
{
        for (size_t i = 0; i < t->counters_capacity; i++) {
                uint32_t id;

                if (t->counters[i].event != 0 &&
                    trace_dictionary_add(&t->dictionary, TRACE_TABLE_COUNTERS, &t->counters[i], &id) < 0)
                        return error_set(err, -ENOMEM, "no memory for the totals of events");
        }
        return 0;
}

static bool is_marked(const uint8_t *marks, size_t capacity, uint32_t id)
{
        return id < capacity && marks[id] != 0;
}

/* Adapts the rows of some tables.  Returns 1: the row is to be added; 0: it is not; -errno. */
static int adapt_row(struct merge_tables *t, struct merge_input *in, uint32_t table, uint32_t id, void *row)
{
        switch (table) {
        case TRACE_TABLE_PROCESSES: {
                struct trace_process *process = row;

                if (process->recording == 0)
                        process->recording = in->parts[0].id;
                return 1;
        }
        case TRACE_TABLE_MODULES:
                own_module(in, row);
                return 1;
        case TRACE_TABLE_CLOCKS: {
                struct trace_clock *clock = row;

                if (clock->recording == 0)
                        clock->recording = in->parts[0].id;
                return 1;
        }
        case TRACE_TABLE_EXCHANGES: {
                struct trace_exchange *exchange = row;

                if (exchange->recording == 0)
                        exchange->recording = in->parts[0].id;
                return 1;
        }
        case TRACE_TABLE_DEVICES: {
                struct trace_device *device = row;

                if (device->process == 0 && device->recording == 0)
                        device->recording = in->parts[0].id;
                return 1;
        }
        case TRACE_TABLE_PLOTS: {
                int r = own_plot(t, in, id, row);

                return r < 0 ? r : 1;
        }
        case TRACE_TABLE_COUNTERS: /* added up later */
                return 0;
        case TRACE_TABLE_NOTICES:
                return put_notice(t, row);
        case TRACE_TABLE_SYMBOLS:
                return !is_marked(t->named, t->named_capacity, ((const struct trace_symbol *)row)->frame);
        case TRACE_TABLE_MODULE_IMAGES:
                return !is_marked(t->kept, t->kept_capacity,
                                  ((const struct trace_module_image *)row)->module);
        default:
                return 1;
        }
}

static void translate(const struct merge_input *in, const struct trace_schema *schema, void *row)
{
        for (uint32_t i = 0; i < schema->n_fields; i++) {
                const struct trace_field *field = &schema->fields[i];
                uint64_t value = trace_field_get(field, row);

                if (field->is_time)
                        trace_field_set(field, row, merge_input_time(in, value));
                else if (field->reference != TRACE_REFERENCE_NONE)
                        trace_field_set(field, row, merge_input_id(in, field->table, value));
        }
}

static int add_row(struct merge_tables *t, struct merge_input *in, const struct trace_schema *schema,
                   uint32_t id)
{
        uint32_t *to = &in->ids[schema->table - TRACE_TABLE_FIRST][id];
        _Alignas(8) uint8_t row[TRACE_ROW_BYTES_MAX];
        int r;

        memcpy(row, trace_dictionary_row(in->dictionary, schema->table, id), schema->row_bytes);
        translate(in, schema, row);
        r = adapt_row(t, in, schema->table, id, row);
        return r == 1 ? trace_dictionary_add(&t->dictionary, schema->table, row, to) : r;
}

static int add_strings(struct merge_tables *t, struct merge_input *in)
{
        uint32_t n = trace_dictionary_count(in->dictionary, TRACE_TABLE_STRINGS);
        uint32_t *ids = in->ids[TRACE_TABLE_STRINGS - TRACE_TABLE_FIRST];
        int r = 0;

        for (uint32_t i = 1; i <= n && r == 0; i++) {
                struct text_view text = trace_dictionary_text(in->dictionary, i);

                r = trace_dictionary_add_string(&t->dictionary, text.bytes, text.n_bytes, &ids[i]);
        }
        return r;
}

static int add_table(struct merge_tables *t, struct merge_input *in, enum trace_table table)
{
        const struct trace_schema *schema = trace_schema_find(table);
        uint32_t n = trace_dictionary_count(in->dictionary, table);
        int r = 0;

        for (uint32_t i = 1; i <= n && r == 0; i++)
                r = add_row(t, in, schema, i);
        return r;
}

static int grow_marks(uint8_t **marks, size_t *capacity, uint32_t n)
{
        size_t before = *capacity;

        if (array_reserve(marks, capacity, (size_t)n + 1, 1) < 0)
                return -ENOMEM;
        memset(*marks + before, 0, *capacity - before);
        return 0;
}

/* Marks the names and the code of this input, which later inputs do not replace. */
static int mark_known(struct merge_tables *t, const struct merge_input *in)
{
        const struct trace_dictionary *d = in->dictionary;
        uint32_t n_symbols = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS);
        uint32_t n_images = trace_dictionary_count(d, TRACE_TABLE_MODULE_IMAGES);

        if (grow_marks(&t->named, &t->named_capacity,
                       trace_dictionary_count(&t->dictionary, TRACE_TABLE_FRAMES)) < 0 ||
            grow_marks(&t->kept, &t->kept_capacity,
                       trace_dictionary_count(&t->dictionary, TRACE_TABLE_MODULES)) < 0)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n_symbols; i++) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, i);

                if (row->function != 0)
                        t->named[merge_input_id(in, TRACE_TABLE_FRAMES, row->frame)] = 1;
        }
        for (uint32_t i = 1; i <= n_images; i++) {
                const struct trace_module_image *row = trace_dictionary_row(d, TRACE_TABLE_MODULE_IMAGES, i);

                if (row->attachment != 0)
                        t->kept[merge_input_id(in, TRACE_TABLE_MODULES, row->module)] = 1;
        }
        return 0;
}

int merge_tables_add(struct merge_tables *t, struct merge_input *in, struct error *err)
{
        uint32_t *recordings = in->ids[TRACE_TABLE_RECORDINGS - TRACE_TABLE_FIRST];
        int r = add_strings(t, in);

        for (uint32_t i = 0;
             i < in->n_parts && trace_dictionary_count(in->dictionary, TRACE_TABLE_RECORDINGS) > i; i++)
                recordings[i + 1] = in->parts[i].id;
        for (uint32_t i = TRACE_TABLE_PROCESSES; i < TRACE_TABLE_FIRST + TRACE_TABLE_COUNT && r == 0; i++)
                if (i != TRACE_TABLE_RECORDINGS)
                        r = add_table(t, in, (enum trace_table)i);
        if (r == 0)
                r = mark_known(t, in);
        if (r == 0)
                r = sum_counters(t, in);
        return r < 0 ? error_set(err, r, "%s: no memory for its tables", in->path) : 0;
}
