/* SPDX-License-Identifier: MIT */
/*
 * sampler/event_set.h - all kernel events and rings of a recording
 *
 * Way of the data:  event_spec -> [event_set] -> perf_ring -> merge
 *
 * On each CPU two rings: one for the sampling events (with context switches),
 * read when it is a quarter full, and one for a dummy event that tells of
 * mappings, names, forks and exits, read at once, because a mapping or a
 * process may be gone a moment later.
 *
 * Scope: inherited per-CPU events on one process, which start by themselves at
 * its execve(2).  Descriptors: CPUs x (events + 1).
 */
#ifndef SAMPLER_EVENT_SET_H
#define SAMPLER_EVENT_SET_H

#include "sampler/event_spec.h"
#include "sampler/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct unwinder;

struct event_set_options {
        pid_t pid;                       /* a process that has not called execve(2) yet */
        const struct event_spec *specs;  /* borrowed for the call */
        size_t n_specs;                  /* at least 1 */
        uint64_t rate_hz;                /* samples a second and event */
        const struct unwinder *unwinder; /* static */
        size_t ring_bytes;               /* for each CPU; a power of two; halved until the kernel allows it */
        size_t tracker_ring_bytes;       /* the same for the dummy event */
        bool build_ids;                  /* the kernel can put build-ids into mapping records */
};

/* One opened event on one CPU. */
struct event_handle {
        int fd;
        uint64_t id;   /* PERF_SAMPLE_IDENTIFIER */
        uint32_t spec; /* index of its event_spec; UINT32_MAX = the dummy */
};

struct event_set {
        struct event_handle *handles; /* heap, owned */
        size_t n_handles;
        struct perf_ring *rings; /* heap, owned: for each CPU the dummy's, then the sampling events' */
        int *ring_fds;           /* of each ring, to poll; borrowed from `handles` */
        size_t n_rings;
        size_t ring_bytes; /* of the sampling rings, as it came out */
        uint64_t sample_type;
};

/*
 * event_set_open() - open and map everything, disabled
 * Returns 0; -EACCES/-EPERM, -ENOENT (no such event on this machine), -EMFILE, -errno, all with advice.
 */
int event_set_open(struct event_set *set, const struct event_set_options *options, struct error *err);
void event_set_close(struct event_set *set);

/* Stops sampling for good; the rings keep what they have. */
void event_set_disable(struct event_set *set);

/* The index of the spec that the event with this id was made from, or -1. */
int event_set_find_spec(const struct event_set *set, uint64_t id);

/* True for the rings of the dummy events: they hold no samples. */
bool event_set_is_tracker_ring(const struct event_set *set, size_t ring);

/* Records that the kernel could not put into full rings so far, by all events; UINT64_MAX = it cannot say. */
uint64_t event_set_count_lost(const struct event_set *set);

/* The period in ns that samples a clock at about @rate_hz without locking in step with round timers. */
uint64_t event_set_clock_period_ns(uint64_t rate_hz);

#endif /* SAMPLER_EVENT_SET_H */
