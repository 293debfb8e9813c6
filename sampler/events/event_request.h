/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_request.h - all events that a recording is to have
 *
 * Way of the data:  command line (-e, -c, -F, --stat) -> [event_request] -> event_attr, event_set
 */
#ifndef SAMPLER_EVENTS_EVENT_REQUEST_H
#define SAMPLER_EVENTS_EVENT_REQUEST_H

#include "sampler/events/event_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_REQUEST_SPECS_MAX 32

struct error;
struct event_places;

struct event_request {
        struct event_spec specs[EVENT_REQUEST_SPECS_MAX]; /* a group's members follow their leader */
        size_t n_specs;
        uint64_t rate_hz;                  /* samples a second, CPU and event; 0 = by @period */
        uint64_t period;                   /* -c: a sample after so many events; 0 = by @rate_hz */
        bool rate_is_default;              /* implied, not requested: for tracepoints every hit is taken */
        bool wants_totals;                 /* --stat */
        bool no_samples;                   /* --no-sampling: there is no default event */
        const struct event_places *places; /* borrowed: where events are looked up; NULL = the real places */
};

/*
 * event_request_add() - takes one argument of -e: a list, with groups
 * Such as "cycles", "page-faults:u,sched:sched_switch", "{cycles,instructions,cache-misses}:S",
 * "cpu/event=0x3c,umask=1/k".  On a machine with several kinds of cores, a processor's event becomes one
 * event for each kind, and a group of them one group for each kind.
 * Returns 0; -EINVAL with the error in words, the nearest known name or the way to 'hyprof list'; -ENOENT for
 * a tracepoint without tracefs, or a PMU that this machine does not have; -EACCES.
 */
int event_request_add(struct event_request *request, const char *list, struct error *err);

/* The processor's counters; those of many boards count and never interrupt. */
enum event_hardware {
        EVENT_HARDWARE_NONE,
        EVENT_HARDWARE_COUNTS,
        EVENT_HARDWARE_SAMPLES,
};

/*
 * event_request_complete() - adds implied events: the default event, and with --stat those of `perf stat`
 * With `no_samples` nothing is added but those of --stat, and they only count.
 * @hardware:      whether cycles can be counted, and sampled
 * @ret_fallback:  cycles were the default and cannot be sampled
 */
int event_request_complete(struct event_request *request, enum event_hardware hardware, bool *ret_fallback,
                           struct error *err);

/*
 * event_request_leave_kernel() - restricts events to those allowed without the right to see kernel code
 * Events count user code alone; those of --stat that happen in the kernel only are left out.
 * Returns 0, or -EACCES if an event that the user asked for can count nothing then.
 */
int event_request_leave_kernel(struct event_request *request, struct error *err);

/* Whether counters are read with samples: then all samples have room for them. */
bool event_request_reads_groups(const struct event_request *request);

/*
 * event_request_name_sampled() - the events that have samples of their own, in words for people:
 * "cpu-clock, each sched:sched_switch"
 * @ret_names:     cut where it is too long
 * @ret_has_rate:  set if an event is sampled at a rate, not each time that it happens
 */
void event_request_name_sampled(const struct event_request *request, char *ret_names, size_t names_bytes,
                                bool *ret_has_rate);

#endif /* SAMPLER_EVENTS_EVENT_REQUEST_H */
