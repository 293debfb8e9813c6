/* SPDX-License-Identifier: MIT */
/*
 * sampler/event_spec.h - the name of an event, as perf spells it -> what the kernel wants to know
 *
 * Way of the data:  command line -> [event_spec] -> event_set -> kernel
 */
#ifndef SAMPLER_EVENT_SPEC_H
#define SAMPLER_EVENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_SPEC_NAME_BYTES 64

struct error;

struct event_spec {
        char name[EVENT_SPEC_NAME_BYTES]; /* as given, with modifiers */
        uint32_t type;                    /* perf_event_attr.type */
        uint64_t config;                  /* perf_event_attr.config */
        const char *unit;                 /* static: "ns", "cycles", "events" ... */
        bool is_clock;                    /* its period counts nanoseconds */
        bool exclude_user;                /* ":k" */
        bool exclude_kernel;              /* ":u" */
};

/*
 * event_spec_parse() - understand one name such as "cpu-clock", "cycles:u", "page-faults", "r01c2"
 * @text:  the name ends at @n_bytes
 * Returns 0, or -EINVAL with the nearest known name in the words.
 */
int event_spec_parse(const char *text, size_t n_bytes, struct event_spec *ret_spec, struct error *err);

#endif /* SAMPLER_EVENT_SPEC_H */
