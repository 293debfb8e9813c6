/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_lookup.h - the name of an event, as perf spells it -> the kernel's numbers for it
 *
 * Way of the data:  command line -> event_request -> [event_lookup] -> event_spec
 */
#ifndef SAMPLER_EVENTS_EVENT_LOOKUP_H
#define SAMPLER_EVENTS_EVENT_LOOKUP_H

#include <stddef.h>

struct error;
struct event_places;
struct event_spec;

/* The place for specs; one name can be several events, where a machine has several kinds of cores. */
struct event_spec_list {
        struct event_spec *specs; /* borrowed */
        size_t n_specs, n_specs_max;
};

/*
 * event_spec_parse() - understand one name: "cpu-clock", "cycles:u", "L1-dcache-load-misses", "r01c2",
 * "cpu/event=0x3c,umask=1/k", "msr/tsc/", "sched:sched_switch", "skl::INST_RETIRED:ANY_P"
 * @text:    the name ends at @n_bytes
 * @places:  where the machine tells what it has; NULL = the real ones
 * @list:    one more, or one for each kind of core; unchanged on failure
 * The order of lookup: names that every kernel knows, sysfs, tracepoints, libpfm4.
 * Returns 0; -EINVAL with the nearest known name in the words; -ENOENT for a PMU that is not there, or a
 * tracepoint where tracefs is not; -EACCES, -ENOMEM, -EOVERFLOW when the list is full.
 */
int event_spec_parse(const char *text, size_t n_bytes, const struct event_places *places,
                     struct event_spec_list *list, struct error *err);

/*
 * event_spec_modify() - apply modifiers: u, k (user, kernel), h (taken, without effect), p, pp, ppp (precise)
 * Returns 0, or -EINVAL with @spec as it was.
 */
int event_spec_modify(struct event_spec *spec, const char *modifiers, size_t n_bytes, struct error *err);

#endif /* SAMPLER_EVENTS_EVENT_LOOKUP_H */
