/* SPDX-License-Identifier: MIT */
/* A row is a function or a zone, and has a column for each counter, which is named after its event. */
#include "analyze/report/report.h"
#include "view/document/view_document.h"
#include "view/shared/recording_view.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX   5 /* counters side by side in text and Markdown; JSON and CSV have all */
#define WORDS_BYTES 1024

static const char *kind_of(enum report_counter_kind kind)
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

/* Titles are our own words; the line above the table names the events. */
static const char *title_of(enum report_counter_kind kind, uint32_t index)
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

/* ------------------------------------------------------------------ by function and zone */

#define COLUMNS_MAX (2 + 2 * REPORT_COUNTERS_MAX + 3)

/* The differences between the tables of functions and of zones. */
struct counters_table {
        const char *key, *title, *name_key, *name_title;
        bool has_self; /* and in total, hidden from people; false = only in total */
};

static const struct counters_table counters_tables[] = {
        { "function_counters", "Counters, by function", "function", "function itself", true },
        { "zone_counters", "Counters, by zone", "name", "zone, with zones inside", false },
};

/* A column for each counter; those without titles are for programs alone. */
static uint32_t add_columns(struct view_document *d, const struct report_counters *c, const char *before,
                            uint32_t n_shown, struct view_column *ret_columns)
{
        for (uint32_t i = 0; i < c->n_counters; i++)
                ret_columns[i] = (struct view_column){
                        .key = view_document_make_key(d, before, c->counters[i].name),
                        .title = i < n_shown ? title_of(c->counters[i].kind, i) : NULL,
                        .type = VIEW_COUNT,
                        .n_columns_max = 13,
                        .is_short = true,
                };
        return c->n_counters;
}

/* "read with each sample of cycles:u; /k: in 1000 instructions; [1]: page-faults" */
static void set_about(struct view_document *d, struct view_table *t, const struct report_counters *c)
{
        char words[WORDS_BYTES] = "";
        size_t used = 0;

        for (uint32_t i = 0; i < report_limited(c->n_counters, SHOWN_MAX) && used < sizeof(words); i++) {
                int n = 0;

                if (c->counters[i].kind == REPORT_COUNTER_OTHER)
                        n = snprintf(words + used, sizeof(words) - used, "; %s: %.*s",
                                     title_of(REPORT_COUNTER_OTHER, i), (int)c->counters[i].name.n_bytes,
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

static struct view_table *add_table(struct view_document *d, const struct report_counters *c,
                                    const struct counters_table *which)
{
        struct view_column columns[COLUMNS_MAX];
        struct view_table *t;
        uint32_t n = 0;

        columns[n++] =
                (struct view_column){ .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 };
        n += add_columns(d, c, which->has_self ? "self_" : "total_", SHOWN_MAX, columns + n);
        columns[n++] =
                (struct view_column){ .key = "ipc", .title = "IPC", .type = VIEW_REAL, .n_columns_max = 6 };
        columns[n++] = (struct view_column){
                .key = "cache_misses_per_1000", .title = "cache/k", .type = VIEW_REAL, .n_columns_max = 8
        };
        columns[n++] = (struct view_column){
                .key = "branch_misses_per_1000", .title = "branch/k", .type = VIEW_REAL, .n_columns_max = 8
        };
        columns[n++] = (struct view_column){ .key = which->name_key,
                                             .title = which->name_title,
                                             .type = VIEW_STRING };
        if (which->has_self)
                n += add_columns(d, c, "total_", 0, columns + n);
        t = view_document_add_table(d, which->key, which->title, columns, n);
        if (!t)
                return NULL;
        t->optional_from = 1;
        t->is_hidden_if_empty = true;
        if (c->n_counters != 0)
                set_about(d, t, c);
        return t;
}

static void put_values(struct view_document *d, struct view_table *t, const struct report_counters *c,
                       const uint64_t *row)
{
        for (uint32_t i = 0; i < c->n_counters; i++)
                view_table_put_amount(d, t, row[i], report_names_is_time(c->counters[i].unit));
}

static void put_ratio(struct view_document *d, struct view_table *t, double ratio)
{
        if (ratio >= 0)
                view_table_put_real(d, t, ratio);
        else
                view_table_put_unknown(d, t);
}

/* The rest of a row, after its handle.  @total: NULL = the first numbers are the totals */
static void put_row(struct view_document *d, struct view_table *t, const struct report_counters *c,
                    const uint64_t *first, struct text_view name, const uint64_t *total)
{
        struct report_ratios ratios = report_counters_ratios(c, first);

        put_values(d, t, c, first);
        put_ratio(d, t, ratios.instructions_per_cycle);
        put_ratio(d, t, ratios.cache_misses);
        put_ratio(d, t, ratios.branch_misses);
        view_table_put_string(d, t, name);
        if (total)
                put_values(d, t, c, total);
}

static void add_functions(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct view_table *t = add_table(d, c, &counters_tables[0]);
        uint32_t n_rows = report_limited(report->functions.n_rows, limit);

        if (c->n_counters == 0)
                return;
        view_table_put_unknown(d, t);
        put_row(d, t, c, c->all, report_names_words("[all]"), c->all);
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_function *function = &report->functions.rows[i];

                view_table_put_handle(d, t, 'f', function->label);
                put_row(d, t, c, &c->functions_self[(size_t)i * c->n_counters],
                        report_names_function(function->name, function->kind),
                        &c->functions_total[(size_t)i * c->n_counters]);
        }
        if (t)
                t->n_left_out = report->functions.n_rows - n_rows;
}

static void add_zones(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct view_table *t = add_table(d, c, &counters_tables[1]);
        uint32_t n_rows = c->n_counters != 0 ? report_limited(report->n_zones, limit) : 0;

        for (uint32_t i = 0; i < n_rows; i++) {
                view_table_put_handle(d, t, 'z', report->zones[i].location);
                put_row(d, t, c, &c->zones[(size_t)i * c->n_counters], report->zones[i].name, NULL);
        }
        if (t && c->n_counters != 0)
                t->n_left_out = report->n_zones - n_rows;
}

/* ------------------------------------------------------------------ totals */

static void add_ratio_fact(struct view_document *d, const char *key, const char *title, double ratio)
{
        if (ratio >= 0)
                view_document_add_real(d, key, title, VIEW_REAL, ratio);
        else
                view_document_add_unknown(d, key, title, VIEW_REAL);
}

static void add_totals(struct view_document *d, const struct report *report)
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

        add_ratio_fact(d, "totals_ipc", "IPC, in all", c->totals_ratios.instructions_per_cycle);
        add_ratio_fact(d, "totals_cache_misses_per_1000", "cache misses/1000", c->totals_ratios.cache_misses);
        add_ratio_fact(d, "totals_branch_misses_per_1000", "branch misses/1000",
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
                view_table_put_words(d, t, kind_of(total->counter.kind));
        }
}

void counters_view_add(struct view_document *d, const struct report *report, uint32_t limit)
{
        add_functions(d, report, limit);
        add_zones(d, report, limit);
        add_totals(d, report);
}
