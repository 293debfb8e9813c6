/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_works.h"

#include "analyze/devices/device_keys.h"
#include "analyze/devices/device_zones.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/* Ends at about one time, of which the one whose device's clock agrees is looked for. */
#define ENDS_LOOKED_MAX 1024

struct taking {
        struct device_works *works;
        struct device_keys keys;
        struct device_zones zones;
        bool wants_all;
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "following devices: out of memory");
}

/* ------------------------------------------------------------------ works */

/* The zone of a thread that had the device do it, where the clock of the device proves something. */
static const struct device_key_zone *find_host(struct taking *t, const struct device_zone *zone)
{
        const struct device_works_clock *clock = &t->works->clocks[zone->device - 1];
        const struct device_key_zone *host = device_keys_find(&t->keys, zone);
        bool is_vague = !t->wants_all && clock->bound_ns > DEVICE_WORKS_BOUND_MAX_NS &&
                        clock->bound_ns != CLOCK_FIT_NO_BOUND;

        if (clock->is_placed && !is_vague)
                return host;
        t->works->n_vague += host != NULL;
        return NULL;
}

static void add_host(struct taking *t, const struct device_zone *zone, struct device_work *work)
{
        const struct device_key_zone *host = find_host(t, zone);

        if (host) {
                work->host = host->location;
                work->thread = host->thread;
                work->asked_ns = host->begin_ns;
                work->host_end_ns = host->end_ns;
                t->works->n_of_threads++;
        } else if (t->works->clocks[zone->device - 1].is_placed && !zone->is_span &&
                   zone->said_ns < zone->begin_ns) {
                work->asked_ns = zone->said_ns;
        }
}

static int add_work(struct taking *t, const struct device_zone *zone)
{
        struct device_works *w = t->works;
        const struct device_work_name name = { .device = zone->device, .location = zone->location };
        struct device_work *work;

        if (w->n_works == DEVICE_WORKS_MAX) {
                w->n_lost++;
                return 0;
        }
        if (array_reserve(&w->works, &w->capacity, (size_t)w->n_works + 1, sizeof(*w->works)) < 0)
                return -ENOMEM;
        work = &w->works[w->n_works++];
        *work = (struct device_work){ .begin_ns = zone->begin_ns,
                                      .end_ns = zone->end_ns,
                                      .asked_ns = zone->begin_ns,
                                      .device = zone->device,
                                      .lane = zone->lane,
                                      .location = zone->location,
                                      .thread = zone->thread,
                                      .text = zone->text };
        add_host(t, zone, work);
        return intern_add(&w->names, &name, sizeof(name), &work->name) < 0 ? -ENOMEM : 0;
}

static int take_zone(void *context, const struct device_zone *zone, struct error *err)
{
        return add_work(context, zone) < 0 ? no_memory(err) : 0;
}

