/* SPDX-License-Identifier: MIT */
#include "cli/views/counters_text.h"

#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "view/answers/report_names.h"
#include "view/text/text_line.h"
#include "view/text/text_number.h"
#include "view/text/text_page.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <string.h>

#define SHOWN_MAX 5 /* counters side by side; the JSON has all */

/* Titles are ours: what the events are called is said before the table. */
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

/* Clocks count nanoseconds. */
static bool is_time(const struct report_counter *counter)
{
        return counter->unit.n_bytes == 2 && memcmp(counter->unit.bytes, "ns", 2) == 0;
}

/* What the table of one report looks like. */
struct layout {
        struct text_column columns[SHOWN_MAX + 4];
        uint32_t n_columns;
        uint32_t n_counters;
        bool has_cycles, has_cache_misses, has_branch_misses; /* the ratios that there are */
};

static void add_column(struct layout *layout, const char *title, uint32_t n_columns_max)
{
        layout->columns[layout->n_columns++] =
                (struct text_column){ .title = title, .right = true, .n_columns_max = n_columns_max };
}

static struct layout layout_of(const struct report_counters *c, const char *last_title)
{
        struct layout layout = { .n_counters = report_limited(c->n_counters, SHOWN_MAX) };
        struct report_ratios ratios = report_counters_ratios(c, c->all);

        for (uint32_t i = 0; i < layout.n_counters; i++)
                add_column(&layout, title_of(c->counters[i].kind, i), 13);
        layout.has_cycles = ratios.instructions_per_cycle >= 0;
        layout.has_cache_misses = ratios.cache_misses >= 0;
        layout.has_branch_misses = ratios.branch_misses >= 0;
        if (layout.has_cycles)
                add_column(&layout, "IPC", 6);
        if (layout.has_cache_misses)
                add_column(&layout, "cache/k", 8);
        if (layout.has_branch_misses)
                add_column(&layout, "branch/k", 8);
        layout.columns[layout.n_columns++] = (struct text_column){ .title = last_title };
        return layout;
}

static void add_ratio(struct text_table *table, double ratio)
{
        char text[32];

        (void)snprintf(text, sizeof(text), "%.2f", ratio);
        text_table_add_text(table, ratio < 0 ? "-" : text);
}

static void add_row(struct text_table *table, const struct layout *layout, const struct report_counters *c,
                    const uint64_t *row, struct report_string name)
{
        struct report_ratios ratios = report_counters_ratios(c, row);

        for (uint32_t i = 0; i < layout->n_counters; i++)
                text_table_add_text(table, is_time(&c->counters[i]) ? text_number_duration(row[i]).text
                                                                    : text_number_short(row[i]).text);
        if (layout->has_cycles)
                add_ratio(table, ratios.instructions_per_cycle);
        if (layout->has_cache_misses)
                add_ratio(table, ratios.cache_misses);
        if (layout->has_branch_misses)
                add_ratio(table, ratios.branch_misses);
        text_table_add(table, name.bytes, name.n_bytes);
}

static int print_functions(const struct report *report, uint32_t limit, const struct text_page *page)
{
        const struct report_counters *c = &report->counters;
        struct layout layout = layout_of(c, "function itself");
        struct text_table table;
        int r;

        text_table_init(&table, layout.columns, layout.n_columns);
        add_row(&table, &layout, c, c->all, report_names_words("[all]"));
        for (uint32_t i = 0; i < report_limited(report->functions.n_rows, limit); i++) {
                const struct report_function *function = &report->functions.rows[i];

                if (function->self.n_samples != 0)
                        add_row(&table, &layout, c, &c->functions_self[(size_t)i * c->n_counters],
                                report_names_function(function->name, function->kind));
        }
        r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        text_table_deinit(&table);
        return r;
}

