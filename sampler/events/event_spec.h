/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_spec.h - an event that was asked for, in the kernel's terms
 *
 * Way of the data:  event_lookup -> [event_spec] -> event_set -> kernel
 */
#ifndef SAMPLER_EVENTS_EVENT_SPEC_H
#define SAMPLER_EVENTS_EVENT_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_SPEC_NAME_BYTES 128
#define EVENT_SPEC_CPUS_MAX   1024 /* CPUs to which a PMU can be restricted; later ones are left out */

/* The use of its samples. */
enum event_role {
        EVENT_ROLE_SAMPLES = 0, /* they are samples */
        EVENT_ROLE_WAITS,       /* where a thread leaves its CPU, for its SWITCH_OUT */
        /* of sched:sched_waking: the thread that makes another one ready, for the WAKEUP of that one */
        EVENT_ROLE_WAKERS,
};

struct event_spec {
        char name[EVENT_SPEC_NAME_BYTES]; /* as given, with modifiers */
        uint32_t type;                    /* perf_event_attr.type */
        uint64_t config;                  /* perf_event_attr.config */
        uint64_t config1, config2;        /* the same */
        const char *unit;                 /* static: "ns", "cycles", "events" ... */
        uint32_t leader;                  /* index of its group's leader in the request; its own = none */
        uint8_t precise;                  /* ":p" to ":ppp": perf_event_attr.precise_ip */
        enum event_role role;
        uint32_t woken_offset_bytes; /* of EVENT_ROLE_WAKERS: where in the record the woken thread is */
        bool is_clock;               /* its period counts nanoseconds */
        bool is_tracepoint;          /* each hit is taken, unless a rate or a period was asked for */
        bool is_syscall;             /* a tracepoint of system calls: its records have the call's number */
        bool exclude_user;           /* ":k" */
        bool exclude_kernel;         /* ":u" */
        bool reads_group;            /* a leader with ":S": its members are read with each of its samples */
        bool only_counts;            /* no samples: a total (--stat), or a member of a group with ":S" */
        bool on_some_cpus; /* only those in `cpus`: a kind of core, or one CPU for all that share a PMU */
        uint64_t cpus[EVENT_SPEC_CPUS_MAX / 64]; /* bit C % 64 of word C / 64 */
};

/* Whether it is counted on that CPU. */
static inline bool event_spec_is_on_cpu(const struct event_spec *spec, int cpu)
{
        if (!spec->on_some_cpus)
                return true;
        return cpu >= 0 && cpu < EVENT_SPEC_CPUS_MAX &&
               (spec->cpus[cpu / 64] & UINT64_C(1) << (unsigned)cpu % 64) != 0;
}

/*
 * For --stat: the event is counted by itself, and no other event needs it.  @number: its index in the
 * request.
 */
static inline bool event_spec_is_total(const struct event_spec *spec, uint32_t number)
{
        return spec->only_counts && spec->leader == number;
}

#endif /* SAMPLER_EVENTS_EVENT_SPEC_H */
