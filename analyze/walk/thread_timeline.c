/* SPDX-License-Identifier: MIT */
#include "analyze/walk/thread_timeline.h"

#include "analyze/trace/zone_paths.h"
#include "base/array.h"

#include <stdlib.h>

/*
 * The room for open zones doubles from this size on, so that it is full at the greatest depth, and one
 * check is enough.
 */
#define FIRST_ZONES 8

_Static_assert(THREAD_TIMELINE_DEPTH_MAX % FIRST_ZONES == 0 &&
                       (THREAD_TIMELINE_DEPTH_MAX & (THREAD_TIMELINE_DEPTH_MAX - 1)) == 0,
               "the room is full at the greatest depth");

void thread_timeline_deinit(struct thread_timeline *t)
{
        free(t->open);
        *t = (struct thread_timeline){ .open = NULL };
}

static uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

int thread_timeline_make_room(struct thread_timeline *t)
{
        if (t->n_open == THREAD_TIMELINE_DEPTH_MAX) {
                t->n_zones++;
                t->n_open_too_deep++;
                t->n_too_deep++;
                return 1;
        }
        return array_reserve(&t->open, &t->open_capacity,
                             t->open_capacity != 0 ? 2 * t->open_capacity : FIRST_ZONES, sizeof(*t->open));
}

bool thread_timeline_is_inside_itself(const struct thread_timeline *t, const struct timeline_zone *zone)
{
        for (const struct timeline_zone *other = zone; other != t->open; other--)
                if (other[-1].location == zone->location)
                        return true;
        return false;
}

void thread_timeline_end_none(struct thread_timeline *t)
{
        if (t->n_open_too_deep != 0)
                t->n_open_too_deep--;
        else
                t->n_unbalanced++;
}

bool thread_timeline_drop_zone(struct thread_timeline *t, uint64_t time_ns, struct zone_instance *ret)
{
        t->n_open_too_deep = 0;
        if (t->n_open == 0)
                return false;
        thread_timeline_close(t, time_ns, false, ret);
        return true;
}

int thread_timeline_match(struct thread_timeline *t, enum thread_timeline_pattern which,
                          struct zone_matcher *matcher)
{
        struct timeline_zone *zone = &t->open[t->n_open - 1];
        uint32_t around = t->n_open > 1 ? zone[-1].states[which] : ZONE_MATCHER_OUTSIDE;
        int r = zone_matcher_step(matcher, around, zone->location, &zone->states[which]);

        if (r == 0)
                zone->flags[which] = (uint8_t)zone_matcher_flags(matcher, zone->states[which]);
        return r;
}

unsigned thread_timeline_flags(const struct thread_timeline *t, enum thread_timeline_pattern which)
{
        return t->n_open != 0 ? t->open[t->n_open - 1].flags[which] : 0;
}

uint32_t thread_timeline_location(const struct thread_timeline *t)
{
        return t->n_open != 0 ? t->open[t->n_open - 1].location : 0;
}

int thread_timeline_find_path(struct thread_timeline *t, struct zone_paths *paths, uint32_t *ret_path)
{
        uint32_t n_known = t->n_open;
        uint32_t path = 0;

        while (n_known != 0 && t->open[n_known - 1].path == 0)
                n_known--;
        if (n_known != 0)
                path = t->open[n_known - 1].path;
        for (uint32_t i = n_known; i < t->n_open; i++) {
                int r = zone_paths_step(paths, path, t->open[i].location, &path);

                if (r < 0)
                        return r;
                t->open[i].path = path;
        }
        *ret_path = path;
        return 0;
}

void thread_timeline_want_zone(struct thread_timeline *t)
{
        struct timeline_zone *zone;

        if (t->n_open == 0 || t->n_open_too_deep != 0)
                return;
        zone = &t->open[t->n_open - 1];
        t->n_wanted += !zone->wanted;
        zone->wanted = true;
}

void thread_timeline_wakeup(struct thread_timeline *t, uint64_t time_ns)
{
        bool is_first = !t->started;

        thread_timeline_advance(t, time_ns);
        if (is_first)
                t->running = false;
}

void thread_timeline_switch_out(struct thread_timeline *t, uint64_t time_ns)
{
        t->n_lost += !t->is_fiber && !t->running && t->n_switches != 0;
        t->n_switches++;
        t->ran_ns = thread_timeline_ran_until(t, time_ns);
        t->running = false;
}

void thread_timeline_switch_in(struct thread_timeline *t, uint64_t time_ns)
{
        /*
         * Whether nothing but the thread's name was recorded, which a new thread has before it first runs.
         */
        bool is_new = t->n_switches == 0 && t->n_zones == 0 && t->n_samples == 0;

        t->n_lost += !t->is_fiber && t->running && t->n_switches != 0;
        t->n_switches++;
        /*
         * A recorder that attached received the thread's samples before its switches, so the thread ran
         * until about the last sample.
         */
        if (t->running && t->n_switches == 1 && t->n_samples > 0)
                t->ran_ns = elapsed(t->running_since_ns, t->before_ns);
        else if (t->running && !is_new)
                return; /* the SWITCH_OUT before it was lost, so its time is unknown */
        t->running = true;
        t->running_since_ns = time_ns;
}

/* After its exit, the thread runs on until it is switched out: the kernel's last work for it. */
void thread_timeline_exit(struct thread_timeline *t)
{
        free(t->open); /* gives memory back, because a program may have a hundred thousand short threads */
        t->open = NULL;
        t->open_capacity = 0;
        t->n_open = 0;
        t->exited = true;
}

void thread_timeline_finish(struct thread_timeline *t, uint64_t end_ns)
{
        if (!t->started)
                return;
        if (!t->exited && end_ns > t->last_ns)
                t->last_ns = end_ns;
        t->ran_ns = thread_timeline_ran_until(t, t->last_ns);
        t->running_since_ns = t->last_ns;
}
