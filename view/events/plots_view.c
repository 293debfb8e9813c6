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

static struct view_value unit_of(const struct event_names *n, const struct trace_plot *row)
{
        static const char *const formats[] = { [TRACE_PLOT_NUMBER] = NULL,
                                               [TRACE_PLOT_BYTES] = "B",
                                               [TRACE_PLOT_PERCENT] = "%",
                                               [TRACE_PLOT_WATTS] = "W" };

        if (row && row->unit != 0)
                return view_text(trace_dictionary_text(n->trace->dictionary, row->unit));
        return view_words(row && row->format < sizeof(formats) / sizeof(formats[0]) ? formats[row->format]
                                                                                    : NULL);
}

/*
 * Draws the mean of each of several equal parts of the time, from left to right, scaled from the smallest
 * value to the largest.
 */
static struct view_value course_of(struct view_document *d, const struct plot_row *row)
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
        return view_format(d, "%.*s", (int)(end - text), text);
}

/* How the values of a plot are told. */
struct plot_manner {
        bool known, are_bytes;
};

static bool are_bytes(const struct event_names *n, const struct trace_plot *row)
{
        struct text_view unit;

        if (!row || row->unit == 0)
                return row && row->format == TRACE_PLOT_BYTES;
        unit = trace_dictionary_text(n->trace->dictionary, row->unit);
        return unit.n_bytes == 1 && unit.bytes[0] == 'B';
}

static struct view_value real_of(double value, const struct plot_manner *manner)
{
        if (!manner->known)
                return view_unknown();
        return manner->are_bytes ? view_real_bytes(value) : view_real(value);
}

/* clang-format off */
#define PLOT_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "name", "plot", view_text(trace_dictionary_text(n->trace->dictionary, name)), NULL,    \
               .n_columns_max = 30)                                                                           \
        COLUMN(STRING, "course", "course", course_of(d, row),                                                 \
               "60 characters, each as high as the mean of an equal part of the time that is looked at",      \
               .n_columns_max = PLOT_STATS_BINS)                                                              \
        COLUMN(REAL, "min", "min", real_of(row->min, &manner), NULL)                                          \
        COLUMN(REAL, "mean", "mean", real_of(row->mean, &manner), "of the values, however long each stood")   \
        COLUMN(REAL, "max", "max", real_of(row->max, &manner), NULL)                                          \
        COLUMN(REAL, "last", "last", real_of(row->last, &manner), NULL)                                       \
        COLUMN(STRING, "unit", "unit", unit_of(n, plot), NULL, .n_columns_max = 10)                           \
        COLUMN(COUNT, "count", "values", view_number(row->n_values), NULL)                                    \
        COLUMN(REAL, "first", "first", real_of(row->first, &manner), NULL)                                    \
        COLUMN(TIME, "first_at_ns", "first at",                                                               \
               view_known(event_names_since_start(n, row->first_ns), manner.known), NULL)                     \
        COLUMN(TIME, "last_at_ns", "last at",                                                                 \
               view_known(event_names_since_start(n, row->last_ns), manner.known), NULL)                      \
        COLUMN(COUNT, "n_not_finite", "not finite", view_number(row->n_not_finite),                           \
               "infinite or undefined values, which the other columns leave out")
/* clang-format on */

static const struct view_column columns[] = { PLOT_COLUMNS(VIEW_COLUMN) };
static const struct answer_part plots_part = ANSWER_TABLE("plots", columns, "a plot");
const struct answer_schema plots_view_schema = {
        .name = "hyprof.plots/1",
        .command = "hyprof report --plots --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &plots_part, NULL },
};

static void put_plot(struct event_names *n, struct view_table *t, const struct plot_stats *s, uint32_t id)
{
        const struct plot_row *row = &s->rows[id - 1];
        uint32_t name = *(const uint32_t *)intern_get(&s->names, id, NULL);
        const struct trace_plot *plot = find_row(n->trace->dictionary, name);
        const struct plot_manner manner = { row->n_values > row->n_not_finite, are_bytes(n, plot) };
        struct view_document *d = n->document;

        PLOT_COLUMNS(VIEW_CELL)
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
        t = view_document_add_part(d, &plots_part, "Plots");
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
