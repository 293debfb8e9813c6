/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/group_counts.h - the counters that come with a sample -> their increase since
 * the sample before
 *
 * Way of the data:  perf_record (perf_sample.counts) -> [group_counts] -> kernel_side
 *
 * With ":S" the kernel puts the values of a group into each sample of its leader.  They only grow, so a
 * sample's share is the difference to the sample before of the same counters:
 * - events of a CPU, or of a cgroup on a CPU: the CPU's sample before, whichever thread it hit.  The caller
 *   also passes samples that it will leave out, or their counts would go to the next one;
 * - events that children inherit: each thread has counters of its own under the same number, from 0 at its
 *   birth.
 * The first time, the previous value is 0: events begin with that, when they are opened, inherited, or
 * started.  A value that is smaller than the one before comes from counters that began anew: it counts
 * nothing.
 *
 * Memory: an entry for each event and CPU, and thread if they are inherited, until the thread ends.
 * Used by the collector's thread.
 */
#ifndef SAMPLER_EVENTS_GROUP_COUNTS_H
#define SAMPLER_EVENTS_GROUP_COUNTS_H

#include "sampler/events/event_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_set;
struct perf_record;

/* The count of a member. */
struct group_count {
        uint32_t spec;
        uint64_t weight; /* not 0 */
};

struct group_counts_entry {
        uint64_t event;          /* PERF_SAMPLE_IDENTIFIER */
        uint32_t tid;            /* 0 = the CPU's */
        uint32_t next_of_hash;   /* index + 1 of an entry; 0 = none */
        uint32_t next_of_thread; /* the same; also of free slots */
        uint64_t value;
        uint64_t enabled_ns, running_ns; /* of the group; kept by its leader's entry */
};

struct group_counts {
        uint64_t read_format; /* 0 = samples have no counters, and nothing is done */
        bool inherited;       /* counters of each thread */
        bool scales;          /* times show whether counters were shared; not so with events of a thread */
        bool shared;          /* a value was scaled up: the group had its counters a part of the time */
        struct group_counts_entry *entries; /* heap, owned */
        size_t n_entries, capacity;
        uint32_t first_free; /* index + 1 */
        uint32_t *slots;     /* heap, owned: by hash of event and tid, index + 1 */
        uint32_t *threads;   /* heap, owned, as many: by hash of the tid, the first of its list */
        size_t n_slots;
        struct group_count counts[EVENT_REQUEST_SPECS_MAX]; /* of the sample that was taken last */
        size_t n_counts;
        uint64_t leader_weight; /* what the leader itself counted, over the same span; 0 = not known */
};

/* @inherited: by children; @scales: the events are of CPUs or cgroups. */
void group_counts_init(struct group_counts *g, uint64_t read_format, bool inherited, bool scales);
void group_counts_deinit(struct group_counts *g);

/*
 * group_counts_take() - takes a record
 * After a sample with counters, `counts` has what the members of its group counted since the sample before,
 * and `leader_weight` what the leader counted; after any other record, both are empty.
 * @events:  the set that the record comes from
 * The caller passes all records, in the order of time.  Returns 0 or -ENOMEM.
 */
int group_counts_take(struct group_counts *g, const struct event_set *events, const struct perf_record *rec);

#endif /* SAMPLER_EVENTS_GROUP_COUNTS_H */
