/* SPDX-License-Identifier: MIT */
/*
 * view/shared/gap_advice.h - the command that would add what a trace lacks, as it has to be typed
 *
 * Way of the data:  report (gaps) -> [gap_advice] -> report_heading
 */
#ifndef VIEW_SHARED_GAP_ADVICE_H
#define VIEW_SHARED_GAP_ADVICE_H

#define GAP_ADVICE_BYTES 6144

struct report;
struct report_gap;

struct gap_advice {
        char text[GAP_ADVICE_BYTES]; /* "try: ..."; empty if nothing is known to help */
};

/* With the trace's own path and the module's, instead of the words TRACE and MODULE. */
struct gap_advice gap_advice_of(const struct report *report, const struct report_gap *gap);

#endif /* VIEW_SHARED_GAP_ADVICE_H */
