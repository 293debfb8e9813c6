/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/report/report_samples.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum report_counter_kind report_counter_kind_of(struct text_view name)
{
        static const struct {
                const char *name;
                enum report_counter_kind kind;
        } kinds[] = {
                { "cycles", REPORT_COUNTER_CYCLES },
                { "cpu-cycles", REPORT_COUNTER_CYCLES },
                { "instructions", REPORT_COUNTER_INSTRUCTIONS },
                { "cache-misses", REPORT_COUNTER_CACHE_MISSES },
                { "branch-misses", REPORT_COUNTER_BRANCH_MISSES },
        };
        const char *colon = name.n_bytes != 0 ? memchr(name.bytes, ':', name.n_bytes) : NULL;

        if (colon)
                name.n_bytes = (size_t)(colon - name.bytes);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (text_view_is(name, kinds[i].name))
                        return kinds[i].kind;
        return REPORT_COUNTER_OTHER;
}

static struct report_counter describe(const struct trace_dictionary *d, uint32_t event)
{
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, event);
        struct text_view name = trace_dictionary_text(d, row->name);

        return (struct report_counter){
                .event = event,
                .name = name,
                .unit = trace_dictionary_text(d, row->unit),
                .kind = report_counter_kind_of(name),
        };
}

void report_counters_find_group(struct report_counters *c, const struct trace_dictionary *d, uint32_t leader)
{
        uint32_t n_events = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS);

        c->counters[c->n_counters++] = describe(d, leader);
        for (uint32_t event = leader + 1; event <= n_events && c->n_counters < REPORT_COUNTERS_MAX; event++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS,
                                                                            event);

                if (row->mode == TRACE_SAMPLE_MODE_WITH_LEADER && row->leader == leader)
                        c->counters[c->n_counters++] = describe(d, event);
        }
        if (c->n_counters == 1)
                c->n_counters = 0;
}

static void sum_counter(struct report *report, struct report_samples *samples, uint32_t index)
{
        struct report_counters *c = &report->counters;
        uint32_t event = c->counters[index].event;

        report_samples_select(samples, event);
        c->all[index] = report->events[event - 1].sum.weight;
        for (uint32_t i = 0; i < report->functions.n_rows; i++) {
                struct label_sum sum = report_samples_function(samples, report->functions.rows[i].label);

                c->functions_self[(size_t)i * c->n_counters + index] = sum.self.weight;
                c->functions_total[(size_t)i * c->n_counters + index] = sum.total.weight;
        }
        for (uint32_t i = 0; i < report->n_zones; i++)
                c->zones[(size_t)i * c->n_counters + index] =
                        report_samples_in_zone(samples, report->zones[i].location).weight;
}

/* Uses floating point, because @value * @enabled_ns has up to 128 bits. */
static uint64_t scale(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
        double scaled;

        if (running_ns == enabled_ns)
                return value;
        if (running_ns == 0)
                return 0;
        scaled = (double)value * ((double)enabled_ns / (double)running_ns);
        return scaled < (double)UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

static int fill_totals(struct report_counters *c, const struct trace_dictionary *d)
{
        uint32_t n_rows = trace_dictionary_count(d, TRACE_TABLE_COUNTERS);
        uint32_t *newest = calloc((size_t)trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS) + 1,
                                  sizeof(*newest));

        c->totals = calloc((size_t)n_rows + 1, sizeof(*c->totals));
        if (!newest || !c->totals) {
                free(newest);
                return -ENOMEM;
        }
        for (uint32_t i = 1; i <= n_rows; i++)
                newest[((const struct trace_counter *)trace_dictionary_row(d, TRACE_TABLE_COUNTERS, i))
                               ->event] = i;
        for (uint32_t i = 1; i <= n_rows; i++) {
                const struct trace_counter *row = trace_dictionary_row(d, TRACE_TABLE_COUNTERS, i);

                if (newest[row->event] != i)
                        continue;
                c->totals[c->n_totals++] = (struct report_total){
                        .counter = describe(d, row->event),
                        .value = row->value,
                        .scaled = scale(row->value, row->enabled_ns, row->running_ns),
                        .share_of_time = report_share(row->running_ns, row->enabled_ns),
                        .has_never_run = row->running_ns == 0 && row->enabled_ns != 0,
                };
        }
        free(newest);
        return 0;
}

