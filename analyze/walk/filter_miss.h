/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/filter_miss.h - why nothing of a trace passed a filter
 *
 * Way of the data:  loaded_trace_walk() found nothing -> [filter_miss] -> words for people
 *
 * Goes through the trace once more and asks of each condition what it alone would leave.
 */
#ifndef ANALYZE_WALK_FILTER_MISS_H
#define ANALYZE_WALK_FILTER_MISS_H

struct error;
struct loaded_trace;
struct trace_filter;

/*
 * Returns -ENOENT with words that name the condition and what there is instead; or why
 * the trace cannot be read.
 */
int filter_miss_explain(struct loaded_trace *trace, const struct trace_filter *filter, struct error *err);

#endif /* ANALYZE_WALK_FILTER_MISS_H */
