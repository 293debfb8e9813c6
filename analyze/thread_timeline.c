/* SPDX-License-Identifier: MIT */
#include "analyze/thread_timeline.h"

#include "analyze/wait_stats.h"
#include "analyze/zone_stats.h"
#include "base/array.h"
#include "base/intern.h"

#include <stdlib.h>

struct open_zone {
        uint64_t begin_ns;
        uint64_t children_ns; /* of the zones directly inside that are over */
        uint64_t ran_ns;      /* by the thread until it began */
        uint64_t around;      /* bit `location % 64` is set for every zone around it */
        uint32_t location;
        uint32_t path; /* see thread_timeline_find_path(); 0 = nobody has asked yet */
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

/* How long the thread ran from its first event until @time_ns. */
static uint64_t ran_until(const struct thread_timeline *t, uint64_t time_ns)
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
                .ran_ns = ran_until(t, time_ns),
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

/* Takes the innermost zone away and adds it up. */
static int pop_zone(struct thread_timeline *t, uint64_t time_ns, bool closed, struct zone_stats *stats)
{
        const struct open_zone *zone = &t->open[t->n_open - 1];
        uint64_t duration_ns = elapsed(zone->begin_ns, time_ns);
        struct zone_instance instance = {
                .duration_ns = duration_ns,
                .self_ns = elapsed(zone->children_ns, duration_ns),
                .on_cpu_ns = elapsed(zone->ran_ns, ran_until(t, time_ns)),
                .outermost = is_outermost(t),
                .closed = closed,
        };

        t->n_open--;
        if (t->n_open != 0)
                t->open[t->n_open - 1].children_ns += duration_ns;
        return zone_stats_add(stats, zone->location, &instance);
}

int thread_timeline_end_zone(struct thread_timeline *t, uint64_t time_ns, struct zone_stats *stats)
{
        if (t->n_open_too_deep != 0) {
                t->n_open_too_deep--;
                return 0;
        }
        if (t->n_open == 0) {
                t->n_unbalanced++;
                return 0;
        }
        return pop_zone(t, time_ns, true, stats);
}

int thread_timeline_find_path(struct thread_timeline *t, struct intern *paths, uint32_t *ret_path)
{
        uint32_t n_known = t->n_open;
        uint32_t path = 0;

        while (n_known != 0 && t->open[n_known - 1].path == 0)
                n_known--;
        if (n_known != 0)
                path = t->open[n_known - 1].path;
        for (uint32_t i = n_known; i < t->n_open; i++) {
                struct wait_path row = { .parent = path, .location = t->open[i].location };
                int r = intern_add(paths, &row, sizeof(row), &path);

                if (r < 0)
                        return r;
                t->open[i].path = path;
        }
        *ret_path = path;
        return 0;
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
        t->n_switches++;
        t->ran_ns = ran_until(t, time_ns);
        t->running = false;
}

void thread_timeline_switch_in(struct thread_timeline *t, uint64_t time_ns)
{
        /* Nothing was heard of it but its name, which a new thread has before it first runs. */
        bool is_new = t->n_switches == 0 && t->n_zones == 0 && t->n_samples == 0;

        t->n_switches++;
        if (t->running && !is_new)
                return; /* the switch out before it was lost; when it was is unknown */
        t->running = true;
        t->running_since_ns = time_ns;
}

static int drop_open_zones(struct thread_timeline *t, uint64_t time_ns, struct zone_stats *stats)
{
        t->n_open_too_deep = 0;
        while (t->n_open != 0) {
                int r = pop_zone(t, time_ns, false, stats);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* The kernel's last work for the thread comes after its exit: it runs on until it is switched out. */
int thread_timeline_exit(struct thread_timeline *t, uint64_t time_ns, struct zone_stats *stats)
{
        int r = drop_open_zones(t, time_ns, stats);

        if (r < 0)
                return r;
        free(t->open); /* a program may have had a hundred thousand short threads */
        t->open = NULL;
        t->open_capacity = 0;
        t->exited = true;
        return 0;
}

int thread_timeline_finish(struct thread_timeline *t, uint64_t end_ns, struct zone_stats *stats)
{
        if (!t->started)
                return 0;
        if (!t->exited && end_ns > t->last_ns)
                t->last_ns = end_ns;
        t->ran_ns = ran_until(t, t->last_ns);
        t->running_since_ns = t->last_ns;
        return drop_open_zones(t, t->last_ns, stats);
}
