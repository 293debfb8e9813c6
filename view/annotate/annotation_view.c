/* SPDX-License-Identifier: MIT */
#include "view/annotate/annotation_view.h"
#include "format/trace_dictionary.h"

#include "analyze/annotate/annotation.h"
#include "analyze/report/report.h"
#include "analyze/samples/function_table.h"
#include "analyze/samples/sampled_trace.h"
#include "format/trace_rows.h"
#include "view/annotate/annotation_listing.h"
#include "view/document/answer_schema.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_ID_BYTES_MAX 64

#define RATIO_COLUMNS                                                                       \
        { .key = "ipc", .title = "IPC", .type = VIEW_REAL },                                \
                { .key = "cache_misses_per_1000", .title = "c-miss/k", .type = VIEW_REAL }, \
        {                                                                                   \
                .key = "branch_misses_per_1000", .title = "b-miss/k", .type = VIEW_REAL     \
        }

/* Both tables begin with the numbers and end with the counters. */
static const struct view_column instruction_columns[] = {
        { .key = "share", .title = "percent", .type = VIEW_SHARE },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "weight", .title = "weight", .type = VIEW_COUNT },
        RATIO_COLUMNS,
        { .key = "address", .title = "address", .type = VIEW_STRING },
        { .key = "instruction", .title = "instruction", .type = VIEW_STRING },
        { .key = "branch", .title = "branch", .type = VIEW_STRING },
        { .key = "target", .title = "target", .type = VIEW_STRING },
        { .key = "target_address", .title = "target address", .type = VIEW_STRING },
        { .key = "function", .title = "function", .type = VIEW_STRING },
        { .key = "file", .title = "file", .type = VIEW_STRING },
        { .key = "line", .title = "line", .type = VIEW_ID },
        { .key = "inlined_into", .title = "inlined into", .type = VIEW_STACK },
        { .key = "n_bytes", .title = "bytes", .type = VIEW_COUNT },
};
#define N_INSTRUCTION_NUMBERS 6 /* the address follows */
#define N_INSTRUCTION_COLUMNS ((uint32_t)(sizeof(instruction_columns) / sizeof(instruction_columns[0])))

static const struct view_column line_columns[] = {
        { .key = "share", .title = "percent", .type = VIEW_SHARE },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "weight", .title = "weight", .type = VIEW_COUNT },
        RATIO_COLUMNS,
        { .key = "file", .title = "file", .type = VIEW_STRING },
        { .key = "line", .title = "line", .type = VIEW_ID },
        { .key = "text", .title = "source", .type = VIEW_STRING },
        { .key = "is_inlined", .title = "inlined", .type = VIEW_BOOL },
        { .key = "has_code", .title = "code", .type = VIEW_BOOL },
        { .key = "source", .title = "text from", .type = VIEW_STRING },
};
#define N_LINE_COLUMNS ((uint32_t)(sizeof(line_columns) / sizeof(line_columns[0])))

static const struct view_column part_columns[] = {
        { .key = "function", .title = "part", .type = VIEW_STRING },
        { .key = "address", .title = "address", .type = VIEW_STRING },
        { .key = "n_bytes", .title = "bytes", .type = VIEW_COUNT },
        { .key = "n_instructions", .title = "instructions", .type = VIEW_COUNT },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "is_guessed", .title = "beginning guessed", .type = VIEW_BOOL },
        { .key = "is_cut", .title = "cut", .type = VIEW_BOOL },
};

static const struct view_column function_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE },
        { .key = "share", .title = "share", .type = VIEW_SHARE },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "function", .title = "function", .type = VIEW_STRING },
        { .key = "module", .title = "module", .type = VIEW_PLACE },
};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- which rows ---------------------------------------------------------------------------------------- */

static const struct sample_sum *sum_at(const struct sample_sum *first, size_t stride, size_t index)
{
        return (const void *)((const char *)first + index * stride);
}

