/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_stats.h - the work of devices, and how long they were busy
 *
 * Way of the data:  device_zones, device_hosts, device_lines -> [device_stats] -> devices_view
 *
 * Memory: a histogram for each device and location, DEVICE_STATS_ROWS_MAX of them, and device_lines for the
 * devices and for their lanes.
 */
#ifndef ANALYZE_DEVICES_DEVICE_STATS_H
#define ANALYZE_DEVICES_DEVICE_STATS_H

#include "analyze/devices/device_hosts.h"
#include "analyze/devices/device_lanes.h"
#include "analyze/devices/device_lines.h"
#include "analyze/devices/device_zones.h"
#include "analyze/devices/lane_names.h"
#include "analyze/trace/histogram.h"

#define DEVICE_STATS_ROWS_MAX  (UINT32_C(1) << 16)
#define DEVICE_STATS_LANES_MAX (UINT32_C(1) << 16)

/* Compared as bytes. */
struct device_row_key {
        uint32_t device, location;
};

struct device_stats {
        struct device_zones zones;
        struct lane_names names;
        struct intern keys;     /* struct device_row_key */
        struct histogram *rows; /* heap; durations by id - 1 */
        uint32_t n_rows;
        size_t rows_capacity;
        uint32_t n_devices;
        struct device_lines devices; /* busy and idle times; by device id */
        struct intern lane_keys;     /* struct device_lane_key */
        struct device_lines lanes;   /* the same, by id of `lane_keys` */
        struct device_hosts hosts;
        uint64_t n_lost;         /* zones that are in no row */
        uint64_t n_without_lane; /* zones that are in no lane */
};

/*
 * For a whole trace, with up to three passes; to be deinitialised in any case.  Returns 0, -ENOMEM, what
 * loaded_trace_walk() returns.
 */
int device_stats_take(struct device_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err);
void device_stats_deinit(struct device_stats *s);

#endif /* ANALYZE_DEVICES_DEVICE_STATS_H */
