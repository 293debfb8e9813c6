/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/clock_step.h - the resolution of the times that programs report
 *
 * Way of the data:  trace_dictionary (CLOCKS) -> [clock_step] -> report, why, view
 *
 * Programs read a counter of the processor that ticks every 100 ns on some machines: shorter zones last 0 or
 * one such step.
 */
#ifndef ANALYZE_TRACE_CLOCK_STEP_H
#define ANALYZE_TRACE_CLOCK_STEP_H

#include <stdint.h>

#define CLOCK_STEP_WORDS_BYTES 96

struct trace_dictionary;

/*
 * The length of a tick of the coarsest clock in ns, rounded; 0 if no clock has two readings, all are finer
 * than 2 ns, or the trace is a merged one, whose clocks are of several machines.
 */
uint64_t clock_step_ns(const struct trace_dictionary *d);

/* "times are in steps of 100 ns"; "" for 0. */
void clock_step_words(uint64_t step_ns, char words[CLOCK_STEP_WORDS_BYTES]);

#endif /* ANALYZE_TRACE_CLOCK_STEP_H */
