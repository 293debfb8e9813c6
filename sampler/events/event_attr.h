/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_attr.h - an event and how to record it -> the attributes for perf_event_open(2)
 *
 * Way of the data:  event_request, event_scope, unwind_request -> [event_attr] -> event_set
 */
#ifndef SAMPLER_EVENTS_EVENT_ATTR_H
#define SAMPLER_EVENTS_EVENT_ATTR_H

#include "sampler/kernel/perf_record.h"
#include "sampler/kernel/unwind_request.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_request;

/* The attributes that all events of a recording share. */
struct event_attr_options {
        const struct event_request *request; /* borrowed */
        struct unwind_request unwinder;
        size_t ring_bytes; /* of a CPU's ring: the recorder wakes up when a part of it is full */
        /* the same for the dummy's ring, if there are doorbells; else 0: each of the dummy's records wakes */
        size_t tracker_ring_bytes;
        bool inherit;      /* by threads and children */
        bool threads_only; /* with `inherit`: by threads, not by children (kernel 5.13) */
        bool single;       /* sampling is not inherited, but records of mappings and ends are */
        bool enable_on_exec;
        bool disabled;  /* until event_set_enable() */
        bool cpu_wide;  /* of whole CPUs, which are idle at times */
        bool build_ids; /* the kernel can put build-ids into mapping records */
        bool data;      /* mappings of data are reported as well, see event_attr_of_tracker() */
        /* PERF_RECORD_SWITCH, reported by the first event, since switches come as often as samples */
        bool switches;
};

/* Attributes of the sampling or counting event number @i of the request. */
struct perf_event_attr event_attr_of_spec(const struct event_attr_options *options, size_t i);

/*
 * Attributes of the dummy event that reports mappings, names, forks and exits.  Only a client's region is of
 * interest among mappings of data.  To report them all takes 2 to 4% of the time of programs that start
 * programs (docs/understand/measurements.md), so they are wanted only where programs do not know of the
 * recording.  A client that could not hand its region in reports it by a mapping of code.
 */
struct perf_event_attr event_attr_of_tracker(const struct event_attr_options *options);

/*
 * Attributes of an event that belongs to no thread and, once opened, reports code that the kernel makes
 * (Linux 5.1).
 */
struct perf_event_attr event_attr_of_kernel_code(const struct event_attr_options *options);

/* The event that wakes the recorder for mappings of code, forks and exits, and whose records are not read. */
struct perf_event_attr event_attr_of_doorbell(const struct event_attr_options *options);

/* The layout of the records, which is the same for all these events. */
struct perf_record_layout event_attr_layout(const struct event_attr_options *options);

/*
 * The period in ns that samples a clock at @rate_hz, at most one percent off.  It is not in step with the
 * timers that programs use, so that some hundreds of samples have seen all of such a timer's period.
 */
uint64_t event_attr_clock_period_ns(uint64_t rate_hz);

#endif /* SAMPLER_EVENTS_EVENT_ATTR_H */
