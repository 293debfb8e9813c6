/* SPDX-License-Identifier: MIT */
#include "analyze/zone_instances.h"

#include "analyze/thread_timeline.h"
#include "analyze/zone_paths.h"
#include "analyze/zone_pattern.h"
#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 0, OTHER, NAMED, NAMED_INSIDE };

int zone_instances_init(struct zone_instances *s, const struct zone_paths *paths,
                        const struct zone_pattern *pattern, uint32_t n_threads, uint32_t n_slowest)
{
        *s = (struct zone_instances){ .paths = paths, .pattern = pattern, .n_threads = n_threads };
        s->n_slowest_max = n_slowest < ZONE_INSTANCES_SLOWEST_MAX ? n_slowest : ZONE_INSTANCES_SLOWEST_MAX;
        s->threads = calloc((size_t)n_threads + 1, sizeof(*s->threads));
        s->slowest = calloc((size_t)s->n_slowest_max + 1, sizeof(*s->slowest));
        s->locations = calloc(THREAD_TIMELINE_DEPTH_MAX, sizeof(*s->locations));
        return s->threads && s->slowest && s->locations ? 0 : -ENOMEM;
}

void zone_instances_deinit(struct zone_instances *s)
{
        histogram_deinit(&s->stat.durations_ns);
        free(s->threads);
        free(s->slowest);
        free(s->judged);
        free(s->locations);
        *s = (struct zone_instances){ .paths = NULL };
}

/* Whether the pattern names the path itself. */
static bool is_named(struct zone_instances *s, uint32_t path)
{
        uint32_t at = THREAD_TIMELINE_DEPTH_MAX;

        for (; path != 0 && at > 0; path = zone_paths_parent(s->paths, path))
                s->locations[--at] = zone_paths_location(s->paths, path);
        return zone_pattern_fits(s->pattern, s->paths->dictionary, s->locations + at,
                                 THREAD_TIMELINE_DEPTH_MAX - at);
}

/* Once for each path.  What is wanted although nothing around it is, is named. */
static int judge(struct zone_instances *s, uint32_t path, uint8_t *ret_judgement)
{
        bool is_inside = zone_paths_parent(s->paths, path) != 0 &&
                         zone_paths_wanted(s->paths, zone_paths_parent(s->paths, path));
        uint8_t *judgement;

        if (path > s->n_judged) {
                uint32_t n = zone_paths_count(s->paths);

                if (array_reserve(&s->judged, &s->judged_capacity, n, sizeof(*s->judged)) < 0)
                        return -ENOMEM;
                memset(s->judged + s->n_judged, UNKNOWN, n - s->n_judged);
                s->n_judged = n;
        }
        judgement = &s->judged[path - 1];
        if (*judgement == UNKNOWN && !is_named(s, path))
                *judgement = OTHER;
        else if (*judgement == UNKNOWN)
                *judgement = is_inside ? NAMED_INSIDE : NAMED;
        *ret_judgement = *judgement;
        return 0;
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
        uint8_t judgement;
        int r;

        assert(thread != 0 && thread <= s->n_threads && zone->path != 0);
        r = judge(s, zone->path, &judgement);
        if (r < 0 || judgement == OTHER)
                return r;
        add_times(s, sum, zone, duration_ns, judgement == NAMED_INSIDE);
        if (!zone->closed) {
                sum->n_unclosed++;
                s->stat.n_unclosed++;
                return 0;
        }
        sum->n_closed++;
        if (duration_ns > sum->max_ns)
                sum->max_ns = duration_ns;
        keep_slow(s, thread, zone, duration_ns);
        return histogram_add(&s->stat.durations_ns, duration_ns);
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
