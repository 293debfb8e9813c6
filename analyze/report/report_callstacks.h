/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_callstacks.h - how complete the callstacks of the samples are
 *
 * Way of the data:  trace_totals -> [report_callstacks] -> cli
 */
#ifndef ANALYZE_REPORT_REPORT_CALLSTACKS_H
#define ANALYZE_REPORT_REPORT_CALLSTACKS_H

#include "format/trace_spec.h"

#include <stdint.h>

/* Samples whose recorder said how far their callstack goes; of all events, each sample once. */
struct report_callstacks {
        uint64_t n_samples;
        uint64_t n_complete; /* with those that were joined, stitched or approximate */
        uint64_t n_stitched, n_approximate;
        uint64_t n_frame_pointers;
        uint64_t n_truncated;                           /* of every state from TRACE_STACK_TRUNCATED on */
        uint64_t by_state[TRACE_STACK_STATE_COUNT + 1]; /* the last: states of a newer version */
};

/* @n_stacks: as in struct trace_totals. */
struct report_callstacks report_callstacks_of(const uint64_t n_stacks[TRACE_STACK_STATE_COUNT + 1]);

#endif /* ANALYZE_REPORT_REPORT_CALLSTACKS_H */
