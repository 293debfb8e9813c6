/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/unnamed_modules.h - modules whose functions have no names, and what would give them some
 *
 * Way of the data:  report_functions, trace_dictionary -> [unnamed_modules] -> report_gaps, path_view
 *
 * Not thread-safe.
 */
#ifndef ANALYZE_REPORT_UNNAMED_MODULES_H
#define ANALYZE_REPORT_UNNAMED_MODULES_H

#include "analyze/trace/sample_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;
struct trace_dictionary;

/*
 * A module with samples in functions without a symbol, and the remedy: made from the functions of the report,
 * for the gaps.
 */
struct unnamed_module {
        uint32_t path;          /* string; modules of one path are one row */
        struct sample_sum self; /* samples in functions without a symbol */
        bool is_memory;         /* of no file: the program made the code */
        bool has_addresses;     /* at least some of its functions are distinguished by their addresses */
        const char *advice;     /* static, as in struct report_gap; NULL = nothing is known to help */
};

/*
 * unnamed_modules_find() - finds such modules, the ones with the most samples first
 * @ret_rows:  heap, the caller's
 * Returns 0 or -ENOMEM.
 */
int unnamed_modules_find(const struct report *report, struct unnamed_module **ret_rows, size_t *ret_n_rows);

/*
 * unnamed_module_advice() - what gives names to the functions of a module
 * @path:  string of the dictionary
 * Returns a static text as in struct report_gap, or NULL: nothing is known to help.
 */
const char *unnamed_module_advice(const struct trace_dictionary *d, uint32_t path);

#endif /* ANALYZE_REPORT_UNNAMED_MODULES_H */
