/* SPDX-License-Identifier: MIT */
/*
 * Zones of a lane that cross are on different sub-lanes; on one, each lies inside of another or begins after
 * its end
 */
#include "analyze/devices/device_lanes.h"

#include "analyze/devices/device_zones.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct device_lanes lanes;

static void set_up(void)
{
        UNIT_TEST_SPOIL(lanes);
        device_lanes_init(&lanes);
}

static void tear_down(void)
{
        device_lanes_deinit(&lanes);
}

static struct device_place place(uint32_t device, uint32_t lane, uint64_t begin_ns, uint64_t end_ns)
{
        struct device_zone zone = {
                .begin_ns = begin_ns, .end_ns = end_ns, .last_ns = end_ns, .device = device, .lane = lane
        };
        struct device_place found = { .track = 0 };

        ck_assert_int_eq(device_lanes_place(&lanes, &zone, &found), 1);
        return found;
}

START_TEST(test_places)
{
        static const struct {
                uint32_t device, lane;
                uint64_t begin_ns, end_ns;
                struct device_place wanted;
        } cases[] = {
                { 1, 7, 100, 200, { 1, 0, 0 } }, { 1, 7, 100, 200, { 1, 0, 1 } }, /* the same time: inside */
                { 1, 8, 110, 300, { 2, 0, 0 } }, /* another lane may overlap */
                { 2, 7, 110, 300, { 3, 0, 0 } }, /* another device, too */
                { 1, 7, 120, 150, { 1, 0, 2 } }, { 1, 7, 140, 160, { 4, 1, 0 } }, /* crosses the one before */
                { 1, 7, 155, 190, { 1, 0, 2 } }, { 1, 7, 158, 170, { 1, 0, 3 } },
                { 1, 7, 159, 175, { 5, 2, 0 } }, /* crosses on both */
                { 1, 7, 160, 180, { 4, 1, 0 } }, /* one ends there as it begins */
                { 1, 7, 200, 200, { 1, 0, 0 } }, /* without a length, after all */
                { 1, 7, 200, 230, { 1, 0, 0 } }, { 1, 7, 199, 260, { 4, 1, 0 } }, /* too late for the first */
                { 1, 7, 150, 151, { 6, 3, 0 } },                                  /* too late for all */
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct device_place found = place(cases[i].device, cases[i].lane, cases[i].begin_ns,
                                                  cases[i].end_ns);

                ck_assert_msg(memcmp(&found, &cases[i].wanted, sizeof(found)) == 0,
                              "case %zu: track %u, sub-lane %u, depth %u", i, found.track, found.sublane,
                              found.depth);
        }
        ck_assert_uint_eq(lanes.n_tracks, 6);
        ck_assert_uint_eq(lanes.n_left_out, 0);
        ck_assert_uint_eq(lanes.tracks[4].key.lane, 7);
        ck_assert_uint_eq(lanes.tracks[4].sublane, 2);
}
END_TEST

