/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_lines.h - the source lines of a whole trace, by the samples at them
 *
 * Way of the data:  report_samples, trace_dictionary -> [report_lines] -> lines_view, answer_words
 *
 * A sample is at one line: that of its innermost function, as the trace's SYMBOLS have it; in a report that
 * is folded, the line of Python that called the native code.  These are the lines of `hyprof annotate`.
 * No debug information is read for it, so the time is that of the rows of sample_stats.
 */
#ifndef ANALYZE_REPORT_REPORT_LINES_H
#define ANALYZE_REPORT_REPORT_LINES_H

#include "analyze/samples/python_stacks.h"
#include "analyze/trace/sample_stats.h"
#include "base/text_view.h"

#include <stdint.h>

struct report;

/* A line of a function; of code without lines, all of the function. */
struct report_line {
        uint32_t label;        /* the innermost function's */
        uint32_t line;         /* 0 = unknown */
        struct text_view file; /* path; empty = unknown */
        struct sample_sum self;
        struct python_parts parts; /* of `self`, where samples.is_folded */
};

struct report_lines {
        struct report_line *rows; /* heap; the hottest first */
        uint32_t n_rows;
        struct sample_sum unknown; /* of the rows without a line */
};

/* @report: its event and samples are there.  Returns 0, -ENOMEM, -EOVERFLOW; to be deinitialised. */
int report_lines_fill(struct report_lines *l, const struct report *report);
void report_lines_deinit(struct report_lines *l);

/* The line that has more than half of the samples of a function; NULL if no line has. */
const struct report_line *report_lines_main(const struct report_lines *l, uint32_t label,
                                            const struct sample_sum *self);

#endif /* ANALYZE_REPORT_REPORT_LINES_H */
