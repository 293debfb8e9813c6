/* SPDX-License-Identifier: MIT */
#include "analyze/devices/host_times.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Time in zones; a zone may be there more than once. */
struct parts {
        struct part {
                uint64_t ns;
                uint32_t location;
        } * items; /* heap */
        size_t n, capacity;
};

/* A time that has begun and not ended. */
struct open_time {
        const struct host_time *time;
        struct parts parts; /* that were not handed out yet */
        uint64_t known_ns;  /* in zones */
};

struct host_thread {
        size_t next, end;       /* indices of times that have not begun */
        struct open_time *open; /* heap */
        size_t n_open, capacity;
        struct parts recent; /* what all open times get at the next change */
        uint64_t change_ns;  /* when the next one begins or ends */
        uint64_t since_ns;
        uint32_t location; /* the innermost zone since then; 0 = none */
};

struct following {
        const struct host_times *times;
        struct host_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        host_times_take_part *take;
        void *context;
};

int host_times_add(struct host_times *h, const struct host_time *time)
{
        if (time->thread == 0 || time->begin_ns >= time->end_ns)
                return 0;
        if (array_reserve(&h->items, &h->capacity, h->n_items + 1, sizeof(*h->items)) < 0)
                return -ENOMEM;
        h->items[h->n_items++] = *time;
        return 0;
}

void host_times_deinit(struct host_times *h)
{
        free(h->items);
        *h = (struct host_times){ .items = NULL };
}

/* ------------------------------------------------------------------ parts */

static int compare_parts(const void *left, const void *right)
{
        const struct part *a = left, *b = right;

        return order_numbers(a->location, b->location);
}

static void join(struct parts *p)
{
        size_t n = 0;

        if (p->n == 0)
                return;
        qsort(p->items, p->n, sizeof(*p->items), compare_parts);
        for (size_t i = 0; i < p->n; i++) {
                if (n != 0 && p->items[n - 1].location == p->items[i].location)
                        p->items[n - 1].ns += p->items[i].ns;
                else
                        p->items[n++] = p->items[i];
        }
        p->n = n;
}

/* Returns 0, 1 (it has as many zones as it may) or -ENOMEM. */
static int add_part(struct parts *p, uint32_t location, uint64_t ns)
{
        if (array_reserve(&p->items, &p->capacity, p->n + 1, sizeof(*p->items)) < 0)
                return -ENOMEM;
        p->items[p->n++] = (struct part){ .ns = ns, .location = location };
        if (p->n < (size_t)2 * HOST_TIMES_ZONES_MAX)
                return 0;
        join(p);
        return p->n >= HOST_TIMES_ZONES_MAX;
}

static int hand_out(const struct following *f, struct open_time *o)
{
        int r = 0;

        join(&o->parts);
        for (size_t i = 0; i < o->parts.n && r == 0; i++)
                r = f->take(f->context, o->time->owner, o->parts.items[i].location, o->parts.items[i].ns);
        o->parts.n = 0;
        return r;
}

/* Gives all open times what was added up since the last change. */
static int spread(const struct following *f, struct host_thread *t)
{
        int r = 0;

        join(&t->recent);
        for (size_t i = 0; i < t->n_open && r == 0; i++) {
                struct open_time *o = &t->open[i];

                for (size_t k = 0; k < t->recent.n && r == 0; k++) {
                        o->known_ns += t->recent.items[k].ns;
                        r = add_part(&o->parts, t->recent.items[k].location, t->recent.items[k].ns);
                        if (r == 1)
                                r = hand_out(f, o);
                }
        }
        t->recent.n = 0;
        return r;
}

/* ------------------------------------------------------------------ a thread */

/* The thread was in its zone until @time_ns. */
static int pass(const struct following *f, struct host_thread *t, uint64_t time_ns)
{
        uint64_t ns = time_ns > t->since_ns ? time_ns - t->since_ns : 0;
        int r = 0;

        if (t->location != 0 && t->n_open != 0 && ns != 0)
                r = add_part(&t->recent, t->location, ns);
        if (ns != 0)
                t->since_ns = time_ns;
        return r == 1 ? spread(f, t) : r;
}

static int end_time(const struct following *f, struct open_time *o)
{
        uint64_t length_ns = o->time->end_ns - o->time->begin_ns;
        int r = hand_out(f, o);

        if (r == 0 && length_ns > o->known_ns)
                r = f->take(f->context, o->time->owner, 0, length_ns - o->known_ns);
        free(o->parts.items);
        return r;
}

