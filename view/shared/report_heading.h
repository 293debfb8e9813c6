/* SPDX-License-Identifier: MIT */
/*
 * view/shared/report_heading.h - what stands at the head of each view of a report, and the hints at its end
 *
 * Way of the data:  report -> [report_heading] -> view_document
 */
#ifndef VIEW_SHARED_REPORT_HEADING_H
#define VIEW_SHARED_REPORT_HEADING_H

#include "analyze/samples/function_table.h"
#include "analyze/trace/handle_word.h"
#include "base/text_view.h"
#include "view/document/view_column.h"

#include <stdbool.h>
#include <stdint.h>

struct answer_part;
struct lost_zones;
struct report;
struct trace_dictionary;
struct trace_range;
struct unsampled_time;
struct view_document;
struct view_table;

/* Adds the command: whole for programs; for people on one line, which may be cut. */
void report_heading_add_command(struct view_document *d, struct text_view command);

/*
 * Command, duration, samples and missing data: the facts and warnings of every view.  @filter:
 * empty = everything.
 */
void report_heading_add(struct view_document *d, const struct report *report, struct text_view filter);

/* Only the missing part of these: warnings, and for programs the table "missing". */
void report_heading_add_missing(struct view_document *d, const struct report *report);

/*
 * The same for an answer without a report: warnings of what the recorder could not have, or
 * lost, and of time without samples; NULL = the answer has that itself.
 */
void report_heading_warn_recorded(struct view_document *d, const struct trace_dictionary *dictionary,
                                  const struct unsampled_time *unsampled);

/* A fact: what was looked at, in words; empty = everything. */
void report_heading_add_filter(struct view_document *d, struct text_view filter);

/*
 * report_heading_add_length() - the length of the chosen part, and of the whole recording
 * @range:  what of the recording the filters leave; range_ns is null if that is all of it
 */
void report_heading_add_length(struct view_document *d, const struct trace_range *range,
                               uint64_t duration_ns);

/* Adds how many zones were lost, as a number and in words; null if none were. */
void report_heading_add_lost(struct view_document *d, const struct lost_zones *lost);

/* Adds the hint "hyprof WORDS TRACE"; the path of the trace is quoted for a shell. */
void report_heading_hint(struct view_document *d, const char *trace_path, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* A handle for a hint: "z7"; "handle:z7" where another zone is called "z7".  Threads likewise. */
struct handle_text report_heading_zone(const struct trace_dictionary *dictionary, uint32_t location);
struct handle_text report_heading_function(const struct report *report, uint32_t label);
struct handle_text report_heading_thread(const struct report *report, uint32_t thread);

/*
 * Parts of schemas: the facts of report_heading_add(); the same without samples; the command and the filter
 * alone; and the parts that the other functions add.
 */
extern const struct answer_part report_heading_part, report_heading_events_part, report_heading_command_part,
        report_heading_missing_part, report_heading_lost_part;

/* Values that several views have. */
/* Unknown if @whole is 0. */
struct view_value report_heading_share(uint64_t part, uint64_t whole);
/* The share that has no samples; unknown if that is less than 1%, or not known. */
struct view_value report_heading_unsampled(const struct unsampled_time *unsampled);
/* For a column of COUNT: the amounts that samples stand for, which is time for a clock. */
struct view_value report_heading_weight(const struct report *report, uint64_t weight);
/* One of struct report_ratios. */
struct view_value report_heading_ratio(double ratio);

/* The report's row of a thread of the trace; NULL if the thread has no events. */
const struct report_thread *report_heading_find_thread(const struct report *report, uint32_t thread);

#endif /* VIEW_SHARED_REPORT_HEADING_H */
