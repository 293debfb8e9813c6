/* SPDX-License-Identifier: MIT */
#include "cli/views/annotate_json.h"

#include "analyze/annotate/annotation.h"
#include "analyze/report/report.h"
#include "analyze/walk/sampled_trace.h"
#include "cli/views/report_object.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* 64 bits do not fit into JSON's numbers. */
static json_t *address(uint64_t number)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "0x%" PRIx64, number);
        return json_string(text);
}

static json_t *string(const struct annotation *a, uint32_t id)
{
        return report_object_string_or_null(annotation_string(a, id));
}

/* Makes a list by a function from index to row. */
static json_t *list_of(const struct annotation *a, size_t first, size_t n,
                       json_t *(*pack)(const struct annotation *a, size_t index))
{
        json_t *rows = json_array();

        for (size_t i = 0; rows && i < n; i++)
                if (json_array_append_new(rows, pack(a, first + i)) < 0) {
                        json_decref(rows);
                        rows = NULL;
                }
        return rows;
}

static void put_sum(struct report_object *object, const struct annotation *a, const struct sample_sum *sum)
{
        report_object_put(object, "samples", report_object_number(sum->n_samples));
        report_object_put(object, "weight", report_object_number(sum->weight));
        report_object_put(object, "share", report_object_share(sum->weight, a->sum.weight));
}

static json_t *counters_of(const struct annotation *a, const uint64_t *row)
{
        struct report_object object = report_object_begin();

        for (uint32_t i = 0; i < a->counters.n_counters; i++) {
                struct report_string name = a->counters.counters[i].name;
                json_t *key = report_object_string(name);

                if (key)
                        report_object_put(&object, json_string_value(key), report_object_number(row[i]));
                else
                        object.failed = true;
                json_decref(key);
        }
        return report_object_take(&object);
}

static json_t *pack_symbol(const struct annotation *a, size_t index)
{
        const struct listing_symbol *symbol = &a->listing.symbols[index];
        struct report_object object = report_object_begin();

        report_object_put(&object, "function", string(a, symbol->function));
        report_object_put(&object, "file", string(a, symbol->file));
        report_object_put(&object, "line", report_object_number_or_null(symbol->line, symbol->line != 0));
        report_object_put(&object, "column",
                          report_object_number_or_null(symbol->column, symbol->column != 0));
        return report_object_take(&object);
}

static json_t *pack_target(const struct annotation *a, const struct listing_instruction *row)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "address", address(row->target_svma));
        report_object_put(&object, "function", string(a, row->target_name));
        report_object_put(&object, "offset_bytes", report_object_number(row->target_offset_bytes));
        return report_object_take(&object);
}

static json_t *pack_instruction(const struct annotation *a, size_t index)
{
        static const char *const branches[] = { [BRANCH_NONE] = "",
                                                [BRANCH_JUMP] = "jump",
                                                [BRANCH_CONDITIONAL] = "conditional",
                                                [BRANCH_CALL] = "call" };
        const struct listing_instruction *row = &a->listing.instructions[index];
        struct report_object object = report_object_begin();

        report_object_put(&object, "address", address(row->svma));
        report_object_put(&object, "n_bytes", report_object_number(row->n_bytes));
        report_object_put(&object, "text", string(a, row->text));
        put_sum(&object, a, &a->instructions[index].sum);
        if (a->counters.n_counters > 0)
                report_object_put(&object, "counters",
                                  counters_of(a, a->instruction_counters + index * a->counters.n_counters));
        if (row->branch != BRANCH_NONE) {
                report_object_put(&object, "branch", json_string(branches[row->branch]));
                report_object_put(&object, "target", pack_target(a, row));
        }
        report_object_put(&object, "symbols", list_of(a, row->first_symbol, row->n_symbols, pack_symbol));
        return report_object_take(&object);
}

