/* SPDX-License-Identifier: MIT */
/*
 * tests/bench/zone_trace.h - a large trace of zones, the same in every run
 *
 * Way of the data:  [zone_trace] -> file -> bench_report, bench_timeline, bench_view
 *
 * Zones three deep, 20 to 220 ns between two events of a thread; a context switch for every 1000 zones.
 * Threads are called w0, w1 and so on.
 */
#ifndef TESTS_BENCH_ZONE_TRACE_H
#define TESTS_BENCH_ZONE_TRACE_H

#include <stdint.h>

#define ZONE_TRACE_THREADS_MAX      16384
#define ZONE_TRACE_ZONES_PER_SAMPLE 100 /* as a rule */

/*
 * zone_trace_write() - write a whole trace
 * @fd:                stays the caller's
 * @zones_per_sample:  on the average; even, at least 2
 * Whatever goes wrong ends the program.
 */
void zone_trace_write(int fd, uint64_t n_zones, uint32_t n_threads, uint32_t zones_per_sample);

#endif /* TESTS_BENCH_ZONE_TRACE_H */