static int take_clocks(struct device_works *w, const struct device_clocks *clocks)
{
        w->clocks = calloc((size_t)clocks->n_clocks + 1, sizeof(*w->clocks));
        for (uint32_t i = 0; i < clocks->n_clocks && w->clocks; i++) {
                uint64_t bound_ns = clocks->clocks[i].fit.bound_ns;

                w->clocks[i].bound_ns = bound_ns;
                w->clocks[i].is_placed = clocks->clocks[i].is_placed;
                if (bound_ns <= DEVICE_WORKS_BOUND_MAX_NS && bound_ns > w->bound_ns)
                        w->bound_ns = bound_ns;
        }
        return w->clocks ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ orders */

static int compare_lanes(const struct device_work *a, const struct device_work *b)
{
        int r = order_numbers(a->device, b->device);

        return r != 0 ? r : order_numbers(a->lane, b->lane);
}

static int compare_works(const void *left, const void *right)
{
        const struct device_work *a = left, *b = right;
        int r = compare_lanes(a, b);

        if (r == 0)
                r = order_numbers(a->begin_ns, b->begin_ns);
        if (r == 0)
                r = order_numbers(b->end_ns, a->end_ns);
        return r != 0 ? r : order_numbers(a->name, b->name);
}

static int compare_ends(const void *left, const void *right, void *context)
{
        const struct device_work *works = context;
        const uint32_t *a = left, *b = right;
        int r = order_numbers(works[*a].thread, works[*b].thread);

        if (r == 0)
                r = order_numbers(works[*a].end_ns, works[*b].end_ns);
        return r != 0 ? r : order_numbers(*b, *a);
}

static void find_outer(struct device_works *w)
{
        uint32_t outer = 0;

        for (uint32_t i = 0; i < w->n_works; i++) {
                if (compare_lanes(&w->works[i], &w->works[outer]) != 0 ||
                    w->works[i].end_ns > w->works[outer].end_ns)
                        outer = i;
                w->works[i].outer = outer;
        }
}

static int sort(struct device_works *w)
{
        uint32_t n = 0;

        w->by_thread = calloc((size_t)w->n_of_threads + 1, sizeof(*w->by_thread));
        if (!w->by_thread)
                return -ENOMEM;
        if (w->n_works > 1)
                qsort(w->works, w->n_works, sizeof(*w->works), compare_works);
        find_outer(w);
        for (uint32_t i = 0; i < w->n_works; i++)
                if (w->works[i].host != 0)
                        w->by_thread[n++] = i;
        qsort_r(w->by_thread, n, sizeof(*w->by_thread), compare_ends, w->works);
        return 0;
}

/* ------------------------------------------------------------------ the trace */

static int read_works(struct taking *t, struct loaded_trace *trace, struct error *err)
{
        int r;

        if (device_zones_init(&t->zones, trace->dictionary, take_zone, t) < 0 ||
            take_clocks(t->works, &t->zones.clocks) < 0)
                return no_memory(err);
        r = device_zones_take(&t->zones, trace, NULL, err);
        return r == 0 && sort(t->works) < 0 ? no_memory(err) : r;
}

static int take(struct device_works *w, struct loaded_trace *trace, bool wants_all, struct error *err)
{
        struct taking t = { .works = w, .wants_all = wants_all };
        int r;

        *w = (struct device_works){ .dictionary = trace->dictionary };
        intern_init(&w->names, sizeof(struct device_work_name), 0);
        r = device_keys_take(&t.keys, trace, err);
        if (r == 0 && (wants_all || t.keys.n_zones != 0))
                r = read_works(&t, trace, err);
        device_zones_deinit(&t.zones);
        device_keys_deinit(&t.keys);
        return r;
}

int device_works_take_sure(struct device_works *w, struct loaded_trace *trace, struct error *err)
{
        return take(w, trace, false, err);
}

int device_works_take_all(struct device_works *w, struct loaded_trace *trace, struct error *err)
{
        return take(w, trace, true, err);
}

void device_works_deinit(struct device_works *w)
{
        intern_deinit(&w->names);
        free(w->works);
        free(w->by_thread);
        free(w->clocks);
        *w = (struct device_works){ .works = NULL };
}

/* ------------------------------------------------------------------ questions */

/* How many ends of works are of threads before @thread, or of it and not after @time_ns. */
static uint32_t count_ends(const struct device_works *w, uint32_t thread, uint64_t time_ns)
{
        uint32_t low = 0, high = w->n_of_threads;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const struct device_work *work = &w->works[w->by_thread[middle]];

                if (work->thread < thread || (work->thread == thread && work->end_ns <= time_ns))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Whether a moment is no more than @late_ns before a wake-up. */
static bool is_recent(uint64_t time_ns, uint64_t late_ns, uint64_t woken_ns)
{
        return woken_ns <= late_ns || time_ns >= woken_ns - late_ns;
}

bool device_works_may_wake(const struct device_works *w, const struct device_work *work, uint64_t woken_ns)
{
        uint64_t bound_ns = device_works_bound_ns(w, work);

        if (bound_ns == CLOCK_FIT_NO_BOUND)
                bound_ns = 0;
        return bound_ns <= w->bound_ns && work->end_ns <= woken_ns + bound_ns &&
               is_recent(work->end_ns, bound_ns + DEVICE_WORKS_LATE_NS, woken_ns);
}

const struct device_work *device_works_ended(const struct device_works *w, uint32_t thread, uint64_t since_ns,
                                             uint64_t woken_ns)
{
        uint32_t i = w->n_of_threads != 0 ? count_ends(w, thread, woken_ns + w->bound_ns) : 0;
        uint32_t last = i > ENDS_LOOKED_MAX ? i - ENDS_LOOKED_MAX : 0;

        for (; i > last; i--) {
                const struct device_work *work = &w->works[w->by_thread[i - 1]];

                if (work->thread != thread ||
                    !is_recent(work->end_ns, w->bound_ns + DEVICE_WORKS_LATE_NS, woken_ns))
                        return NULL;
                if (work->end_ns > since_ns && device_works_may_wake(w, work, woken_ns))
                        return work;
        }
        return NULL;
}

const struct device_work *device_works_last(const struct device_works *w, uint32_t thread, uint64_t after_ns,
                                            uint64_t until_ns)
{
        uint32_t n = w->n_of_threads != 0 ? count_ends(w, thread, until_ns) : 0;
        const struct device_work *work = n != 0 ? &w->works[w->by_thread[n - 1]] : NULL;

        return work && work->thread == thread && work->end_ns > after_ns ? work : NULL;
}

const struct device_work *device_works_before(const struct device_works *w, const struct device_work *work,
                                              uint64_t time_ns)
{
        const struct device_work wanted = { .device = work->device, .lane = work->lane };
        uint32_t low = 0, high = w->n_works;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                int r = compare_lanes(&w->works[middle], &wanted);

                if (r < 0 || (r == 0 && w->works[middle].begin_ns < time_ns))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0 || compare_lanes(&w->works[low - 1], &wanted) != 0)
                return NULL;
        return &w->works[w->works[low - 1].outer];
}
