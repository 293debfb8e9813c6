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
        uint64_t config1, config2;        /* the same */
        const char *unit;                 /* static: "ns", "cycles", "events" ... */
        uint32_t leader;                  /* index of its group's leader in the request; its own = none */
        uint8_t precise;                  /* ":p" to ":ppp": perf_event_attr.precise_ip */
        bool is_clock;                    /* its period counts nanoseconds */
        bool is_tracepoint;               /* each time counts, unless a period was asked for */
        bool exclude_user;                /* ":k" */
        bool exclude_kernel;              /* ":u" */
        bool reads_group; /* a leader with ":S": its members are read with each of its samples */
        bool only_counts; /* no samples: a total (--stat), or a member of a group with ":S" */
};

/*
 * event_spec_parse() - understand one name such as "cpu-clock", "cycles:u", "page-faults", "r01c2"
 * @text:  the name ends at @n_bytes
 * Returns 0, or -EINVAL with the nearest known name in the words.
 */
int event_spec_parse(const char *text, size_t n_bytes, struct event_spec *ret_spec, struct error *err);

#endif /* SAMPLER_EVENT_SPEC_H */
