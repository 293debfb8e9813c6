/* SPDX-License-Identifier: MIT */
#include "view/answers/annotation_view.h"

#include "analyze/annotate/annotation.h"
#include "analyze/report/report.h"
#include "analyze/walk/sampled_trace.h"
#include "format/trace_rows.h"

#include <inttypes.h>
#include <string.h>

/* The numbers come first in both, and counters last. */
static const struct view_column instruction_columns[] = {
        { .key = "share", .title = "percent", .type = VIEW_SHARE },
        { .key = "samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "weight", .title = "weight", .type = VIEW_COUNT },
        { .key = "address", .title = "address", .type = VIEW_STRING },
        { .key = "instruction", .title = "instruction", .type = VIEW_STRING },
        { .key = "branch", .title = "branch", .type = VIEW_STRING },
        { .key = "target", .title = "target", .type = VIEW_STRING },
        { .key = "function", .title = "function", .type = VIEW_STRING },
        { .key = "file", .title = "file", .type = VIEW_STRING },
        { .key = "line", .title = "line", .type = VIEW_ID },
};
#define N_INSTRUCTION_COLUMNS ((uint32_t)(sizeof(instruction_columns) / sizeof(instruction_columns[0])))

static const struct view_column line_columns[] = {
        { .key = "share", .title = "percent", .type = VIEW_SHARE },
        { .key = "samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "weight", .title = "weight", .type = VIEW_COUNT },
        { .key = "file", .title = "file", .type = VIEW_STRING },
        { .key = "line", .title = "line", .type = VIEW_ID },
        { .key = "text", .title = "source", .type = VIEW_STRING },
};
#define N_LINE_COLUMNS ((uint32_t)(sizeof(line_columns) / sizeof(line_columns[0])))

/* Events' names are the trace's: a key is of the letters that names of columns have elsewhere. */
static void make_key(char key[ANNOTATION_VIEW_KEY_BYTES], struct report_string name)
{
        static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:.";
        size_t n = name.n_bytes < ANNOTATION_VIEW_KEY_BYTES ? name.n_bytes : ANNOTATION_VIEW_KEY_BYTES - 1;

        memset(key, '_', n);
        for (size_t i = 0; i < n; i++)
                if (memchr(fine, name.bytes[i], sizeof(fine) - 1))
                        key[i] = name.bytes[i];
        key[n] = '\0';
}

static void add_counters(const struct annotation_view *view, struct view_column *columns, uint32_t n_own,
                         const struct report_counters *counters)
{
        for (uint32_t i = 0; i < counters->n_counters; i++)
                columns[n_own + i] = (struct view_column){ .key = view->keys[i],
                                                           .title = view->keys[i],
                                                           .type = VIEW_COUNT };
}

static void put_sum(struct view_document *d, struct view_table *t, const struct annotation *a,
                    const struct sample_sum *sum)
{
        view_table_put_real(d, t, report_share(sum->weight, a->sum.weight));
        view_table_put_number(d, t, sum->n_samples);
        view_table_put_number(d, t, sum->weight);
}

static void put_string(struct view_document *d, struct view_table *t, const struct annotation *a, uint32_t id)
{
        if (id != 0)
                view_table_put_string(d, t, annotation_string(a, id));
        else
                view_table_put_unknown(d, t);
}

static void put_line_number(struct view_document *d, struct view_table *t, uint32_t line)
{
        if (line != 0)
                view_table_put_number(d, t, line);
        else
                view_table_put_unknown(d, t);
}

static void put_counters(struct view_document *d, struct view_table *t, const struct annotation *a,
                         const uint64_t *rows, size_t index)
{
        for (uint32_t i = 0; i < a->counters.n_counters; i++)
                view_table_put_number(d, t, rows[index * a->counters.n_counters + i]);
}

static void put_branch(struct view_document *d, struct view_table *t, const struct annotation *a,
                       const struct listing_instruction *row)
{
        static const char *const branches[] = { [BRANCH_NONE] = "",
                                                [BRANCH_JUMP] = "jump",
                                                [BRANCH_CONDITIONAL] = "conditional",
                                                [BRANCH_CALL] = "call" };

        if (row->branch == BRANCH_NONE) {
                view_table_put_unknown(d, t);
                view_table_put_unknown(d, t);
                return;
        }
        view_table_put_words(d, t, branches[row->branch]);
        if (row->target_name != 0)
                put_string(d, t, a, row->target_name);
        else if (row->target_svma != 0)
                view_table_put_format(d, t, "0x%" PRIx64, row->target_svma);
        else
                view_table_put_unknown(d, t);
}

static void put_instruction(struct view_document *d, struct view_table *t, const struct annotation *a,
                            size_t index)
{
        static const struct listing_symbol unknown = { .function = 0 };
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *symbol = row->n_symbols != 0 ? &a->listing.symbols[row->first_symbol]
                                                                  : &unknown;

        put_sum(d, t, a, &a->instructions[index].sum);
        view_table_put_format(d, t, "0x%" PRIx64, row->svma);
        put_string(d, t, a, row->text);
        put_branch(d, t, a, row);
        put_string(d, t, a, symbol->function);
        put_string(d, t, a, symbol->file);
        put_line_number(d, t, symbol->line);
        put_counters(d, t, a, a->instruction_counters, index);
}

static void add_instructions(struct annotation_view *view, struct view_document *d,
                             const struct annotation *a, const struct annotation_view_options *options)
{
        struct view_table *t;

        memcpy(view->instructions, instruction_columns, sizeof(instruction_columns));
        add_counters(view, view->instructions, N_INSTRUCTION_COLUMNS, &a->counters);
        t = view_document_add_table(d, "instructions", "Instructions", view->instructions,
                                    N_INSTRUCTION_COLUMNS + a->counters.n_counters);
        view_table_set_about(d, t,
                             "of the function's samples, by their weight; function, file and line are "
                             "of the innermost function that was inlined there");
        for (size_t i = 0; i < a->listing.n_instructions; i++) {
                if (!options->only_hot || a->instructions[i].sum.n_samples != 0)
                        put_instruction(d, t, a, i);
                else if (t)
                        t->n_left_out++;
        }
}

static void put_line(struct view_document *d, struct view_table *t, const struct annotation *a,
                     struct source_texts *sources, size_t index)
{
        const struct annotated_line *row = &a->lines[index];
        const struct source_text *text = source_texts_find(sources, annotation_string(a, row->file));

        d->failed = d->failed || !text;
        put_sum(d, t, a, &row->sum);
        put_string(d, t, a, row->file);
        put_line_number(d, t, row->line);
        if (text && row->line != 0 && row->line <= text->n_lines)
                view_table_put_string(d, t, source_text_line(text, row->line));
        else
                view_table_put_unknown(d, t);
        put_counters(d, t, a, a->line_counters, index);
}

static void add_lines(struct annotation_view *view, struct view_document *d, const struct annotation *a,
                      struct source_texts *sources, const struct annotation_view_options *options)
{
        struct view_table *t;

        memcpy(view->lines, line_columns, sizeof(line_columns));
        add_counters(view, view->lines, N_LINE_COLUMNS, &a->counters);
        t = view_document_add_table(d, "lines", "Lines", view->lines,
                                    N_LINE_COLUMNS + a->counters.n_counters);
        view_table_set_about(d, t, "of the function's samples, by their weight");
        for (size_t i = 0; i < a->n_lines; i++) {
                if (!options->only_hot || a->lines[i].sum.n_samples != 0)
                        put_line(d, t, a, sources, i);
                else if (t)
                        t->n_left_out++;
        }
}

static void add_facts(struct view_document *d, const struct annotation *a, struct report_string filter)
{
        const struct trace_dictionary *dictionary = a->trace->dictionary;
        const struct trace_sample_event *event = trace_dictionary_row(dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                      a->event);
        struct report_string path = { .n_bytes = 0 };

        if (a->function.module != 0) {
                const struct trace_module *module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES,
                                                                         a->function.module);

                path = report_string_of(dictionary, module->path);
        }
        view_document_add_string(d, "function", "function",
                                 annotation_function_name(dictionary, &a->function));
        view_document_add_string(d, "module", "module", path);
        view_document_add_string(d, "event", "event", report_string_of(dictionary, event->name));
        view_document_add_string(d, "filter", "only", filter);
        view_document_add_number(d, "samples", "samples", VIEW_COUNT, a->sum.n_samples);
        view_document_add_number(d, "samples_self", "in itself", VIEW_COUNT, a->self.n_samples);
        view_document_add_number(d, "samples_inlined", "where it was inlined", VIEW_COUNT,
                                 a->inlined.n_samples);
        view_document_add_real(d, "share", "of all", VIEW_SHARE,
                               report_share(a->sum.weight, a->trace->events[a->event - 1].weight));
        if (a->elsewhere.n_samples != 0)
                view_document_warn(d, "%" PRIu64 " samples of it are at places that are not shown",
                                   a->elsewhere.n_samples);
        if (!a->has_code)
                view_document_warn(d, "no instructions: %s; sampled addresses alone", a->no_code.text);
}

void annotation_view_fill(struct annotation_view *view, struct view_document *d, const struct annotation *a,
                          struct source_texts *sources, const struct annotation_view_options *options)
{
        for (uint32_t i = 0; i < a->counters.n_counters; i++)
                make_key(view->keys[i], a->counters.counters[i].name);
        view_document_set_title(d, "Annotation");
        add_facts(d, a, options->filter);
        if (options->with_code)
                add_instructions(view, d, a, options);
        if (options->with_source)
                add_lines(view, d, a, sources, options);
}
