/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_launches.h"

#include "analyze/devices/device_zones.h"
#include "analyze/stats/flow_match.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/order.h"
#include "format/trace_event.h"
#include "timeline/timeline_index.h"

#include <errno.h>
#include <stdlib.h>

void timeline_launches_init(struct timeline_launches *l, struct timeline_index *index,
                            const struct trace_dictionary *dictionary)
{
        *l = (struct timeline_launches){ .index = index };
        device_keys_init(&l->keys, dictionary);
}

void timeline_launches_deinit(struct timeline_launches *l)
{
        device_keys_deinit(&l->keys);
        free(l->zones);
        free(l->flows);
        *l = (struct timeline_launches){ .zones = NULL };
}

int timeline_launches_add_key(struct timeline_launches *l, const struct walked_thread *thread,
                              const struct trace_event *event)
{
        int r = device_keys_add(&l->keys, thread, event);

        return r < 0 ? r : 0;
}

int timeline_launches_add_zone(struct timeline_launches *l, const struct device_zone *zone, uint32_t track)
{
        if (!device_zone_has_key(zone))
                return 0;
        if (l->n_zones == TIMELINE_LAUNCHES_MAX) {
                l->n_lost++;
                return 0;
        }
        if (array_reserve(&l->zones, &l->capacity, (size_t)l->n_zones + 1, sizeof(*l->zones)) < 0)
                return -ENOMEM;
        l->zones[l->n_zones++] = (struct timeline_launched){ .key = zone->key,
                                                             .begin_ns = zone->begin_ns,
                                                             .space = zone->space,
                                                             .device = zone->device,
                                                             .location = zone->location,
                                                             .track = track };
        return 0;
}

int timeline_launches_add_flow(struct timeline_launches *l, const struct walked_thread *thread,
                               const struct trace_event *event)
{
        const struct timeline_zone *zone = trace_walk_zone_at(thread, 0);

        if (l->n_flows == TIMELINE_LAUNCHES_MAX) {
                l->n_lost++;
                return 0;
        }
        if (array_reserve(&l->flows, &l->flows_capacity, (size_t)l->n_flows + 1, sizeof(*l->flows)) < 0)
                return -ENOMEM;
        l->flows[l->n_flows++] = (struct timeline_flow){
                .time_ns = event->time_ns,
                .id = event->flow.id,
                .zone_ns = zone ? zone->begin_ns : event->time_ns,
                .space = (uint32_t)event->flow.space,
                .thread = thread->id,
                .phase = event->flow.phase <= TRACE_FLOW_END ? (uint32_t)event->flow.phase : 0,
                .location = zone ? zone->location : 0,
        };
        return 0;
}

/* ---- joining ------------------------------------------------------------------------------------------- */

/* The track of a thread; false if it has none. */
static bool find_track(const struct timeline_index *t, uint32_t thread, uint32_t *ret_track)
{
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_THREAD, .owner = thread };
        uint32_t track = intern_find(&t->keys, &key, sizeof(key));

        *ret_track = track - 1;
        return track != 0;
}

/* Adds the pair of a zone of a device, if a thread has a track and said the key. */
static void join(struct timeline_launches *l, const struct timeline_launched *launched)
{
        const struct device_zone zone = { .begin_ns = launched->begin_ns,
                                          .key = launched->key,
                                          .space = launched->space,
                                          .device = launched->device };
        const struct device_key_zone *host = device_keys_find(&l->keys, &zone);
        struct timeline_index *t = l->index;
        uint32_t track;

        if (!host || !find_track(t, host->thread, &track))
                return;
        t->launches[t->n_launches++] = (struct timeline_launch){
                .host_ns = timeline_index_time(t, host->begin_ns),
                .device_ns = timeline_index_time(t, launched->begin_ns),
                .from_ns = timeline_index_time(t, host->begin_ns),
                .to_ns = timeline_index_time(t, launched->begin_ns),
                .host_track = track,
                .host_location = host->location,
                .device_track = launched->track,
                .device_location = launched->location,
        };
}

