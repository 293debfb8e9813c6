/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/clock_step.h"
#include "analyze/walk/lost_zones.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/family_words.h"
#include "view/shared/histogram_rows.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_view.h"

/* clang-format off */
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(HANDLE, "handle", "", view_handle('z', zone->location), NULL)                                  \
        COLUMN(STRING, "name", "zone", view_text(zone->name), "as the program calls it")                      \
        COLUMN(COUNT, "count", "count", view_number(zone->n_closed), "instances that ended")                  \
        COLUMN(DURATION, "total_ns", "total", view_number(zone->total_ns), "recursion counts once")           \
        COLUMN(DURATION, "self_ns", "self", view_number(zone->self_ns), "without zones inside")               \
        COLUMN(DURATION, "on_cpu_ns", "on-CPU", view_known(zone->on_cpu_ns, known), NULL)      \
        COLUMN(DURATION, "waiting_ns", "waiting", view_known(zone->waiting_ns, known), NULL)   \
        COLUMN(DURATION, "mean_ns", "mean", view_known(zone->mean_ns, closed), NULL)                          \
        COLUMN(DURATION, "p50_ns", "p50", view_known(zone->p50_ns, closed), NULL)                             \
        COLUMN(DURATION, "p99_ns", "p99", view_known(zone->p99_ns, closed), NULL)                             \
        COLUMN(DURATION, "max_ns", "max", view_known(zone->max_ns, closed), NULL)                             \
        COLUMN(DURATION, "mean_without_samples_ns", "w/o samples", view_known(zone->mean_without_samples_ns,  \
               zone->mean_without_samples_ns != 0), "without what sampling costs, where that is 1 % or more") \
        COLUMN(DURATION, "min_ns", "min", view_known(zone->min_ns, closed), NULL)                             \
        COLUMN(DURATION, "p90_ns", "p90", view_known(zone->p90_ns, closed), NULL)                             \
        COLUMN(DURATION, "p99_9_ns", "p99.9", view_known(zone->p999_ns, closed), NULL)                        \
        COLUMN(COUNT, "n_unclosed", "unclosed", view_number(zone->n_unclosed), NULL)                          \
        COLUMN(COUNT, "n_samples", "samples", view_number(zone->samples.n_samples), NULL)                     \
        COLUMN(SHARE, "samples_share", "of all", report_heading_share(weight, all), "of all samples")         \
        COLUMN(COUNT, "samples_weight", "weight", report_heading_weight(report, weight), NULL)                \
        COLUMN(PLACE, "place", "place", view_place(zone->file, zone->line), NULL, .n_columns_max = 30)        \
        COLUMN(STRING, "function", "function", view_name(zone->function), "the function that the zone is in", \
               .n_columns_max = 30, .may_go = true)
/* clang-format on */

static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
const struct answer_part zones_view_list_part = ANSWER_TABLE("zones", zone_columns, "a zone, by total time");

static void put_row(struct view_document *d, struct view_table *t, const struct report *report,
                    const struct report_zone *zone)
{
        uint64_t weight = zone->samples.weight, all = report->event ? report->event->sum.weight : 0;
        bool closed = zone->n_closed != 0, known = report->on_cpu_known && !zone->is_cpu_unknown;

        ZONE_COLUMNS(VIEW_CELL)
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
        struct view_table *t = view_document_add_part(d, &zones_view_list_part, "Zones, by total time");

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

/* clang-format off */
#define ZONES_FACTS(FACT) FACT(COUNT, "n_zones", "zones", view_number(report->n_zone_events), "that began")
#define UNCLOSED_FACTS(FACT) FACT(COUNT, "n_unclosed", "unclosed", view_number(report->n_unclosed), NULL)
/* clang-format on */

static const struct view_column fact_columns[] = { ZONES_FACTS(VIEW_MEMBER) UNCLOSED_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);
const struct answer_schema zones_view_schema = {
        .name = "hyprof.zones/2",
        .command = "hyprof report --zones --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &facts, &report_heading_lost_part,
                                                      &report_heading_missing_part, &zones_view_list_part,
                                                      &histogram_rows_named_part, NULL },
};

void zones_view_fill(struct view_document *d, const struct report *report,
                     const struct report_view_options *options)
{
        uint32_t n_rows = report_limited(report->n_zones, options->limit);
        struct handle_text zone;

        set_answer(d, report);
        report_heading_add(d, report, options->filter);
        ZONES_FACTS(VIEW_FACT)
        report_heading_add_lost(d, &report->lost);
        UNCLOSED_FACTS(VIEW_FACT)
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
