/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/zone_stats.h - the sums of all zones of one source location
 *
 * Way of the data:  thread_timeline -> [zone_stats] -> report
 *
 * A zone that is open inside another of the same location (recursion) is an
 * instance like any other: it counts and its duration is in the histogram.
 * Its time is already in that of the outer one, so `total_ns` and `on_cpu_ns`
 * add up only the outermost.
 *
 * A zone that was never closed has no duration, hence no place in the histogram; the known part of its time
 * is in total, self and on-CPU.
 *
 * Not thread-safe.
 */
#ifndef ANALYZE_WALK_ZONE_STATS_H
#define ANALYZE_WALK_ZONE_STATS_H

#include "analyze/trace/histogram.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One zone that ended, or was still open at the end of the known events. */
struct zone_instance {
        uint64_t begin_ns, end_ns;
        uint64_t self_ns;   /* without the zones directly inside */
        uint64_t on_cpu_ns; /* of its duration; meaningless without context switches */
        uint64_t
                /*
                 * samples that interrupted its thread meanwhile, filtered or not: they show the cost of
                 * sampling
                 */
                n_samples;
        uint32_t location;
        uint32_t depth; /* 0 = outermost on its thread */
        uint32_t path;  /* in struct zone_paths, the zone included; 0 = not requested */
        bool is_named;  /* the sink's pattern names it: struct trace_sink */
        bool is_inside; /* and one around it */
        bool outermost; /* no other zone of its location is open around it */
        bool closed;
        bool is_cpu_unknown; /* `on_cpu_ns` means nothing: an imported thread */
};

/* 0 for times that go backwards, which no recorder writes. */
static inline uint64_t zone_instance_duration_ns(const struct zone_instance *zone)
{
        return zone->end_ns > zone->begin_ns ? zone->end_ns - zone->begin_ns : 0;
}

struct zone_stat {
        struct histogram durations_ns;     /* of the closed ones */
        struct histogram once_ns, more_ns; /* of these, the ones with one sample, and with more */
        uint64_t n_more_samples;           /* in the latter */
        uint64_t n_unclosed;
        uint64_t total_ns; /* wall-clock, summed over threads */
        uint64_t self_ns;
        uint64_t on_cpu_ns;  /* of total_ns */
        bool is_cpu_unknown; /* of some of them */
};

struct zone_stats {
        struct zone_stat *zones; /* heap; by location id - 1 */
        uint32_t n_zones;
        size_t capacity;
};

/* Zero-initialised is empty and valid. */
void zone_stats_deinit(struct zone_stats *s);

/* Makes room for the locations 1 .. @n_locations.  Returns 0 or -ENOMEM. */
int zone_stats_reserve(struct zone_stats *s, uint32_t n_locations);

void zone_stat_deinit(struct zone_stat *stat);

/* Private: adds the duration of a zone with samples to the histograms of such zones. */
int zone_stat_add_sampled(struct zone_stat *stat, const struct zone_instance *zone);

/* Takes in the duration of a closed zone.  Returns 0 or -ENOMEM. */
static inline int zone_stat_add_closed(struct zone_stat *stat, const struct zone_instance *zone)
{
        int r = histogram_add(&stat->durations_ns, zone_instance_duration_ns(zone));

        return r < 0 || zone->n_samples == 0 ? r : zone_stat_add_sampled(stat, zone);
}

/* Counts a zone, for whose location there is room.  Constant time.  Returns 0 or -ENOMEM. */
static inline int zone_stats_add(struct zone_stats *s, const struct zone_instance *zone)
{
        struct zone_stat *stat;

        assert(zone->location >= 1 && zone->location <= s->n_zones);
        stat = &s->zones[zone->location - 1];
        stat->self_ns += zone->self_ns;
        if (zone->outermost) {
                stat->total_ns += zone_instance_duration_ns(zone);
                stat->on_cpu_ns += zone->on_cpu_ns;
                stat->is_cpu_unknown |= zone->is_cpu_unknown;
        }
        if (zone->closed)
                return zone_stat_add_closed(stat, zone);
        stat->n_unclosed++;
        return 0;
}

#endif /* ANALYZE_WALK_ZONE_STATS_H */
