/* SPDX-License-Identifier: MIT */
/*
 * cli/views/report_json.h - a report as JSON, for scripts
 *
 * Way of the data:  report -> [report_json] -> file, pipe
 * Specification:    docs/use/report-json.md
 */
#ifndef CLI_VIEWS_REPORT_JSON_H
#define CLI_VIEWS_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report;

#define REPORT_JSON_SCHEMA "hyprof.report/1"

struct report_json_options {
        uint32_t limit; /* at most this many rows of each list; 0 = all. "left_out": how many are missing */
        bool wants_waits, wants_cpus; /* as the report was loaded: their members are there */
};

/*
 * report_json_print() - write the report as one JSON object and a newline
 * Names are never cut; what is no UTF-8 in them becomes U+FFFD.
 * Returns 0 or -ENOMEM; the caller looks at ferror(@out).
 */
int report_json_print(const struct report *report, const struct report_json_options *options, FILE *out);

#endif /* CLI_VIEWS_REPORT_JSON_H */