static int print_zones(const struct report *report, uint32_t limit, const struct text_page *page)
{
        const struct report_counters *c = &report->counters;
        struct layout layout = layout_of(c, "zone, with zones inside");
        struct text_table table;
        bool any = false;
        int r = 0;

        text_table_init(&table, layout.columns, layout.n_columns);
        for (uint32_t i = 0; i < report_limited(report->n_zones, limit); i++) {
                if (report->zones[i].samples.n_samples == 0)
                        continue;
                any = true;
                add_row(&table, &layout, c, &c->zones[(size_t)i * c->n_counters], report->zones[i].name);
        }
        if (any) {
                (void)fputc('\n', page->out);
                r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        }
        text_table_deinit(&table);
        return r;
}

static int print_names(const struct report *report, struct byte_buffer *line, const struct text_page *page)
{
        const struct report_counters *c = &report->counters;

        text_line_add(line, "counters: read with each sample of ");
        text_line_add_string(line, c->counters[0].name);
        text_line_add(line, "; /k: in 1000 instructions");
        for (uint32_t i = 0; i < report_limited(c->n_counters, SHOWN_MAX); i++) {
                if (c->counters[i].kind != REPORT_COUNTER_OTHER)
                        continue;
                text_line_add(line, "; %s: ", title_of(REPORT_COUNTER_OTHER, i));
                text_line_add_string(line, c->counters[i].name);
        }
        if (c->n_counters > SHOWN_MAX)
                text_line_add(line, "; %u more are in the JSON", (unsigned)(c->n_counters - SHOWN_MAX));
        return text_page_print_title_line(page, line);
}

static struct text_number total_of(const struct report_total *total)
{
        return is_time(&total->counter) ? text_number_duration(total->scaled)
                                        : text_number_count(total->scaled);
}

static void add_total(struct text_table *table, const struct report_total *total)
{
        struct report_string name = total->counter.name;

        text_table_add_text(table, total->has_never_run ? "-" : total_of(total).text);
        if (total->has_never_run)
                text_table_add_text(table, "never counted");
        else if (total->share_of_time < 1 && total->scaled != total->value)
                text_table_add_text(table, text_number_share(total->share_of_time).text);
        else
                text_table_add_text(table, "-");
        text_table_add(table, name.bytes, name.n_bytes);
}

static int print_totals(const struct report *report, struct byte_buffer *line, const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "in all", .right = true, .n_columns_max = 27 },
                { .title = "scaled from", .right = true, .n_columns_max = 13 },
                { .title = "event" },
        };
        const struct report_counters *c = &report->counters;
        const struct report_ratios *ratios = &c->totals_ratios;
        struct text_table table;
        int r;

        if (c->n_totals == 0)
                return 0;
        text_page_print_title(
                page, report->recording.filter.n_bytes != 0
                              ? "totals of the whole recording: counted on all CPUs together; scaled from "
                                "the share of time that it counted"
                              : "totals: counted on all CPUs together; scaled from the share of time that "
                                "it counted");
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < c->n_totals; i++)
                add_total(&table, &c->totals[i]);
        r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        text_table_deinit(&table);
        if (r < 0)
                return r;
        if (ratios->instructions_per_cycle >= 0)
                text_line_add(line, "%.2f instructions per cycle", ratios->instructions_per_cycle);
        if (ratios->cache_misses >= 0)
                text_line_add(line, "%s%.2f cache misses in 1000 instructions",
                              line->used_bytes != 0 ? ", " : "", ratios->cache_misses);
        if (ratios->branch_misses >= 0)
                text_line_add(line, "%s%.2f branch misses in 1000 instructions",
                              line->used_bytes != 0 ? ", " : "", ratios->branch_misses);
        return text_line_print_indented(TEXT_LINE_INDENT, TEXT_LINE_INDENT, line, page->out);
}

int counters_text_print(const struct report *report, uint32_t limit, const struct text_page *page)
{
        struct byte_buffer line = { .data = NULL };
        int r = 0;

        if (report->counters.n_counters != 0) {
                r = print_names(report, &line, page);
                if (r == 0)
                        r = print_functions(report, limit, page);
                if (r == 0)
                        r = print_zones(report, limit, page);
        }
        if (r == 0)
                r = print_totals(report, &line, page);
        byte_buffer_deinit(&line);
        return r;
}
