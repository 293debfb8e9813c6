/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/unnamed_modules.h - modules with samples in functions without a symbol, and
 * what would give them names
 *
 * Way of the data:  report (functions), trace_dictionary -> [unnamed_modules] -> report_gaps
 */
#ifndef ANALYZE_REPORT_UNNAMED_MODULES_H
#define ANALYZE_REPORT_UNNAMED_MODULES_H

#include "analyze/trace/sample_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

struct unnamed_module {
        uint32_t path;          /* string; modules of one path are one row */
        struct sample_sum self; /* samples in functions without a symbol */
        bool is_memory;         /* of no file: code that the program made */
        bool has_addresses;     /* their functions, or some of them, are told apart by their addresses */
        const char *advice;     /* static, as in struct report_gap; NULL = nothing is known to help */
};

/*
 * unnamed_modules_find() - those of a report's functions, the most samples first
 * @ret_rows:  heap, the caller's
 * Returns 0 or -ENOMEM.
 */
int unnamed_modules_find(const struct report *report, struct unnamed_module **ret_rows, size_t *ret_n_rows);

#endif /* ANALYZE_REPORT_UNNAMED_MODULES_H */
