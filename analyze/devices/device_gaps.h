/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_gaps.h - when devices had nothing to do, and what the program did then
 *
 * Way of the data:  device_zones, then trace_walk -> [device_gaps] -> device_gaps_view
 *
 * A gap is the time between zones of a device in which none lasts, on any lane.  A thread ends it, by
 * bringing the next work: the thread of the zone to which the next zone of the device belongs by its key,
 * else the thread that handed the next one over.  The time of a gap belongs to the zones in which that thread
 * was meanwhile, the innermost ones, and the rest to no zone.
 *
 * Zones of devices come in any order: DEVICE_GAPS_SPANS_MAX are kept for each device, and the older half
 * counts when there are more; zones that come even later, and lie in a gap, are counted.
 * Memory: 48 bytes a gap, and those spans.  If there are more than DEVICE_GAPS_MAX gaps, the shorter half is
 * dropped and only summed up.  Not thread-safe.
 */
#ifndef ANALYZE_DEVICES_DEVICE_GAPS_H
#define ANALYZE_DEVICES_DEVICE_GAPS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_zone;
struct error;
struct loaded_trace;

#define DEVICE_GAPS_MAX       (UINT32_C(1) << 18)
#define DEVICE_GAPS_SPANS_MAX (UINT32_C(1) << 14)
#define DEVICE_GAPS_ZONES_MAX 32 /* of a gap, among which the longest is found */
#define DEVICE_GAPS_ROWS_MAX  (UINT32_C(1) << 16)

struct device_gap {
        uint64_t begin_ns, end_ns;
        uint64_t host_ns;       /* for how long the thread was in the zone below */
        uint32_t host_location; /* the zone in which it was the longest; 0 = in none */
        uint32_t device;
        uint32_t thread, location; /* which brings the next zone; of that zone */
};

/* Compared as bytes. */
struct device_idle_key {
        uint32_t device, location; /* of a zone of a thread; 0 = in no zone */
};

struct device_idle_row {
        uint64_t idle_ns; /* in gaps, while the thread was in this zone */
        uint64_t n_gaps;  /* in which it was there the longest */
};

/* Zones of a device that follow each other without a gap. */
struct device_gap_span {
        uint64_t begin_ns, end_ns;
        uint32_t thread, location; /* of the first one */
};

struct device_gap_line {
        struct device_gap_span *spans; /* heap */
        size_t n_spans, capacity;
        uint64_t settled_ns; /* if `is_settled`: gaps before this are known */
        bool is_settled;
};

struct device_gaps {
        struct device_gap_line *lines; /* heap; by device id - 1 */
        uint32_t n_devices;
        struct device_gap *gaps; /* heap; after device_gaps_finish(): the longest first */
        size_t n_gaps, capacity;
        struct intern keys;           /* struct device_idle_key */
        struct device_idle_row *rows; /* heap; by id of `keys` - 1 */
        size_t rows_capacity;
        uint32_t n_rows;
        uint64_t n_all, all_ns; /* gaps, also those that were dropped */
        uint64_t n_dropped, dropped_ns;
        uint64_t n_late; /* zones that came after the time around them had been settled */
        uint64_t n_lost; /* gaps that are in no row, beyond the limit */
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int device_gaps_init(struct device_gaps *g, uint32_t n_devices);
void device_gaps_deinit(struct device_gaps *g);

/* Takes a zone of a device whose clock is known, and who brought it.  Returns 0 or -ENOMEM. */
int device_gaps_add(struct device_gaps *g, const struct device_zone *zone, uint32_t thread);

/*
 * device_gaps_finish() - after all zones: go through the trace for what the threads did, if there are gaps
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int device_gaps_finish(struct device_gaps *g, struct loaded_trace *trace, struct error *err);

#endif /* ANALYZE_DEVICES_DEVICE_GAPS_H */
