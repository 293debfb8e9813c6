/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_modules.h - the modules that samples fell into, and how many have names
 *
 * Way of the data:  report (functions) -> [report_modules] -> modules_view
 */
#ifndef ANALYZE_REPORT_REPORT_MODULES_H
#define ANALYZE_REPORT_REPORT_MODULES_H

#include "analyze/samples/function_table.h"
#include "analyze/trace/sample_stats.h"

#include <stdint.h>

struct report;

/* Modules of the same path are one. */
struct report_module {
        uint32_t path;   /* string; 0 = outside of every module, or unknown */
        uint32_t module; /* one of them; 0 = none */
        /* samples by their innermost function; of these, those whose function has a name */
        struct sample_sum self, named;
        uint64_t weight_by_kind[FUNCTION_KIND_COUNT];
        uint32_t n_functions;
};

struct report_modules {
        struct report_module *rows; /* heap; the most samples first */
        uint32_t n_rows;
};

/* @report: loaded.  Returns 0, or -ENOMEM with nothing to free. */
int report_modules_init(struct report_modules *m, const struct report *report);
void report_modules_deinit(struct report_modules *m);

#endif /* ANALYZE_REPORT_REPORT_MODULES_H */
