/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/perf_rings.h - the records of all of perf's rings, in the order of time
 *
 * Way of the data:  perf_ring, perf_record -> [perf_rings] -> kernel_side
 *
 * A record costs the same whatever the number of rings: only the ring that it came from is looked at again.
 * A look at all of them comes once in a run.  Used by one thread, the collector.
 */
#ifndef SAMPLER_MERGE_PERF_RINGS_H
#define SAMPLER_MERGE_PERF_RINGS_H

#include "base/winner_tree.h"
#include "sampler/kernel/perf_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct recording;

/* The oldest record of one ring, decoded while it waits for its turn. */
struct ring_head {
        bool ready;
        bool is_taken; /* listed in `taken` */
        struct perf_record record;
        size_t record_bytes;
        uint64_t scan_bytes; /* looked through for regions up to here */
};

struct perf_rings {
        const struct recording *recording; /* borrowed: its events have the rings */
        struct ring_head *heads;           /* heap, owned: one a ring */
        struct winner_tree oldest;         /* of the rings, by the times of the records in `heads` */
        uint32_t *taken; /* heap, owned: rings whose space was not given back since something was taken */
        size_t n_taken;
};

/* Returns 0 or -ENOMEM; perf_rings_deinit() is fine then too. */
int perf_rings_init(struct perf_rings *r, const struct recording *recording);
void perf_rings_deinit(struct perf_rings *r);

/*
 * perf_rings_look() - look how full all rings are, and into those that were empty
 * Notes it in the pace, between the begin and the end of its look.  Once in a run is enough to see all
 * records up to its end: later ones are younger.
 * Returns 0, or -EBADMSG if a ring is corrupt.
 */
int perf_rings_look(struct perf_rings *r, struct error *err);

/*
 * perf_rings_find() - the ring whose oldest record is the oldest of all; that is in its head then
 * @ret_ring:  the number of rings if all are empty
 * Returns 0 or -EBADMSG.
 */
int perf_rings_find(struct perf_rings *r, size_t *ret_ring, struct error *err);

/* Steps over the record in the head of a ring, which keeps its place until its next turn. */
void perf_rings_step(struct perf_rings *r, size_t ring);

#endif /* SAMPLER_MERGE_PERF_RINGS_H */
