/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_lanes.h"

#include "analyze/devices/device_zones.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

void device_lanes_init(struct device_lanes *l)
{
        *l = (struct device_lanes){ .n_tracks = 0 };
        intern_init(&l->keys, sizeof(struct device_lane_key), DEVICE_LANES_TRACKS_MAX);
}

void device_lanes_deinit(struct device_lanes *l)
{
        for (uint32_t i = 0; i < l->n_tracks; i++)
                free(l->tracks[i].open);
        free(l->tracks);
        free(l->firsts);
        intern_deinit(&l->keys);
        *l = (struct device_lanes){ .n_tracks = 0 };
}

/* Returns its id, 0 (too many) or -ENOMEM. */
static int64_t make_track(struct device_lanes *l, const struct device_lane_key *key, uint32_t sublane)
{
        if (l->n_tracks == DEVICE_LANES_TRACKS_MAX || sublane == DEVICE_LANES_SUBLANES_MAX)
                return 0;
        if (array_reserve(&l->tracks, &l->capacity, l->n_tracks + 1, sizeof(*l->tracks)) < 0)
                return -ENOMEM;
        l->tracks[l->n_tracks] = (struct device_lane_track){ .key = *key, .sublane = sublane };
        return ++l->n_tracks;
}

/* Whether the zone may begin here: what has ended by then is closed. */
static bool is_free(struct device_lane_track *t, const struct device_zone *zone)
{
        if (zone->begin_ns < t->begin_ns)
                return false;
        while (t->n_open > 0 && t->open[t->n_open - 1].last_ns <= zone->begin_ns) {
                uint64_t end_ns = t->open[--t->n_open].end_ns;

                t->closed_ns = end_ns > t->closed_ns ? end_ns : t->closed_ns;
        }
        return t->n_open == 0 ||
               (t->open[t->n_open - 1].last_ns >= zone->last_ns && t->n_open < DEVICE_LANES_DEPTH_MAX);
}

/* Cuts off by how much rounding put it beyond the zone around it, or before the end of the one before. */
static void cut(const struct device_lane_track *t, struct device_zone *zone)
{
        if (t->n_open > 0 && zone->end_ns > t->open[t->n_open - 1].end_ns)
                zone->end_ns = t->open[t->n_open - 1].end_ns;
        if (zone->begin_ns < t->closed_ns)
                zone->begin_ns = t->closed_ns;
        if (zone->begin_ns > zone->end_ns)
                zone->begin_ns = zone->end_ns;
}

static int open_zone(struct device_lane_track *t, struct device_zone *zone)
{
        if (array_reserve(&t->open, &t->capacity, (size_t)t->n_open + 1, sizeof(*t->open)) < 0)
                return -ENOMEM;
        t->begin_ns = zone->begin_ns;
        cut(t, zone);
        t->open[t->n_open++] = (struct device_lane_open){ .last_ns = zone->last_ns, .end_ns = zone->end_ns };
        return 0;
}

int64_t device_lanes_first(struct device_lanes *l, uint32_t device, uint32_t lane)
{
        const struct device_lane_key key = { .device = device, .lane = lane };
        uint32_t id;
        int r = intern_add_row(&l->keys, &key, &l->firsts, &l->firsts_capacity, sizeof(*l->firsts), &id);
        int64_t track;

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        if (l->firsts[id - 1] != 0)
                return l->firsts[id - 1];
        track = make_track(l, &key, 0);
        if (track > 0)
                l->firsts[id - 1] = (uint32_t)track;
        return track;
}

int device_lanes_place(struct device_lanes *l, struct device_zone *zone, struct device_place *ret_place)
{
        const struct device_lane_key key = { .device = zone->device, .lane = zone->lane };
        int64_t id = device_lanes_first(l, zone->device, zone->lane);

        while (id > 0 && !is_free(&l->tracks[id - 1], zone)) {
                uint32_t before = (uint32_t)id;

                id = l->tracks[before - 1].next;
                if (id == 0) {
                        id = make_track(l, &key, l->tracks[before - 1].sublane + 1);
                        l->tracks[before - 1].next = id > 0 ? (uint32_t)id : 0;
                }
        }
        if (id > 0 && open_zone(&l->tracks[id - 1], zone) < 0)
                id = -ENOMEM;
        if (id <= 0) {
                l->n_left_out += id == 0;
                return (int)id;
        }
        *ret_place = (struct device_place){ .track = (uint32_t)id,
                                            .sublane = l->tracks[id - 1].sublane,
                                            .depth = l->tracks[id - 1].n_open - 1 };
        return 1;
}
