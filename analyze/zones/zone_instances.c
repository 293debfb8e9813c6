/* SPDX-License-Identifier: MIT */
#include "analyze/zones/zone_instances.h"

#include "analyze/trace/zone_words.h"

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
        for (uint32_t i = 0; i < s->n_slowest; i++)
                free(s->slowest[i].words);
        free(s->threads);
        free(s->slowest);
        *s = (struct zone_instances){ .threads = NULL };
}

/* The slowest first; of equals the one that began first: no order of reading changes which are kept. */
static int compare_slow(const void *a, const void *b)
{
        const struct slow_zone *x = a;
        const struct slow_zone *y = b;

        if (x->duration_ns != y->duration_ns)
                return x->duration_ns < y->duration_ns ? 1 : -1;
        if (x->begin_ns != y->begin_ns)
                return x->begin_ns > y->begin_ns ? 1 : -1;
        return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The slowest zones are a heap whose root is the last of them. */
static void sink_root(struct zone_instances *s)
{
        uint32_t at = 0;

        for (;;) {
                uint32_t child = 2 * at + 1;
                struct slow_zone zone = s->slowest[at];

                if (child >= s->n_slowest)
                        return;
                if (child + 1 < s->n_slowest && compare_slow(&s->slowest[child + 1], &s->slowest[child]) > 0)
                        child++;
                if (compare_slow(&s->slowest[child], &zone) <= 0)
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

                if (compare_slow(&s->slowest[parent], &zone) >= 0)
                        return;
                s->slowest[at] = s->slowest[parent];
                s->slowest[parent] = zone;
                at = parent;
        }
}

static uint32_t limited(size_t n_bytes, uint32_t most)
{
        return n_bytes < most ? (uint32_t)n_bytes : most;
}

static int keep_words(struct slow_zone *slow, const struct zone_words *words)
{
        slow->value = words->value;
        slow->has_value = words->has_value;
        slow->name_bytes = limited(words->name.used_bytes, ZONE_INSTANCES_NAME_MAX);
        slow->text_bytes = limited(words->text.used_bytes, ZONE_INSTANCES_TEXT_MAX);
        slow->is_name_cut = words->name.used_bytes > slow->name_bytes;
        slow->is_text_cut = words->text.used_bytes > slow->text_bytes;
        if (slow->name_bytes + slow->text_bytes == 0)
                return 0;
        slow->words = malloc((size_t)slow->name_bytes + slow->text_bytes);
        if (!slow->words)
                return -ENOMEM;
        if (slow->name_bytes != 0)
                memcpy(slow->words, words->name.data, slow->name_bytes);
        if (slow->text_bytes != 0)
                memcpy(slow->words + slow->name_bytes, words->text.data, slow->text_bytes);
        return 0;
}

struct text_view slow_zone_name(const struct slow_zone *zone)
{
        return (struct text_view){ .bytes = zone->words, .n_bytes = zone->name_bytes };
}

struct text_view slow_zone_text(const struct slow_zone *zone)
{
        const char *text = zone->words ? zone->words + zone->name_bytes : NULL;

        return (struct text_view){ .bytes = text, .n_bytes = zone->text_bytes };
}

static int keep_slow(struct zone_instances *s, uint32_t thread, const struct zone_instance *zone,
                     const struct zone_words *words, uint64_t duration_ns)
{
        struct slow_zone slow = {
                .begin_ns = zone->begin_ns,
                .duration_ns = duration_ns,
                .self_ns = zone->self_ns,
                .on_cpu_ns = zone->on_cpu_ns,
                .thread = thread,
                .location = zone->location,
        };

        bool has_room = s->n_slowest < s->n_slowest_max;

        if (!has_room && (s->n_slowest_max == 0 || compare_slow(&slow, &s->slowest[0]) >= 0))
                return 0;
        if (words && keep_words(&slow, words) < 0)
                return -ENOMEM;
        if (has_room) {
                s->slowest[s->n_slowest++] = slow;
                lift_last(s);
        } else {
                free(s->slowest[0].words);
                s->slowest[0] = slow;
                sink_root(s);
        }
        return 0;
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

int zone_instances_add(struct zone_instances *s, uint32_t thread, const struct zone_instance *zone,
                       const struct zone_words *words)
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
        if (keep_slow(s, thread, zone, words, duration_ns) < 0)
                return -ENOMEM;
        return zone_stat_add_closed(&s->stat, zone);
}

void zone_instances_sort(struct zone_instances *s)
{
        if (s->n_slowest != 0)
                qsort(s->slowest, s->n_slowest, sizeof(*s->slowest), compare_slow);
}
