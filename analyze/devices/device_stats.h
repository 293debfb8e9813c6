/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_stats.h - the work of devices, and how long they were busy
 *
 * Way of the data:  device_zones, device_hosts, device_gaps -> [device_stats] -> devices_view
 *
 * A device, or a lane of one, is busy while any of its zones lasts; overlapping zones count once.  Memory: a
 * histogram for each device and location, DEVICE_STATS_ROWS_MAX of them, and DEVICE_STATS_SPANS_MAX spans of
 * time a device and a lane; when there are more, the older half is added to the busy time and dropped.
 */
#ifndef ANALYZE_DEVICES_DEVICE_STATS_H
#define ANALYZE_DEVICES_DEVICE_STATS_H

#include "analyze/devices/device_gaps.h"
#include "analyze/devices/device_hosts.h"
#include "analyze/devices/device_lanes.h"
#include "analyze/devices/device_zones.h"
#include "analyze/devices/lane_names.h"
#include "analyze/trace/histogram.h"

#define DEVICE_STATS_ROWS_MAX  (UINT32_C(1) << 16)
#define DEVICE_STATS_LANES_MAX (UINT32_C(1) << 16)
#define DEVICE_STATS_SPANS_MAX (UINT32_C(1) << 14)

struct busy_span {
        uint64_t begin_ns, end_ns;
};

struct busy_time {
        struct busy_span *spans; /* heap */
        size_t n_spans, capacity;
        /* `busy_ns` has all time before this; later reports of such time are left out */
        uint64_t settled_ns;
        uint64_t busy_ns;           /* complete after busy_time_finish() */
        uint64_t first_ns, last_ns; /* if `any` */
        bool any;
};

/* Compared as bytes. */
struct device_row_key {
        uint32_t device, location;
};

struct device_lane_sum {
        struct busy_time busy;
        uint64_t n_zones, total_ns; /* total: zones at the same time count each */
};

struct device_stats {
        struct device_zones zones;
        struct lane_names names;
        struct intern keys;     /* struct device_row_key */
        struct histogram *rows; /* heap; durations by id - 1 */
        uint32_t n_rows;
        size_t rows_capacity;
        struct busy_time *busy; /* heap; by device id - 1 */
        uint32_t n_devices;
        struct intern lane_keys;       /* struct device_lane_key */
        struct device_lane_sum *lanes; /* heap; by id of `lane_keys` - 1 */
        uint32_t n_lanes;
        size_t lanes_capacity;
        struct device_hosts hosts;
        struct device_gaps gaps; /* of devices whose clock is known */
        uint64_t n_lost;         /* zones that are in no row */
        uint64_t n_without_lane; /* zones that are in no sum of a lane */
};

/* Zero-initialised is valid.  Returns 0 or -ENOMEM. */
int busy_time_add(struct busy_time *b, uint64_t begin_ns, uint64_t end_ns);
void busy_time_finish(struct busy_time *b);
void busy_time_deinit(struct busy_time *b);

/*
 * For a whole trace, with up to three passes; to be deinitialised in any case.  Returns 0, -ENOMEM, what
 * loaded_trace_walk() returns.
 */
int device_stats_take(struct device_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err);
void device_stats_deinit(struct device_stats *s);

#endif /* ANALYZE_DEVICES_DEVICE_STATS_H */
