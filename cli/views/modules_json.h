/* SPDX-License-Identifier: MIT */
/*
 * cli/views/modules_json.h - `hyprof modules --json`
 *
 * Way of the data:  trace_code, symbol_findings -> [modules_json] -> standard output
 * Specification:    docs/understand/symbolization.md, "Offline"
 */
#ifndef CLI_VIEWS_MODULES_JSON_H
#define CLI_VIEWS_MODULES_JSON_H

#define MODULES_JSON_SCHEMA "hyprof.module_list/1"

struct symbol_findings;
struct trace_code;

/* Returns 0, -ENOMEM, or -EIO if not all could be written. */
int modules_json_print(const struct trace_code *code, const struct symbol_findings *findings);

#endif /* CLI_VIEWS_MODULES_JSON_H */
