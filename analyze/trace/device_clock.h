/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/device_clock.h - ticks of a device -> CLOCK_MONOTONIC_RAW
 *
 * Way of the data:  trace_dictionary (DEVICES, DEVICE_CLOCKS) -> [device_clock] -> device_zones
 *
 * Between two readings of the device's clock, time is a straight line; before the first and after the last
 * reading, it goes on with the period that the program named, else with the mean period of all readings.
 * With a named period, one reading is enough.  If no period is known, a tick counts as a nanosecond; without
 * a reading, tick 0 is time 0: lengths may be right then, but not the times themselves (`is_placed`).
 * Readings that go backwards are left out and counted.
 */
#ifndef ANALYZE_TRACE_DEVICE_CLOCK_H
#define ANALYZE_TRACE_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

struct device_reading {
        uint64_t ticks, raw_ns;
};

struct device_clock {
        struct device_reading *readings; /* heap; ticks and times ascend */
        size_t n_readings, capacity;
        double period_ns;    /* of a tick, outside of the readings */
        bool has_period;     /* the program named it, or there are two readings */
        bool is_placed;      /* there is a reading */
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
 * Sorts the readings and finds the period.  @period_ns: 0 = not known; an unreasonable number counts as that.
 */
void device_clock_complete(struct device_clock *c, double period_ns);

/* Never decreases with the ticks; times below 0 or beyond 64 bits become these limits. */
uint64_t device_clock_time_ns(const struct device_clock *c, uint64_t ticks);

#endif /* ANALYZE_TRACE_DEVICE_CLOCK_H */
