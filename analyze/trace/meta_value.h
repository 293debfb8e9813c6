/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/meta_value.h - the recorder's facts about the recording
 *
 * Way of the data:  trace_dictionary (table META) -> [meta_value] -> report, loaded_trace, annotation
 */
#ifndef ANALYZE_TRACE_META_VALUE_H
#define ANALYZE_TRACE_META_VALUE_H

#include "base/text_view.h"

#include <stdint.h>

struct trace_dictionary;

/* The value of a key, the last one if there are several; empty if there is none. */
struct text_view meta_value_find(const struct trace_dictionary *d, const char *key);

/* The same as a decimal number; 0 if it is not a number. */
uint64_t meta_value_number(const struct trace_dictionary *d, const char *key);

#endif /* ANALYZE_TRACE_META_VALUE_H */
