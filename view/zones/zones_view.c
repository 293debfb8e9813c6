/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/clock_step.h"
#include "analyze/walk/lost_zones.h"
#include "analyze/zones/zone_cost.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/family_words.h"
#include "view/shared/histogram_rows.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_view.h"

static const struct view_column columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "zone", .type = VIEW_STRING },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 14 },
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "self_ns", .title = "self", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "on_cpu_ns", .title = "on-CPU", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "waiting_ns", .title = "waiting", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "p50_ns", .title = "p50", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "p99_ns", .title = "p99", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "mean_without_samples_ns",
          .title = "w/o samples",
          .type = VIEW_DURATION,
          .n_columns_max = 11 },
        { .key = "min_ns", .title = "min", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "p90_ns", .title = "p90", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "p99_9_ns", .title = "p99.9", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_unclosed", .title = "unclosed", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "samples_share", .title = "of all", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "samples_weight", .title = "weight", .type = VIEW_COUNT, .n_columns_max = 20 },
        { .key = "place", .title = "place", .type = VIEW_PLACE, .n_columns_max = 30 },
        { .key = "function", .title = "function", .type = VIEW_STRING, .n_columns_max = 30, .may_go = true },
};

static void put_row(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_zone *zone)
{
        bool closed = zone->n_closed != 0;
        uint64_t waiting_ns = zone->total_ns > zone->on_cpu_ns ? zone->total_ns - zone->on_cpu_ns : 0;
        struct zone_cost cost;

        if (zone_cost_find(&cost, &report->totals.zones.zones[zone->location - 1]) < 0)
                d->failed = true;
        view_table_put_handle(d, t, 'z', zone->location);
        view_table_put_string(d, t, zone->name);
        view_table_put_number(d, t, zone->n_closed);
        view_table_put_number(d, t, zone->total_ns);
        view_table_put_number(d, t, zone->self_ns);
        report_heading_put_known(d, t, zone->on_cpu_ns, report->on_cpu_known);
        report_heading_put_known(d, t, waiting_ns, report->on_cpu_known);
        report_heading_put_known(d, t, zone->mean_ns, closed);
        report_heading_put_known(d, t, zone->p50_ns, closed);
        report_heading_put_known(d, t, zone->p99_ns, closed);
        report_heading_put_known(d, t, zone->max_ns, closed);
        report_heading_put_known(d, t, cost.mean_ns, cost.is_known && cost.share >= ZONE_COST_SHARE_MIN);
        report_heading_put_known(d, t, zone->min_ns, closed);
        report_heading_put_known(d, t, zone->p90_ns, closed);
        report_heading_put_known(d, t, zone->p999_ns, closed);
        view_table_put_number(d, t, zone->n_unclosed);
        view_table_put_number(d, t, zone->samples.n_samples);
        report_heading_put_share(d, t, zone->samples.weight, report->event ? report->event->sum.weight : 0,
                                 true);
        report_heading_put_weight(d, t, report, zone->samples.weight);
        view_table_put_place(d, t, zone->file, zone->line);
        report_heading_put_name(d, t, zone->function);
}

static void add_histograms(struct view_document *d, const struct report *report, uint32_t n_zones)
{
        struct view_table *t = histogram_rows_begin(d, "Durations", true);

        for (uint32_t i = 0; i < n_zones; i++) {
                const struct report_zone *zone = &report->zones[i];

                histogram_rows_add(d, t, zone->location, zone->name,
                                   &report->totals.zones.zones[zone->location - 1].durations_ns,
                                   report->clock_step_ns);
        }
}

void zones_view_add_list(struct view_document *d, const struct report *report, uint32_t limit)
{
        uint32_t n_rows = report_limited(report->n_zones, limit);
        char lost_words[LOST_ZONES_WORDS_BYTES], step_words[CLOCK_STEP_WORDS_BYTES];
        struct view_table *t = view_document_add_table(d, "zones", "Zones, by total time", columns,
                                                       sizeof(columns) / sizeof(columns[0]));

        lost_zones_words(&report->lost, lost_words);
        clock_step_words(report->clock_step_ns, step_words);
        view_table_set_about(
                d, t,
                "%s%s%stime between begin and end, of all threads together; in total, on-CPU and waiting "
                "recursion counts once; %s%spercentiles are within 1%%%s; w/o samples: the mean without what "
                "sampling costs, where that is 1%% or more",
                report->lost.n_lost != 0 ? "counts and totals are " : "", lost_words,
                report->lost.n_lost != 0 ? "; " : "", step_words, step_words[0] != '\0' ? ", and " : "",
                step_words[0] != '\0' ? " or a step, whichever is more" : "");
        for (uint32_t i = 0; i < n_rows; i++)
                put_row(d, t, report, &report->zones[i]);
        if (t)
                t->n_left_out = report->n_zones - n_rows;
}

static void set_answer(struct view_document *d, const struct report *report)
{
        struct answer_words a = { .used_bytes = 0 };

        if (report->n_zones != 0) {
                answer_words_add_zone(&a, report, &report->zones[0]);
                answer_words_add_most(&a, report->n_zones, "zones");
        } else {
                answer_words_add(&a, "%s",
                                 family_words_none(report->trace.dictionary, "zones", "no zones").text);
        }
        answer_words_set(&a, d);
}

void zones_view_fill(struct view_document *d, const struct report *report,
                     const struct report_view_options *options)
{
        uint32_t n_rows = report_limited(report->n_zones, options->limit);
        struct handle_text zone;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        view_document_add_number(d, "n_zones", "zones", VIEW_COUNT, report->n_zone_events);
        report_heading_add_lost(d, &report->lost);
        view_document_add_number(d, "n_unclosed", "unclosed", VIEW_COUNT, report->n_unclosed);
        zones_view_add_list(d, report, options->limit);
        if (n_rows != 0)
                add_histograms(d, report, report_limited(n_rows, options->n_histograms));
        if (report->n_zones == 0) {
                report_heading_hint(d, options->path, "report --functions");
                return;
        }
        zone = report_heading_zone(report->trace.dictionary, report->zones[0].location);
        report_heading_hint(d, options->path, "report --zone %s", zone.text);
        report_heading_hint(d, options->path, "why --zone %s", zone.text);
        report_heading_hint(d, options->path, "report --functions --zone %s", zone.text);
}
