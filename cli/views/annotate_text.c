/* SPDX-License-Identifier: MIT */
#include "cli/views/annotate_text.h"

#include "analyze/annotate/annotation.h"
#include "analyze/report/report.h"
#include "analyze/walk/sampled_trace.h"
#include "base/byte_buffer.h"
#include "cli/views/arrow_margin.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/answers/annotation_view.h"
#include "view/answers/report_names.h"
#include "view/text/text_color.h"
#include "view/text/text_line.h"
#include "view/text/text_number.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_WARM      0.005 /* from here on a row has a colour, */
#define SHARE_HOT       0.05  /* and from here on another */
#define N_RATIOS        3
#define TAB_COLUMNS     8
#define LINE_GAP_MAX    3 /* lines of a source without code that are shown between two that have some */
#define GUTTER_COLUMNS  18
#define RATIO_COLUMNS   8
#define ADDRESS_COLUMNS 10

struct annotate_text {
        const struct annotation *a;
        struct source_texts *sources;
        const struct annotate_text_options *options;
        FILE *out;
        struct byte_buffer line; /* the one that is being made, without colours */
        uint32_t file;           /* string: whose text `text` is */
        const struct source_text *text;
        bool has_ratio[N_RATIOS];
        uint64_t hottest; /* weight of the hottest row */
        bool left_out;    /* some rows were */
};

static const char *const ratio_titles[N_RATIOS] = { "IPC", "c-miss/k", "b-miss/k" };

static double ratio_of(const struct report_ratios *ratios, int index)
{
        return index == 0   ? ratios->instructions_per_cycle
               : index == 1 ? ratios->cache_misses
                            : ratios->branch_misses;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Up to @n_max columns of UTF-8 that is escaped already; returns the bytes. */
static size_t annotate_text_cut(const char *text, size_t n_bytes, uint32_t n_max)
{
        uint32_t n_columns = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;

                if (begins && n_columns++ == n_max)
                        return i;
        }
        return n_bytes;
}

/* Ends the line and prints it, in @color (NULL = none). */
static int annotate_text_put_line(struct annotate_text *t, const char *color)
{
        size_t n = t->line.used_bytes, n_shown;

        if (t->line.failed)
                return -ENOMEM;
        while (n > 0 && t->line.data[n - 1] == ' ')
                n--;
        n_shown = t->options->n_columns != 0
                          ? annotate_text_cut((const char *)t->line.data, n, t->options->n_columns)
                          : n;
        color = t->options->is_colored && n > 0 ? color : NULL;
        (void)fprintf(t->out, "%s%.*s%s\n", color ? color : "", (int)n_shown,
                      n > 0 ? (const char *)t->line.data : "", color ? TEXT_COLOR_NONE : "");
        byte_buffer_clear(&t->line);
        return 0;
}

static void add_blanks(struct annotate_text *t, size_t n)
{
        for (; n > 0; n--)
                byte_buffer_add_u8(&t->line, ' ');
}

/* Source text: a tab stands for the blanks up to the next stop. */
static void add_source(struct annotate_text *t, struct text_view text)
{
        uint32_t n_columns = 0;

        for (size_t i = 0, next; i < text.n_bytes; i = next) {
                for (next = i; next < text.n_bytes && text.bytes[next] != '\t'; next++)
                        ;
                n_columns += text_escape(&t->line, text.bytes + i, next - i);
                if (next == text.n_bytes)
                        break;
                add_blanks(t, TAB_COLUMNS - n_columns % TAB_COLUMNS);
                n_columns += TAB_COLUMNS - n_columns % TAB_COLUMNS;
                next++;
        }
}

static void annotate_text_add_string(struct annotate_text *t, uint32_t id)
{
        text_line_add_string(&t->line, annotation_string(t->a, id));
}

