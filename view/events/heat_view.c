/* SPDX-License-Identifier: MIT */
#include "analyze/stats/heat_grid.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/asked_zone.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#include <string.h>

#define COURSE_COLUMNS 60 /* of a terminal, for all columns of the grid */
#define ROWS_IN_TEXT   25 /* of the grid's, two are one */
#define HEIGHTS        8
#define BLOCK_BYTES    3 /* of a character below */

static const char *const blocks[HEIGHTS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

/* How much is in a cell: the longest zone where zones were asked for, else samples. */
static uint64_t amount_of(const struct heat_grid *g, const struct heat_cell *cell)
{
        return g->n_zones != 0 ? cell->longest_ns : cell->n_samples;
}

static size_t find_hottest(const struct heat_grid *g)
{
        size_t hottest = 0;

        for (size_t i = 1; i < g->n_cells; i++)
                if (amount_of(g, &g->cells[i]) > amount_of(g, &g->cells[hottest]))
                        hottest = i;
        return hottest;
}

/* clang-format off */
#define HEAT_FACTS(FACT)                                                                                      \
        FACT(STRING, "event", NULL, event_of(&n, g), "whose samples these are", .may_be_null = true)          \
        FACT(TIME, "begin_ns", NULL, view_number(event_names_since_start(&n, g->begin_ns)),                   \
             "of the first column")                                                                           \
        FACT(DURATION, "column_ns", "a column is", view_number(g->row_ns * HEAT_GRID_ROWS), "its width")      \
        FACT(DURATION, "row_ns", NULL, view_number(g->row_ns), "the height of a row, of which a column has 50")\
        FACT(COUNT, "columns", "columns", view_number(g->n_columns), NULL)                                    \
        FACT(COUNT, "samples", "samples", view_number(g->n_samples), "in all cells")                          \
        FACT(COUNT, "zones", NULL, view_number(g->n_zones), "with --zone: instances that were closed")
#define CELL_COLUMNS(COLUMN)                                                                                  \
        COLUMN(TIME, "at_ns", "at", view_number(event_names_since_start(n, heat_grid_time(g, i))), NULL)      \
        COLUMN(COUNT, "samples", "samples", view_number(cell->n_samples), NULL)                               \
        COLUMN(COUNT, "zones", "zones", view_number(cell->n_zones), "instances that began here")              \
        COLUMN(DURATION, "longest_ns", "longest", view_known(cell->longest_ns, cell->n_zones != 0), NULL)
#define ROW_COLUMNS(COLUMN)                                                                                   \
        COLUMN(DURATION, "offset_ns", "after", view_number((uint64_t)row * rows_in_one * g->row_ns),                    \
               "the begin of its column")                                                                     \
        COLUMN(STRING, "course", "course", course_of(d, g, row, hottest),                                     \
               "the columns from left to right; the highest is the hottest of all", .n_columns_max = COURSE_COLUMNS)
/* clang-format on */

static struct view_value event_of(const struct event_names *n, const struct heat_grid *g)
{
        const struct trace_dictionary *d = n->trace->dictionary;
        const struct trace_sample_event *row;

        if (g->event == 0)
                return view_unknown();
        row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, g->event);
        return view_text(trace_dictionary_text(d, row->name));
}

static const uint32_t rows_in_one = HEAT_GRID_ROWS / ROWS_IN_TEXT;

/* A character is of some columns and two rows. */
static uint64_t amount_at(const struct heat_grid *g, uint32_t first_column, uint32_t end_column, uint32_t row)
{
        uint64_t most = 0;

        for (uint32_t column = first_column; column < end_column; column++)
                for (uint32_t i = row * rows_in_one; i < (row + 1) * rows_in_one; i++) {
                        uint64_t heat = amount_of(g, &g->cells[(size_t)column * HEAT_GRID_ROWS + i]);

                        most = heat > most ? heat : most;
                }
        return most;
}

static struct view_value course_of(struct view_document *d, const struct heat_grid *g, uint32_t row,
                                   uint64_t hottest)
{
        uint32_t step = (g->n_columns + COURSE_COLUMNS - 1) / COURSE_COLUMNS;
        char text[COURSE_COLUMNS * BLOCK_BYTES + 1];
        char *end = text;

        for (uint32_t first = 0; first < g->n_columns; first += step) {
                uint32_t last = first + step < g->n_columns ? first + step : g->n_columns;
                uint64_t heat = amount_at(g, first, last, row);

                end = stpcpy(
                        end,
                        heat == 0 ? " "
                                  : blocks[(uint32_t)((double)heat / (double)hottest * (HEIGHTS - 1) + 0.5)]);
        }
        return view_format(d, "%.*s", (int)(end - text), text);
}

