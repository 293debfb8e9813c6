/* SPDX-License-Identifier: MIT */
/*
 * export/shared/longest_zones.h - the longest N of zones that come one by one
 *
 * Way of the data:  trace_walk -> [longest_zones] -> export_firefox (--max-markers)
 *
 * Keeps the N longest durations, 8 bytes each.  A zone shorter than all of them can be dropped at once.
 */
#ifndef EXPORT_SHARED_LONGEST_ZONES_H
#define EXPORT_SHARED_LONGEST_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct longest_zones {
        uint64_t *durations_ns; /* heap, also in the other sense: the shortest is the first */
        size_t n, capacity;
        uint64_t n_max; /* 0 = all are kept, and none is noted */
        uint64_t n_offered;
};

/* Zero-initialised but for n_max is valid. */
void longest_zones_deinit(struct longest_zones *z);

/* Returns 1 if the zone is among the longest so far, 0 if not, -ENOMEM. */
int longest_zones_offer(struct longest_zones *z, uint64_t duration_ns);

/* The shortest of them, when all were offered; 0 if all are kept. */
uint64_t longest_zones_limit_ns(const struct longest_zones *z);

/* How many of those that are exactly as long as the limit are among them. */
uint64_t longest_zones_at_limit(const struct longest_zones *z);

#endif /* EXPORT_SHARED_LONGEST_ZONES_H */