static json_t *pack_part(const struct annotation *a, size_t index)
{
        const struct listing_part *part = &a->listing.parts[index];
        struct report_object object = report_object_begin();

        report_object_put(&object, "function", string(a, part->name));
        report_object_put(&object, "address", address(part->svma));
        report_object_put(&object, "n_bytes", report_object_number(part->n_bytes));
        report_object_put(&object, "extent_is_guessed", json_boolean(part->flags & LISTING_PART_GUESSED));
        report_object_put(&object, "is_cut", json_boolean(part->flags & LISTING_PART_CUT));
        report_object_put(&object, "instructions",
                          list_of(a, part->first_instruction, part->n_instructions, pack_instruction));
        return report_object_take(&object);
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

static const char *origin_of(enum source_origin origin)
{
        static const char *const names[] = { [SOURCE_NOT_FOUND] = "none",
                                             [SOURCE_OF_TRACE] = "trace",
                                             [SOURCE_OF_FILE] = "file",
                                             [SOURCE_OF_NEWER_FILE] = "newer file" };

        return names[origin];
}

static json_t *pack_line(const struct annotation *a, struct source_texts *sources, size_t index)
{
        const struct annotated_line *row = &a->lines[index];
        const struct source_text *text = source_texts_find(sources, annotation_string(a, row->file));
        struct report_object object = report_object_begin();

        if (!text)
                object.failed = true;
        report_object_put(&object, "file", string(a, row->file));
        report_object_put(&object, "line", report_object_number_or_null(row->line, row->line != 0));
        put_sum(&object, a, &row->sum);
        if (a->counters.n_counters > 0)
                report_object_put(&object, "counters",
                                  counters_of(a, a->line_counters + index * a->counters.n_counters));
        report_object_put(&object, "is_inlined", json_boolean(row->is_inlined));
        report_object_put(&object, "source", json_string(text ? origin_of(text->origin) : "none"));
        report_object_put(&object, "text",
                          text && row->line <= text->n_lines && row->line > 0
                                  ? report_object_string(source_text_line(text, row->line))
                                  : json_null());
        return report_object_take(&object);
}

static json_t *pack_lines(const struct annotation *a, struct source_texts *sources)
{
        json_t *rows = json_array();

        for (size_t i = 0; rows && i < a->n_lines; i++)
                if (json_array_append_new(rows, pack_line(a, sources, i)) < 0) {
                        json_decref(rows);
                        rows = NULL;
                }
        return rows;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static json_t *pack_module(const struct annotation *a)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        const struct trace_module *row;
        struct report_string build_id;
        struct report_object object = report_object_begin();
        char hex[2 * 64 + 1] = "";

        if (a->function.module == 0) {
                json_decref(report_object_take(&object));
                return json_null();
        }
        row = trace_dictionary_row(d, TRACE_TABLE_MODULES, a->function.module);
        build_id = report_string_of(d, row->build_id);
        for (size_t i = 0; i < build_id.n_bytes && i < 64; i++)
                (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned char)build_id.bytes[i]);
        report_object_put(&object, "path", report_object_string_or_null(report_string_of(d, row->path)));
        report_object_put(&object, "build_id", hex[0] != '\0' ? json_string(hex) : json_null());
        return report_object_take(&object);
}

static json_t *pack_event(const struct annotation *a)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, a->event);
        struct report_object object = report_object_begin();

        report_object_put(&object, "name", report_object_string(report_string_of(d, row->name)));
        report_object_put(&object, "unit", report_object_string_or_null(report_string_of(d, row->unit)));
        report_object_put(&object, "samples", report_object_number(a->trace->events[a->event - 1].n_samples));
        report_object_put(&object, "weight", report_object_number(a->trace->events[a->event - 1].weight));
        return report_object_take(&object);
}

static json_t *pack_all(const struct annotation *a, struct source_texts *sources,
                        struct report_string filter_words)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        struct report_object object = report_object_begin();

        report_object_put(&object, "schema", json_string(ANNOTATE_JSON_SCHEMA));
        report_object_put(&object, "function",
                          report_object_string(annotation_function_name(d, &a->function)));
        report_object_put(&object, "module", pack_module(a));
        report_object_put(&object, "event", pack_event(a));
        report_object_put(&object, "filter", report_object_string_or_null(filter_words));
        put_sum(&object, a, &a->sum);
        report_object_put(&object, "is_inlined", json_boolean(a->function.is_inlined));
        report_object_put(&object, "samples_self", report_object_number(a->self.n_samples));
        report_object_put(&object, "samples_inlined", report_object_number(a->inlined.n_samples));
        report_object_put(&object, "samples_elsewhere", report_object_number(a->elsewhere.n_samples));
        if (a->counters.n_counters > 0)
                report_object_put(&object, "counters", counters_of(a, a->counters_sum));
        report_object_put(&object, "code",
                          json_string(!a->has_code ? "none"
                                      : a->is_kept ? "trace"
                                                   : "file"));
        report_object_put(&object, "why_no_code", a->has_code ? json_null() : json_string(a->no_code.text));
        report_object_put(&object, "parts", list_of(a, 0, a->listing.n_parts, pack_part));
        report_object_put(&object, "lines", pack_lines(a, sources));
        return report_object_take(&object);
}

int annotate_json_print(const struct annotation *a, struct source_texts *sources,
                        struct report_string filter_words, FILE *out)
{
        json_t *root = pack_all(a, sources, filter_words);

        if (!root)
                return -ENOMEM;
        (void)json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        (void)fputc('\n', out);
        json_decref(root);
        return 0;
}
