/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/zone_instances.h - the zones that a pattern names: their times, by thread,
 * and the slowest of them
 *
 * Way of the data:  trace_walk -> trace_totals -> [zone_instances] -> zone_view
 *
 * Takes the zones that the pattern of the walk's sink names, not other zones inside of them.  If a named zone
 * is inside of another one, it counts and is in the histogram, but its time is already in that of the outer
 * one.  Memory: the threads, and the slowest zones with their texts.  Not thread-safe.
 */
#ifndef ANALYZE_ZONES_ZONE_INSTANCES_H
#define ANALYZE_ZONES_ZONE_INSTANCES_H

#include "analyze/walk/zone_stats.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More of the slowest are not kept. */
#define ZONE_INSTANCES_SLOWEST_MAX 10000

/* For each of the slowest zones, so many bytes of its name and of its text are kept. */
#define ZONE_INSTANCES_NAME_MAX 256
#define ZONE_INSTANCES_TEXT_MAX 4096

struct zone_words;

struct zone_instance_sum {
        uint64_t n_closed, n_unclosed;
        uint64_t total_ns, self_ns, on_cpu_ns, max_ns;
};

struct slow_zone {
        uint64_t begin_ns, duration_ns, self_ns, on_cpu_ns;
        uint32_t thread, location;
        char *words;                     /* heap; its name, then its text */
        uint32_t name_bytes, text_bytes; /* 0 = the program said none */
        int64_t value;                   /* if has_value */
        bool has_value, is_name_cut, is_text_cut;
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

/*
 * zone_instances_add() - take in a zone, if it `is_named`, of a thread for which there is room
 * @words:  the texts about it, copied; NULL = nothing
 * Returns 0 or -ENOMEM.
 */
int zone_instances_add(struct zone_instances *s, uint32_t thread, const struct zone_instance *zone,
                       const struct zone_words *words);

/* Empty if the program said none. */
struct text_view slow_zone_name(const struct slow_zone *zone);
struct text_view slow_zone_text(const struct slow_zone *zone);

/* No more: `slowest` is put in order. */
void zone_instances_sort(struct zone_instances *s);

#endif /* ANALYZE_ZONES_ZONE_INSTANCES_H */
