/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_gaps.h - missing data of a trace, and the reasons
 *
 * Way of the data:  trace_dictionary (notices, losses), report -> [report_gaps] -> report_heading
 *
 * Three sources: the limits that the recorder knew from the start (notices), losses on the way (added up by
 * reason), and the findings of the analysis (the rest).
 */
#ifndef ANALYZE_REPORT_REPORT_GAPS_H
#define ANALYZE_REPORT_REPORT_GAPS_H

#include "analyze/samples/unsampled_time.h"
#include "analyze/trace/clock_step.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;
struct trace_dictionary;
struct trace_totals;

enum report_gap_source { REPORT_GAP_NOTICE, REPORT_GAP_LOSS, REPORT_GAP_ANALYSIS };

struct report_gap {
        enum report_gap_source source;
        const char *code;   /* static: stable name for scripts */
        const char *words;  /* for people, without a full stop; static, or of struct report_gaps */
        const char *advice; /* static: "try: ...", in which TRACE and MODULE stand for paths; NULL = none */
        struct text_view detail; /* reason and remedy, or the module that it is about; may be empty */
        uint64_t count;          /* how many; 0 = not a thing to count */
        double share;            /* of the samples shown; 0 = not about a share */
        bool is_share_said;      /* `words` have the share, which may be one of another whole */
};

struct report_gaps {
        struct report_gap *rows; /* heap; the order in which to show them */
        uint32_t n_rows;
        size_t capacity;
        char unsampled[UNSAMPLED_TIME_WORDS_BYTES], truncated[UNSAMPLED_TIME_WORDS_BYTES];
        char python[UNSAMPLED_TIME_WORDS_BYTES];
        char step[CLOCK_STEP_WORDS_BYTES];
};

void report_gaps_deinit(struct report_gaps *g);

/*
 * report_gaps_add_recorded() - add what the recorder could not have, and what it lost: time without
 * samples first
 * @g:  is not copied afterwards: rows point into it
 * Returns 0 or -ENOMEM.
 */
int report_gaps_add_recorded(struct report_gaps *g, const struct trace_dictionary *d,
                             const struct unsampled_time *unsampled);

/*
 * report_gaps_find() - fill report->gaps from all the rest of the report
 * @totals:  of the same trace, finished
 * Returns 0 or -ENOMEM.
 */
int report_gaps_find(struct report *report, const struct trace_totals *totals);

#endif /* ANALYZE_REPORT_REPORT_GAPS_H */