/* The columns of numbers; all blank if there are no samples. */
static void add_numbers(struct annotate_text *t, const struct sample_sum *sum, const uint64_t *counters)
{
        struct report_ratios ratios = report_counters_ratios(&t->a->counters, counters);
        bool is_hottest = sum->weight != 0 && sum->weight == t->hottest;

        if (sum->n_samples == 0)
                add_blanks(t, GUTTER_COLUMNS);
        else
                text_line_add(&t->line, "%7s %9s%s",
                              text_number_share(report_share(sum->weight, t->a->sum.weight)).text,
                              text_number_count(sum->n_samples).text, is_hottest ? "*" : " ");
        for (int i = 0; i < N_RATIOS; i++) {
                if (!t->has_ratio[i])
                        continue;
                if (sum->n_samples == 0 || ratio_of(&ratios, i) < 0)
                        add_blanks(t, RATIO_COLUMNS + 1);
                else
                        text_line_add(&t->line, " %*.2f", RATIO_COLUMNS, ratio_of(&ratios, i));
        }
}

static const char *color_of(const struct annotate_text *t, const struct sample_sum *sum)
{
        double share = report_share(sum->weight, t->a->sum.weight);

        return share >= SHARE_HOT ? TEXT_COLOR_HOT : share >= SHARE_WARM ? TEXT_COLOR_WARM : NULL;
}

static int annotate_text_put_titles(struct annotate_text *t, const char *last)
{
        (void)fputc('\n', t->out);
        text_line_add(&t->line, "%7s %9s ", "percent", "samples");
        for (int i = 0; i < N_RATIOS; i++)
                if (t->has_ratio[i])
                        text_line_add(&t->line, " %*s", RATIO_COLUMNS, ratio_titles[i]);
        text_line_add(&t->line, "%s", last);
        return annotate_text_put_line(t, TEXT_COLOR_BOLD);
}

static int annotate_text_put_gap(struct annotate_text *t, uint32_t n_rows, const char *what)
{
        t->left_out = true;
        add_blanks(t, GUTTER_COLUMNS + 1);
        text_line_add(&t->line, "... %s %s%s", text_number_count(n_rows).text, what,
                      text_line_plural(n_rows));
        return annotate_text_put_line(t, NULL);
}

/* ---- source lines -------------------------------------------------------------------------------------- */

static const struct source_text *find_text(struct annotate_text *t, uint32_t file)
{
        if (t->file != file || !t->text) {
                t->text = source_texts_find(t->sources, annotation_string(t->a, file));
                t->file = file;
        }
        return t->text;
}

static void annotate_text_add_place(struct annotate_text *t, uint32_t file, uint32_t line)
{
        struct text_view name = report_names_file(annotation_string(t->a, file));

        text_line_add_string(&t->line, name);
        if (line != 0)
                text_line_add(&t->line, ":%" PRIu32, line);
}

static const struct listing_symbol *symbols_of(const struct annotation *a, uint32_t index)
{
        return a->listing.symbols + a->listing.instructions[index].first_symbol;
}

static size_t margin_columns(const struct annotate_text *t)
{
        size_t n = GUTTER_COLUMNS;

        for (int i = 0; i < N_RATIOS; i++)
                n += t->has_ratio[i] ? RATIO_COLUMNS + 1 : 0;
        return n + ADDRESS_COLUMNS + 3;
}

static void begin_note(struct annotate_text *t, const struct arrow_margin *margin)
{
        add_blanks(t, margin_columns(t));
        text_line_add(&t->line, "%s ", margin->text);
}

/* Whether level @depth (0 = the outermost) of two chains is the same call. */
static bool is_same_level(const struct annotation *a, const struct listing_instruction *x,
                          const struct listing_instruction *y, uint32_t depth)
{
        const struct listing_symbol *sx, *sy;

        if (depth >= x->n_symbols || depth >= y->n_symbols)
                return false;
        sx = &a->listing.symbols[x->first_symbol + x->n_symbols - 1 - depth];
        sy = &a->listing.symbols[y->first_symbol + y->n_symbols - 1 - depth];
        return sx->function == sy->function;
}

