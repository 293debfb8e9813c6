/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "base/intern.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

/* Compared as bytes. */
struct line_key {
        uint32_t label;
        uint32_t file; /* string; 0 = unknown */
        uint32_t line; /* 0 = unknown; then the file is unknown too */
};

struct line_sums {
        const struct report *report;
        uint32_t *first_symbols; /* heap; by frame */
        struct intern keys;      /* struct line_key */
        struct report_line *rows;
        size_t capacity;
};

/* @stack: as it is shown. */
static struct line_key key_of(const struct line_sums *s, uint32_t stack)
{
        const struct trace_dictionary *d = s->report->trace.dictionary;
        struct line_key key = { .label = report_samples_label(&s->report->samples, stack) };
        const struct trace_stack *row;
        const struct trace_symbol *symbol;

        if (report_samples_node(&s->report->samples, stack) == s->report->samples.stacks.n_nodes)
                return key;
        row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);
        if (s->first_symbols[row->frame] == 0)
                return key;
        symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, s->first_symbols[row->frame]);
        if (symbol->file != 0 && symbol->line != 0) {
                key.file = symbol->file;
                key.line = symbol->line;
        }
        return key;
}

static int add_samples(struct line_sums *s)
{
        const struct report_samples *samples = &s->report->samples;
        const struct sample_stats *stats = samples->stats;

        for (uint32_t i = 0; i < sample_stats_count(stats); i++) {
                const struct sample_key *sample = sample_stats_key(stats, i);
                uint32_t stack = python_stacks_shown(report_samples_folds(samples), sample->stack), id;
                struct line_key key;
                int r;

                if (sample->event != s->report->event->event)
                        continue;
                key = key_of(s, stack);
                r = intern_add_row(&s->keys, &key, &s->rows, &s->capacity, sizeof(*s->rows), &id);
                if (r < 0)
                        return r;
                sample_sum_add(&s->rows[id - 1].self, &stats->sums[i]);
                python_stacks_add(&samples->python, samples->dictionary, sample->stack, stats->sums[i].weight,
                                  &s->rows[id - 1].parts);
        }
        return 0;
}

static int compare(const void *a, const void *b)
{
        const struct report_line *x = a, *y = b;
        int order = report_compare(y->self.weight, x->self.weight);

        if (order == 0)
                order = report_compare(x->label, y->label);
        return order != 0 ? order : report_compare(x->line, y->line);
}

static void describe(struct report_lines *l, const struct line_sums *s)
{
        for (uint32_t i = 0; i < l->n_rows; i++) {
                const struct line_key *key = intern_get(&s->keys, i + 1, NULL);
                struct report_line *row = &l->rows[i];

                row->label = key->label;
                row->line = key->line;
                row->file = trace_dictionary_text(s->report->trace.dictionary, key->file);
                if (key->line == 0)
                        sample_sum_add(&l->unknown, &row->self);
        }
        if (l->n_rows != 0)
                qsort(l->rows, l->n_rows, sizeof(*l->rows), compare);
}

int report_lines_fill(struct report_lines *l, const struct report *report)
{
        struct line_sums s = { .report = report };
        int r = 0;

        *l = (struct report_lines){ .rows = NULL };
        if (!report->event)
                return 0;
        intern_init(&s.keys, sizeof(struct line_key), 0);
        s.first_symbols = trace_dictionary_find_symbols(report->trace.dictionary);
        r = s.first_symbols ? add_samples(&s) : -ENOMEM;
        l->rows = s.rows;
        l->n_rows = r == 0 ? s.keys.n_items : 0;
        describe(l, &s);
        intern_deinit(&s.keys);
        free(s.first_symbols);
        return r;
}

void report_lines_deinit(struct report_lines *l)
{
        free(l->rows);
        *l = (struct report_lines){ .rows = NULL };
}

const struct report_line *report_lines_main(const struct report_lines *l, uint32_t label,
                                            const struct sample_sum *self)
{
        for (uint32_t i = 0; i < l->n_rows; i++)
                if (l->rows[i].label == label)
                        return l->rows[i].line != 0 && l->rows[i].self.weight > self->weight / 2 ? &l->rows[i]
                                                                                                 : NULL;
        return NULL;
}
