/* SPDX-License-Identifier: MIT */
#include "cli/views/counters_json.h"

#include "analyze/report/report.h"
#include "cli/views/report_object.h"

static const char *name_of_kind(enum report_counter_kind kind)
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

static json_t *pack_ratio(double ratio)
{
        return ratio >= 0 ? json_real(ratio) : json_null();
}

static json_t *pack_ratios(struct report_ratios ratios)
{
        struct report_object object = report_object_begin();

        report_object_put(&object, "instructions_per_cycle", pack_ratio(ratios.instructions_per_cycle));
        report_object_put(&object, "cache_misses_per_1000_instructions", pack_ratio(ratios.cache_misses));
        report_object_put(&object, "branch_misses_per_1000_instructions", pack_ratio(ratios.branch_misses));
        return report_object_take(&object);
}

static json_t *pack_row(const struct report_counters *c, const uint64_t *row)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < c->n_counters; i++)
                if (json_array_append_new(list, report_object_number(row[i])) < 0)
                        goto fail;
        return list;
fail:
        json_decref(list);
        return NULL;
}

static json_t *pack_function(const struct report *report, uint32_t index)
{
        const struct report_counters *c = &report->counters;
        const struct report_function *function = &report->functions.rows[index];
        const uint64_t *self = &c->functions_self[(size_t)index * c->n_counters];
        const uint64_t *total = &c->functions_total[(size_t)index * c->n_counters];
        struct report_object object = report_object_begin();

        report_object_put(&object, "function", report_object_string_or_null(function->name));
        report_object_put(&object, "module", report_object_string_or_null(function->module));
        report_object_put(&object, "kind", report_object_kind(function->kind));
        report_object_put(&object, "self", pack_row(c, self));
        report_object_put(&object, "self_ratios", pack_ratios(report_counters_ratios(c, self)));
        report_object_put(&object, "total", pack_row(c, total));
        report_object_put(&object, "total_ratios", pack_ratios(report_counters_ratios(c, total)));
        return report_object_take(&object);
}

static json_t *pack_zone(const struct report *report, uint32_t index)
{
        const struct report_counters *c = &report->counters;
        const struct report_zone *zone = &report->zones[index];
        const uint64_t *row = &c->zones[(size_t)index * c->n_counters];
        struct report_object object = report_object_begin();

        report_object_put(&object, "name", report_object_string(zone->name));
        report_object_put(&object, "function", report_object_string_or_null(zone->function));
        report_object_put(&object, "file", report_object_string_or_null(zone->file));
        report_object_put(&object, "line", report_object_number_or_null(zone->line, zone->line != 0));
        report_object_put(&object, "total", pack_row(c, row));
        report_object_put(&object, "total_ratios", pack_ratios(report_counters_ratios(c, row)));
        return report_object_take(&object);
}

static json_t *pack_events(const struct report_counters *c)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < c->n_counters; i++) {
                struct report_object object = report_object_begin();

                report_object_put(&object, "name", report_object_string(c->counters[i].name));
                report_object_put(&object, "unit", report_object_string_or_null(c->counters[i].unit));
                report_object_put(&object, "kind", json_string(name_of_kind(c->counters[i].kind)));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        return list;
fail:
        json_decref(list);
        return NULL;
}

json_t *counters_json_pack(const struct report *report, uint32_t limit)
{
        const struct report_counters *c = &report->counters;
        struct report_object object;

        if (c->n_counters == 0)
                return json_null();
        object = report_object_begin();
        report_object_put(&object, "events", pack_events(c));
        report_object_put(&object, "all", pack_row(c, c->all));
        report_object_put(&object, "all_ratios", pack_ratios(report_counters_ratios(c, c->all)));
        report_object_put(&object, "functions",
                          report_object_pack_list(report, report->functions.n_rows, limit, pack_function));
        report_object_put(&object, "zones",
                          report_object_pack_list(report, report->n_zones, limit, pack_zone));
        return report_object_take(&object);
}

json_t *counters_json_pack_totals(const struct report *report)
{
        const struct report_counters *c = &report->counters;
        struct report_object totals = report_object_begin();
        json_t *list = json_array();

        for (uint32_t i = 0; i < c->n_totals; i++) {
                const struct report_total *total = &c->totals[i];
                struct report_object object = report_object_begin();

                report_object_put(&object, "name", report_object_string(total->counter.name));
                report_object_put(&object, "unit", report_object_string_or_null(total->counter.unit));
                report_object_put(&object, "kind", json_string(name_of_kind(total->counter.kind)));
                report_object_put(&object, "value",
                                  report_object_number_or_null(total->scaled, !total->has_never_run));
                report_object_put(&object, "counted", report_object_number(total->value));
                report_object_put(&object, "share_of_time", json_real(total->share_of_time));
                if (json_array_append_new(list, report_object_take(&object)) < 0)
                        goto fail;
        }
        report_object_put(&totals, "events", list);
        report_object_put(&totals, "ratios", pack_ratios(c->totals_ratios));
        return report_object_take(&totals);
fail:
        json_decref(list);
        json_decref(totals.json);
        return NULL;
}