/* The functions that begin here, in lines of their own: those that the instruction before was not in. */
static int annotate_text_put_inlined(struct annotate_text *t, const struct arrow_margin *margin,
                                     uint32_t index, bool is_first)
{
        const struct annotation *a = t->a;
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *symbols = symbols_of(a, index);
        uint32_t depth = 1;
        int r = 0;

        while (!is_first && depth < row->n_symbols && is_same_level(a, row - 1, row, depth))
                depth++;
        for (; depth < row->n_symbols && r == 0; depth++) {
                const struct listing_symbol *inlined = &symbols[row->n_symbols - 1 - depth];

                begin_note(t, margin);
                text_line_add(&t->line, "> inlined: ");
                if (inlined->function != 0)
                        annotate_text_add_string(t, inlined->function);
                else
                        text_line_add(&t->line, "?");
                text_line_add(&t->line, " ");
                annotate_text_add_place(t, inlined[1].file, inlined[1].line);
                r = annotate_text_put_line(t, TEXT_COLOR_FAINT);
        }
        return r;
}

static bool is_same_line(const struct annotation *a, uint32_t index)
{
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *x = symbols_of(a, index - 1), *y = symbols_of(a, index);

        return (row - 1)->n_symbols > 0 && x->file == y->file && x->line == y->line;
}

static int annotate_text_put_source(struct annotate_text *t, const struct arrow_margin *margin,
                                    uint32_t index, bool is_first)
{
        const struct listing_symbol *symbol = symbols_of(t->a, index);
        const struct source_text *text;

        if (symbol->line == 0 || (!is_first && is_same_line(t->a, index)))
                return 0;
        text = find_text(t, symbol->file);
        if (!text)
                return -ENOMEM;
        begin_note(t, margin);
        annotate_text_add_place(t, symbol->file, symbol->line);
        text_line_add(&t->line, "  ");
        add_source(t, source_text_line(text, symbol->line));
        return annotate_text_put_line(t, TEXT_COLOR_FAINT);
}

/* ---- instructions -------------------------------------------------------------------------------------- */

/* "<name+0x10>", unless the text says it. */
static void add_target(struct annotate_text *t, const struct listing_instruction *row)
{
        if (row->target_name == 0)
                return;
        text_line_add(&t->line, " <");
        annotate_text_add_string(t, row->target_name);
        if (row->target_offset_bytes != 0)
                text_line_add(&t->line, "+0x%" PRIx32, row->target_offset_bytes);
        text_line_add(&t->line, ">");
}

static int annotate_text_put_instruction(struct annotate_text *t, const struct arrow_margin *margin,
                                         uint32_t index)
{
        const struct annotation *a = t->a;
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct sample_sum *sum = &a->instructions[index].sum;

        add_numbers(t, sum, a->instruction_counters + (size_t)index * a->counters.n_counters);
        text_line_add(&t->line, " %*" PRIx64 ": %s ", ADDRESS_COLUMNS, row->svma, margin->text);
        annotate_text_add_string(t, row->text);
        add_target(t, row);
        return annotate_text_put_line(t, color_of(t, sum));
}

static int put_rows_of_part(struct annotate_text *t, const struct listing_part *part, const uint8_t *shown,
                            struct arrow_margin *margin)
{
        uint32_t end = part->first_instruction + part->n_instructions, n_hidden = 0;
        bool is_first = true;
        int r = 0;

        for (uint32_t i = part->first_instruction; i < end && r == 0; i++) {
                if (!shown[i]) {
                        n_hidden++;
                        is_first = true;
                        arrow_margin_draw(margin, i);
                        continue;
                }
                if (n_hidden > 0)
                        r = annotate_text_put_gap(t, n_hidden, "instruction");
                n_hidden = 0;
                arrow_margin_draw_above(margin, i);
                if (r == 0 && t->a->listing.instructions[i].n_symbols > 0) {
                        r = annotate_text_put_inlined(t, margin, i, is_first);
                        if (r == 0 && t->options->view->with_source)
                                r = annotate_text_put_source(t, margin, i, is_first);
                }
                arrow_margin_draw(margin, i);
                if (r == 0)
                        r = annotate_text_put_instruction(t, margin, i);
                is_first = false;
        }
        return r == 0 && n_hidden > 0 ? annotate_text_put_gap(t, n_hidden, "instruction") : r;
}

