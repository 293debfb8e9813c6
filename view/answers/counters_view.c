/* SPDX-License-Identifier: MIT */
/*
 * For people the counters stand side by side, a row a function or zone; for programs, which need not fit a line and
 * want a name for each column beforehand, a row is one counter of one function or zone.
 */
#include "analyze/report/report.h"
#include "view/answers/recording_view.h"
#include "view/answers/report_heading.h"
#include "view/answers/report_names.h"
#include "view/document/view_document.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX   5 /* counters side by side; JSON and CSV have all */
#define WORDS_BYTES 1024

static const char *counters_kind(enum report_counter_kind kind)
{
        switch (kind) {
        case REPORT_COUNTER_OTHER:
                break;
        case REPORT_COUNTER_CYCLES:
                return "cycles";
        case REPORT_COUNTER_INSTRUCTIONS:
                return "instructions";
        case REPORT_COUNTER_CACHE_MISSES:
                return "cache_misses";
        case REPORT_COUNTER_BRANCH_MISSES:
                return "branch_misses";
        }
        return "other";
}

/* Titles are ours: what the events are called is said above the table. */
static const char *counters_title(enum report_counter_kind kind, uint32_t index)
{
        static const char *const others[SHOWN_MAX] = { "[1]", "[2]", "[3]", "[4]", "[5]" };

        switch (kind) {
        case REPORT_COUNTER_OTHER:
                break;
        case REPORT_COUNTER_CYCLES:
                return "cycles";
        case REPORT_COUNTER_INSTRUCTIONS:
                return "instr.";
        case REPORT_COUNTER_CACHE_MISSES:
                return "cache misses";
        case REPORT_COUNTER_BRANCH_MISSES:
                return "branch misses";
        }
        return others[index];
}

/* ------------------------------------------------------------------ for people */

#define MATRIX_COLUMNS (2 + SHOWN_MAX + 3)

static struct view_table *counters_add_matrix(struct view_document *d, const struct report_counters *c,
                                              const char *title, const char *name_title)
{
        struct view_column columns[MATRIX_COLUMNS] = {
                { .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 }
        };
        uint32_t n = 1;

        for (uint32_t i = 0; i < report_limited(c->n_counters, SHOWN_MAX); i++)
                columns[n++] = (struct view_column){ .title = counters_title(c->counters[i].kind, i),
                                                     .type = VIEW_COUNT,
                                                     .n_columns_max = 13,
                                                     .is_short = true };
        columns[n++] = (struct view_column){ .title = "IPC", .type = VIEW_REAL, .n_columns_max = 6 };
        columns[n++] = (struct view_column){ .title = "cache/k", .type = VIEW_REAL, .n_columns_max = 8 };
        columns[n++] = (struct view_column){ .title = "branch/k", .type = VIEW_REAL, .n_columns_max = 8 };
        columns[n++] = (struct view_column){ .title = name_title, .type = VIEW_STRING };
        return view_document_add_table(d, NULL, title, columns, n);
}

static void counters_put_ratio(struct view_document *d, struct view_table *t, double ratio)
{
        if (ratio >= 0)
                view_table_put_real(d, t, ratio);
        else
                view_table_put_unknown(d, t);
}

/* The rest of a row, after its handle. */
static void counters_put_row(struct view_document *d, struct view_table *t, const struct report_counters *c,
                             const uint64_t *row, struct text_view name)
{
        struct report_ratios ratios = report_counters_ratios(c, row);

        for (uint32_t i = 0; i < report_limited(c->n_counters, SHOWN_MAX); i++)
                view_table_put_amount(d, t, row[i], report_names_is_time(c->counters[i].unit));
        counters_put_ratio(d, t, ratios.instructions_per_cycle);
        counters_put_ratio(d, t, ratios.cache_misses);
        counters_put_ratio(d, t, ratios.branch_misses);
        view_table_put_string(d, t, name);
        if (t)
                t->optional_from = 1;
}