static const struct view_column fact_columns[] = { HEAT_FACTS(VIEW_MEMBER) };
static const struct view_column cell_columns[] = { CELL_COLUMNS(VIEW_COLUMN) };
static const struct view_column row_columns[] = { ROW_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part cells_part = ANSWER_TABLE(
        "cells", cell_columns,
        "in CSV, and in JSON with --limit 0: a cell with samples or zones, in the order of time",
        .may_be_absent = true);
static const struct answer_part rows_part = ANSWER_TABLE(
        "rows", row_columns, "else: two rows of the grid, drawn", .may_be_absent = true);
const struct answer_schema heat_view_schema = {
        .name = "hyprof.heat/1",
        .command = "hyprof report --heat --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &facts_part, &cells_part,
                                                      &rows_part, NULL },
};

static void add_cells(const struct event_names *n, const struct heat_grid *g)
{
        struct view_document *d = n->document;
        struct view_table *t = view_document_add_part(d, &cells_part, "Cells");

        for (size_t i = 0; i < g->n_cells; i++) {
                const struct heat_cell *cell = &g->cells[i];

                if (cell->n_samples != 0 || cell->n_zones != 0) {
                        CELL_COLUMNS(VIEW_CELL)
                }
        }
}

static void add_rows(const struct event_names *n, const struct heat_grid *g)
{
        struct view_document *d = n->document;
        struct view_table *t = view_document_add_part(d, &rows_part, "When within each column");
        uint64_t hottest = amount_of(g, &g->cells[find_hottest(g)]);

        view_table_set_about(d, t, "%s; columns of %s from left to right, time within one from top to bottom",
                             g->n_zones != 0 ? "the longest zone that began there" : "samples",
                             text_number_duration(g->row_ns * HEAT_GRID_ROWS).text);
        for (uint32_t row = 0; hottest != 0 && row < ROWS_IN_TEXT; row++) {
                ROW_COLUMNS(VIEW_CELL)
        }
}

static struct answer_words make_answer(const struct event_names *n, const struct heat_grid *g,
                                       const char *zone)
{
        size_t hottest = find_hottest(g);
        const struct heat_cell *cell = &g->cells[hottest];
        uint64_t at_ns = event_names_since_start(n, heat_grid_time(g, hottest));
        struct answer_words a = { .used_bytes = 0 };

        if (g->n_zones != 0) {
                answer_words_add(&a, "the longest '");
                answer_words_add_name(&a, asked_zone_name(n->trace->dictionary, zone));
                answer_words_add(&a, "', %s, began within %s from %s on",
                                 text_number_duration(cell->longest_ns).text,
                                 text_number_duration(g->row_ns).text, text_number_duration(at_ns).text);
        } else if (g->n_samples == 0) {
                answer_words_add(&a, "no sample passes the filters");
        } else {
                answer_words_add(&a, "the most samples in %s: %s of %s, from %s on",
                                 text_number_duration(g->row_ns).text,
                                 text_number_count(cell->n_samples).text,
                                 text_number_count(g->n_samples).text, text_number_duration(at_ns).text);
        }
        return a;
}

static void add_hints(const struct event_names *n, const struct heat_grid *g)
{
        uint64_t at_ns = event_names_since_start(n, heat_grid_time(g, find_hottest(g)));

        if (g->n_samples != 0)
                report_heading_hint(n->document, n->options->path,
                                    "report --top-down --from %lluns --to %lluns", (unsigned long long)at_ns,
                                    (unsigned long long)at_ns + g->row_ns);
        event_names_hint_overview(n);
}

void heat_view_fill(struct view_document *d, const struct heat_grid *g, const char *zone, bool has_cells,
                    struct loaded_trace *trace, const struct event_view_options *options)
{
        struct answer_words answer;
        struct event_names n;

        event_names_init(&n, d, trace, NULL, options);
        answer = make_answer(&n, g, zone);
        event_names_heading(&n, &answer, 0, 0);
        HEAT_FACTS(VIEW_FACT)
        if (has_cells)
                add_cells(&n, g);
        else
                add_rows(&n, g);
        add_hints(&n, g);
        event_names_deinit(&n);
}
