/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/zone_trace.h - a large trace of zones, the same in every run
 *
 * Way of the data:  [zone_trace] -> file -> bench_report, bench_timeline
 *
 * Zones three deep, 20 to 220 ns between two events of a thread; a sample for every 100 zones, and a context
 * switch for
 * every 1000.
 */
#ifndef TESTS_BENCH_ZONE_TRACE_H
#define TESTS_BENCH_ZONE_TRACE_H

#include <stdint.h>

#define ZONE_TRACE_THREADS_MAX 64

/* Writes a whole trace to @fd, which stays the caller's.  Whatever goes wrong ends the program. */
void zone_trace_write(int fd, uint64_t n_zones, uint32_t n_threads);

#endif /* TESTS_BENCH_ZONE_TRACE_H */
