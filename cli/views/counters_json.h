/* SPDX-License-Identifier: MIT */
/*
 * cli/views/counters_json.h - counters of functions, zones and the whole as JSON
 *
 * Way of the data:  report_counters -> [counters_json] -> report_json
 * Specification:    docs/use/report-json.md
 */
#ifndef CLI_VIEWS_COUNTERS_JSON_H
#define CLI_VIEWS_COUNTERS_JSON_H

#include <jansson.h>
#include <stdint.h>

struct report;

/* The members "counters" and "totals"; NULL when out of memory.  @limit: rows of each list, 0 = all. */
json_t *counters_json_pack(const struct report *report, uint32_t limit);
json_t *counters_json_pack_totals(const struct report *report);

#endif /* CLI_VIEWS_COUNTERS_JSON_H */
