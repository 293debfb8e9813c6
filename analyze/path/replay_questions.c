/* SPDX-License-Identifier: MIT */
/* Answers about replayed times: between two points of a thread its gain changes evenly. */
#include "analyze/path/past.h"
#include "analyze/path/replay.h"
#include "base/array.h"

/* How many of the points, counted from points[0], have a time before @time_ns. */
static size_t points_before(const struct replay_thread *t, uint64_t time_ns)
{
        if (time_ns == 0 || t->n == t->first)
                return t->first;
        return t->first + array_count_to(t->points + t->first, t->n - t->first, sizeof(*t->points),
                                         offsetof(struct replay_point, time_ns), time_ns - 1);
}

/* Between the points @i - 1 and @i. */
static int64_t gain_between(const struct replay_thread *t, size_t i, uint64_t time_ns)
{
        const struct replay_point *a, *b;

        if (t->n == t->first)
                return 0;
        if (i == t->first)
                return t->points[i].gain_ns;
        if (i == t->n)
                return t->points[i - 1].gain_ns;
        a = &t->points[i - 1];
        b = &t->points[i];
        if (b->time_ns == a->time_ns)
                return a->gain_ns;
        return a->gain_ns + (int64_t)((double)(b->gain_ns - a->gain_ns) * (double)(time_ns - a->time_ns) /
                                      (double)(b->time_ns - a->time_ns));
}

int64_t replay_gain_before(const struct replay *r, uint32_t thread, uint64_t time_ns)
{
        const struct replay_thread *t = &r->threads[thread - 1];
        size_t i = points_before(t, time_ns);

        if (i < t->n && t->points[i].time_ns == time_ns)
                return t->points[i].gain_ns;
        return gain_between(t, i, time_ns);
}

int64_t replay_gain_after(const struct replay *r, uint32_t thread, uint64_t time_ns)
{
        const struct replay_thread *t = &r->threads[thread - 1];

        return gain_between(t, points_before(t, time_ns + 1), time_ns);
}

int64_t replay_gain_of_run(const struct replay *r, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        const struct replay_thread *t = &r->threads[thread - 1];
        int64_t gain_ns = replay_gain_before(r, thread, end_ns) - replay_gain_after(r, thread, begin_ns);

        for (size_t i = points_before(t, end_ns); i > t->first + 1 && t->points[i - 1].time_ns > begin_ns;
             i--)
                if (t->points[i - 1].is_jump)
                        gain_ns += t->points[i - 2].gain_ns - t->points[i - 1].gain_ns;
        return gain_ns;
}

static uint64_t new_time(const struct replay_point *p)
{
        return p->time_ns - (uint64_t)p->gain_ns;
}

uint64_t replay_same_time(const struct replay *r, uint32_t thread, uint64_t time_ns, uint32_t other)
{
        const struct replay_thread *t = &r->threads[other - 1];
        uint64_t new_ns = time_ns - (uint64_t)replay_gain_before(r, thread, time_ns);
        size_t low = t->first, high = t->n;
        const struct replay_point *a;
        int64_t rest_ns, all_ns;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if ((int64_t)(new_time(&t->points[middle]) - new_ns) <= 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == t->first)
                return t->n == low ? new_ns : new_ns + (uint64_t)t->points[low].gain_ns;
        a = &t->points[low - 1];
        rest_ns = (int64_t)(new_ns - new_time(a));
        if (low == t->n)
                return a->time_ns + (uint64_t)rest_ns;
        all_ns = (int64_t)(new_time(&a[1]) - new_time(a));
        if (all_ns <= 0 || rest_ns <= 0)
                return a->time_ns;
        return a->time_ns +
               (uint64_t)((double)rest_ns * (double)(a[1].time_ns - a->time_ns) / (double)all_ns);
}

const struct replay_point *replay_wait_end(const struct replay *r, uint32_t thread,
                                           const struct past_wait *wait)
{
        const struct replay_thread *t = &r->threads[thread - 1];
        size_t i = points_before(t, wait->woken_ns + 1);

        return i > t->first && t->points[i - 1].time_ns == wait->woken_ns ? &t->points[i - 1] : NULL;
}

const struct replay_point *replay_jump(const struct replay *r, uint32_t thread, uint64_t begin_ns,
                                       uint64_t end_ns)
{
        const struct replay_thread *t = &r->threads[thread - 1];

        for (size_t i = points_before(t, end_ns); i > t->first && t->points[i - 1].time_ns > begin_ns; i--)
                if (t->points[i - 1].is_jump)
                        return &t->points[i - 1];
        return NULL;
}