/* "read with each sample of cycles:u; /k: in 1000 instructions; [1]: page-faults" */
static void counters_set_about(struct view_document *d, struct view_table *t, const struct report_counters *c)
{
        char words[WORDS_BYTES] = "";
        size_t used = 0;

        for (uint32_t i = 0; i < report_limited(c->n_counters, SHOWN_MAX) && used < sizeof(words); i++) {
                int n = 0;

                if (c->counters[i].kind == REPORT_COUNTER_OTHER)
                        n = snprintf(words + used, sizeof(words) - used, "; %s: %.*s",
                                     counters_title(REPORT_COUNTER_OTHER, i),
                                     (int)c->counters[i].name.n_bytes,
                                     c->counters[i].name.n_bytes != 0 ? c->counters[i].name.bytes : "");
                used += n > 0 ? (size_t)n : 0;
        }
        if (c->n_counters > SHOWN_MAX && used < sizeof(words))
                (void)snprintf(words + used, sizeof(words) - used, "; JSON and CSV have %u more",
                               (unsigned)(c->n_counters - SHOWN_MAX));
        view_table_set_about(d, t, "read with each sample of %.*s; /k: in 1000 instructions%s",
                             (int)c->counters[0].name.n_bytes,
                             c->counters[0].name.n_bytes != 0 ? c->counters[0].name.bytes : "", words);
}

static void counters_add_functions(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct view_table *t = counters_add_matrix(d, c, "Counters, by function", "function itself");

        counters_set_about(d, t, c);
        view_table_put_unknown(d, t);
        counters_put_row(d, t, c, c->all, report_names_words("[all]"));
        for (uint32_t i = 0; i < report_limited(report->functions.n_rows, limit); i++) {
                const struct report_function *function = &report->functions.rows[i];

                if (function->self.n_samples == 0)
                        continue;
                view_table_put_handle(d, t, 'f', function->label);
                counters_put_row(d, t, c, &c->functions_self[(size_t)i * c->n_counters],
                                 report_names_function(function->name, function->kind));
        }
}

static void counters_add_zones(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct view_table *t = NULL;

        for (uint32_t i = 0; i < report_limited(report->n_zones, limit); i++) {
                const struct report_zone *zone = &report->zones[i];

                if (zone->samples.n_samples == 0)
                        continue;
                if (!t)
                        t = counters_add_matrix(d, c, "Counters, by zone", "zone, with zones inside");
                view_table_put_handle(d, t, 'z', zone->location);
                counters_put_row(d, t, c, &c->zones[(size_t)i * c->n_counters], zone->name);
        }
}

/* ------------------------------------------------------------------ for programs */

struct counters_of {
        const char *of;
        char letter; /* of the handle; '\0' = none */
        uint32_t id;
        struct text_view name;
        const uint64_t *self; /* NULL = not known */
        const uint64_t *total;
};

static void counters_put(struct view_document *d, struct view_table *t, const struct report_counters *c,
                         const struct counters_of *o)
{
        for (uint32_t i = 0; i < c->n_counters; i++) {
                view_table_put_words(d, t, o->of);
                if (o->letter != '\0')
                        view_table_put_handle(d, t, o->letter, o->id);
                else
                        view_table_put_unknown(d, t);
                report_heading_put_name(d, t, o->name);
                view_table_put_string(d, t, c->counters[i].name);
                report_heading_put_name(d, t, c->counters[i].unit);
                view_table_put_words(d, t, counters_kind(c->counters[i].kind));
                report_heading_put_known(d, t, o->self ? o->self[i] : 0, o->self != NULL);
                view_table_put_number(d, t, o->total[i]);
        }
}

