/* SPDX-License-Identifier: MIT */
#include "view/annotate/annotation_listing.h"

#include "analyze/annotate/annotation.h"
#include "analyze/samples/sampled_trace.h"
#include "analyze/trace/source_texts.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/document/view_document.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <string.h>

#define LINE_GAP_MAX 3 /* source lines without code shown between lines with code */

#define NUMBER_COLUMNS                                                                        \
        { "share", 7, NULL, NULL }, { "n_samples", 9, NULL, NULL }, { "ipc", 8, NULL, NULL }, \
                { "cache_misses_per_1000", 8, NULL, NULL },                                   \
        {                                                                                     \
                "branch_misses_per_1000", 8, NULL, NULL                                       \
        }
#define N_NUMBER_COLUMNS 5

static const struct view_listing_column code_columns[] = {
        NUMBER_COLUMNS,
        { "address", 10, NULL, ":" },
        { "instruction", 0, NULL, NULL },
        { "target", 0, "<", ">" },
};

static const struct view_listing_column source_columns[] = {
        NUMBER_COLUMNS,
        { "line", 6, NULL, " " },
        { "text", 0, NULL, NULL },
};

const struct view_listing annotation_listing_of_code = { code_columns, 8, N_NUMBER_COLUMNS + 1 };
const struct view_listing annotation_listing_of_lines = { source_columns, 7, N_NUMBER_COLUMNS };

void annotation_listing_init(struct annotation_listing *l, struct view_document *d, struct view_table *t,
                             const struct annotation *a, struct source_texts *sources, bool with_source)
{
        *l = (struct annotation_listing){
                .document = d, .table = t, .annotation = a, .sources = sources, .with_source = with_source
        };
        arrow_margin_init(&l->margin, a);
}

/* Ends the note. */
static void listing_note(struct annotation_listing *l, enum view_note_kind kind)
{
        l->document->failed = l->document->failed || l->line.failed;
        view_table_add_note(l->document, l->table, kind,
                            (struct text_view){ (const char *)l->line.data, l->line.used_bytes });
        byte_buffer_clear(&l->line);
}

static void listing_add_string(struct annotation_listing *l, struct text_view string)
{
        if (string.n_bytes != 0)
                byte_buffer_add(&l->line, string.bytes, string.n_bytes);
}

static void listing_add_gap(struct annotation_listing *l, const char *things)
{
        if (l->n_hidden == 0)
                return;
        byte_buffer_add_format(&l->line, "... %s", text_number_counted(l->n_hidden, things).text);
        listing_note(l, VIEW_NOTE_GAP);
        l->n_hidden = 0;
}

void annotation_listing_finish(struct annotation_listing *l, const char *things)
{
        listing_add_gap(l, things);
        byte_buffer_deinit(&l->line);
}

static const struct source_text *listing_text_of(struct annotation_listing *l, uint32_t file)
{
        const struct source_text *text = source_texts_find(l->sources,
                                                           annotation_string(l->annotation, file));

        l->document->failed = l->document->failed || !text;
        return text;
}

/* ------------------------------------------------------------------ instructions */

bool annotation_listing_has_file_offsets(const struct annotation *a)
{
        const struct trace_module *module =
                a->has_code || a->function.module == 0
                        ? NULL
                        : trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_MODULES, a->function.module);

        /* Code in memory without a file, and the kernel's code, has addresses, not offsets. */
        return module && (module->kind == TRACE_MODULE_FILE || module->kind == TRACE_MODULE_IMAGE);
}

static const struct listing_symbol *listing_symbols(const struct annotation *a, uint32_t index)
{
        return a->listing.symbols + a->listing.instructions[index].first_symbol;
}

static void listing_add_place(struct annotation_listing *l, const struct listing_symbol *symbol)
{
        listing_add_string(l, report_names_file(annotation_string(l->annotation, symbol->file)));
        if (symbol->line != 0)
                byte_buffer_add_format(&l->line, ":%" PRIu32, symbol->line);
}

/* Whether level @depth (0 = the outermost) of two chains is the same call. */
static bool listing_is_same_level(const struct annotation *a, const struct listing_instruction *x,
                                  const struct listing_instruction *y, uint32_t depth)
{
        const struct listing_symbol *sx, *sy;

        if (depth >= x->n_symbols || depth >= y->n_symbols)
                return false;
        sx = &a->listing.symbols[x->first_symbol + x->n_symbols - 1 - depth];
        sy = &a->listing.symbols[y->first_symbol + y->n_symbols - 1 - depth];
        return sx->function == sy->function;
}

/*
 * Notes the inlined functions that begin at this instruction: those that the previous instruction was not
 * in.
 */
static void listing_note_inlined(struct annotation_listing *l, uint32_t index)
{
        const struct annotation *a = l->annotation;
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *symbols = listing_symbols(a, index);
        uint32_t depth = 1;

        while (!l->is_first && depth < row->n_symbols && listing_is_same_level(a, row - 1, row, depth))
                depth++;
        for (; depth < row->n_symbols; depth++) {
                const struct listing_symbol *inlined = &symbols[row->n_symbols - 1 - depth];

                byte_buffer_add_format(&l->line, "%s > inlined: ", l->margin.text);
                listing_add_string(l, inlined->function != 0 ? annotation_string(a, inlined->function)
                                                             : report_names_words("?"));
                byte_buffer_add_format(&l->line, " ");
                listing_add_place(l, inlined + 1);
                listing_note(l, VIEW_NOTE_WORDS);
        }
}