static int put_part_title(struct annotate_text *t, const struct listing_part *part)
{
        struct sample_sum sum = { .n_samples = 0 };

        for (uint32_t i = 0; i < part->n_instructions; i++)
                sample_sum_add(&sum, &t->a->instructions[part->first_instruction + i].sum);
        (void)fputc('\n', t->out);
        annotate_text_add_string(t, part->name);
        text_line_add(&t->line, "%s0x%" PRIx64 " - 0x%" PRIx64 ", %s", part->name ? ": " : "", part->svma,
                      part->svma + part->n_bytes, text_number_counted(sum.n_samples, "samples").text);
        if (part->flags & LISTING_PART_GUESSED && t->a->has_code)
                text_line_add(&t->line,
                              "; from the first sampled instruction on: no symbol marks its beginning");
        if (part->flags & LISTING_PART_CUT)
                text_line_add(&t->line, "; truncated: too long");
        return annotate_text_put_line(t, TEXT_COLOR_BOLD);
}

/*
 * Without its code, a module says only where in its file a place is; memory of no file, and the
 * kernel, have addresses.
 */
static bool has_file_offsets(const struct annotation *a)
{
        const struct trace_module *module =
                a->has_code || a->function.module == 0
                        ? NULL
                        : trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_MODULES, a->function.module);

        return module && (module->kind == TRACE_MODULE_FILE || module->kind == TRACE_MODULE_IMAGE);
}

static int put_code(struct annotate_text *t)
{
        const struct annotation *a = t->a;
        uint8_t *shown = annotation_view_choose(a, t->options->view, &a->instructions[0].sum,
                                                sizeof(a->instructions[0]), a->listing.n_instructions);
        struct arrow_margin margin;
        int r = shown ? annotate_text_put_titles(t, has_file_offsets(a) ? "    in file"
                                                                        : "    address  instruction")
                      : -ENOMEM;

        arrow_margin_init(&margin, a);
        for (size_t p = 0; p < a->listing.n_parts && r == 0; p++) {
                if (a->listing.n_parts > 1 || a->listing.parts[p].flags)
                        r = put_part_title(t, &a->listing.parts[p]);
                if (r == 0)
                        r = put_rows_of_part(t, &a->listing.parts[p], shown, &margin);
        }
        free(shown);
        return r;
}

/* ---- source alone -------------------------------------------------------------------------------------- */

static int put_line_row(struct annotate_text *t, const struct source_text *text, uint32_t line,
                        const struct annotated_line *row)
{
        static const struct sample_sum nothing = { .n_samples = 0 };
        static const uint64_t no_counters[REPORT_COUNTERS_MAX] = { 0 };
        size_t index = row ? (size_t)(row - t->a->lines) : 0;
        const struct sample_sum *sum = row ? &row->sum : &nothing;

        add_numbers(t, sum, row ? t->a->line_counters + index * t->a->counters.n_counters : no_counters);
        text_line_add(&t->line, " %6" PRIu32 "  ", line);
        add_source(t, source_text_line(text, line));
        return annotate_text_put_line(t, color_of(t, sum));
}

/* The lines with code, and the lines between them, unless those are many. */
static int annotate_text_put_lines(struct annotate_text *t, const struct source_text *text,
                                   const uint8_t *shown, size_t first, size_t end)
{
        uint32_t next = 0, n_hidden = 0; /* 0 = there was no line yet */
        int r = 0;

        for (size_t i = first; i < end && r == 0; i++) {
                const struct annotated_line *row = &t->a->lines[i];

                if (!shown[i]) {
                        n_hidden++;
                        continue;
                }
                if (n_hidden > 0)
                        r = annotate_text_put_gap(t, n_hidden, "line");
                else if (next != 0 && row->line - next > LINE_GAP_MAX)
                        (void)fputs("\n", t->out);
                else
                        for (; next != 0 && next < row->line && r == 0; next++)
                                r = put_line_row(t, text, next, NULL);
                if (r == 0)
                        r = put_line_row(t, text, row->line, row);
                next = row->line + 1;
                n_hidden = 0;
        }
        return r == 0 && n_hidden > 0 ? annotate_text_put_gap(t, n_hidden, "line") : r;
}

