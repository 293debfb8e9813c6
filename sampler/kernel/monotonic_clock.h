/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/monotonic_clock.h - CLOCK_MONOTONIC, which BPF programs have ->
 * CLOCK_MONOTONIC_RAW, the clock of traces
 *
 * Way of the data:  switch_record -> [monotonic_clock] -> switch_source
 *
 * The two drift apart by some parts in a million while NTP slews the first.  Lines
 * between readings of both follow that: tick_clock, with nanoseconds for ticks.
 */
#ifndef SAMPLER_KERNEL_MONOTONIC_CLOCK_H
#define SAMPLER_KERNEL_MONOTONIC_CLOCK_H

struct tick_clock;

/* Reads both clocks now and adds the pair; about 100 ns.  A pair that was disturbed is read again. */
void monotonic_clock_pair(struct tick_clock *clock);

#endif /* SAMPLER_KERNEL_MONOTONIC_CLOCK_H */
