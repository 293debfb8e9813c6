/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/python_columns.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

static const struct function *function_of(const struct report *report, const struct report_line *line)
{
        return function_table_get(&report->samples.functions, line->label);
}

static struct text_view name(const struct report *report, const struct report_line *line)
{
        const struct function *f = function_of(report, line);

        return report_names_function(trace_dictionary_text(report->samples.dictionary, f->name),
                                     (enum function_kind)f->kind);
}

/* clang-format off */
#define SHARE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(HANDLE, "handle", "", view_handle('f', line->label), "of the innermost function")              \
        COLUMN(SHARE, "self_share", "self",                                                                   \
               report_heading_share(line->self.weight, report->event->sum.weight),                            \
               "of all samples that passed the filter")
#define PLACE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(PLACE, "place", "line", line->line != 0 ? view_place(line->file, line->line) : view_unknown(), \
               "/src/a.c:12; null = not known")                                                               \
        COLUMN(STRING, "function", "function", view_text(name(report, line)), "the innermost one")            \
        COLUMN(COUNT, "self_samples", "samples", view_number(line->self.n_samples), NULL)                     \
        COLUMN(COUNT, "self_weight", "weight", report_heading_weight(report, line->self.weight), NULL)        \
        COLUMN(PLACE, "module", "module", view_place(module, 0), NULL, .n_columns_max = 26)
/* clang-format on */

static const struct view_column native_columns[] = { SHARE_COLUMNS(VIEW_COLUMN) PLACE_COLUMNS(VIEW_COLUMN) };
static const struct view_column columns[] = { SHARE_COLUMNS(VIEW_COLUMN) PYTHON_COLUMNS(VIEW_COLUMN_ABSENT)
                                                      PLACE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part native_part = ANSWER_TABLE("lines", native_columns, NULL);
static const struct answer_part list_part = ANSWER_TABLE("lines", columns,
                                                         "a line of the source, the hottest first");

static void put_row(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_line *line)
{
        struct text_view module = trace_dictionary_text(report->samples.dictionary,
                                                        function_of(report, line)->module);
        const struct python_parts *parts = &line->parts;

        SHARE_COLUMNS(VIEW_CELL)
        if (report->samples.is_folded) {
                PYTHON_COLUMNS(VIEW_CELL)
        }
        PLACE_COLUMNS(VIEW_CELL)
}

static const struct report_line *find_hottest(const struct report *report)
{
        for (uint32_t i = 0; i < report->lines.n_rows; i++)
                if (report->lines.rows[i].line != 0)
                        return &report->lines.rows[i];
        return NULL;
}

/* The answer is the hottest line; the share of samples without a line comes first if it is larger. */
static void set_answer(struct view_document *d, const struct report *report)
{
        const struct report_line *hottest = find_hottest(report);
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        uint64_t unknown = report->lines.unknown.weight;
        struct answer_words a = { .used_bytes = 0 };

        if (whole == 0)
                answer_words_add(&a, "no samples");
        else if (answer_words_add_too_few(&a, report))
                hottest = NULL;
        else if (!hottest)
                answer_words_add(&a, "no sample has a known line: no debug information was found");
        else if (unknown > hottest->self.weight)
                answer_words_add(&a, "%s of the samples have no known line; ",
                                 text_number_share(report_share(unknown, whole)).text);
        if (hottest) {
                answer_words_add(&a, "%s of the samples are at ",
                                 text_number_share(report_share(hottest->self.weight, whole)).text);
                answer_words_add_name(&a, report_names_file(hottest->file));
                answer_words_add(&a, ":%u in ", (unsigned)hottest->line);
                answer_words_add_name(&a, name(report, hottest));
                if (python_parts_below(&hottest->parts) != 0) {
                        answer_words_add(&a, ": ");
                        python_columns_say(&a, report, &hottest->parts);
                }
        }
        answer_words_add_missing(&a, report);
        answer_words_set(&a, d);
}

static void add_hints(struct view_document *d, const struct report *report,
                      const struct report_view_options *options)
{
        const struct report_line *hottest = find_hottest(report);

        if (hottest && options->path)
                view_document_hint(d, "hyprof annotate %s %s", shell_word_of(options->path).text,
                                   report_heading_function(report, hottest->label).text);
        else if (hottest)
                view_document_hint(d, "hyprof annotate %s",
                                   report_heading_function(report, hottest->label).text);
        if (report->samples.is_folded)
                report_heading_hint(d, options->path, "report --lines --native");
        if (report->functions.n_rows != 0)
                report_heading_hint(d, options->path, "report --functions");
        else
                report_heading_hint(d, options->path, "report");
}

const struct answer_schema lines_view_schema = {
        .name = "hyprof.lines/1",
        .command = "hyprof report --lines --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &python_columns_facts_part,
                                                      &report_heading_missing_part, &list_part, NULL },
};

void lines_view_fill(struct view_document *d, const struct report *report,
                     const struct report_view_options *options)
{
        uint32_t n_rows = report_limited(report->lines.n_rows, options->limit);
        struct view_table *t;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        python_columns_add_facts(d, report);
        t = view_document_add_part(d, report->samples.is_folded ? &list_part : &native_part,
                                   "Lines by self time");
        if (report->event)
                view_table_set_about(
                        d, t,
                        "%% of the %s of %.*s; a line of inlined code is that of the innermost function%s",
                        text_number_counted(report->event->sum.n_samples, "samples").text,
                        (int)report->event->name.n_bytes, report->event->name.bytes,
                        python_columns_about(report));
        for (uint32_t i = 0; i < n_rows; i++)
                put_row(d, t, report, &report->lines.rows[i]);
        if (t)
                t->n_left_out = report->lines.n_rows - n_rows;
        add_hints(d, report, options);
}
