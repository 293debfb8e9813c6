/* SPDX-License-Identifier: MIT */
/* A row is a function or a zone, and has a column for each counter, which is named after its event. */
#include "analyze/report/report.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/recording_view.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"

#include <stdio.h>

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

/* clang-format off */
#define FUNCTION_COLUMNS(COLUMN) COLUMN(HANDLE, "handle", "", view_handle('f', label), NULL)
#define FUNCTION_NAME_COLUMNS(COLUMN)                                                                         \
        COLUMN(STRING, "function", "function itself", view_text(name), "[all] is the first")
#define ZONE_COLUMNS(COLUMN) COLUMN(HANDLE, "handle", "", view_handle('z', zone->location), NULL)
#define ZONE_NAME_COLUMNS(COLUMN)                                                                             \
        COLUMN(STRING, "name", "zone, with zones inside", view_text(zone->name), NULL)
#define RATIO_COLUMNS(COLUMN)                                                                                 \
        COLUMN(REAL, "ipc", "IPC", report_heading_ratio(ratios.instructions_per_cycle), NULL)                 \
        COLUMN(REAL, "cache_misses_per_1000", "cache/k", report_heading_ratio(ratios.cache_misses), NULL)     \
        COLUMN(REAL, "branch_misses_per_1000", "branch/k", report_heading_ratio(ratios.branch_misses), NULL)
/* clang-format on */

static const struct view_column function_columns[] = { FUNCTION_COLUMNS(VIEW_COLUMN) RATIO_COLUMNS(
        VIEW_COLUMN) FUNCTION_NAME_COLUMNS(VIEW_COLUMN) };
static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) RATIO_COLUMNS(VIEW_COLUMN)
                                                           ZONE_NAME_COLUMNS(VIEW_COLUMN) };
const struct answer_part counters_view_functions_part = ANSWER_TABLE(
        "function_counters", function_columns,
        "events that were read with the samples, of a function, and first of all together; ratios are of the "
        "function itself. A number belongs to the instant at which the counter was read: shares are right over "
        "many samples",
        .more_columns =
                "self_ or total_, and the name of the event; letters that names of events do not have "
                "become _");
const struct answer_part counters_view_zones_part = ANSWER_TABLE(
        "zone_counters", zone_columns, "the same of a zone, with the zones inside",
        .more_columns = "total_, and the name of the event");

#define COLUMNS_MAX (VIEW_N_COLUMNS(function_columns) + 2 * REPORT_COUNTERS_MAX)

