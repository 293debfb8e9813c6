/* SPDX-License-Identifier: MIT */
/*
 * view/answers/off_cpu_view.h - what threads waited for, and how busy CPUs were, as tables for Markdown and CSV
 *
 * Way of the data:  report_waits, report_cpus -> [off_cpu_view] off_cpu_view, cpus_view -> view_document
 * Specification:    docs/use/view-json.md; the text and the JSON are those of waits_text, cpus_text and report_json
 */
#ifndef VIEW_ANSWERS_OFF_CPU_VIEW_H
#define VIEW_ANSWERS_OFF_CPU_VIEW_H

#include "analyze/trace/report_string.h"

#include <stdint.h>

struct report;
struct view_document;

#define OFF_CPU_VIEW_SCHEMA "hyprof.off_cpu/2"
#define CPUS_VIEW_SCHEMA    "hyprof.cpus/2"

/* @report: loaded with `wants_waits`, `wants_cpus`.  @filter: what passed, in words.  @limit: rows of each table; 0 = all. */
void off_cpu_view_fill(struct view_document *d, const struct report *report, struct report_string filter,
                       uint32_t limit);
void cpus_view_fill(struct view_document *d, const struct report *report, struct report_string filter,
                    uint32_t limit);

#endif /* VIEW_ANSWERS_OFF_CPU_VIEW_H */
