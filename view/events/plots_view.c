/* SPDX-License-Identifier: MIT */
#include "analyze/stats/plot_stats.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#include <string.h>

#define HEIGHTS   8
#define BIN_BYTES 3 /* of a character below */

static const char *const blocks[HEIGHTS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

static const struct view_column columns[] = {
        { .key = "name", .title = "plot", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "course", .title = "course", .type = VIEW_STRING, .n_columns_max = PLOT_STATS_BINS },
        { .key = "min", .title = "min", .type = VIEW_REAL, .n_columns_max = 14 },
        { .key = "mean", .title = "mean", .type = VIEW_REAL, .n_columns_max = 14 },
        { .key = "max", .title = "max", .type = VIEW_REAL, .n_columns_max = 14 },
        { .key = "last", .title = "last", .type = VIEW_REAL, .n_columns_max = 14 },
        { .key = "unit", .title = "unit", .type = VIEW_STRING, .n_columns_max = 10 },
        { .key = "count", .title = "values", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "first", .title = "first", .type = VIEW_REAL, .n_columns_max = 14 },
        { .key = "first_at_ns", .title = "first at", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "last_at_ns", .title = "last at", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "n_not_finite", .title = "not finite", .type = VIEW_COUNT, .n_columns_max = 12 },
};

/* The last row of PLOTS of that name; NULL if the program said nothing about how to show it. */
static const struct trace_plot *find_row(const struct trace_dictionary *d, uint32_t name)
{
        for (uint32_t i = trace_dictionary_count(d, TRACE_TABLE_PLOTS); i > 0; i--) {
                const struct trace_plot *row = trace_dictionary_row(d, TRACE_TABLE_PLOTS, i);

                if (row->name == name)
                        return row;
        }
        return NULL;
}

static void put_unit(struct event_names *n, struct view_table *t, uint32_t name)
{
        static const char *const formats[] = { [TRACE_PLOT_NUMBER] = "",
                                               [TRACE_PLOT_BYTES] = "B",
                                               [TRACE_PLOT_PERCENT] = "%",
                                               [TRACE_PLOT_WATTS] = "W" };
        const struct trace_plot *row = find_row(n->trace->dictionary, name);

        if (row && row->unit != 0)
                view_table_put_string(n->document, t, trace_dictionary_text(n->trace->dictionary, row->unit));
        else if (row && row->format < sizeof(formats) / sizeof(formats[0]) && formats[row->format][0] != '\0')
                view_table_put_words(n->document, t, formats[row->format]);
        else
                view_table_put_unknown(n->document, t);
}

/*
 * Draws the mean of each of several equal parts of the time, from left to right, scaled from the smallest
 * value to the largest.
 */
static void put_course(struct event_names *n, struct view_table *t, const struct plot_row *row)
{
        double heights[PLOT_STATS_BINS];
        char text[PLOT_STATS_BINS * BIN_BYTES + 1];
        char *end = text;

        plot_stats_course(row, heights);
        for (uint32_t i = 0; i < PLOT_STATS_BINS; i++) {
                const char *block = " ";

                if (heights[i] >= 0)
                        block = blocks[(uint32_t)(heights[i] * (HEIGHTS - 1) + 0.5)];
                end = stpcpy(end, block);
        }
        view_table_put_string(n->document, t, (struct text_view){ text, (size_t)(end - text) });
}

/* How the values of a plot are told. */
struct plot_manner {
        bool known, are_bytes;
};

static bool are_bytes(const struct event_names *n, uint32_t name)
{
        const struct trace_plot *row = find_row(n->trace->dictionary, name);

        struct text_view unit;

        if (!row || row->unit == 0)
                return row && row->format == TRACE_PLOT_BYTES;
        unit = trace_dictionary_text(n->trace->dictionary, row->unit);
        return unit.n_bytes == 1 && unit.bytes[0] == 'B';
}

static void put_reals(struct event_names *n, struct view_table *t, const double *values, uint32_t n_values,
                      const struct plot_manner *manner)
{
        for (uint32_t i = 0; i < n_values; i++) {
                if (!manner->known)
                        view_table_put_unknown(n->document, t);
                else if (manner->are_bytes)
                        view_table_put_real_bytes(n->document, t, values[i]);
                else
                        view_table_put_real(n->document, t, values[i]);
        }
}

static void put_plot(struct event_names *n, struct view_table *t, const struct plot_stats *s, uint32_t id)
{
        const struct plot_row *row = &s->rows[id - 1];
        uint32_t name = *(const uint32_t *)intern_get(&s->names, id, NULL);
        struct plot_manner manner = { row->n_values > row->n_not_finite, are_bytes(n, name) };

        view_table_put_string(n->document, t, trace_dictionary_text(n->trace->dictionary, name));
        put_course(n, t, row);
        put_reals(n, t, (const double[]){ row->min, row->mean, row->max, row->last }, 4, &manner);
        put_unit(n, t, name);
        view_table_put_number(n->document, t, row->n_values);
        put_reals(n, t, &row->first, 1, &manner);
        if (manner.known) {
                event_names_put_time(n, t, row->first_ns);
                event_names_put_time(n, t, row->last_ns);
        } else {
                view_table_put_unknown(n->document, t);
                view_table_put_unknown(n->document, t);
        }
        view_table_put_number(n->document, t, row->n_not_finite);
}

/* Suggests where to go on: a closer look at the part of the time in which the first plot is highest. */
static void add_hint(const struct event_names *n, const struct plot_stats *s)
{
        const struct plot_row *row = s->rows;
        uint64_t step_ns = (s->to_ns - s->from_ns) / PLOT_STATS_BINS;
        uint64_t from_ns = event_names_since_start(n, s->from_ns);
        uint32_t best = PLOT_STATS_BINS;

        if (s->names.n_items == 0 || s->to_ns <= s->from_ns || step_ns == 0)
                return;
        for (uint32_t i = 0; i < PLOT_STATS_BINS; i++)
                if (row->counts[i] != 0 && (best == PLOT_STATS_BINS || row->means[i] > row->means[best]))
                        best = i;
        if (best == PLOT_STATS_BINS)
                return;
        from_ns += (uint64_t)((double)(s->to_ns - s->from_ns) / PLOT_STATS_BINS * best);
        /* The end is one later, to cover the remainder of the division. */
        report_heading_hint(n->document, n->options->path, "report --plots --from %lluns --to %lluns",
                            (unsigned long long)from_ns, (unsigned long long)from_ns + step_ns + 2);
}

static struct answer_words make_answer(const struct plot_stats *s, const struct trace_dictionary *d,
                                       bool is_filtered)
{
        struct answer_words a = { .used_bytes = 0 };
        uint64_t n_values = 0;

        for (uint32_t i = 0; i < s->names.n_items; i++)
                n_values += s->rows[i].n_values;
        if (s->names.n_items == 0)
                answer_words_add(&a, "%s",
                                 is_filtered
                                         ? "no value passes the filters"
                                         : family_words_none(d, "plots", "the program plotted nothing").text);
        else
                answer_words_add(&a, "%s in %s", text_number_counted(n_values, "values").text,
                                 text_number_counted(s->names.n_items, "plots").text);
        return a;
}

void plots_view_fill(struct view_document *d, const struct plot_stats *s, struct loaded_trace *trace,
                     const struct event_view_options *options)
{
        const struct answer_words answer = make_answer(s, trace->dictionary, options->is_filtered);
        struct event_names n;
        struct view_table *t;
        size_t n_shown;

        event_names_init(&n, d, trace, NULL, options);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_PLOTS, s->n_late);
        event_names_warn(&n, s->n_lost, "values of plots beyond the limit; left out");
        t = view_document_add_table(d, "plots", "Plots", columns, sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(d, t,
                             "course: %d equal parts of the examined time, from the smallest value to the "
                             "largest; the mean is of the values, however long each stood",
                             PLOT_STATS_BINS);
        n_shown = event_names_limit(&n, t, s->names.n_items);
        for (uint32_t i = 1; i <= n_shown; i++)
                put_plot(&n, t, s, i);
        add_hint(&n, s);
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}

const struct answer_schema plots_view_schema = {
        .name = "hyprof.plots/1",
        .command = "hyprof report --plots --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
