/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/trace/meta_value.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/import_list.h"
#include "view/shared/python_columns.h"
#include "view/shared/recording_view.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"

static void set_answer(struct view_document *d, const struct report *report)
{
        struct answer_words a = { .used_bytes = 0 };

        answer_words_add_first(&a, report);
        if (report->n_zones != 0) {
                answer_words_add(&a, "%s", a.used_bytes != 0 ? "; " : "");
                answer_words_add_zone(&a, report, &report->zones[0]);
        }
        if (a.used_bytes == 0)
                answer_words_add(&a, "no samples and no zones");
        answer_words_set(&a, d);
}

/* ------------------------------------------------------------------ functions inside zones */

/* clang-format off */
#define INSIDE_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "zone", "", view_handle('z', zone->location), NULL)                                    \
        COLUMN(STRING, "zone_name", "zone", view_text(zone->name), NULL, .n_columns_max = 28)                 \
        COLUMN(HANDLE, "handle", "", view_handle('f', function->label), NULL)                                 \
        COLUMN(SHARE, "self_share", "self", report_heading_share(function->self.weight, self_whole),          \
               "of the zone's samples")                                                                       \
        COLUMN(SHARE, "total_share", "total", report_heading_share(function->total.weight, whole),            \
               "of the zone's samples")                                                                       \
        COLUMN(STRING, "function", "function",                                                                \
               view_text(report_names_function(function->name, function->kind)), NULL)                        \
        COLUMN(COUNT, "self_samples", "samples", view_number(function->self.n_samples), NULL)                 \
        COLUMN(PLACE, "module", "module", view_place(function->module, 0), NULL, .n_columns_max = 26)         \
        COLUMN(COUNT, "total_samples", "total samples", view_number(function->total.n_samples), NULL)         \
        COLUMN(COUNT, "self_weight", "self weight", report_heading_weight(report, function->self.weight),     \
               NULL)                                                                                          \
        COLUMN(COUNT, "total_weight", "total weight", report_heading_weight(report, function->total.weight),  \
               NULL)                                                                                          \
        COLUMN(STRING, "kind", NULL, view_words(report_names_kind(function->kind)), NULL)
/* clang-format on */

static const struct view_column inside_columns[] = { INSIDE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part inside_part = ANSWER_TABLE(
        "zone_functions", inside_columns,
        "a function of the samples inside a zone, ten a zone without --limit; its members are as in `functions`");

static void put_inside(struct view_document *d, struct view_table *t, const struct report *report,
                       const struct report_zone *zone, const struct report_function *function)
{
        uint64_t whole = zone->samples.weight;
        uint64_t self_whole = function->kind != FUNCTION_MARK ? whole : 0; /* marks have no time themselves */

        INSIDE_COLUMNS(VIEW_CELL)
}

static void add_inside(struct view_document *d, const struct report *report)
{
        struct view_table *t = view_document_add_part(d, &inside_part, "Functions in the top zones");
        uint64_t n_left_out = 0;

        view_table_set_about(d, t, "%% of the samples taken while the zone was open, also in zones inside");
        for (uint32_t i = 0; i < report->n_zones; i++) {
                const struct report_zone *zone = &report->zones[i];

                if (!zone->has_functions)
                        continue;
                for (uint32_t k = 0; k < zone->functions.n_rows; k++)
                        put_inside(d, t, report, zone, &zone->functions.rows[k]);
                n_left_out += zone->functions.n_left_out;
        }
        if (!t)
                return;
        t->n_left_out = n_left_out;
        t->n_grouping = 2;
}

/* ------------------------------------------------------------------ what was lost */

/* clang-format off */
#define IDLE_FACTS(FACT)                                                                                      \
        FACT(STRING, "idle", "idle", view_text(words),                                                        \
             "the first line of `report --idle`, if one cause took 10% of the cores' time")
#define WALL_FACTS(FACT)                                                                                      \
        FACT(STRING, "wall", "wall", view_text(words),                                                        \
             "the first line of `report --wall`, if 10% of the wall time was lost")
/* clang-format on */

static const struct view_column lost_columns[] = { IDLE_FACTS(VIEW_MEMBER) WALL_FACTS(VIEW_MEMBER) };
static const struct answer_part lost_part = ANSWER_FACTS_ABSENT(lost_columns);

static void add_lost(struct view_document *d, const struct report_view_options *options)
{
        struct text_view words = options->idle_words;

        if (words.n_bytes != 0)
                IDLE_FACTS(VIEW_FACT)
        words = options->wall_words;
        if (words.n_bytes != 0)
                WALL_FACTS(VIEW_FACT)
}

/* ------------------------------------------------------------------ hints */

/* Their lines are of a part of a large recording, and the views have more to say. */
static void hint_at_cores(struct view_document *d, const struct report *report, const char *path)
{
        if (meta_value_number(report->trace.dictionary, "off_cpu") == 0 || report->n_kernel_threads < 2)
                return;
        report_heading_hint(d, path, "report --wall");
        if (recording_view_idle_share(report) > OVERVIEW_IDLE_MIN)
                report_heading_hint(d, path, "report --idle");
}

/* ------------------------------------------------------------------ all of it */

const struct answer_schema overview_view_schema = {
        .name = "hyprof.report/3",
        .command = "hyprof report --json",
        .parts = (const struct answer_part *const[]){ &report_heading_command_part,
                                                      &recording_view_facts_part,
                                                      &python_columns_facts_part,
                                                      &recording_view_also_facts_part,
                                                      &counters_view_ratios_part,
                                                      &lost_part,
                                                      &recording_view_also_part,
                                                      &report_heading_missing_part,
                                                      &recording_view_events_part,
                                                      &recording_view_states_part,
                                                      &recording_view_recordings_part,
                                                      &import_list_files_part,
                                                      &import_list_losses_part,
                                                      &functions_view_list_part,
                                                      &zones_view_list_part,
                                                      &inside_part,
                                                      &counters_view_functions_part,
                                                      &counters_view_zones_part,
                                                      &counters_view_totals_part,
                                                      &threads_view_list_part,
                                                      NULL },
};

void overview_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options)
{
        set_answer(d, report);
        recording_view_add_facts(d, report);
        python_columns_add_facts(d, report);
        recording_view_add_also(d, report);
        add_lost(d, options);
        report_heading_add_missing(d, report);
        if (report->gaps.n_rows == 0)
                view_document_put(d, NULL, "missing", VIEW_STRING, view_words("nothing that is known"));
        recording_view_add_tables(d, report);
        import_list_add(d, report->trace.dictionary);
        functions_view_add_list(d, report, options->limit);
        zones_view_add_list(d, report, options->limit);
        add_inside(d, report);
        counters_view_add(d, report, options->limit);
        threads_view_add_list(d, report, options->limit);
        /* The head names the missing kinds, so empty tables are hidden. */
        for (size_t i = 0; i < d->n_tables; i++)
                d->tables[i]->is_hidden_if_empty = true;
        if (report->functions.n_rows != 0)
                report_heading_hint(d, options->path, "report --top-down");
        if (report->n_zones != 0)
                report_heading_hint(
                        d, options->path, "report --zone %s",
                        report_heading_zone(report->trace.dictionary, report->zones[0].location).text);
        if (report->on_cpu_known)
                report_heading_hint(d, options->path, "report --off-cpu");
        hint_at_cores(d, report, options->path);
        if (meta_value_number(report->trace.dictionary, "syscalls") != 0)
                report_heading_hint(d, options->path, "report --syscalls");
}
