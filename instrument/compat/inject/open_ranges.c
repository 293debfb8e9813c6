/* SPDX-License-Identifier: MIT */
#include "instrument/compat/inject/open_ranges.h"

#include <stdlib.h>

struct open_range {
        struct hyprof_location *location;
        uint64_t begin_ns;
        uint64_t zone_key;
        uint32_t lane;
        uint64_t epoch; /* recording and process in which it began */
};

static uint64_t present_epoch(void)
{
        return (uint64_t)inject_fork_number() << 32 | inject_session();
}

static uint32_t take_lane(struct open_ranges *r)
{
        uint32_t lane = OPEN_RANGES_LANES - 1;

        if (!inject_lock(&r->lanes_lock))
                return lane;
        for (uint32_t i = 0; i < OPEN_RANGES_LANES / 64; i++) {
                if (r->lanes[i] == UINT64_MAX)
                        continue;
                lane = 64 * i + (uint32_t)__builtin_ctzll(~r->lanes[i]);
                r->lanes[i] |= UINT64_C(1) << lane % 64;
                break;
        }
        inject_unlock(&r->lanes_lock);
        return lane;
}

static void free_lane(struct open_ranges *r, uint32_t lane)
{
        if (!inject_lock(&r->lanes_lock))
                return;
        r->lanes[lane / 64] &= ~(UINT64_C(1) << lane % 64);
        inject_unlock(&r->lanes_lock);
}

static void emit(struct open_ranges *r, const struct open_range *range, uint64_t end_ns)
{
        uint64_t epoch = present_epoch();

        if (__atomic_load_n(&r->told, __ATOMIC_RELAXED) != epoch &&
            __atomic_exchange_n(&r->told, epoch, __ATOMIC_RELAXED) != epoch)
                hyprof_device_calibrate_within(&r->device, end_ns, end_ns, end_ns);
        if (end_ns < range->begin_ns)
                end_ns = range->begin_ns;
        if (range->zone_key == 0)
                hyprof_device_span(&r->device, range->location, range->begin_ns, end_ns, range->lane, 0);
        else
                hyprof_device_keyed_span(&r->device, range->location, range->begin_ns, end_ns, range->lane,
                                         &r->space, range->zone_key);
}

/* A range of an earlier recording, or of the process from which this one was forked, is dropped. */
static void end_range(struct open_ranges *r, struct open_range *range)
{
        uint64_t now_ns = hyprof_now_ns();

        if (!range)
                return;
        if (now_ns != 0 && range->epoch == present_epoch())
                emit(r, range, now_ns);
        free_lane(r, range->lane);
        free(range);
}

void open_ranges_start(struct open_ranges *r, struct word_key key, struct hyprof_location *location,
                       uint64_t zone_key)
{
        struct open_range *range = location ? malloc(sizeof(*range)) : NULL;

        if (!range)
                return;
        *range = (struct open_range){ .location = location,
                                      .begin_ns = hyprof_now_ns(),
                                      .zone_key = zone_key,
                                      .lane = take_lane(r),
                                      .epoch = present_epoch() };
        end_range(r, word_map_take(&r->open, key));
        if (range->begin_ns == 0 || !word_map_put(&r->open, key, range)) {
                free_lane(r, range->lane);
                free(range);
        }
}

void open_ranges_end(struct open_ranges *r, struct word_key key)
{
        if (__atomic_load_n(&r->open.n_used, __ATOMIC_RELAXED) > 0)
                end_range(r, word_map_take(&r->open, key));
}

void open_ranges_add(struct open_ranges *r, struct hyprof_location *location, uint64_t begin_ns,
                     uint64_t end_ns)
{
        const struct open_range whole = { .location = location, .begin_ns = begin_ns };

        if (location && begin_ns != 0)
                emit(r, &whole, end_ns);
}

void open_ranges_finish(struct open_ranges *r)
{
        struct open_range *range;
        size_t place = 0;

        while ((range = word_map_take_next(&r->open, &place)))
                end_range(r, range);
}
