/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/zone_cost.h - the cost of samples in a zone, and how long the zone would last without them
 *
 * Way of the data:  zone_stats, sample_cost -> [zone_cost] -> zone_view, zones_view
 *
 * Thread-safe.
 */
#ifndef ANALYZE_ZONES_ZONE_COST_H
#define ANALYZE_ZONES_ZONE_COST_H

#include "analyze/samples/sample_cost.h"

#include <stdbool.h>
#include <stdint.h>

struct zone_stat;

/* A cost of a smaller share of the time does not matter. */
#define ZONE_COST_SHARE_MIN 0.01

struct zone_cost {
        struct sample_cost sample;
        /* the cost is exact enough to be printed; else the rest is 0 */
        bool is_known;
        double share;                             /* of the duration of all instances */
        uint64_t mean_ns, p50_ns, p90_ns, p99_ns; /* without what samples cost */
};

/* Computes it from the closed instances.  Returns 0 or -ENOMEM. */
int zone_cost_find(struct zone_cost *c, const struct zone_stat *stat);

#endif /* ANALYZE_ZONES_ZONE_COST_H */
