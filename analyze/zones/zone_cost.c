/* SPDX-License-Identifier: MIT */
#include "analyze/zones/zone_cost.h"

#include "analyze/trace/histogram.h"
#include "analyze/walk/zone_stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Moves the counts of instances with a sample to the duration that they would have without it. */
static void move_counts(const struct histogram *h, double by_ns, double *counts)
{
        uint64_t value, n;

        for (uint32_t i = 0; histogram_get(h, i, &value, &n); i++) {
                counts[histogram_bucket_of(value)] -= (double)n;
                counts[histogram_bucket_of((uint64_t)fmax((double)value - by_ns, 0))] += (double)n;
        }
}

static uint64_t quantile(const double *counts, double n_all, double share)
{
        double seen = 0;

        for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
                seen += counts[i];
                if (counts[i] > 0 && seen >= ceil(share * n_all))
                        return histogram_bucket_middle(i);
        }
        return 0;
}

static void find_times(struct zone_cost *c, const struct zone_stat *stat, double *counts)
{
        const struct histogram *all = &stat->durations_ns;
        double n = (double)all->n_values, sum = (double)all->sum;
        double n_more = fmax((double)stat->more_ns.n_values, 1);
        double cost = c->sample.cost_ns * (double)(stat->once_ns.n_values + stat->n_more_samples);
        uint64_t value, n_values;

        for (uint32_t i = 0; histogram_get(all, i, &value, &n_values); i++)
                counts[histogram_bucket_of(value)] += (double)n_values;
        move_counts(&stat->once_ns, c->sample.cost_ns, counts);
        move_counts(&stat->more_ns, c->sample.cost_ns * (double)stat->n_more_samples / n_more, counts);
        c->share = fmin(cost / fmax(sum, 1), 1);
        c->mean_ns = (uint64_t)(fmax(sum - cost, 0) / fmax(n, 1));
        c->p50_ns = quantile(counts, n, 0.5);
        c->p90_ns = quantile(counts, n, 0.9);
        c->p99_ns = quantile(counts, n, 0.99);
}

int zone_cost_find(struct zone_cost *c, const struct zone_stat *stat)
{
        uint64_t n_samples = stat->once_ns.n_values + stat->n_more_samples;
        double *counts;
        int r;

        *c = (struct zone_cost){ .is_known = false };
        if (stat->once_ns.n_values < SAMPLE_COST_PRINT_MIN)
                return 0;
        r = sample_cost_learn_histograms(&c->sample, &stat->durations_ns, &stat->once_ns, &stat->more_ns,
                                         (double)stat->on_cpu_ns / (double)n_samples);
        c->is_known = r == 0 && sample_cost_is_exact(&c->sample);
        if (r < 0 || !c->is_known)
                return r;
        counts = calloc(HISTOGRAM_BUCKETS, sizeof(*counts));
        if (!counts)
                return -ENOMEM;
        find_times(c, stat, counts);
        free(counts);
        return 0;
}