static void counters_add_all(struct view_document *d, const struct report *report)
{
        static const struct view_column columns[] = {
                { .key = "of", .type = VIEW_STRING },        { .key = "handle", .type = VIEW_HANDLE },
                { .key = "name", .type = VIEW_STRING },      { .key = "counter", .type = VIEW_STRING },
                { .key = "unit", .type = VIEW_STRING },      { .key = "kind", .type = VIEW_STRING },
                { .key = "self_value", .type = VIEW_COUNT }, { .key = "total_value", .type = VIEW_COUNT },
        };
        const struct report_counters *c = &report->counters;
        struct view_table *t = view_document_add_table(d, "counters", NULL, columns,
                                                       sizeof(columns) / sizeof(columns[0]));

        if (c->n_counters == 0)
                return;
        counters_put(d, t, c, &(struct counters_of){ .of = "all", .total = c->all });
        for (uint32_t i = 0; i < report->functions.n_rows; i++) {
                const struct report_function *function = &report->functions.rows[i];

                counters_put(d, t, c,
                             &(struct counters_of){
                                     .of = "function",
                                     .letter = 'f',
                                     .id = function->label,
                                     .name = report_names_function(function->name, function->kind),
                                     .self = &c->functions_self[(size_t)i * c->n_counters],
                                     .total = &c->functions_total[(size_t)i * c->n_counters],
                             });
        }
        for (uint32_t i = 0; i < report->n_zones; i++)
                counters_put(d, t, c,
                             &(struct counters_of){
                                     .of = "zone",
                                     .letter = 'z',
                                     .id = report->zones[i].location,
                                     .name = report->zones[i].name,
                                     .total = &c->zones[(size_t)i * c->n_counters],
                             });
}

/* ------------------------------------------------------------------ totals */

static void counters_add_ratio_fact(struct view_document *d, const char *key, const char *title, double ratio)
{
        if (ratio >= 0)
                view_document_add_real(d, key, title, VIEW_REAL, ratio);
        else
                view_document_add_unknown(d, key, title, VIEW_REAL);
}

static void counters_add_totals(struct view_document *d, const struct report *report)
{
        static const struct view_column columns[] = {
                { .key = "name", .title = "event", .type = VIEW_STRING },
                { .key = "value", .title = "in all", .type = VIEW_COUNT, .n_columns_max = 27 },
                { .key = "share_of_time", .title = "counted for", .type = VIEW_SHARE, .n_columns_max = 11 },
                { .key = "counted", .title = "counted then", .type = VIEW_COUNT, .n_columns_max = 27 },
                { .key = "unit", .type = VIEW_STRING },
                { .key = "kind", .type = VIEW_STRING },
        };
        const struct report_counters *c = &report->counters;
        struct view_table *t;

        counters_add_ratio_fact(d, "totals_ipc", "IPC, in all", c->totals_ratios.instructions_per_cycle);
        counters_add_ratio_fact(d, "totals_cache_misses_per_1000", "cache misses/1000",
                                c->totals_ratios.cache_misses);
        counters_add_ratio_fact(d, "totals_branch_misses_per_1000", "branch misses/1000",
                                c->totals_ratios.branch_misses);
        if (c->n_totals == 0)
                return;
        t = view_document_add_table(d, "totals", "Totals", columns, sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(
                d, t, "of %s, on all CPUs together; scaled up from the share of the time in which it counted",
                report->recording.filter.n_bytes != 0 ? "the whole recording" : "the recording");
        for (uint32_t i = 0; i < c->n_totals; i++) {
                const struct report_total *total = &c->totals[i];
                bool is_time = report_names_is_time(total->counter.unit);

                view_table_put_string(d, t, total->counter.name);
                if (total->has_never_run)
                        view_table_put_unknown(d, t);
                else
                        view_table_put_amount(d, t, total->scaled, is_time);
                view_table_put_real(d, t, total->has_never_run ? 0 : total->share_of_time);
                view_table_put_amount(d, t, total->value, is_time);
                report_heading_put_name(d, t, total->counter.unit);
                view_table_put_words(d, t, counters_kind(total->counter.kind));
        }
}

void counters_view_add(struct view_document *d, const struct report *report, uint32_t limit)
{
        if (report->counters.n_counters != 0) {
                counters_add_functions(d, report, limit);
                counters_add_zones(d, report, limit);
        }
        counters_add_all(d, report);
        counters_add_totals(d, report);
}