/* The moment at which times begin or end. */
static int change(const struct following *f, struct host_thread *t)
{
        uint64_t now_ns = t->change_ns;
        size_t n_left = 0;
        int r = spread(f, t);

        for (size_t i = 0; i < t->n_open; i++) {
                if (r == 0 && t->open[i].time->end_ns <= now_ns)
                        r = end_time(f, &t->open[i]);
                else
                        t->open[n_left++] = t->open[i];
        }
        t->n_open = n_left;
        for (; r == 0 && t->next < t->end && f->times->items[t->next].begin_ns <= now_ns; t->next++) {
                r = array_reserve(&t->open, &t->capacity, t->n_open + 1, sizeof(*t->open));
                if (r == 0)
                        t->open[t->n_open++] = (struct open_time){ .time = &f->times->items[t->next] };
        }
        t->change_ns = t->next < t->end ? f->times->items[t->next].begin_ns : UINT64_MAX;
        for (size_t i = 0; i < t->n_open; i++)
                if (t->open[i].time->end_ns < t->change_ns)
                        t->change_ns = t->open[i].time->end_ns;
        return r;
}

/* From @time_ns on the thread is in another zone. */
static int enter(const struct following *f, struct host_thread *t, uint64_t time_ns, uint32_t location)
{
        int r = 0;

        while (r == 0 && (t->n_open != 0 || t->next < t->end) && t->change_ns <= time_ns) {
                r = pass(f, t, t->change_ns);
                if (r == 0)
                        r = change(f, t);
        }
        if (r == 0)
                r = pass(f, t, time_ns);
        t->location = location;
        return r;
}

/* ------------------------------------------------------------------ the trace */

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "following what threads did: out of memory");
}

static int move(const struct following *f, uint32_t thread, uint64_t time_ns, uint32_t location,
                struct error *err)
{
        if (thread > f->n_threads || enter(f, &f->threads[thread - 1], time_ns, location) == 0)
                return 0;
        return no_memory(err);
}

static int take_begin(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        return move(context, thread->id, event->time_ns, (uint32_t)event->zone_begin.location, err);
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        uint32_t around = zone->depth != 0 ? thread->timeline.open[zone->depth - 1].location : 0;

        return move(context, thread->id, zone->end_ns, around, err);
}

static int compare_times(const void *left, const void *right)
{
        const struct host_time *a = left, *b = right;
        int r = order_numbers(a->thread, b->thread);

        if (r == 0)
                r = order_numbers(a->begin_ns, b->begin_ns);
        return r != 0 ? r : order_numbers(a->owner, b->owner);
}

static void give_times(struct following *f)
{
        for (size_t i = 0; i < f->times->n_items; i++) {
                const struct host_time *time = &f->times->items[i];
                struct host_thread *t = time->thread <= f->n_threads ? &f->threads[time->thread - 1] : NULL;

                if (!t)
                        continue;
                if (t->end == 0) {
                        t->next = i;
                        t->change_ns = time->begin_ns;
                }
                t->end = i + 1;
        }
}

static int follow(struct following *f, struct loaded_trace *trace, struct error *err)
{
        const struct trace_sink sink = { .context = f, .begin_zone = take_begin, .zone = take_zone };
        struct trace_walk walk;
        int r = trace_walk_init(&walk, trace, NULL, &sink);

        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        /* Times that no event of their thread followed end as well. */
        for (uint32_t i = 1; i <= f->n_threads && r == 0; i++)
                r = move(f, i, UINT64_MAX, 0, err);
        trace_walk_deinit(&walk);
        return r;
}

static void following_deinit(struct following *f)
{
        for (uint32_t i = 0; f->threads && i < f->n_threads; i++) {
                for (size_t k = 0; k < f->threads[i].n_open; k++)
                        free(f->threads[i].open[k].parts.items);
                free(f->threads[i].open);
                free(f->threads[i].recent.items);
        }
        free(f->threads);
}

int host_times_take(struct host_times *h, struct loaded_trace *trace, host_times_take_part *take,
                    void *context, struct error *err)
{
        struct following f = { .times = h, .take = take, .context = context };
        int r;

        if (h->n_items == 0)
                return 0;
        f.n_threads = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS);
        qsort(h->items, h->n_items, sizeof(*h->items), compare_times);
        f.threads = calloc((size_t)f.n_threads + 1, sizeof(*f.threads));
        if (f.threads)
                give_times(&f);
        r = f.threads ? follow(&f, trace, err) : no_memory(err);
        following_deinit(&f);
        return r;
}