static void add_link(struct timeline_launches *l, const struct flow_link *link)
{
        const struct timeline_flow *from = &l->flows[link->from.place], *to = &l->flows[link->to.place];
        struct timeline_index *t = l->index;
        uint32_t from_track, to_track;

        if (!find_track(t, from->thread, &from_track) || !find_track(t, to->thread, &to_track))
                return;
        t->launches[t->n_launches++] = (struct timeline_launch){
                .host_ns = timeline_index_time(t, from->zone_ns),
                .device_ns = timeline_index_time(t, to->zone_ns),
                .from_ns = timeline_index_time(t, from->time_ns),
                .to_ns = timeline_index_time(t, to->time_ns),
                .host_track = from_track,
                .host_location = from->location,
                .device_track = to_track,
                .device_location = to->location,
        };
}

static int compare_flows(const void *left, const void *right, void *context)
{
        const struct timeline_flow *flows = context;
        const uint32_t *a = left, *b = right;
        int r = order_numbers(flows[*a].time_ns, flows[*b].time_ns);

        return r != 0 ? r : order_numbers(*a, *b);
}

/* Adds the pairs of flows: their events in the order of time. */
static int join_flows(struct timeline_launches *l)
{
        uint32_t *order = calloc((size_t)l->n_flows + 1, sizeof(*order));
        struct flow_match match;
        struct flow_link link;
        int r = order ? 0 : -ENOMEM;

        flow_match_init(&match, l->keys.dictionary);
        for (uint32_t i = 0; order && i < l->n_flows; i++)
                order[i] = i;
        if (order)
                qsort_r(order, l->n_flows, sizeof(*order), compare_flows, l->flows);
        for (uint32_t i = 0; r >= 0 && order && i < l->n_flows; i++) {
                const struct timeline_flow *flow = &l->flows[order[i]];
                struct flow_point point = {
                        .time_ns = flow->time_ns,
                        .id = flow->id,
                        .space = flow->space,
                        .thread = flow->thread,
                        .phase = flow->phase,
                        .place = order[i],
                };

                flow_match_find_owner(&match, &point);
                r = flow_match_add(&match, &point, &link);
                if (r == 1)
                        add_link(l, &link);
        }
        flow_match_deinit(&match);
        free(order);
        return r < 0 ? r : 0;
}

int timeline_launches_join(struct timeline_launches *l)
{
        struct timeline_index *t = l->index;
        size_t n_max = (size_t)l->n_zones + l->n_flows;

        t->n_launches_left_out = l->n_lost + l->keys.n_lost;
        if (l->keys.n_zones == l->n_old_keys && l->n_zones == l->n_old_zones && l->n_flows == l->n_old_flows)
                return 0;
        t->n_launches = 0;
        if (array_reserve(&t->launches, &t->launches_capacity, n_max, sizeof(*t->launches)) < 0 ||
            device_keys_sort(&l->keys) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < l->n_zones; i++)
                join(l, &l->zones[i]);
        if (l->n_flows != 0 && join_flows(l) < 0)
                return -ENOMEM;
        l->n_old_keys = l->keys.n_zones;
        l->n_old_zones = l->n_zones;
        l->n_old_flows = l->n_flows;
        return timeline_launches_sort(t);
}

/* ---- the order ----------------------------------------------------------------------------------------- */

static struct timeline_launch_search end_of(const struct timeline_launch *launch, bool is_device)
{
        return (struct timeline_launch_search){
                .begin_ns = is_device ? launch->device_ns : launch->host_ns,
                .track = is_device ? launch->device_track : launch->host_track,
                .location = is_device ? launch->device_location : launch->host_location,
                .is_device = is_device,
        };
}

static int compare_ends(const struct timeline_launch_search *a, const struct timeline_launch_search *b)
{
        int r = order_numbers(a->track, b->track);

        if (r == 0)
                r = order_numbers(a->begin_ns, b->begin_ns);
        return r != 0 ? r : order_numbers(a->location, b->location);
}

