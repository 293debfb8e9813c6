/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_clock.h - how far the times of each trace are moved, and how sure that is
 *
 * Way of the data:  merge_input (META, RECORDINGS) -> [merge_clock] -> merge_tables, merge_events
 *
 * Recordings of one boot share CLOCK_MONOTONIC_RAW, so their traces are placed exactly.  Others are placed by
 * CLOCK_REALTIME.  The uncertainty of that is what both kernels state about their synchronisation, and what
 * both clocks drifted from the monotonic one while they recorded.
 */
#ifndef MERGE_MERGE_CLOCK_H
#define MERGE_MERGE_CLOCK_H

#include <stddef.h>

struct error;
struct merge_input;

/*
 * merge_clock_place() - fill in `shift_ns` of all inputs, and offset, error, clock and CPUs of their parts
 * Returns 0, or -EINVAL: a trace shares no boot with another one and does not state CLOCK_REALTIME.
 */
int merge_clock_place(struct merge_input *inputs, size_t n_inputs, struct error *err);

#endif /* MERGE_MERGE_CLOCK_H */
