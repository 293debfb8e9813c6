/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_modules.h"

#include "analyze/report/report.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

static int compare_paths(const void *a, const void *b)
{
        const struct report_module *x = a;
        const struct report_module *y = b;

        return report_compare(x->path, y->path);
}

static int compare_sums(const void *a, const void *b)
{
        const struct report_module *x = a;
        const struct report_module *y = b;
        int order = report_compare(y->self.weight, x->self.weight);

        return order != 0 ? order : report_compare(x->path, y->path);
}

/* Makes a row for each function, sorts the rows, and adds up those of the same path. */
static uint32_t add_up(const struct report *report, struct report_module *rows)
{
        const struct report_functions *functions = &report->functions;
        uint32_t n = 0;

        for (uint32_t i = 0; i < functions->n_rows; i++) {
                const struct report_function *function = &functions->rows[i];
                const struct function *row = function_table_get(&report->samples.functions, function->label);
                struct report_module sum = { .path = row->module, .self = function->self, .n_functions = 1 };

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
static void find_modules(const struct trace_dictionary *d, struct report_module *rows, uint32_t n_rows)
{
        for (uint32_t i = trace_dictionary_count(d, TRACE_TABLE_MODULES); i > 0; i--) {
                const struct trace_module *module = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                struct report_module key = { .path = module->path };
                struct report_module *row = bsearch(&key, rows, n_rows, sizeof(*rows), compare_paths);

                if (row && row->path != 0)
                        row->module = i;
        }
}

int report_modules_init(struct report_modules *m, const struct report *report)
{
        m->n_rows = 0;
        m->rows = calloc((size_t)report->functions.n_rows + 1, sizeof(*m->rows));
        if (!m->rows)
                return -ENOMEM;
        m->n_rows = add_up(report, m->rows);
        find_modules(report->trace.dictionary, m->rows, m->n_rows);
        if (m->n_rows != 0)
                qsort(m->rows, m->n_rows, sizeof(*m->rows), compare_sums);
        return 0;
}

void report_modules_deinit(struct report_modules *m)
{
        free(m->rows);
        m->rows = NULL;
}