static int compare_weights(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * Keeps the @limit rows with the most samples, and the first ones of equal rows.  Returns false without
 * memory.
 */
static bool keep_heaviest(uint8_t *shown, const struct sample_sum *first, size_t stride, size_t n_rows,
                          uint32_t limit)
{
        uint64_t *weights = calloc(n_rows + 1, sizeof(*weights));
        size_t n = 0, n_equal;

        if (!weights)
                return false;
        for (size_t i = 0; i < n_rows; i++)
                if (shown[i])
                        weights[n++] = sum_at(first, stride, i)->weight;
        if (n > limit) {
                uint64_t least;

                qsort(weights, n, sizeof(*weights), compare_weights);
                least = weights[limit - 1];
                for (n_equal = 0; n_equal < limit && weights[limit - 1 - n_equal] == least;)
                        n_equal++;
                for (size_t i = 0; i < n_rows; i++) {
                        uint64_t weight = sum_at(first, stride, i)->weight;

                        if (!shown[i] || weight > least)
                                continue;
                        shown[i] = weight == least && n_equal > 0;
                        n_equal -= shown[i];
                }
        }
        free(weights);
        return true;
}

uint8_t *annotation_view_choose(const struct annotation *a, const struct annotation_view_options *options,
                                const struct sample_sum *first, size_t stride, size_t n_rows)
{
        uint8_t *shown = calloc(n_rows + 1, 1);
        size_t until = 0; /* rows before it are chosen already */

        for (size_t i = 0; shown && i < n_rows; i++) {
                const struct sample_sum *sum = sum_at(first, stride, i);
                size_t start = i > options->n_context ? i - options->n_context : 0;
                size_t end = i + options->n_context + 1;

                shown[i] |= options->show_all;
                if (sum->n_samples == 0 || report_share(sum->weight, a->sum.weight) < options->share_hot)
                        continue;
                if (end > n_rows)
                        end = n_rows;
                for (size_t k = start > until ? start : until; k < end; k++)
                        shown[k] = 1;
                until = end;
        }
        if (shown && options->limit != 0 && !keep_heaviest(shown, first, stride, n_rows, options->limit)) {
                free(shown);
                shown = NULL;
        }
        return shown;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* Puts the table's own columns, and one for each counter, into @ret_columns. */
static void view_add_counters(struct view_document *d, struct view_column *ret_columns,
                              const struct view_column *own, uint32_t n_own,
                              const struct report_counters *counters)
{
        memcpy(ret_columns, own, n_own * sizeof(*own));
        for (uint32_t i = 0; i < counters->n_counters; i++) {
                const char *key = view_document_make_key(d, "", counters->counters[i].name);

                ret_columns[n_own + i] = (struct view_column){ .key = key, .title = key, .type = VIEW_COUNT };
        }
}

static void view_put_ratio(struct view_document *d, struct view_table *t, double ratio)
{
        if (ratio >= 0)
                view_table_put_real(d, t, ratio);
        else
                view_table_put_unknown(d, t);
}

/* @rows: the counters of all rows */
static void put_sum(struct view_document *d, struct view_table *t, const struct annotation *a,
                    const struct sample_sum *sum, const uint64_t *rows, size_t index)
{
        struct report_ratios ratios = report_counters_ratios(&a->counters,
                                                             rows + index * a->counters.n_counters);

        view_table_put_real(d, t, report_share(sum->weight, a->sum.weight));
        view_table_put_number(d, t, sum->n_samples);
        view_table_put_number(d, t, sum->weight);
        view_put_ratio(d, t, ratios.instructions_per_cycle);
        view_put_ratio(d, t, ratios.cache_misses);
        view_put_ratio(d, t, ratios.branch_misses);
}

static void view_put_string(struct view_document *d, struct view_table *t, const struct annotation *a,
                            uint32_t id)
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

/* JSON numbers cannot hold 64 bits, but strings can. */
static void put_address(struct view_document *d, struct view_table *t, uint64_t address)
{
        view_table_put_format(d, t, "0x%" PRIx64, address);
}

static void put_counters(struct view_document *d, struct view_table *t, const struct annotation *a,
                         const uint64_t *rows, size_t index)
{
        for (uint32_t i = 0; i < a->counters.n_counters; i++)
                view_table_put_number(d, t, rows[index * a->counters.n_counters + i]);
}

/* ---- instructions -------------------------------------------------------------------------------------- */

/* "name+0x10", and its address. */
static void put_target(struct view_document *d, struct view_table *t, const struct annotation *a,
                       const struct listing_instruction *row)
{
        struct text_view name = row->target_name != 0 ? annotation_string(a, row->target_name)
                                                      : (struct text_view){ .n_bytes = 0 };

        if (name.n_bytes == 0)
                view_table_put_unknown(d, t);
        else if (row->target_offset_bytes == 0)
                view_table_put_string(d, t, name);
        else
                view_table_put_format(d, t, "%.*s+0x%" PRIx32, (int)name.n_bytes, name.bytes,
                                      row->target_offset_bytes);
        if (row->target_svma != 0)
                put_address(d, t, row->target_svma);
        else
                view_table_put_unknown(d, t);
}

static void put_branch(struct view_document *d, struct view_table *t, const struct annotation *a,
                       const struct listing_instruction *row)
{
        static const char *const branches[] = { [BRANCH_NONE] = "",
                                                [BRANCH_JUMP] = "jump",
                                                [BRANCH_CONDITIONAL] = "conditional",
                                                [BRANCH_CALL] = "call" };

        if (row->branch != BRANCH_NONE) {
                view_table_put_words(d, t, branches[row->branch]);
                put_target(d, t, a, row);
                return;
        }
        for (int i = 0; i < 3; i++)
                view_table_put_unknown(d, t);
}

/* The functions into which the innermost one was inlined, up to the one that has the code. */
static void view_put_inlined(struct view_document *d, struct view_table *t, const struct annotation *a,
                             const struct listing_instruction *row)
{
        if (row->n_symbols < 2) {
                view_table_put_unknown(d, t);
                return;
        }
        view_table_begin_stack(d, t);
        for (uint32_t i = 1; i < row->n_symbols; i++) {
                uint32_t function = a->listing.symbols[row->first_symbol + i].function;

                view_table_add_frame(
                        d, t, function != 0 ? annotation_string(a, function) : (struct text_view){ "?", 1 });
        }
}

static void view_put_instruction(struct view_document *d, struct view_table *t, const struct annotation *a,
                                 size_t index)
{
        static const struct listing_symbol unknown = { .function = 0 };
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *symbol = row->n_symbols != 0 ? &a->listing.symbols[row->first_symbol]
                                                                  : &unknown;

        put_sum(d, t, a, &a->instructions[index].sum, a->instruction_counters, index);
        put_address(d, t, row->svma);
        view_put_string(d, t, a, row->text);
        put_branch(d, t, a, row);
        view_put_string(d, t, a, symbol->function);
        view_put_string(d, t, a, symbol->file);
        put_line_number(d, t, symbol->line);
        view_put_inlined(d, t, a, row);
        view_table_put_number(d, t, row->n_bytes);
        put_counters(d, t, a, a->instruction_counters, index);
}

/* "of the function's samples, by their weight (ns); * is the hottest ..." */
static void view_set_about(struct view_document *d, struct view_table *t, const struct annotation *a,
                           const char *more)
{
        const struct trace_sample_event *event = trace_dictionary_row(a->trace->dictionary,
                                                                      TRACE_TABLE_SAMPLE_EVENTS, a->event);
        struct text_view unit = trace_dictionary_text(a->trace->dictionary, event->unit);

        view_table_set_about(d, t, "of the function's samples, by their weight%s%.*s%s%s",
                             unit.n_bytes != 0 ? " (" : "", (int)unit.n_bytes,
                             unit.n_bytes != 0 ? unit.bytes : "", unit.n_bytes != 0 ? ")" : "", more);
}

static void add_instructions(struct view_document *d, const struct annotation *a,
                             struct source_texts *sources, const struct annotation_view_options *options)
{
        struct view_column all[N_INSTRUCTION_COLUMNS + REPORT_COUNTERS_MAX];
        uint8_t *shown = annotation_view_choose(a, options, &a->instructions[0].sum,
                                                sizeof(a->instructions[0]), a->listing.n_instructions);
        struct annotation_listing listing;
        struct view_table *t;

        view_add_counters(d, all, instruction_columns, N_INSTRUCTION_COLUMNS, &a->counters);
        if (annotation_listing_has_file_offsets(a))
                all[N_INSTRUCTION_NUMBERS].title = "file offset";
        t = view_document_add_table(d, "instructions", "Instructions", all,
                                    N_INSTRUCTION_COLUMNS + a->counters.n_counters);
        view_set_about(
                d, t, a,
                "; * is the hottest; function, file and line are of the innermost function that was inlined there.  A "
                "sample marks the instruction that runs next, often one or a few after the one that took the time "
                "(skid)");
        annotation_listing_init(&listing, d, t, a, sources, options->with_source);
        d->failed = d->failed || !shown;
        for (uint32_t i = 0; shown && i < a->listing.n_instructions; i++) {
                annotation_listing_add_instruction(&listing, i, shown[i]);
                if (shown[i])
                        view_put_instruction(d, t, a, i);
                else if (t)
                        t->n_left_out++;
        }
        annotation_listing_finish(&listing, "instructions");
        if (t)
                t->listing = &annotation_listing_of_code;
        free(shown);
}

static void view_add_parts(struct view_document *d, const struct annotation *a)
{
        struct view_table *t = view_document_add_table(d, "parts", "Parts of the function", part_columns,
                                                       COUNT_OF(part_columns));

        for (size_t i = 0; i < a->listing.n_parts; i++) {
                const struct listing_part *part = &a->listing.parts[i];
                uint64_t n_samples = 0;

                for (uint32_t k = 0; k < part->n_instructions; k++)
                        n_samples += a->instructions[part->first_instruction + k].sum.n_samples;
                view_put_string(d, t, a, part->name);
                put_address(d, t, part->svma);
                view_table_put_number(d, t, part->n_bytes);
                view_table_put_number(d, t, part->n_instructions);
                view_table_put_number(d, t, n_samples);
                view_table_put_bool(d, t, (part->flags & LISTING_PART_GUESSED) != 0);
                view_table_put_bool(d, t, (part->flags & LISTING_PART_CUT) != 0);
        }
        if (t)
                t->is_in_listing = true;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void view_put_line(struct view_document *d, struct view_table *t, const struct annotation *a,
                          struct source_texts *sources, size_t index)
{
        static const char *const origins[] = { [SOURCE_NOT_FOUND] = "none",
                                               [SOURCE_WITHHELD] = "withheld",
                                               [SOURCE_OF_TRACE] = "trace",
                                               [SOURCE_OF_FILE] = "file",
                                               [SOURCE_OF_NEWER_FILE] = "newer file" };
        const struct annotated_line *row = &a->lines[index];
        const struct source_text *text = source_texts_find(sources, annotation_string(a, row->file));

        d->failed = d->failed || !text;
        put_sum(d, t, a, &row->sum, a->line_counters, index);
        view_put_string(d, t, a, row->file);
        put_line_number(d, t, row->line);
        if (text && row->line != 0 && row->line <= text->n_lines)
                view_table_put_string(d, t, source_text_line(text, row->line));
        else
                view_table_put_unknown(d, t);
        view_table_put_bool(d, t, row->is_inlined);
        view_table_put_bool(d, t, row->has_code);
        view_table_put_words(d, t, origins[text ? text->origin : SOURCE_NOT_FOUND]);
        put_counters(d, t, a, a->line_counters, index);
}

static void view_add_lines(struct view_document *d, const struct annotation *a, struct source_texts *sources,
                           const struct annotation_view_options *options)
{
        struct view_column all[N_LINE_COLUMNS + REPORT_COUNTERS_MAX];
        uint8_t *shown = annotation_view_choose(a, options, &a->lines[0].sum, sizeof(a->lines[0]),
                                                a->n_lines);
        struct annotation_listing listing;
        struct view_table *t;

        view_add_counters(d, all, line_columns, N_LINE_COLUMNS, &a->counters);
        t = view_document_add_table(d, "lines", "Lines", all, N_LINE_COLUMNS + a->counters.n_counters);
        view_set_about(d, t, a, "; * is the hottest");
        annotation_listing_init(&listing, d, t, a, sources, true);
        d->failed = d->failed || !shown;
        for (uint32_t i = 0; shown && i < a->n_lines; i++) {
                annotation_listing_add_line(&listing, i, shown[i]);
                if (shown[i])
                        view_put_line(d, t, a, sources, i);
                else if (t)
                        t->n_left_out++;
        }
        annotation_listing_finish(&listing, "lines");
        if (t) {
                t->listing = &annotation_listing_of_lines;
                t->is_in_listing = options->with_code;
        }
        free(shown);
}

/* ---- which function ------------------------------------------------------------------------------------ */

/* The handle of the function in reports; 0 = it has none there. */
static uint32_t find_handle(const struct function_table *functions, const struct trace_dictionary *d,
                            const struct chosen_function *chosen)
{
        uint32_t path = 0;

        if (chosen->name == 0)
                return 0;
        if (chosen->module != 0) {
                const struct trace_module *module = trace_dictionary_row(d, TRACE_TABLE_MODULES,
                                                                         chosen->module);

                path = module->path;
        }
        for (uint32_t i = 1; i <= functions->functions.n_items; i++) {
                const struct function *function = function_table_get(functions, i);

                if (function->name == chosen->name && function->module == path)
                        return i;
        }
        return 0;
}

static void add_functions(struct view_document *d, const struct annotation *a,
                          const struct function_table *functions,
                          const struct annotation_view_options *options)
{
        const struct trace_dictionary *dictionary = a->trace->dictionary;
        const struct sample_sum *all = &a->trace->events[a->event - 1];
        size_t n_max = options->limit != 0 && options->limit < ANNOTATION_VIEW_FUNCTIONS
                               ? options->limit
                               : ANNOTATION_VIEW_FUNCTIONS;
        struct view_table *t = view_document_add_table(d, "functions", "Functions that can be annotated",
                                                       function_columns, COUNT_OF(function_columns));

        view_table_set_about(d, t, "of all samples of the event; below is the first of them");
        for (size_t i = 0; i < options->choice->n_rows; i++) {
                const struct chosen_function *row = &options->choice->rows[i];
                uint32_t handle;

                if (options->limit != 0 && i >= n_max) {
                        if (t)
                                t->n_left_out++;
                        continue;
                }
                handle = find_handle(functions, dictionary, row);
                view_table_put_handle(d, t, 'f', handle);
                view_table_put_real(d, t, report_share(row->sum.weight, all->weight));
                view_table_put_number(d, t, row->sum.n_samples);
                view_table_put_string(d, t, annotation_function_name(dictionary, row));
                if (row->module != 0) {
                        const struct trace_module *module = trace_dictionary_row(
                                dictionary, TRACE_TABLE_MODULES, row->module);

                        view_table_put_place(d, t, trace_dictionary_text(dictionary, module->path), 0);
                } else {
                        view_table_put_unknown(d, t);
                }
        }
}

/* ---- facts --------------------------------------------------------------------------------------------- */

/* "hot_loop in /bin/x: 57 samples of cpu-clock, 17.4% of the trace's" */
static void view_set_answer(struct view_document *d, const struct annotation *a, struct text_view path,
                            struct text_view event, bool is_filtered)
{
        struct text_view name = annotation_function_name(a->trace->dictionary, &a->function);
        double share = report_share(a->sum.weight, a->trace->events[a->event - 1].weight);
        struct byte_buffer words = { .data = NULL };
        char numbers[256], clause[UNSAMPLED_TIME_WORDS_BYTES];

        byte_buffer_add(&words, name.bytes, name.n_bytes);
        if (a->function.is_inlined)
                byte_buffer_add(&words, ", where it was inlined,", strlen(", where it was inlined,"));
        byte_buffer_add(&words, " in ", 4);
        if (path.n_bytes != 0)
                byte_buffer_add(&words, path.bytes, path.n_bytes);
        else
                byte_buffer_add(&words, "no file", strlen("no file"));
        (void)snprintf(numbers, sizeof(numbers), ": %s of ",
                       text_number_counted(a->sum.n_samples, "samples").text);
        byte_buffer_add(&words, numbers, strlen(numbers));
        if (event.n_bytes != 0)
                byte_buffer_add(&words, event.bytes, event.n_bytes);
        (void)snprintf(numbers, sizeof(numbers), ", %s of %s", text_number_share(share).text,
                       is_filtered ? "those that pass the filters" : "the trace's");
        byte_buffer_add(&words, numbers, strlen(numbers));
        unsampled_time_clause(&a->unsampled, NULL, clause);
        byte_buffer_add(&words, clause, strlen(clause));
        d->failed = d->failed || words.failed;
        view_document_set_answer(d, (struct text_view){ (const char *)words.data, words.used_bytes });
        byte_buffer_deinit(&words);
}

static void view_add_words(struct view_document *d, const char *key, const char *title, const char *words)
{
        view_document_add_string(d, key, title, (struct text_view){ words, strlen(words) });
}

static void add_build_id(struct view_document *d, struct text_view id)
{
        char hex[2 * BUILD_ID_BYTES_MAX + 1] = "";

        for (size_t i = 0; i < id.n_bytes && i < BUILD_ID_BYTES_MAX; i++)
                (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)(uint8_t)id.bytes[i]);
        if (id.n_bytes != 0)
                view_add_words(d, "build_id", "build-id", hex);
        else
                view_document_add_unknown(d, "build_id", "build-id", VIEW_STRING);
}

static void view_add_string(struct view_document *d, const char *key, const char *title, struct text_view s)
{
        if (s.n_bytes != 0)
                view_document_add_string(d, key, title, s);
        else
                view_document_add_unknown(d, key, title, VIEW_STRING);
}

static void view_add_handle(struct view_document *d, uint32_t handle)
{
        char text[16];

        (void)snprintf(text, sizeof(text), "f%" PRIu32, handle);
        view_add_string(d, "handle", "handle", (struct text_view){ text, handle != 0 ? strlen(text) : 0 });
}

/* A sum is shown to people only if the answer does not already give it. */
static void add_sums(struct view_document *d, const struct annotation *a)
{
        bool has_inlined = a->self.n_samples != a->sum.n_samples && !a->function.is_inlined;
        const struct sample_sum *all = &a->trace->events[a->event - 1];

        view_document_add_number(d, "n_samples", NULL, VIEW_COUNT, a->sum.n_samples);
        view_document_add_number(d, "weight", NULL, VIEW_COUNT, a->sum.weight);
        view_document_add_real(d, "share", NULL, VIEW_SHARE, report_share(a->sum.weight, all->weight));
        view_document_add_number(d, "self_samples", has_inlined ? "in itself, as in reports" : NULL,
                                 VIEW_COUNT, a->self.n_samples);
        view_document_add_number(d, "inlined_samples",
                                 a->inlined.n_samples != 0 ? "where it was inlined" : NULL, VIEW_COUNT,
                                 a->inlined.n_samples);
        view_document_add_number(d, "elsewhere_samples",
                                 a->elsewhere.n_samples != 0 ? "at places not shown" : NULL, VIEW_COUNT,
                                 a->elsewhere.n_samples);
        view_document_add_number(d, "event_samples", NULL, VIEW_COUNT, all->n_samples);
        view_document_add_number(d, "event_weight", NULL, VIEW_COUNT, all->weight);
}

static void view_add_facts(struct view_document *d, const struct annotation *a, uint32_t handle,
                           struct text_view filter)
{
        const struct trace_dictionary *dictionary = a->trace->dictionary;
        const struct trace_sample_event *event = trace_dictionary_row(dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                      a->event);
        struct text_view path = { .n_bytes = 0 }, build_id = { .n_bytes = 0 };

        if (a->function.module != 0) {
                const struct trace_module *module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES,
                                                                         a->function.module);

                path = trace_dictionary_text(dictionary, module->path);
                build_id = trace_dictionary_text(dictionary, module->build_id);
        }
        view_set_answer(d, a, path, trace_dictionary_text(dictionary, event->name), filter.n_bytes != 0);
        view_document_add_string(d, "function", NULL, annotation_function_name(dictionary, &a->function));
        view_add_handle(d, handle);
        view_add_string(d, "module", NULL, path);
        add_build_id(d, build_id);
        view_add_string(d, "event", NULL, trace_dictionary_text(dictionary, event->name));
        view_add_string(d, "unit", "unit", trace_dictionary_text(dictionary, event->unit));
        view_add_string(d, "filter", "only", filter);
        view_document_add_bool(d, "is_inlined", NULL, a->function.is_inlined);
        add_sums(d, a);
        view_add_words(d, "code", a->is_python ? NULL : "code",
                       !a->has_code ? "none"
                       : a->is_kept ? "trace"
                                    : "file");
        if (!a->has_code)
                view_add_words(d, "why_no_code", a->is_python ? NULL : "because", a->no_code.text);
        else
                view_document_add_unknown(d, "why_no_code", "because", VIEW_STRING);
}

static void add_warnings_and_hints(struct view_document *d, const struct annotation *a,
                                   const struct annotation_view_options *options)
{
        uint64_t n_left_out = 0; /* instructions and lines */

        view_document_put(d, "unsampled_share", NULL, VIEW_SHARE, report_heading_unsampled(&a->unsampled));
        report_heading_warn_recorded(d, a->trace->dictionary, &a->unsampled);
        if (a->elsewhere.n_samples != 0)
                view_document_warn(d, "%" PRIu64 " samples of it are at places that are not shown",
                                   a->elsewhere.n_samples);
        if (!a->has_code && !a->is_python)
                view_document_warn(d, "no instructions: %s; sampled addresses alone", a->no_code.text);
        if (a->n_short_files != 0)
                view_document_warn(d,
                                   "%" PRIu32
                                   " source files are shown without their other lines: together more than %d",
                                   a->n_short_files, ANNOTATION_FILE_LINES_MAX);
        for (size_t i = 0; i < d->n_tables; i++)
                n_left_out += d->tables[i]->columns[0].type == VIEW_SHARE ? d->tables[i]->n_left_out : 0;
        if (n_left_out != 0)
                report_heading_hint(d, options->path, "annotate --context all --limit 0");
}

void annotation_view_fill(struct view_document *d, const struct annotation *a, struct source_texts *sources,
                          const struct annotation_view_options *options)
{
        struct function_table functions;

        if (function_table_init(&functions, a->trace->dictionary) < 0) {
                d->failed = true;
                return;
        }
        view_add_facts(d, a, find_handle(&functions, a->trace->dictionary, &a->function), options->filter);
        if (options->with_code)
                add_instructions(d, a, sources, options);
        if (options->with_lines)
                view_add_lines(d, a, sources, options);
        if (options->with_code)
                view_add_parts(d, a);
        if (options->choice)
                add_functions(d, a, &functions, options);
        add_warnings_and_hints(d, a, options);
        function_table_deinit(&functions);
}

const struct answer_schema annotation_view_schema = {
        .name = "hyprof.annotation/2",
        .command = "hyprof annotate --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
