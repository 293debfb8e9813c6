/* SPDX-License-Identifier: MIT */
/*
 * cli/views/waits_json.h - what threads waited for, and what CPUs did, as JSON
 *
 * Way of the data:  report_waits, report_cpus -> [waits_json] -> report_json
 * Specification:    docs/use/report-json.md
 */
#ifndef CLI_VIEWS_WAITS_JSON_H
#define CLI_VIEWS_WAITS_JSON_H

#include <jansson.h>
#include <stdint.h>

struct report;

/* The members "waits" and "cpus"; NULL when out of memory.  @limit: rows of each list, 0 = all. */
json_t *waits_json_pack(const struct report *report, uint32_t limit);
json_t *waits_json_pack_cpus(const struct report *report, uint32_t limit);

#endif /* CLI_VIEWS_WAITS_JSON_H */