static int compare(const void *left, const void *right)
{
        const struct device_zone *a = left, *b = right;

        if (a->begin_ns != b->begin_ns)
                return a->begin_ns < b->begin_ns ? -1 : 1;
        return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

#define N_ZONES 2000

/* Any two zones of a sub-lane, the later one second. */
static bool are_apart_or_nested(const struct device_zone *a, const struct device_zone *b)
{
        return b->begin_ns >= a->end_ns || b->end_ns <= a->end_ns;
}

START_TEST(test_no_crossing)
{
        static struct device_zone zones[N_ZONES];
        static struct device_place places[N_ZONES];
        uint64_t random = 88172645463325252u;
        uint32_t n_crossings = 0;

        for (size_t i = 0; i < N_ZONES; i++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                zones[i] = (struct device_zone){ .device = 1,
                                                 .lane = (uint32_t)(random % 3),
                                                 .begin_ns = random % 5000 };
                zones[i].last_ns = zones[i].end_ns = zones[i].begin_ns + random / 5000 % 60;
        }
        qsort(zones, N_ZONES, sizeof(zones[0]), compare);
        for (size_t i = 0; i < N_ZONES; i++)
                ck_assert_int_eq(device_lanes_place(&lanes, &zones[i], &places[i]), 1);
        for (size_t i = 0; i < N_ZONES; i++) {
                for (size_t k = i + 1; k < N_ZONES; k++) {
                        bool fits = are_apart_or_nested(&zones[i], &zones[k]);

                        n_crossings += !fits && zones[i].lane == zones[k].lane;
                        ck_assert(fits || places[i].track != places[k].track);
                }
        }
        ck_assert_uint_gt(n_crossings, N_ZONES); /* there was something to keep apart */
        ck_assert_uint_gt(lanes.n_tracks, 3);
}
END_TEST

/* Zones that touch, or end together, by their ticks: rounding makes no crossing of that. */
START_TEST(test_rounding_is_no_crossing)
{
        static const struct {
                uint64_t begin_ns, end_ns, last_ns;
                uint32_t sublane, depth;
                uint64_t cut_begin_ns, cut_end_ns;
        } cases[] = {
                { 100, 201, 200, 0, 0, 100, 201 },
                { 200, 299, 300, 0, 0, 201, 299 }, /* after the first */
                { 300, 399, 400, 0, 0, 300, 399 },
                { 350, 400, 400, 0, 1, 350, 399 }, /* inside of the third */
                { 399, 500, 500, 1, 0, 399, 500 }, /* a tick too early */
                { 500, 501, 501, 0, 0, 500, 501 },
                { 501, 501, 501, 0, 0, 501, 501 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct device_zone zone = { .begin_ns = cases[i].begin_ns,
                                            .end_ns = cases[i].end_ns,
                                            .last_ns = cases[i].last_ns,
                                            .device = 1 };
                struct device_place found;

                ck_assert_int_eq(device_lanes_place(&lanes, &zone, &found), 1);
                ck_assert_msg(found.sublane == cases[i].sublane && found.depth == cases[i].depth &&
                                      zone.begin_ns == cases[i].cut_begin_ns &&
                                      zone.end_ns == cases[i].cut_end_ns,
                              "case %zu: sub-lane %u, depth %u, %llu to %llu", i, found.sublane, found.depth,
                              (unsigned long long)zone.begin_ns, (unsigned long long)zone.end_ns);
        }
}
END_TEST

START_TEST(test_limits)
{
        struct device_zone zone = { .device = 1, .end_ns = 1000000, .last_ns = 1000000 };
        struct device_place found;

        /* Each crosses all before it. */
        for (uint32_t i = 0; i < DEVICE_LANES_SUBLANES_MAX; i++) {
                ck_assert_uint_eq(place(1, 0, i, 1000000 + i).sublane, i);
        }
        zone.begin_ns = DEVICE_LANES_SUBLANES_MAX;
        zone.last_ns = zone.end_ns = 2000000;
        ck_assert_int_eq(device_lanes_place(&lanes, &zone, &found), 0);
        ck_assert_uint_eq(lanes.n_left_out, 1);
        /* As many in each other as a sub-lane holds; the next one is on another. */
        for (uint32_t i = 0; i < DEVICE_LANES_DEPTH_MAX; i++)
                ck_assert_uint_eq(place(1, 1, 10, 20).depth, i);
        ck_assert_uint_eq(place(1, 1, 10, 20).sublane, 1);
        for (uint32_t i = 0; lanes.n_tracks < DEVICE_LANES_TRACKS_MAX; i++)
                (void)place(2, i, 1, 2);
        zone = (struct device_zone){ .device = 3, .begin_ns = 1, .end_ns = 2, .last_ns = 2 };
        ck_assert_int_eq(device_lanes_place(&lanes, &zone, &found), 0);
        ck_assert_uint_eq(lanes.n_left_out, 2);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
