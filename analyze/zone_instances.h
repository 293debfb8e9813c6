/* SPDX-License-Identifier: MIT */
/*
 * analyze/zone_instances.h - the zones that a pattern names: their times, by thread, and the slowest of them
 *
 * Way of the data:  trace_walk -> trace_totals -> [zone_instances] -> zone_view
 *
 * Takes the zones of a walk whose sink asks about the pattern, and of these those
 * that it names, not what is inside of them.  A zone inside of another that is
 * named, too, counts and has its place in the histogram, but its time is already in
 * that of the outer one.  Memory: the threads and the slowest.  Not thread-safe.
 */
#ifndef ANALYZE_ZONE_INSTANCES_H
#define ANALYZE_ZONE_INSTANCES_H

#include "analyze/zone_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More of the slowest are not kept. */
#define ZONE_INSTANCES_SLOWEST_MAX 10000

struct zone_instance_sum {
        uint64_t n_closed, n_unclosed;
        uint64_t total_ns, self_ns, on_cpu_ns, max_ns;
};

struct slow_zone {
        uint64_t begin_ns, duration_ns, self_ns, on_cpu_ns;
        uint32_t thread, location;
};

struct zone_instances {
        struct zone_stat stat;
        struct zone_instance_sum *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        struct slow_zone *slowest; /* heap; the slowest first, after zone_instances_sort() */
        uint32_t n_slowest, n_slowest_max;
};

/* Zero-initialised is valid for zone_instances_deinit().  Returns 0 or -ENOMEM. */
int zone_instances_init(struct zone_instances *s, uint32_t n_threads, uint32_t n_slowest);
void zone_instances_deinit(struct zone_instances *s);

/* Takes in a zone, if it `is_named`, of a thread for which there is room.  Returns 0 or -ENOMEM. */
int zone_instances_add(struct zone_instances *s, uint32_t thread, const struct zone_instance *zone);

/* No more: `slowest` is put in order. */
void zone_instances_sort(struct zone_instances *s);

#endif /* ANALYZE_ZONE_INSTANCES_H */
