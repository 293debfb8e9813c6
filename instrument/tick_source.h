/* SPDX-License-Identifier: MIT */
/*
 * instrument/tick_source.h - reads the counters that clients take their time stamps from
 *
 * Way of the data:  counter of the CPU -> [tick_source] -> tick_clock
 *
 * One small file for each architecture; the counterpart of the client's ticks.h.
 */
#ifndef INSTRUMENT_TICK_SOURCE_H
#define INSTRUMENT_TICK_SOURCE_H

#include <stdint.h>

/* The enum client_abi_clock that this architecture counts in; 0 = it has no counter that we can read. */
uint32_t tick_source_kind(void);

/* The counter now, not before what the program does before; 0 where the machine has none. */
uint64_t tick_source_read(void);

#endif /* INSTRUMENT_TICK_SOURCE_H */
