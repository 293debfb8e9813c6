/* SPDX-License-Identifier: MIT */
#include "analyze/thread_timeline.h"

#include "analyze/zone_matcher.h"
#include "analyze/zone_paths.h"
#include "analyze/zone_stats.h"
#include "base/array.h"

#include <stdlib.h>

struct open_zone {
        uint64_t begin_ns;
        uint64_t children_ns;  /* of the zones directly inside that are over */
        uint64_t ran_ns;       /* by the thread until it began */
        uint64_t n_interrupts; /* the same: by then */
        uint64_t around;       /* bit `location % 64` is set for every zone around it */
        uint32_t location;
        uint32_t path; /* see thread_timeline_find_path(); 0 = nobody has asked yet */
        uint32_t states[THREAD_TIMELINE_PATTERNS];
        uint8_t flags[THREAD_TIMELINE_PATTERNS]; /* of the state: enum zone_matcher_flag */
        bool wanted;
};

void thread_timeline_deinit(struct thread_timeline *t)
{
        free(t->open);
        *t = (struct thread_timeline){ .open = NULL };
}

static uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

uint64_t thread_timeline_ran_until(const struct thread_timeline *t, uint64_t time_ns)
{
        return t->ran_ns + (t->running ? elapsed(t->running_since_ns, time_ns) : 0);
}

static uint64_t bit_of(uint32_t location)
{
        return UINT64_C(1) << (location % 64);
}

int thread_timeline_begin_zone(struct thread_timeline *t, uint64_t time_ns, uint32_t location)
{
        struct open_zone *zone;

        t->n_zones++;
        if (t->n_open == THREAD_TIMELINE_DEPTH_MAX) {
                t->n_open_too_deep++;
                t->n_too_deep++;
                return 0;
        }
        if (t->n_open == t->open_capacity) {
                int r = array_reserve(&t->open, &t->open_capacity, (size_t)t->n_open + 1, sizeof(*t->open));

                if (r < 0)
                        return r;
        }
        zone = &t->open[t->n_open];
        *zone = (struct open_zone){
                .begin_ns = time_ns,
                .ran_ns = thread_timeline_ran_until(t, time_ns),
                .n_interrupts = t->n_interrupts,
                .location = location,
        };
        if (t->n_open != 0)
                zone->around = zone[-1].around | bit_of(zone[-1].location);
        t->n_open++;
        return 0;
}

/* True if no zone around the innermost has its location.  The bits answer nearly always. */
static bool is_outermost(const struct thread_timeline *t)
{
        const struct open_zone *zone = &t->open[t->n_open - 1];

        if (!(zone->around & bit_of(zone->location)))
                return true;
        for (const struct open_zone *other = zone; other != t->open; other--)
                if (other[-1].location == zone->location)
                        return false;
        return true;
}

/* Takes the innermost zone away and tells of it. */
static void pop_zone(struct thread_timeline *t, uint64_t time_ns, bool closed, struct zone_instance *ret)
{
        const struct open_zone *zone = &t->open[t->n_open - 1];
        uint64_t duration_ns = elapsed(zone->begin_ns, time_ns);

        *ret = (struct zone_instance){
                .begin_ns = zone->begin_ns,
                .end_ns = time_ns,
                .self_ns = elapsed(zone->children_ns, duration_ns),
                .on_cpu_ns = elapsed(zone->ran_ns, thread_timeline_ran_until(t, time_ns)),
                .n_samples = t->n_interrupts - zone->n_interrupts,
                .location = zone->location,
                .depth = t->n_open - 1,
                .path = zone->path,
                .is_named = zone->flags[THREAD_TIMELINE_ASKED] & ZONE_MATCHER_NAMED,
                .is_inside = zone->flags[THREAD_TIMELINE_ASKED] & ZONE_MATCHER_INSIDE,
                .outermost = is_outermost(t),
                .closed = closed,
        };
        t->dropped_wanted = zone->wanted;
        t->n_wanted -= zone->wanted;
        t->n_open--;
        if (t->n_open != 0)
                t->open[t->n_open - 1].children_ns += duration_ns;
}

bool thread_timeline_end_zone(struct thread_timeline *t, uint64_t time_ns, struct zone_instance *ret)
{
        if (t->n_open_too_deep != 0) {
                t->n_open_too_deep--;
                return false;
        }
        if (t->n_open == 0) {
                t->n_unbalanced++;
                return false;
        }
        pop_zone(t, time_ns, true, ret);
        return true;
}

bool thread_timeline_drop_zone(struct thread_timeline *t, uint64_t time_ns, struct zone_instance *ret)
{
        t->n_open_too_deep = 0;
        if (t->n_open == 0)
                return false;
        pop_zone(t, time_ns, false, ret);
        return true;
}

int thread_timeline_match(struct thread_timeline *t, enum thread_timeline_pattern which,
                          struct zone_matcher *matcher)
{
        struct open_zone *zone = &t->open[t->n_open - 1];
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
        struct open_zone *zone;

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
        /* Nothing was heard of it but its name, which a new thread has before it first runs. */
        bool is_new = t->n_switches == 0 && t->n_zones == 0 && t->n_samples == 0;

        t->n_lost += !t->is_fiber && t->running && t->n_switches != 0;
        t->n_switches++;
        /* Whoever attached heard its samples sooner than its switches: it ran until the last one, about. */
        if (t->running && t->n_switches == 1 && t->n_samples > 0)
                t->ran_ns = elapsed(t->running_since_ns, t->before_ns);
        else if (t->running && !is_new)
                return; /* the switch out before it was lost; when it was is unknown */
        t->running = true;
        t->running_since_ns = time_ns;
}

/* The kernel's last work for the thread comes after its exit: it runs on until it is switched out. */
void thread_timeline_exit(struct thread_timeline *t)
{
        free(t->open); /* a program may have had a hundred thousand short threads */
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