static double ratio(uint64_t part, uint64_t whole, double factor)
{
        return whole != 0 ? factor * (double)part / (double)whole : -1.0;
}

/* The first event of a kind counts: a group hardly ever has two. */
static struct report_ratios ratios_of(const uint64_t *by_kind, const bool *has)
{
        struct report_ratios ratios = { -1.0, -1.0, -1.0 };

        if (!has[REPORT_COUNTER_INSTRUCTIONS])
                return ratios;
        if (has[REPORT_COUNTER_CYCLES])
                ratios.instructions_per_cycle = ratio(by_kind[REPORT_COUNTER_INSTRUCTIONS],
                                                      by_kind[REPORT_COUNTER_CYCLES], 1.0);
        if (has[REPORT_COUNTER_CACHE_MISSES])
                ratios.cache_misses = ratio(by_kind[REPORT_COUNTER_CACHE_MISSES],
                                            by_kind[REPORT_COUNTER_INSTRUCTIONS], 1000.0);
        if (has[REPORT_COUNTER_BRANCH_MISSES])
                ratios.branch_misses = ratio(by_kind[REPORT_COUNTER_BRANCH_MISSES],
                                             by_kind[REPORT_COUNTER_INSTRUCTIONS], 1000.0);
        return ratios;
}

struct report_ratios report_counters_ratios(const struct report_counters *c, const uint64_t *row)
{
        uint64_t by_kind[REPORT_COUNTER_BRANCH_MISSES + 1] = { 0 };
        bool has[REPORT_COUNTER_BRANCH_MISSES + 1] = { false };

        for (uint32_t i = 0; i < c->n_counters; i++) {
                enum report_counter_kind kind = c->counters[i].kind;

                if (!has[kind])
                        by_kind[kind] = row[i];
                has[kind] = true;
        }
        return ratios_of(by_kind, has);
}

static struct report_ratios totals_ratios(const struct report_counters *c)
{
        uint64_t by_kind[REPORT_COUNTER_BRANCH_MISSES + 1] = { 0 };
        bool has[REPORT_COUNTER_BRANCH_MISSES + 1] = { false };

        for (uint32_t i = 0; i < c->n_totals; i++) {
                enum report_counter_kind kind = c->totals[i].counter.kind;

                if (!has[kind])
                        by_kind[kind] = c->totals[i].scaled;
                has[kind] = has[kind] || !c->totals[i].has_never_run;
        }
        return ratios_of(by_kind, has);
}

int report_counters_fill(struct report *report, const struct trace_dictionary *d,
                         struct report_samples *samples)
{
        struct report_counters *c = &report->counters;
        const struct trace_sample_event *shown;
        size_t n_functions, n_zones;
        int r = fill_totals(c, d);

        if (r < 0)
                return r;
        c->totals_ratios = totals_ratios(c);
        if (!report->event)
                return 0;
        shown = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, report->event->event);
        report_counters_find_group(c, d, shown->leader != 0 ? shown->leader : report->event->event);
        if (c->n_counters == 0)
                return 0;
        n_functions = (size_t)report->functions.n_rows * c->n_counters;
        n_zones = (size_t)report->n_zones * c->n_counters;
        c->functions_self = calloc(n_functions + 1, sizeof(*c->functions_self));
        c->functions_total = calloc(n_functions + 1, sizeof(*c->functions_total));
        c->zones = calloc(n_zones + 1, sizeof(*c->zones));
        if (!c->functions_self || !c->functions_total || !c->zones)
                return -ENOMEM;
        for (uint32_t i = 0; i < c->n_counters; i++)
                sum_counter(report, samples, i);
        return 0;
}

void report_counters_deinit(struct report_counters *c)
{
        free(c->functions_self);
        free(c->functions_total);
        free(c->zones);
        free(c->totals);
        *c = (struct report_counters){ .n_counters = 0 };
}
