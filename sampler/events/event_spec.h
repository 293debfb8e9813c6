/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_spec.h - the name of an event, as perf spells it -> what the kernel wants to know
 *
 * Way of the data:  command line -> [event_spec] -> event_set -> kernel
 */
#ifndef SAMPLER_EVENTS_EVENT_SPEC_H
#define SAMPLER_EVENTS_EVENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_SPEC_NAME_BYTES 128
#define EVENT_SPEC_CPUS_MAX \
        1024 /* that a PMU can be restricted to; the others are as if they were not there */

struct error;
struct event_places;

/* The use of its samples. */
enum event_role {
        EVENT_ROLE_SAMPLES = 0, /* they are samples */
        EVENT_ROLE_WAITS,       /* where a thread leaves its CPU, for its SWITCH_OUT */
        EVENT_ROLE_WAKERS,      /* of sched:sched_waking: who makes another thread ready, for its WAKEUP */
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
        bool is_tracepoint;          /* each time counts, unless a period was asked for */
        bool is_syscall;             /* a tracepoint of system calls: its records have the call's number */
        bool exclude_user;           /* ":k" */
        bool exclude_kernel;         /* ":u" */
        bool reads_group;            /* a leader with ":S": its members are read with each of its samples */
        bool only_counts;            /* no samples: a total (--stat), or a member of a group with ":S" */
        bool on_some_cpus; /* only those in `cpus`: a kind of core, or one CPU for all that share a PMU */
        uint64_t cpus[EVENT_SPEC_CPUS_MAX / 64]; /* bit C % 64 of word C / 64 */
};

/* Where specs are put; one name can be several events, where a machine has several kinds of cores. */
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

/* Whether it is counted on that CPU. */
bool event_spec_is_on_cpu(const struct event_spec *spec, int cpu);

/* For --stat: it is counted by itself, and no other event needs it.  @number: its own among the request's. */
bool event_spec_is_total(const struct event_spec *spec, uint32_t number);

#endif /* SAMPLER_EVENTS_EVENT_SPEC_H */
