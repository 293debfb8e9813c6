/* SPDX-License-Identifier: MIT */
#include "analyze/waits/ready_times.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct ready_time ready_time_of(const struct thread_wait *wait, uint32_t thread, uint64_t from_ns)
{
        struct ready_time time = { .thread = thread, .begin_ns = wait->out_ns, .end_ns = wait->in_ns };

        time.cpu = wait->preempted ? wait->out_cpu : wait->in_cpu;
        if (!wait->preempted)
                time.begin_ns = wait->woken_ns;
        if (!wait->ended || (!wait->preempted && !wait->is_woken))
                time.end_ns = time.begin_ns;
        if (time.begin_ns < from_ns)
                time.begin_ns = from_ns;
        return time;
}

void ready_times_deinit(struct ready_times *t)
{
        free(t->items);
        *t = (struct ready_times){ .items = NULL };
}

/* Whether it stays after so many halvings. */
static bool stays(const struct ready_time *time, unsigned n_halved)
{
        return trace_walk_chance(time->thread, time->begin_ns) < ldexp(1, -(int)n_halved);
}

static void halve(struct ready_times *t)
{
        size_t n = 0;

        t->n_halved++;
        for (size_t i = 0; i < t->n_items; i++)
                if (stays(&t->items[i], t->n_halved))
                        t->items[n++] = t->items[i];
        t->n_items = n;
}

int ready_times_add(struct ready_times *t, const struct ready_time *time)
{
        int r;

        if (ready_time_ns(time) == 0 || !stays(time, t->n_halved))
                return 0;
        /* A hash keeps all times after 63 halvings only if the trace was made for that purpose. */
        while (t->n_items >= READY_TIMES_MAX && t->n_halved < 63)
                halve(t);
        if (t->n_items >= READY_TIMES_MAX || !stays(time, t->n_halved))
                return 0;
        r = array_reserve(&t->items, &t->capacity, t->n_items + 1, sizeof(*t->items));
        if (r == 0)
                t->items[t->n_items++] = *time;
        return r;
}

static int compare(const void *a, const void *b)
{
        const struct ready_time *left = a, *right = b;

        if (left->cpu != right->cpu)
                return left->cpu < right->cpu ? -1 : 1;
        return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

void ready_times_sort(struct ready_times *t)
{
        if (t->n_items > 1)
                qsort(t->items, t->n_items, sizeof(*t->items), compare);
}