static const char *annotate_text_words_of(const struct source_text *text)
{
        switch (text->origin) {
        case SOURCE_OF_TRACE:
                return "kept in the trace";
        case SOURCE_OF_FILE:
                return "from the file";
        case SOURCE_OF_NEWER_FILE:
                return "from the file, which is newer than the recording: lines may have moved";
        case SOURCE_NOT_FOUND:
                break;
        }
        return "no source text";
}

static int annotate_text_put_file(struct annotate_text *t, const uint8_t *shown, size_t first, size_t end)
{
        const struct source_text *text = find_text(t, t->a->lines[first].file);

        if (!text)
                return -ENOMEM;
        (void)fputc('\n', t->out);
        if (t->a->lines[first].file == 0)
                text_line_add(&t->line, "[no line known]");
        else
                annotate_text_add_string(t, t->a->lines[first].file);
        text_line_add(&t->line, " (%s)", annotate_text_words_of(text));
        return annotate_text_put_line(t, TEXT_COLOR_BOLD) < 0
                       ? -ENOMEM
                       : annotate_text_put_lines(t, text, shown, first, end);
}

static int put_sources(struct annotate_text *t)
{
        const struct annotation *a = t->a;
        uint8_t *shown = annotation_view_choose(a, t->options->view, &a->lines[0].sum, sizeof(a->lines[0]),
                                                a->n_lines);
        int r = shown ? annotate_text_put_titles(t, "   line  source") : -ENOMEM;

        for (size_t first = 0, end; first < a->n_lines && r == 0; first = end) {
                for (end = first; end < a->n_lines && a->lines[end].file == a->lines[first].file; end++)
                        ;
                r = annotate_text_put_file(t, shown, first, end);
        }
        free(shown);
        return r;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void annotate_text_put_label(struct annotate_text *t, const char *label)
{
        (void)text_line_print(label, &t->line, t->out);
}

static int put_about(struct annotate_text *t)
{
        const struct annotation *a = t->a;
        const struct trace_sample_event *event = trace_dictionary_row(a->trace->dictionary,
                                                                      TRACE_TABLE_SAMPLE_EVENTS, a->event);
        struct text_view unit = trace_dictionary_text(a->trace->dictionary, event->unit);

        (void)fputc('\n', t->out);
        text_line_add(&t->line, "of the function's samples, by their weight");
        if (unit.n_bytes > 0) {
                text_line_add(&t->line, " (");
                text_line_add_string(&t->line, unit);
                text_line_add(&t->line, ")");
        }
        text_line_add(
                &t->line,
                "; * is the hottest.  A sample marks the instruction that runs next, often one or a few "
                "after the one that took the time (skid)");
        annotate_text_put_label(t, "percent");
        return t->line.failed ? -ENOMEM : 0;
}

static void find_ratios(struct annotate_text *t)
{
        struct report_ratios ratios = report_counters_ratios(&t->a->counters, t->a->counters_sum);

        for (int i = 0; i < N_RATIOS; i++)
                t->has_ratio[i] = ratio_of(&ratios, i) >= 0;
}

static void find_hottest(struct annotate_text *t)
{
        const struct annotation *a = t->a;

        if (t->options->view->with_code)
                for (size_t i = 0; i < a->listing.n_instructions; i++)
                        t->hottest = a->instructions[i].sum.weight > t->hottest
                                             ? a->instructions[i].sum.weight
                                             : t->hottest;
        else
                for (size_t i = 0; i < a->n_lines; i++)
                        t->hottest = a->lines[i].sum.weight > t->hottest ? a->lines[i].sum.weight
                                                                         : t->hottest;
}

int annotate_text_print(const struct annotation *a, struct source_texts *sources,
                        const struct annotate_text_options *options, FILE *out)
{
        struct annotate_text t = { .a = a, .sources = sources, .options = options, .out = out };
        int r;

        find_ratios(&t);
        find_hottest(&t);
        r = put_about(&t);
        if (r == 0)
                r = options->view->with_code ? put_code(&t) : put_sources(&t);
        if (r == 0 && t.left_out)
                (void)fputs("\nrows far from samples are left out; --context all shows them\n", out);
        byte_buffer_deinit(&t.line);
        return r;
}
