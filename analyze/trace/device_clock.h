/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/device_clock.h - ticks of a device -> CLOCK_MONOTONIC_RAW
 *
 * Way of the data:  trace_dictionary (DEVICES, DEVICE_CLOCKS), clock_fit -> [device_clock] -> device_zones
 *
 * clock_fit places ticks, and says how wrong a place may be.  With a period that the program named, one
 * reading is enough.  If no period is known, a tick counts as a nanosecond; without a reading, tick 0 is
 * time 0: lengths may be right then, but not the times themselves.
 */
#ifndef ANALYZE_TRACE_DEVICE_CLOCK_H
#define ANALYZE_TRACE_DEVICE_CLOCK_H

#include "analyze/clocks/clock_fit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

struct device_clock {
        struct clock_fit fit;
        double period_ns; /* of a tick, for lengths: the mean of all readings, else what was named, else 1 */
        bool has_period;  /* the program named it, or there are two readings */
        bool is_placed;   /* there is a reading */
        uint64_t n_left_out; /* readings that make no sense */
};

struct device_clocks {
        struct device_clock *clocks; /* heap; by device id - 1 */
        uint32_t n_clocks;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int device_clocks_init(struct device_clocks *c, const struct trace_dictionary *dictionary);
void device_clocks_deinit(struct device_clocks *c);

/*
 * device_clock_init() - from readings in any order, which it sorts, and may be freed afterwards
 * @period_ns:  0 = not known; an unreasonable number counts as that
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int device_clock_init(struct device_clock *c, struct clock_reading *readings, size_t n, double period_ns);
void device_clock_deinit(struct device_clock *c);

/*
 * device_clock_time_ns() - where a tick is
 * @said_ns:  when the program reported it, or CLOCK_FIT_NO_HINT: tells the epochs of a counter that was set
 * back Within an epoch it never decreases with the ticks; times below 0 or beyond 64 bits become these
 * limits.
 */
uint64_t device_clock_time_ns(const struct device_clock *c, uint64_t ticks, uint64_t said_ns);

/* How wrong that may be, or CLOCK_FIT_NO_BOUND. */
uint64_t device_clock_error_ns(const struct device_clock *c, uint64_t ticks, uint64_t said_ns);

/*
 * device_clock_duration_ns() - the length of @ticks One slope for all of a device: equal ticks are equal
 * times.  A span is its begin's time and this length; where the clock wanders, the place of its end's ticks
 * may differ from that by nanoseconds.
 */
uint64_t device_clock_duration_ns(const struct device_clock *c, uint64_t ticks);

#endif /* ANALYZE_TRACE_DEVICE_CLOCK_H */