/* A column for each counter; those without titles are for programs alone. */
static uint32_t add_columns(struct view_document *d, const struct report_counters *c, const char *before,
                            uint32_t n_shown, struct view_column *ret_columns)
{
        for (uint32_t i = 0; i < c->n_counters; i++)
                ret_columns[i] = (struct view_column){
                        .key = view_document_make_key(d, before, c->counters[i].name),
                        .title = i < n_shown ? title_of(c->counters[i].kind, i) : NULL,
                        .type = VIEW_COUNT,
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

/* The columns of @part, and those of the counters after the first. */
static struct view_table *add_table(struct view_document *d, const struct report_counters *c,
                                    const struct answer_part *part, const char *title)
{
        bool has_self = part == &counters_view_functions_part; /* and in total, hidden from people */
        struct view_column columns[COLUMNS_MAX];
        struct view_table *t;
        uint32_t n = 0;

        columns[n++] = part->columns[0];
        n += add_columns(d, c, has_self ? "self_" : "total_", SHOWN_MAX, columns + n);
        for (uint32_t i = 1; i < part->n_columns; i++)
                columns[n++] = part->columns[i];
        if (has_self)
                n += add_columns(d, c, "total_", 0, columns + n);
        t = view_document_add_table(d, part->key, title, columns, n);
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
                view_table_put(d, t, view_amount(row[i], report_names_is_time(c->counters[i].unit)));
}

/* @label: 0 = all functions */
static void put_function(struct view_document *d, struct view_table *t, const struct report_counters *c,
                         uint32_t label, struct text_view name, const uint64_t *const self_and_total[2])
{
        struct report_ratios ratios = report_counters_ratios(c, self_and_total[0]);

        FUNCTION_COLUMNS(VIEW_CELL)
        put_values(d, t, c, self_and_total[0]);
        RATIO_COLUMNS(VIEW_CELL)
        FUNCTION_NAME_COLUMNS(VIEW_CELL)
        put_values(d, t, c, self_and_total[1]);
}

static void add_functions(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct view_table *t = add_table(d, c, &counters_view_functions_part, "Counters, by function");
        uint32_t n_rows = report_limited(report->functions.n_rows, limit);

        if (c->n_counters == 0)
                return;
        put_function(d, t, c, 0, report_names_words("[all]"), (const uint64_t *const[]){ c->all, c->all });
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_function *function = &report->functions.rows[i];
                size_t at = (size_t)i * c->n_counters;

                put_function(d, t, c, function->label, report_names_function(function->name, function->kind),
                             (const uint64_t *const[]){ &c->functions_self[at], &c->functions_total[at] });
        }
        if (t)
                t->n_left_out = report->functions.n_rows - n_rows;
}

static void put_zone(struct view_document *d, struct view_table *t, const struct report_counters *c,
                     const struct report_zone *zone, const uint64_t *total)
{
        struct report_ratios ratios = report_counters_ratios(c, total);

        ZONE_COLUMNS(VIEW_CELL)
        put_values(d, t, c, total);
        RATIO_COLUMNS(VIEW_CELL)
        ZONE_NAME_COLUMNS(VIEW_CELL)
}

static void add_zones(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct view_table *t = add_table(d, c, &counters_view_zones_part, "Counters, by zone");
        uint32_t n_rows = c->n_counters != 0 ? report_limited(report->n_zones, limit) : 0;

        for (uint32_t i = 0; i < n_rows; i++)
                put_zone(d, t, c, &report->zones[i], &c->zones[(size_t)i * c->n_counters]);
        if (t && c->n_counters != 0)
                t->n_left_out = report->n_zones - n_rows;
}

/* ------------------------------------------------------------------ totals */

/* clang-format off */
#define RATIO_FACTS(FACT)                                                                                     \
        FACT(REAL, "totals_ipc", "IPC, in all", report_heading_ratio(ratios->instructions_per_cycle),         \
             "of the table `totals`")                                                                         \
        FACT(REAL, "totals_cache_misses_per_1000", "cache misses/1000",                                       \
             report_heading_ratio(ratios->cache_misses), NULL)                                                \
        FACT(REAL, "totals_branch_misses_per_1000", "branch misses/1000",                                     \
             report_heading_ratio(ratios->branch_misses), NULL)
#define TOTAL_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "name", "event", view_text(total->counter.name), NULL)                                 \
        COLUMN(COUNT, "value", "in all",                                                                      \
               total->has_never_run ? view_unknown() : view_amount(total->scaled, is_time),                   \
               "scaled up to the whole time if events shared a counter; null if it never counted",            \
               .may_be_null = true)                                                                           \
        COLUMN(SHARE, "share_of_time", "counted for",                                                         \
               view_real(total->has_never_run ? 0 : total->share_of_time),                                    \
               "the part of the time in which the event was counted")                                         \
        COLUMN(COUNT, "counted", "counted then", view_amount(total->value, is_time), NULL)                    \
        COLUMN(STRING, "unit", NULL, view_name(total->counter.unit), NULL)                                    \
        COLUMN(STRING, "kind", NULL, view_words(kind_of(total->counter.kind)),                                \
               NULL, .one_of = "cycles|instructions|cache_misses|branch_misses|other")
/* clang-format on */

static const struct view_column ratio_columns[] = { RATIO_FACTS(VIEW_MEMBER) };
static const struct view_column total_columns[] = { TOTAL_COLUMNS(VIEW_COLUMN) };
const struct answer_part counters_view_ratios_part = ANSWER_FACTS(ratio_columns);
const struct answer_part counters_view_totals_part = ANSWER_TABLE(
        "totals", total_columns, "an event that was counted, in all; not there if none was",
        .may_be_absent = true);

static void add_totals(struct view_document *d, const struct report *report)
{
        const struct report_counters *c = &report->counters;
        const struct report_ratios *ratios = &c->totals_ratios;
        struct view_table *t;

        RATIO_FACTS(VIEW_FACT)
        if (c->n_totals == 0)
                return;
        t = view_document_add_part(d, &counters_view_totals_part, "Totals");
        view_table_set_about(
                d, t, "of %s, on all CPUs together; scaled up from the share of the time in which it counted",
                report->recording.filter.n_bytes != 0 ? "the whole recording" : "the recording");
        for (uint32_t i = 0; i < c->n_totals; i++) {
                const struct report_total *total = &c->totals[i];
                bool is_time = report_names_is_time(total->counter.unit);

                TOTAL_COLUMNS(VIEW_CELL)
        }
}

void counters_view_add(struct view_document *d, const struct report *report, uint32_t limit)
{
        add_functions(d, report, limit);
        add_zones(d, report, limit);
        add_totals(d, report);
}
