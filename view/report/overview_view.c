/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/trace/meta_value.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
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

static const struct view_column inside_columns[] = {
        { .key = "zone", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "zone_name", .title = "zone", .type = VIEW_STRING, .n_columns_max = 28 },
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "self_share", .title = "self", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "total_share", .title = "total", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "function", .title = "function", .type = VIEW_STRING },
        { .key = "self_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "module", .title = "module", .type = VIEW_PLACE, .n_columns_max = 26 },
        { .key = "total_samples", .title = "total samples", .type = VIEW_COUNT, .n_columns_max = 13 },
        { .key = "self_weight", .title = "self weight", .type = VIEW_COUNT, .n_columns_max = 20 },
        { .key = "total_weight", .title = "total weight", .type = VIEW_COUNT, .n_columns_max = 20 },
        { .key = "kind", .type = VIEW_STRING }, /* the name says it */
};

static void put_inside(struct view_document *d, struct view_table *t, const struct report *report,
                       const struct report_zone *zone, const struct report_function *function)
{
        uint64_t whole = zone->samples.weight;

        view_table_put_handle(d, t, 'z', zone->location);
        view_table_put_string(d, t, zone->name);
        view_table_put_handle(d, t, 'f', function->label);
        report_heading_put_share(d, t, function->self.weight, whole, function->kind != FUNCTION_MARK);
        report_heading_put_share(d, t, function->total.weight, whole, true);
        report_heading_put_function(d, t, function->name, function->kind);
        view_table_put_number(d, t, function->self.n_samples);
        view_table_put_place(d, t, function->module, 0);
        view_table_put_number(d, t, function->total.n_samples);
        report_heading_put_weight(d, t, report, function->self.weight);
        report_heading_put_weight(d, t, report, function->total.weight);
        view_table_put_words(d, t, report_names_kind(function->kind));
}

static void add_inside(struct view_document *d, const struct report *report)
{
        struct view_table *t = view_document_add_table(d, "zone_functions", "Functions in the top zones",
                                                       inside_columns,
                                                       sizeof(inside_columns) / sizeof(inside_columns[0]));
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

/* ------------------------------------------------------------------ all of it */

void overview_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options)
{
        set_answer(d, report);
        recording_view_add_facts(d, report);
        python_columns_add_facts(d, report);
        recording_view_add_also(d, report);
        report_heading_add_missing(d, report);
        if (report->gaps.n_rows == 0)
                view_document_add_string(d, NULL, "missing", report_names_words("nothing that is known"));
        recording_view_add_tables(d, report);
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
        if (meta_value_number(report->trace.dictionary, "syscalls") != 0)
                report_heading_hint(d, options->path, "report --syscalls");
}

const struct answer_schema overview_view_schema = {
        .name = "hyprof.report/3",
        .command = "hyprof report --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
