/* SPDX-License-Identifier: MIT */
/*
 * sampler/event_request.h - all events that a recording is to have
 *
 * Way of the data:  command line (-e, -c, -F, --stat) -> [event_request] -> event_attr, event_set
 */
#ifndef SAMPLER_EVENT_REQUEST_H
#define SAMPLER_EVENT_REQUEST_H

#include "sampler/event_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_REQUEST_SPECS_MAX 32

struct error;

struct event_request {
        struct event_spec specs[EVENT_REQUEST_SPECS_MAX]; /* a group's members follow their leader */
        size_t n_specs;
        uint64_t rate_hz;  /* samples a second, CPU and event; 0 = by @period */
        uint64_t period;   /* -c: a sample every so many; 0 = by @rate_hz */
        bool wants_totals; /* --stat */
};

/*
 * event_request_add() - takes one argument of -e: a list, with groups
 * Such as "cycles", "page-faults:u,sched:sched_switch", "{cycles,instructions,cache-misses}:S", "cpu/event=0x3c,umask=1/k".
 * Returns 0; -EINVAL with what is wrong, the nearest known name or the way to 'hyprof list'; -ENOENT for a tracepoint
 * without tracefs, or an event of hardware that this machine does not have.
 */
int event_request_add(struct event_request *request, const char *list, struct error *err);

/*
 * event_request_complete() - what was not asked for: the default event, and with --stat those of `perf stat`
 * @has_hardware:  there is a cycle counter
 * @ret_fallback:  cycles were the default and are not there
 */
int event_request_complete(struct event_request *request, bool has_hardware, bool *ret_fallback,
                           struct error *err);

#endif /* SAMPLER_EVENT_REQUEST_H */
