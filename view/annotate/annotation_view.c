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

static struct view_value string_of(const struct annotation *a, uint32_t id)
{
        return id != 0 ? view_text(annotation_string(a, id)) : view_unknown();
}

/* JSON numbers cannot hold 64 bits, but strings can. */
static struct view_value address_of(struct view_document *d, uint64_t address)
{
        return view_format(d, "0x%" PRIx64, address);
}

/* "name+0x10" */
static struct view_value target_of(struct view_document *d, const struct annotation *a,
                                   const struct listing_instruction *row)
{
        struct text_view name = { .n_bytes = 0 };

        if (row->branch != BRANCH_NONE && row->target_name != 0)
                name = annotation_string(a, row->target_name);
        if (name.n_bytes == 0 || row->target_offset_bytes == 0)
                return view_name(name);
        return view_format(d, "%.*s+0x%" PRIx32, (int)name.n_bytes, name.bytes, row->target_offset_bytes);
}

/* The functions into which the innermost one was inlined, up to the one that has the code. */
static struct view_value inlined_into(struct view_document *d, const struct annotation *a,
                                      const struct listing_instruction *row)
{
        struct view_value stack;

        if (row->n_symbols < 2)
                return view_unknown();
        stack = view_begin_stack(d);
        for (uint32_t i = 1; i < row->n_symbols; i++) {
                uint32_t function = a->listing.symbols[row->first_symbol + i].function;

                view_add_frame(d, &stack,
                               function != 0 ? annotation_string(a, function) : (struct text_view){ "?", 1 });
        }
        return stack;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

/* Both tables begin with the numbers and end with the counters. */
/* clang-format off */
#define SUM_COLUMNS(COLUMN)                                                                                   \
        COLUMN(SHARE, "share", "percent", view_real(report_share(sum->weight, a->sum.weight)),                \
               "of the function's weight")                                                                    \
        COLUMN(COUNT, "n_samples", "samples", view_number(sum->n_samples), NULL)                              \
        COLUMN(COUNT, "weight", "weight", view_number(sum->weight), NULL)                                     \
        COLUMN(REAL, "ipc", "IPC", report_heading_ratio(ratios.instructions_per_cycle), NULL)                 \
        COLUMN(REAL, "cache_misses_per_1000", "c-miss/k", report_heading_ratio(ratios.cache_misses), NULL)    \
        COLUMN(REAL, "branch_misses_per_1000", "b-miss/k", report_heading_ratio(ratios.branch_misses), NULL)
#define INSTRUCTION_COLUMNS(COLUMN)                                                                           \
        COLUMN(STRING, "address", "address", address_of(d, row->svma),                                        \
               "0x11d0: of the ELF file, or of the memory for code without one; without code an offset in "   \
               "the file")                                                                                    \
        COLUMN(STRING, "instruction", "instruction", string_of(a, row->text), NULL)                           \
        COLUMN(STRING, "branch", "branch", view_words(branches[row->branch]), NULL,                           \
               .one_of = "jump|conditional|call", .may_be_null = true)                                        \
        COLUMN(STRING, "target", "target", target_of(d, a, row), "of a jump or call: name+0x10")              \
        COLUMN(STRING, "target_address", "target address",                                                    \
               row->branch != BRANCH_NONE && row->target_svma != 0 ? address_of(d, row->target_svma)          \
                                                                   : view_unknown(), NULL)                    \
        COLUMN(STRING, "function", "function", string_of(a, symbol->function), "the innermost inlined one")   \
        COLUMN(STRING, "file", "file", string_of(a, symbol->file), "of that function, as the line")           \
        COLUMN(ID, "line", "line", view_known(symbol->line, symbol->line != 0), NULL, .may_be_null = true)    \
        COLUMN(STACK, "inlined_into", "inlined into", inlined_into(d, a, row),                                \
               "the functions around it, up to the one that has the code")                                    \
        COLUMN(COUNT, "n_bytes", "bytes", view_number(row->n_bytes), NULL)
#define LINE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "file", "file", string_of(a, row->file), NULL)                                         \
        COLUMN(ID, "line", "line", view_known(row->line, row->line != 0), NULL, .may_be_null = true)          \
        COLUMN(STRING, "text", "source",                                                                      \
               has_text ? view_text(source_text_line(text, row->line)) : view_unknown(), NULL)                \
        COLUMN(BOOL, "is_inlined", "inlined", view_number(row->is_inlined), NULL)                             \
        COLUMN(BOOL, "has_code", "code", view_number(row->has_code), "false only with --whole-files")         \
        COLUMN(STRING, "source", "text from", view_words(origins[text ? text->origin : SOURCE_NOT_FOUND]),    \
               NULL, .one_of = "trace|file|newer file|withheld|none")
#define PART_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "function", "part", string_of(a, part->name), NULL)                                    \
        COLUMN(STRING, "address", "address", address_of(d, part->svma), NULL)                                 \
        COLUMN(COUNT, "n_bytes", "bytes", view_number(part->n_bytes), NULL)                                   \
        COLUMN(COUNT, "n_instructions", "instructions", view_number(part->n_instructions), NULL)              \
        COLUMN(COUNT, "n_samples", "samples", view_number(n_samples), NULL)                                   \
        COLUMN(BOOL, "is_guessed", "beginning guessed",                                                       \
               view_number((part->flags & LISTING_PART_GUESSED) != 0),                                        \
               "no symbol marks its beginning")                                                               \
        COLUMN(BOOL, "is_cut", "cut", view_number((part->flags & LISTING_PART_CUT) != 0), NULL)
#define FUNCTION_COLUMNS(COLUMN)                                                                              \
        COLUMN(HANDLE, "handle", "", view_handle('f', find_handle(functions, dictionary, row)), NULL)         \
        COLUMN(SHARE, "share", "share", view_real(report_share(row->sum.weight, all->weight)),                \
               "of all samples of the event")                                                                 \
        COLUMN(COUNT, "n_samples", "samples", view_number(row->sum.n_samples), NULL)                          \
        COLUMN(STRING, "function", "function", view_text(annotation_function_name(dictionary, row)), NULL)    \
        COLUMN(PLACE, "module", "module", view_place(module_path(dictionary, row), 0), NULL)
/* clang-format on */

static const struct view_column instruction_columns[] = { SUM_COLUMNS(VIEW_COLUMN)
                                                                  INSTRUCTION_COLUMNS(VIEW_COLUMN) };
static const struct view_column line_columns[] = { SUM_COLUMNS(VIEW_COLUMN) LINE_COLUMNS(VIEW_COLUMN) };
static const struct view_column part_columns[] = { PART_COLUMNS(VIEW_COLUMN) };
static const struct view_column function_columns[] = { FUNCTION_COLUMNS(VIEW_COLUMN) };
#define COUNTER_WORDS "a counter of a group, by its event's name"
static const struct answer_part instructions_part = ANSWER_TABLE("instructions", instruction_columns,
                                                                 "an instruction", .may_be_absent = true,
                                                                 .more_columns = COUNTER_WORDS);
static const struct answer_part lines_part = ANSWER_TABLE(
        "lines", line_columns, "a line of the source", .may_be_absent = true, .more_columns = COUNTER_WORDS);
static const struct answer_part parts_part = ANSWER_TABLE(
        "parts", part_columns, "a part of the function's code", .may_be_absent = true);
static const struct answer_part functions_part = ANSWER_TABLE(
        "functions", function_columns,
        "a function that can be annotated, where none was named: the ten hottest", .may_be_absent = true);

/* A table of instructions or lines: the columns of the part, and one for each counter. */
static struct view_table *begin_table(struct view_document *d, const struct annotation *a,
                                      const struct answer_part *part, const char *title)
{
        struct view_column columns[VIEW_N_COLUMNS(instruction_columns) + REPORT_COUNTERS_MAX];
        uint32_t n = part->n_columns;

        memcpy(columns, part->columns, n * sizeof(*columns));
        if (part == &instructions_part && annotation_listing_has_file_offsets(a))
                columns[0 SUM_COLUMNS(VIEW_PLUS_ONE)].title = "file offset"; /* of the address */
        for (uint32_t i = 0; i < a->counters.n_counters; i++) {
                const char *key = view_document_make_key(d, "", a->counters.counters[i].name);

                columns[n++] = (struct view_column){ .key = key, .title = key, .type = VIEW_COUNT };
        }
        return view_document_add_table(d, part->key, title, columns, n);
}

static void put_counters(struct view_document *d, struct view_table *t, const struct annotation *a,
                         const uint64_t *counters)
{
        for (uint32_t i = 0; i < a->counters.n_counters; i++)
                view_table_put(d, t, view_number(counters[i]));
}

/* ---- instructions -------------------------------------------------------------------------------------- */

static void view_put_instruction(struct view_document *d, struct view_table *t, const struct annotation *a,
                                 size_t index)
{
        static const char *const branches[] = { [BRANCH_NONE] = NULL,
                                                [BRANCH_JUMP] = "jump",
                                                [BRANCH_CONDITIONAL] = "conditional",
                                                [BRANCH_CALL] = "call" };
        static const struct listing_symbol unknown = { .function = 0 };
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *symbol = row->n_symbols != 0 ? &a->listing.symbols[row->first_symbol]
                                                                  : &unknown;
        const struct sample_sum *sum = &a->instructions[index].sum;
        const uint64_t *counters = a->instruction_counters + index * a->counters.n_counters;
        struct report_ratios ratios = report_counters_ratios(&a->counters, counters);

        SUM_COLUMNS(VIEW_CELL)
        INSTRUCTION_COLUMNS(VIEW_CELL)
        put_counters(d, t, a, counters);
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
        uint8_t *shown = annotation_view_choose(a, options, &a->instructions[0].sum,
                                                sizeof(a->instructions[0]), a->listing.n_instructions);
        struct annotation_listing listing;
        struct view_table *t;

        t = begin_table(d, a, &instructions_part, "Instructions");
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
        struct view_table *t = view_document_add_part(d, &parts_part, "Parts of the function");

        for (size_t i = 0; i < a->listing.n_parts; i++) {
                const struct listing_part *part = &a->listing.parts[i];
                uint64_t n_samples = 0;

                for (uint32_t k = 0; k < part->n_instructions; k++)
                        n_samples += a->instructions[part->first_instruction + k].sum.n_samples;
                PART_COLUMNS(VIEW_CELL)
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
        bool has_text = text && row->line != 0 && row->line <= text->n_lines;
        const struct sample_sum *sum = &row->sum;
        const uint64_t *counters = a->line_counters + index * a->counters.n_counters;
        struct report_ratios ratios = report_counters_ratios(&a->counters, counters);

        d->failed = d->failed || !text;
        SUM_COLUMNS(VIEW_CELL)
        LINE_COLUMNS(VIEW_CELL)
        put_counters(d, t, a, counters);
}

static void view_add_lines(struct view_document *d, const struct annotation *a, struct source_texts *sources,
                           const struct annotation_view_options *options)
{
        uint8_t *shown = annotation_view_choose(a, options, &a->lines[0].sum, sizeof(a->lines[0]),
                                                a->n_lines);
        struct annotation_listing listing;
        struct view_table *t;

        t = begin_table(d, a, &lines_part, "Lines");
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

/* Empty if it is in no module. */
static struct text_view module_path(const struct trace_dictionary *d, const struct chosen_function *chosen)
{
        const struct trace_module *module;

        if (chosen->module == 0)
                return (struct text_view){ .n_bytes = 0 };
        module = trace_dictionary_row(d, TRACE_TABLE_MODULES, chosen->module);
        return trace_dictionary_text(d, module->path);
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
        struct view_table *t = view_document_add_part(d, &functions_part, "Functions that can be annotated");

        view_table_set_about(d, t, "of all samples of the event; below is the first of them");
        for (size_t i = 0; i < options->choice->n_rows; i++) {
                const struct chosen_function *row = &options->choice->rows[i];

                if (options->limit != 0 && i >= n_max) {
                        if (t)
                                t->n_left_out++;
                        continue;
                }
                FUNCTION_COLUMNS(VIEW_CELL)
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

static struct view_value build_id_of(struct view_document *d, struct text_view id)
{
        char hex[2 * BUILD_ID_BYTES_MAX + 1] = "";

        for (size_t i = 0; i < id.n_bytes && i < BUILD_ID_BYTES_MAX; i++)
                (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)(uint8_t)id.bytes[i]);
        return id.n_bytes != 0 ? view_format(d, "%s", hex) : view_unknown();
}

/* A sum is shown to people only if the answer does not already give it. */
/* clang-format off */
#define ANNOTATION_FACTS(FACT)                                                                                \
        FACT(STRING, "function", NULL, view_name(annotation_function_name(dictionary, &a->function)), NULL)   \
        FACT(HANDLE, "handle", "handle", view_handle('f', handle), NULL)                                      \
        FACT(STRING, "module", NULL, view_name(path), "a path")                                               \
        FACT(STRING, "build_id", "build-id", build_id_of(d, build_id), "of the module")                       \
        FACT(STRING, "event", NULL, view_name(event_name), "whose samples are shown")                         \
        FACT(STRING, "unit", "unit", view_name(trace_dictionary_text(dictionary, event->unit)),               \
             "of its weight")                                                                                 \
        FACT(STRING, "filter", "only", view_name(filter), "in words; null = the whole trace")                 \
        FACT(BOOL, "is_inlined", NULL, view_number(a->function.is_inlined),                                   \
             "these places are where the function was inlined; it has no code of its own")                    \
        FACT(COUNT, "n_samples", NULL, view_number(a->sum.n_samples), NULL)                                   \
        FACT(COUNT, "weight", NULL, view_number(a->sum.weight), NULL)                                         \
        FACT(SHARE, "share", NULL, view_real(report_share(a->sum.weight, all->weight)),                       \
             "of all samples of the event")                                                                   \
        FACT(COUNT, "self_samples", has_inlined ? "in itself, as in reports" : NULL,                          \
             view_number(a->self.n_samples),                                                                  \
             "at its own lines, as reports count them; the others of n_samples are in what was inlined "      \
             "into it")                                                                                       \
        FACT(COUNT, "inlined_samples", a->inlined.n_samples != 0 ? "where it was inlined" : NULL,             \
             view_number(a->inlined.n_samples), "where it was inlined into others; not in n_samples")         \
        FACT(COUNT, "elsewhere_samples", a->elsewhere.n_samples != 0 ? "at places not shown" : NULL,          \
             view_number(a->elsewhere.n_samples), "samples of the function at places that belong to no part") \
        FACT(COUNT, "event_samples", NULL, view_number(all->n_samples), "all that is looked at")              \
        FACT(COUNT, "event_weight", NULL, view_number(all->weight), NULL)                                     \
        FACT(STRING, "code", a->is_python ? NULL : "code",                                                    \
             view_words(!a->has_code ? "none" : a->is_kept ? "trace" : "file"), "where it comes from",        \
             .one_of = "trace|file|none")                                                                     \
        FACT(STRING, "why_no_code", a->is_python ? NULL : "because",                                          \
             a->has_code ? view_unknown() : view_words(a->no_code.text), NULL)
#define UNSAMPLED_FACTS(FACT)                                                                                 \
        FACT(SHARE, "unsampled_share", NULL, report_heading_unsampled(&a->unsampled),                         \
             "how much of the time, or of the count, has no samples; null = less than 1 %, or nothing is "    \
             "known to be missing")
/* clang-format on */

static const struct view_column fact_columns[] = { ANNOTATION_FACTS(VIEW_MEMBER)
                                                           UNSAMPLED_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);
const struct answer_schema annotation_view_schema = {
        .name = "hyprof.annotation/2",
        .command = "hyprof annotate --json",
        .parts = (const struct answer_part *const[]){ &facts, &instructions_part, &lines_part, &parts_part,
                                                      &functions_part, NULL },
};

static void view_add_facts(struct view_document *d, const struct annotation *a, uint32_t handle,
                           struct text_view filter)
{
        const struct trace_dictionary *dictionary = a->trace->dictionary;
        const struct trace_sample_event *event = trace_dictionary_row(dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                      a->event);
        const struct sample_sum *all = &a->trace->events[a->event - 1];
        struct text_view path = module_path(dictionary, &a->function), build_id = { .n_bytes = 0 };
        struct text_view event_name = trace_dictionary_text(dictionary, event->name);
        bool has_inlined = a->self.n_samples != a->sum.n_samples && !a->function.is_inlined;

        if (a->function.module != 0) {
                const struct trace_module *module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES,
                                                                         a->function.module);

                build_id = trace_dictionary_text(dictionary, module->build_id);
        }
        view_set_answer(d, a, path, event_name, filter.n_bytes != 0);
        ANNOTATION_FACTS(VIEW_FACT)
}

static void add_warnings_and_hints(struct view_document *d, const struct annotation *a,
                                   const struct annotation_view_options *options)
{
        uint64_t n_left_out = 0; /* instructions and lines */

        UNSAMPLED_FACTS(VIEW_FACT)
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
