/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/throttled_times.h - when a CPU quota kept the program from running, as its
 * control group counted it
 *
 * Way of the data:  trace_dictionary (META cpu_throttled) -> [throttled_times] -> ready_owners, path_sums,
 *                   idle_cores
 *
 * The kernel adds a throttled time to its sum only when that time is over, so the time of a span may have
 * begun before the span.
 */
#ifndef ANALYZE_TRACE_THROTTLED_TIMES_H
#define ANALYZE_TRACE_THROTTLED_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

/* More are not read; the recorder writes fewer. */
#define THROTTLED_SPANS_MAX 1024

struct throttled_span {
        uint64_t begin_ns, end_ns;
        uint64_t throttled_ns; /* of all CPUs together */
};

struct throttled_times {
        struct throttled_span *spans; /* heap; by time, without overlaps */
        size_t n_spans;
};

/*
 * Reads the list of a trace, which is empty without a quota; a malformed list is read up to its fault.
 * Returns 0 or -ENOMEM.
 */
int throttled_times_read(struct throttled_times *ret, const struct trace_dictionary *d);
void throttled_times_deinit(struct throttled_times *t);

/* The number of the span that contains @time_ns, from 1 on; 0 = none does. */
uint32_t throttled_times_find(const struct throttled_times *t, uint64_t time_ns);

/*
 * The throttled share, 0 .. 1, of the time in the span number @n in which threads could run and no recorded
 * one had their CPUs: @unowned_ns in all.
 */
double throttled_times_share(const struct throttled_times *t, uint32_t n, double unowned_ns);

#endif /* ANALYZE_TRACE_THROTTLED_TIMES_H */