static int compare_hosts(const void *left, const void *right)
{
        const struct timeline_launch *a = left, *b = right;
        const struct timeline_launch_search end_a = end_of(a, false), end_b = end_of(b, false);
        int r = compare_ends(&end_a, &end_b);

        if (r == 0)
                r = order_numbers(a->device_ns, b->device_ns);
        return r != 0 ? r : order_numbers(a->device_track, b->device_track);
}

static int compare_devices(const void *left, const void *right, void *context)
{
        const struct timeline_launch *launches = context;
        const uint32_t *a = left, *b = right;
        const struct timeline_launch_search end_a = end_of(&launches[*a], true),
                                            end_b = end_of(&launches[*b], true);
        int r = compare_ends(&end_a, &end_b);

        return r != 0 ? r : order_numbers(*a, *b);
}

int timeline_launches_sort(struct timeline_index *t)
{
        uint32_t *order = calloc((size_t)t->n_launches + 1, sizeof(*order));

        if (!order)
                return -ENOMEM;
        if (t->n_launches != 0)
                qsort(t->launches, t->n_launches, sizeof(*t->launches), compare_hosts);
        for (uint32_t i = 0; i < t->n_launches; i++)
                order[i] = i;
        qsort_r(order, t->n_launches, sizeof(*order), compare_devices, t->launches);
        free(t->launches_by_device);
        t->launches_by_device = order;
        return 0;
}

uint32_t timeline_launches_find(const struct timeline_index *t, const struct timeline_launch_search *search,
                                const struct timeline_launch **ret, uint32_t n_max)
{
        const uint32_t *order = search->is_device ? t->launches_by_device : NULL;
        uint32_t low = 0, high = t->n_launches, n = 0;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const struct timeline_launch_search end = end_of(&t->launches[order ? order[middle] : middle],
                                                                 search->is_device);

                if (compare_ends(&end, search) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low + n < t->n_launches; n++) {
                const struct timeline_launch *launch = &t->launches[order ? order[low + n] : low + n];
                const struct timeline_launch_search end = end_of(launch, search->is_device);

                if (compare_ends(&end, search) != 0)
                        break;
                if (n < n_max)
                        ret[n] = launch;
        }
        return n;
}

/* ---- all in a view ------------------------------------------------------------------------------------- */

static bool is_in_view(const struct timeline_launch *launch, uint64_t from_ns, uint64_t to_ns)
{
        bool is_forth = launch->from_ns <= launch->to_ns;

        return (is_forth ? launch->from_ns : launch->to_ns) < to_ns &&
               (is_forth ? launch->to_ns : launch->from_ns) >= from_ns;
}

/* 0 .. 63 */
static unsigned log2_of_length(const struct timeline_launch *launch)
{
        uint64_t ns = launch->from_ns <= launch->to_ns ? launch->to_ns - launch->from_ns
                                                       : launch->from_ns - launch->to_ns;

        return 63U - (unsigned)__builtin_clzll(ns | 1);
}

uint32_t timeline_launches_view(const struct timeline_index *t, uint64_t from_ns, uint64_t to_ns,
                                const struct timeline_launch **ret, uint32_t n_max)
{
        uint32_t counts[64] = { 0 }, n_all = 0, n_longer = 0, n_rest, n = 0;
        unsigned least = 63;

        for (uint32_t i = 0; i < t->n_launches; i++)
                if (is_in_view(&t->launches[i], from_ns, to_ns)) {
                        counts[log2_of_length(&t->launches[i])]++;
                        n_all++;
                }
        while (least > 0 && n_longer + counts[least] <= n_max)
                n_longer += counts[least--];
        n_rest = n_max - n_longer;
        for (uint32_t i = 0; i < t->n_launches && n < n_max; i++) {
                unsigned length = log2_of_length(&t->launches[i]);

                if (length < least || !is_in_view(&t->launches[i], from_ns, to_ns) ||
                    (length == least && n_rest == 0))
                        continue;
                n_rest -= length == least;
                ret[n++] = &t->launches[i];
        }
        return n_all;
}
