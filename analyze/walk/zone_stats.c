/* SPDX-License-Identifier: MIT */
#include "analyze/walk/zone_stats.h"

#include "base/array.h"

#include <stdlib.h>

void zone_stat_deinit(struct zone_stat *stat)
{
        histogram_deinit(&stat->durations_ns);
        histogram_deinit(&stat->once_ns);
        histogram_deinit(&stat->more_ns);
}

int zone_stat_add_sampled(struct zone_stat *stat, const struct zone_instance *zone)
{
        uint64_t duration_ns = zone_instance_duration_ns(zone);

        if (zone->n_samples == 1)
                return histogram_add(&stat->once_ns, duration_ns);
        stat->n_more_samples += zone->n_samples;
        return histogram_add(&stat->more_ns, duration_ns);
}

void zone_stats_deinit(struct zone_stats *s)
{
        for (uint32_t i = 0; i < s->n_zones; i++)
                zone_stat_deinit(&s->zones[i]);
        free(s->zones);
        *s = (struct zone_stats){ .zones = NULL };
}

int zone_stats_reserve(struct zone_stats *s, uint32_t n_locations)
{
        return array_reach(&s->zones, &s->capacity, &s->n_zones, n_locations, sizeof(*s->zones));
}
