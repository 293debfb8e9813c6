/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"

#include <stdio.h>
#include <stdlib.h>

/* The modules of samples, by path: modules of the same path are listed together. */
struct module_sum {
        uint32_t path;   /* string; 0 = outside of every module, or nothing known */
        uint32_t module; /* one of them; 0 = none */
        struct sample_sum self, named;
        uint64_t weight_by_kind[FUNCTION_KIND_COUNT];
        uint32_t n_functions;
};

static int compare_paths(const void *a, const void *b)
{
        const struct module_sum *x = a;
        const struct module_sum *y = b;

        return report_compare(x->path, y->path);
}

static int compare_sums(const void *a, const void *b)
{
        const struct module_sum *x = a;
        const struct module_sum *y = b;
        int order = report_compare(y->self.weight, x->self.weight);

        return order != 0 ? order : report_compare(x->path, y->path);
}

/* Makes a row for each function, sorts the rows, and adds up those of the same path. */
static uint32_t add_up(const struct report *report, struct module_sum *rows)
{
        const struct report_functions *functions = &report->functions;
        uint32_t n = 0;

        for (uint32_t i = 0; i < functions->n_rows; i++) {
                const struct report_function *function = &functions->rows[i];
                const struct function *row = function_table_get(&report->samples.functions, function->label);
                struct module_sum sum = { .path = row->module, .self = function->self, .n_functions = 1 };

                if (function->kind == FUNCTION_MARK || function->self.n_samples == 0)
                        continue;
                sum.weight_by_kind[function->kind] = function->self.weight;
                if (function->kind == FUNCTION_NAMED)
                        sum.named = function->self;
                rows[n++] = sum;
        }
        if (n == 0)
                return 0;
        qsort(rows, n, sizeof(*rows), compare_paths);
        for (uint32_t i = 1, last = 0;; i++) {
                if (i == n)
                        return last + 1;
                if (rows[i].path != rows[last].path) {
                        rows[++last] = rows[i];
                        continue;
                }
                sample_sum_add(&rows[last].self, &rows[i].self);
                sample_sum_add(&rows[last].named, &rows[i].named);
                rows[last].n_functions += rows[i].n_functions;
                for (uint32_t kind = 0; kind < FUNCTION_KIND_COUNT; kind++)
                        rows[last].weight_by_kind[kind] += rows[i].weight_by_kind[kind];
        }
}

/* Finds one module for each path; the rows are still sorted by path. */
static void find_modules(const struct trace_dictionary *d, struct module_sum *rows, uint32_t n_rows)
{
        for (uint32_t i = trace_dictionary_count(d, TRACE_TABLE_MODULES); i > 0; i--) {
                const struct trace_module *module = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                struct module_sum key = { .path = module->path };
                struct module_sum *row = bsearch(&key, rows, n_rows, sizeof(*rows), compare_paths);

                if (row && row->path != 0)
                        row->module = i;
        }
}

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
static const char *words_of_symbols(const struct module_sum *sum, uint32_t kind)
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
               "of those: that have a function's name")                                                       \
        COLUMN(PLACE, "path", "module", view_place(path, 0), "null = outside of all", .n_columns_max = 40)    \
        COLUMN(STRING, "symbols", "symbols", view_words(words_of_symbols(sum, module->kind)),                 \
               "in words: whether its symbols are known, or why not")                                         \
        COLUMN(COUNT, "n_samples", "count", view_number(sum->self.n_samples), NULL)                           \
        COLUMN(COUNT, "n_functions", "functions", view_number(sum->n_functions), NULL)                        \
        COLUMN(STRING, "kind", "kind",                                                                        \
               sum->module != 0 ? view_words(words_of_kind(module->kind)) : view_unknown(),                   \
               "file, vdso, kernel, anonymous, mark, image, python", .n_columns_max = 9, .may_go = true)      \
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
                    const struct module_sum *sum)
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
                      const struct report_view_options *options, const struct module_sum *rows,
                      uint32_t n_rows)
{
        uint64_t unnamed = 0;

        for (uint32_t i = 0; i < n_rows; i++)
                unnamed += rows[i].self.n_samples - rows[i].named.n_samples;
        if (unnamed != 0) {
                report_heading_hint(d, options->path, "modules");
                report_heading_hint(d, options->path, "symbolize");
        }
        if (report->functions.n_rows != 0)
                report_heading_hint(d, options->path, "report --functions");
}

static void set_answer(struct view_document *d, const struct report *report, const struct module_sum *rows,
                       uint32_t n_rows)
{
        const struct trace_dictionary *dictionary = report->trace.dictionary;
        struct answer_words a = { .used_bytes = 0 };

        if (n_rows == 0) {
                answer_words_add(&a, "no samples");
        } else {
                answer_words_add(
                        &a, "%s of the samples are in ",
                        text_number_share(report_share(rows[0].self.weight, report->event->sum.weight)).text);
                answer_words_add_name(&a, rows[0].path != 0 ? report_names_file(trace_dictionary_text(
                                                                      dictionary, rows[0].path))
                                                            : report_names_words("no module"));
                answer_words_add_most(&a, n_rows, "modules");
                answer_words_add_missing(&a, report);
        }
        answer_words_set(&a, d);
}

void modules_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options)
{
        struct module_sum *rows = calloc((size_t)report->functions.n_rows + 1, sizeof(*rows));
        struct view_table *t;
        uint32_t n_all, n_rows;

        if (!rows) {
                d->failed = true;
                return;
        }
        n_all = add_up(report, rows);
        find_modules(report->trace.dictionary, rows, n_all);
        if (n_all != 0)
                qsort(rows, n_all, sizeof(*rows), compare_sums);
        set_answer(d, report, rows, n_all);
        report_heading_add(d, report, options->filter);
        t = view_document_add_part(d, &list_part, "Modules, by the samples that fell into them");
        n_rows = report_limited(n_all, options->limit);
        if (report->event)
                view_table_set_about(
                        d, t, "samples: %% of all of %.*s, by their innermost function; named: %% of those",
                        (int)report->event->name.n_bytes, report->event->name.bytes);
        for (uint32_t i = 0; i < n_rows; i++)
                put_row(d, t, report, &rows[i]);
        if (t)
                t->n_left_out = n_all - n_rows;
        add_hints(d, report, options, rows, n_all);
        free(rows);
}
