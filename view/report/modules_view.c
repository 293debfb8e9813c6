/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/report/report_modules.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"

#include <stdio.h>

static const char *words_of_kind(uint32_t kind)
{
        static const char *const names[] = {
                [TRACE_MODULE_FILE] = "file",     [TRACE_MODULE_VDSO] = "vdso",
                [TRACE_MODULE_KERNEL] = "kernel", [TRACE_MODULE_ANONYMOUS] = "anonymous",
                [TRACE_MODULE_MARK] = "mark",     [TRACE_MODULE_IMAGE] = "image",
                [TRACE_MODULE_PYTHON] = "python",
        };

        return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

/* The reason why names are missing: the one that most of its samples share. */
static const char *words_of_symbols(const struct report_module *sum, uint32_t kind)
{
        const uint64_t *weights = sum->weight_by_kind;

        if (sum->named.n_samples == sum->self.n_samples)
                return "all known";
        if (weights[FUNCTION_NO_CALLSTACK] != 0)
                return "no call stack was recorded";
        if (weights[FUNCTION_NO_MODULE] != 0)
                return "outside of every known mapping";
        if (weights[FUNCTION_STALE_FILE] > weights[FUNCTION_NO_SYMBOL] + weights[FUNCTION_UNNAMED])
                return "the file is another one now: build-id differs";
        if (sum->named.n_samples != 0)
                return "some addresses have no symbol";
        if (kind == TRACE_MODULE_ANONYMOUS)
                return "none: memory that no JIT announced";
        if (kind == TRACE_MODULE_KERNEL)
                return "none: kernel symbols were hidden (kptr_restrict)";
        return "none: no symbols in the file, no debug file found";
}

static struct view_value build_id_of(struct view_document *d, struct text_view id)
{
        char hex[2 * 20 + 1] = "";

        for (size_t i = 0; i < id.n_bytes && i < 20; i++)
                (void)snprintf(hex + 2 * i, sizeof(hex) - 2 * i, "%02x", (unsigned)(uint8_t)id.bytes[i]);
        return id.n_bytes != 0 ? view_format(d, "%s", hex) : view_unknown();
}

/* clang-format off */
#define MODULE_COLUMNS(COLUMN)                                                                                \
        COLUMN(SHARE, "share", "samples", report_heading_share(sum->self.weight, whole),                      \
               "of all samples, by the innermost function")                                                   \
        COLUMN(SHARE, "named_share", "named", report_heading_share(sum->named.weight, sum->self.weight),      \
               "the part of these samples whose function has a name")                                         \
        COLUMN(PLACE, "path", "module", view_place(path, 0),                                                  \
               "null: the samples lie in no module", .n_columns_max = 40)                                     \
        COLUMN(STRING, "symbols", "symbols", view_words(words_of_symbols(sum, module->kind)),                 \
               "in words: whether its symbols are known, or why not")                                         \
        COLUMN(COUNT, "n_samples", "count", view_number(sum->self.n_samples), NULL)                           \
        COLUMN(COUNT, "n_functions", "functions", view_number(sum->n_functions), NULL)                        \
        COLUMN(STRING, "kind", "kind",                                                                        \
               sum->module != 0 ? view_words(words_of_kind(module->kind)) : view_unknown(),                   \
               NULL, .one_of = "file|vdso|kernel|anonymous|mark|image|python|unknown", .may_be_null = true,   \
               .n_columns_max = 9, .may_go = true)                                                            \
        COLUMN(STRING, "build_id", "build-id",                                                                \
               build_id_of(d, trace_dictionary_text(dictionary, module->build_id)), NULL,                     \
               .n_columns_max = 13, .may_go = true)
/* clang-format on */

static const struct view_column columns[] = { MODULE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part list_part = ANSWER_TABLE(
        "modules", columns, "a module that samples fell into, by the share of them");
const struct answer_schema modules_view_schema = {
        .name = "hyprof.modules/2",
        .command = "hyprof report --modules --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &report_heading_missing_part,
                                                      &list_part, NULL },
};

static void put_row(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_module *sum)
{
        static const struct trace_module none = { .kind = UINT32_MAX };
        const struct trace_dictionary *dictionary = report->trace.dictionary;
        const struct trace_module *module = &none;
        struct text_view path = trace_dictionary_text(dictionary, sum->path);
        uint64_t whole = report->event ? report->event->sum.weight : 0;

        if (sum->module != 0)
                module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES, sum->module);
        MODULE_COLUMNS(VIEW_CELL)
}

static void add_hints(struct view_document *d, const struct report *report,
                      const struct report_view_options *options, const struct report_modules *modules)
{
        uint64_t unnamed = 0;

        for (uint32_t i = 0; i < modules->n_rows; i++)
                unnamed += modules->rows[i].self.n_samples - modules->rows[i].named.n_samples;
        if (unnamed != 0) {
                report_heading_hint(d, options->path, "modules");
                report_heading_hint(d, options->path, "symbolize");
        }
        if (report->functions.n_rows != 0)
                report_heading_hint(d, options->path, "report --functions");
}

static void set_answer(struct view_document *d, const struct report *report,
                       const struct report_modules *modules)
{
        const struct trace_dictionary *dictionary = report->trace.dictionary;
        struct answer_words a = { .used_bytes = 0 };

        if (modules->n_rows == 0) {
                answer_words_add(&a, "no samples");
        } else {
                const struct report_module *first = &modules->rows[0];

                answer_words_add(
                        &a, "%s of the samples are in ",
                        text_number_share(report_share(first->self.weight, report->event->sum.weight)).text);
                answer_words_add_name(&a, first->path != 0 ? report_names_file(trace_dictionary_text(
                                                                     dictionary, first->path))
                                                           : report_names_words("no module"));
                answer_words_add_most(&a, modules->n_rows, "modules");
                answer_words_add_missing(&a, report);
        }
        answer_words_set(&a, d);
}

void modules_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options)
{
        struct report_modules modules;
        struct view_table *t;
        uint32_t n_rows;

        if (report_modules_init(&modules, report) < 0) {
                d->failed = true;
                return;
        }
        set_answer(d, report, &modules);
        report_heading_add(d, report, options->filter);
        t = view_document_add_part(d, &list_part, "Modules, by the samples that fell into them");
        n_rows = report_limited(modules.n_rows, options->limit);
        if (report->event)
                view_table_set_about(
                        d, t, "samples: %% of all of %.*s, by their innermost function; named: %% of those",
                        (int)report->event->name.n_bytes, report->event->name.bytes);
        for (uint32_t i = 0; i < n_rows; i++)
                put_row(d, t, report, &modules.rows[i]);
        if (t)
                t->n_left_out = modules.n_rows - n_rows;
        add_hints(d, report, options, &modules);
        report_modules_deinit(&modules);
}
