/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_scope.h - whose events: a cgroup's, some processes' on every CPU, or each thread's own
 *
 * Way of the data:  command line, perf_access -> [event_scope] -> event_set, process_filter
 *
 *   kind     events           descriptors                      takes              used for
 *   CGROUP   of a cgroup v2   CPUs x (events + 2)              CAP_PERFMON, a     a command
 *                                                              writable cgroup2
 *   CPUS     of each CPU,     CPUs x (events + 2)              CAP_PERFMON        -p, -t, -a; a command where
 *            filtered                                                             there is no cgroup2
 *   THREADS  inherited        threads x CPUs x (events + 1)    nothing            all without rights
 *
 * Inherited events begin anew with a whole period in each child, so that children which live shorter than
 * that are never sampled, and cost switch-heavy programs much more.
 */
#ifndef SAMPLER_EVENTS_EVENT_SCOPE_H
#define SAMPLER_EVENTS_EVENT_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

enum event_scope_kind { EVENT_SCOPE_AUTO = 0, EVENT_SCOPE_CGROUP, EVENT_SCOPE_CPUS, EVENT_SCOPE_THREADS };

/* The recording's subject, as given on the command line. */
struct event_scope_request {
        enum event_scope_kind kind;
        const uint32_t *pids; /* -p; borrowed */
        uint32_t n_pids;
        const uint32_t *tids; /* -t; borrowed */
        uint32_t n_tids;
        const char *cgroup; /* --cgroup: a path below the cgroup2 mount, or from / on; NULL = none */
        const char *cpus;   /* --cpu: "0-3,8"; NULL = all that are online */
        bool whole_machine; /* -a */
        bool no_children;   /* --no-children */
        bool with_self;     /* --self: hyprof itself, too */
};

static inline const char *event_scope_name(enum event_scope_kind kind)
{
        static const char *const names[] = { [EVENT_SCOPE_AUTO] = "auto",
                                             [EVENT_SCOPE_CGROUP] = "cgroup",
                                             [EVENT_SCOPE_CPUS] = "cpus",
                                             [EVENT_SCOPE_THREADS] = "threads" };

        return names[kind];
}

#endif /* SAMPLER_EVENTS_EVENT_SCOPE_H */
