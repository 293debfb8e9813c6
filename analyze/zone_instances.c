/* SPDX-License-Identifier: MIT */
#include "analyze/zone_instances.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int zone_instances_init(struct zone_instances *s, uint32_t n_threads, uint32_t n_slowest)
{
        *s = (struct zone_instances){ .n_threads = n_threads };
        s->n_slowest_max = n_slowest < ZONE_INSTANCES_SLOWEST_MAX ? n_slowest : ZONE_INSTANCES_SLOWEST_MAX;
        s->threads = calloc((size_t)n_threads + 1, sizeof(*s->threads));
        s->slowest = calloc((size_t)s->n_slowest_max + 1, sizeof(*s->slowest));
        return s->threads && s->slowest ? 0 : -ENOMEM;
}

void zone_instances_deinit(struct zone_instances *s)
{
        zone_stat_deinit(&s->stat);
        free(s->threads);
        free(s->slowest);
        *s = (struct zone_instances){ .threads = NULL };
}

/* The slowest are a heap whose root is the fastest of them. */
static void sink_root(struct zone_instances *s)
{
        uint32_t at = 0;

        for (;;) {
                uint32_t child = 2 * at + 1;
                struct slow_zone zone = s->slowest[at];

                if (child >= s->n_slowest)
                        return;
                if (child + 1 < s->n_slowest &&
                    s->slowest[child + 1].duration_ns < s->slowest[child].duration_ns)
                        child++;
                if (s->slowest[child].duration_ns >= zone.duration_ns)
                        return;
                s->slowest[at] = s->slowest[child];
                s->slowest[child] = zone;
                at = child;
        }
}

static void lift_last(struct zone_instances *s)
{
        uint32_t at = s->n_slowest - 1;

        while (at > 0) {
                uint32_t parent = (at - 1) / 2;
                struct slow_zone zone = s->slowest[at];

                if (s->slowest[parent].duration_ns <= zone.duration_ns)
                        return;
                s->slowest[at] = s->slowest[parent];
                s->slowest[parent] = zone;
                at = parent;
        }
}

static void keep_slow(struct zone_instances *s, uint32_t thread, const struct zone_instance *zone,
                      uint64_t duration_ns)
{
        struct slow_zone slow = {
                .begin_ns = zone->begin_ns,
                .duration_ns = duration_ns,
                .self_ns = zone->self_ns,
                .on_cpu_ns = zone->on_cpu_ns,
                .thread = thread,
                .location = zone->location,
        };

        if (s->n_slowest < s->n_slowest_max) {
                s->slowest[s->n_slowest++] = slow;
                lift_last(s);
        } else if (s->n_slowest_max != 0 && duration_ns > s->slowest[0].duration_ns) {
                s->slowest[0] = slow;
                sink_root(s);
        }
}

static void add_times(struct zone_instances *s, struct zone_instance_sum *sum,
                      const struct zone_instance *zone, uint64_t duration_ns, bool is_inside)
{
        sum->self_ns += zone->self_ns;
        s->stat.self_ns += zone->self_ns;
        if (is_inside)
                return;
        sum->total_ns += duration_ns;
        sum->on_cpu_ns += zone->on_cpu_ns;
        s->stat.total_ns += duration_ns;
        s->stat.on_cpu_ns += zone->on_cpu_ns;
}

int zone_instances_add(struct zone_instances *s, uint32_t thread, const struct zone_instance *zone)
{
        struct zone_instance_sum *sum = &s->threads[thread - 1];
        uint64_t duration_ns = zone_instance_duration_ns(zone);

        assert(thread != 0 && thread <= s->n_threads);
        if (!zone->is_named)
                return 0;
        add_times(s, sum, zone, duration_ns, zone->is_inside);
        if (!zone->closed) {
                sum->n_unclosed++;
                s->stat.n_unclosed++;
                return 0;
        }
        sum->n_closed++;
        if (duration_ns > sum->max_ns)
                sum->max_ns = duration_ns;
        keep_slow(s, thread, zone, duration_ns);
        return zone_stat_add_closed(&s->stat, zone);
}

static int compare_slow(const void *a, const void *b)
{
        const struct slow_zone *x = a;
        const struct slow_zone *y = b;

        if (x->duration_ns != y->duration_ns)
                return x->duration_ns < y->duration_ns ? 1 : -1;
        return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

void zone_instances_sort(struct zone_instances *s)
{
        if (s->n_slowest != 0)
                qsort(s->slowest, s->n_slowest, sizeof(*s->slowest), compare_slow);
}
