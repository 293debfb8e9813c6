/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/plain_name.h - the name of a function, and what compilers and function_labels append to it
 *
 * Way of the data:  names of SYMBOLS -> [plain_name] -> function_labels, function_choice, diff_names, reports
 */
#ifndef ANALYZE_TRACE_PLAIN_NAME_H
#define ANALYZE_TRACE_PLAIN_NAME_H

#include "base/text_view.h"

/* "f" for "f.constprop.0", "f.part.1.cold", "f [clone .isra.0]"; a beginning of @name. */
struct text_view plain_name_of_function(struct text_view name);

/* The length in bytes of a suffix like " (a.c)" in "step (a.c)"; 0 = it has none. */
size_t plain_name_label_bytes(struct text_view name);

#endif /* ANALYZE_TRACE_PLAIN_NAME_H */
