/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_op_events.h - the operations of tt-metal's chips, out of the events of a trace
 *
 * Way of the data:  trace_walk (events of devices) -> [device_op_events] -> device_ops
 *
 * Spans with keys of the kind "tt run" on tracks of processors count.  Sums have no key: they belong to the
 * firmware that runs on their processor at their time.  `chip` of the operations is the id in DEVICES.
 * Not thread-safe.  Memory: 64 bytes a row of TRACKS, and that of device_ops.
 */
#ifndef ANALYZE_DEVICES_DEVICE_OP_EVENTS_H
#define ANALYZE_DEVICES_DEVICE_OP_EVENTS_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct device_ops;
struct trace_dictionary;
struct trace_event;

struct device_op_events {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct device_ops *ops;
        struct intern lane_keys; /* of device and number */
        struct device_op_lane {
                uint32_t track;           /* id; the first of its device and number */
                uint64_t begin, end, key; /* of the last firmware; ticks */
        } * lanes;                        /* heap; by id of `lane_keys` - 1 */
        size_t lanes_capacity;
        uint32_t space; /* string: the kind of the keys; 0 = there are none in this trace */
};

/* The names of @dictionary must have been read.  Returns 0 or -ENOMEM; to be deinitialised in any case. */
int device_op_events_init(struct device_op_events *e, const struct trace_dictionary *dictionary);
void device_op_events_deinit(struct device_op_events *e);

/* Any event; those that are not about devices count nothing.  Returns 0 or -ENOMEM. */
int device_op_events_add(struct device_op_events *e, const struct trace_event *event);

#endif /* ANALYZE_DEVICES_DEVICE_OP_EVENTS_H */