static bool listing_is_same_line(const struct annotation *a, uint32_t index)
{
        const struct listing_instruction *row = &a->listing.instructions[index];
        const struct listing_symbol *x = listing_symbols(a, index - 1), *y = listing_symbols(a, index);

        return (row - 1)->n_symbols > 0 && x->file == y->file && x->line == y->line;
}

static void listing_note_source(struct annotation_listing *l, uint32_t index)
{
        const struct listing_symbol *symbol = listing_symbols(l->annotation, index);
        const struct source_text *text;

        if (symbol->line == 0 || (!l->is_first && listing_is_same_line(l->annotation, index)))
                return;
        text = listing_text_of(l, symbol->file);
        if (!text)
                return;
        byte_buffer_add_format(&l->line, "%s ", l->margin.text);
        listing_add_place(l, symbol);
        byte_buffer_add_format(&l->line, "  ");
        listing_add_string(l, source_text_line(text, symbol->line));
        listing_note(l, VIEW_NOTE_WORDS);
}

static void listing_note_part(struct annotation_listing *l, const struct listing_part *part)
{
        const struct annotation *a = l->annotation;
        struct sample_sum sum = { .n_samples = 0 };

        if (a->listing.n_parts == 1 && !part->flags)
                return;
        for (uint32_t i = 0; i < part->n_instructions; i++)
                sample_sum_add(&sum, &a->instructions[part->first_instruction + i].sum);
        if (part->name != 0)
                listing_add_string(l, annotation_string(a, part->name));
        byte_buffer_add_format(&l->line, "%s0x%" PRIx64 " - 0x%" PRIx64 ", %s", part->name ? ": " : "",
                               part->svma, part->svma + part->n_bytes,
                               text_number_counted(sum.n_samples, "samples").text);
        if (part->flags & LISTING_PART_GUESSED && a->has_code)
                byte_buffer_add_format(
                        &l->line, "; from the first sampled instruction on: no symbol marks its beginning");
        if (part->flags & LISTING_PART_CUT)
                byte_buffer_add_format(&l->line, "; truncated: too long");
        listing_note(l, VIEW_NOTE_TITLE);
}

static void listing_begin_part(struct annotation_listing *l, uint32_t index)
{
        const struct annotation *a = l->annotation;

        while (l->part < a->listing.n_parts && a->listing.parts[l->part].first_instruction <= index) {
                listing_add_gap(l, "instructions");
                listing_note_part(l, &a->listing.parts[l->part++]);
                l->is_first = true;
        }
}

void annotation_listing_add_instruction(struct annotation_listing *l, uint32_t index, bool shown)
{
        listing_begin_part(l, index);
        if (!shown) {
                l->n_hidden++;
                l->is_first = true;
                arrow_margin_draw(&l->margin, index);
                return;
        }
        listing_add_gap(l, "instructions");
        arrow_margin_draw_above(&l->margin, index);
        if (l->annotation->listing.instructions[index].n_symbols > 0) {
                listing_note_inlined(l, index);
                if (l->with_source)
                        listing_note_source(l, index);
        }
        arrow_margin_draw(&l->margin, index);
        if (l->margin.text[0] != '\0') {
                byte_buffer_add_format(&l->line, "%s", l->margin.text);
                listing_note(l, VIEW_NOTE_LEAD);
        }
        l->is_first = false;
}

/* ------------------------------------------------------------------ lines */

static const char *listing_origin(const struct source_text *text)
{
        switch (text->origin) {
        case SOURCE_OF_TRACE:
                return "kept in the trace";
        case SOURCE_OF_FILE:
                return "from the file";
        case SOURCE_OF_NEWER_FILE:
                return "from the file, which is newer than the recording: lines may have moved";
        case SOURCE_WITHHELD:
                return "withheld: private, hidden or not named like a source; --source-dir FOLDER shows it";
        case SOURCE_NOT_FOUND:
                break;
        }
        return "no source text";
}

static void listing_begin_file(struct annotation_listing *l, uint32_t index)
{
        const struct annotated_line *row = &l->annotation->lines[index];
        const struct source_text *text;

        if (index != 0 && row[-1].file == row->file)
                return;
        listing_add_gap(l, "lines");
        text = listing_text_of(l, row->file);
        if (!text)
                return;
        listing_add_string(l, row->file != 0 ? annotation_string(l->annotation, row->file)
                                             : report_names_words("[no line known]"));
        byte_buffer_add_format(&l->line, " (%s)", listing_origin(text));
        listing_note(l, VIEW_NOTE_TITLE);
        l->next_line = 0;
}

/* Notes the lines without code between two lines with code, unless they are many. */
static void listing_note_between(struct annotation_listing *l, const struct annotated_line *row)
{
        const struct source_text *text = listing_text_of(l, row->file);

        if (!text || l->next_line == 0 || row->line <= l->next_line)
                return;
        if (row->line - l->next_line > LINE_GAP_MAX) {
                listing_note(l, VIEW_NOTE_EMPTY);
                return;
        }
        for (uint32_t line = l->next_line; line < row->line; line++) {
                byte_buffer_add_format(&l->line, "%6" PRIu32 "  ", line);
                listing_add_string(l, source_text_line(text, line));
                listing_note(l, VIEW_NOTE_GAP);
        }
}

void annotation_listing_add_line(struct annotation_listing *l, uint32_t index, bool shown)
{
        const struct annotated_line *row = &l->annotation->lines[index];

        listing_begin_file(l, index);
        if (!shown) {
                l->n_hidden++;
                return;
        }
        if (l->n_hidden > 0)
                listing_add_gap(l, "lines");
        else
                listing_note_between(l, row);
        l->next_line = row->line + 1;
}
