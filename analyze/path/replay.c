/* SPDX-License-Identifier: MIT */
#include "analyze/path/replay.h"

#include "analyze/path/past.h"
#include "analyze/path/past_timeouts.h"
#include "analyze/path/path_names.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Threads that leave a barrier are woken within this time. */
#define BARRIER_NS UINT64_C(1000000)
/* From the end of one thread on a CPU to the beginning of the next. */
#define SWITCH_NS UINT64_C(50000)

/* Moments of one time come in this order. */
enum moment_kind {
        MOMENT_SPLIT, /* the thread woke another one, or made it */
        MOMENT_MARK,
        MOMENT_OUT, /* off its CPU */
        MOMENT_BORN,
        MOMENT_WAKE,
        MOMENT_IN,
};

struct replay_moment {
        uint64_t time_ns;
        const struct past_wait *wait; /* of OUT, WAKE, IN */
        int64_t gain_ns;              /* of WAKE at a barrier: at most, if there is a ruler; private */
        uint32_t thread, kind;
        uint32_t other; /* of BORN: who made it; of WAKE at a barrier: who is the last one; else 0 */
        uint32_t lag_ns;
};

/* Events that a stretch begins and ends with; places are those of path_names.  Compared as bytes. */
enum bound_kind { BOUND_BEGIN, BOUND_WAKE, BOUND_MARK, BOUND_PREEMPTED, BOUND_WAIT /* + place */ };

void replay_init(struct replay *r, const struct past *past, struct path_names *names)
{
        *r = (struct replay){ .past = past, .names = names, .learns = true };
        replay_kinds_init(&r->kinds);
}

static void clear(struct replay *r)
{
        for (uint32_t i = 0; i < r->n_threads; i++)
                free(r->threads[i].points);
        free(r->threads);
        free(r->marks);
        free(r->moments);
}

void replay_deinit(struct replay *r)
{
        clear(r);
        replay_kinds_deinit(&r->kinds);
        *r = (struct replay){ .threads = NULL };
}

void replay_begin(struct replay *r)
{
        clear(r);
        *r = (struct replay){ .past = r->past, .names = r->names, .kinds = r->kinds };
}

static struct replay_thread *thread_of(const struct replay *r, uint32_t thread)
{
        return &r->threads[thread - 1];
}

int replay_mark(struct replay *r, uint32_t thread, uint64_t time_ns)
{
        if (array_reserve(&r->marks, &r->marks_capacity, r->n_marks + 1, sizeof(*r->marks)) < 0)
                return -ENOMEM;
        r->marks[r->n_marks++] = (struct replay_mark){ .time_ns = time_ns, .thread = thread };
        return 0;
}

/* ------------------------------------------------------------------ moments */

static int add_moment(struct replay *r, uint64_t time_ns, uint32_t thread, enum moment_kind kind,
                      const struct past_wait *wait, uint32_t other)
{
        if (array_reserve(&r->moments, &r->moments_capacity, r->n_moments + 1, sizeof(*r->moments)) < 0)
                return -ENOMEM;
        r->moments[r->n_moments++] = (struct replay_moment){
                .time_ns = time_ns, .wait = wait, .thread = thread, .kind = kind, .other = other
        };
        return 0;
}

static bool is_now(const struct replay *r, uint64_t time_ns, uint64_t until_ns)
{
        return time_ns >= r->done_ns && time_ns < until_ns;
}

static int add_wait(struct replay *r, uint32_t thread, const struct past_wait *wait, uint64_t until_ns)
{
        int e = 0;

        if (is_now(r, wait->out_ns, until_ns))
                e = add_moment(r, wait->out_ns, thread, MOMENT_OUT, wait, 0);
        if (e == 0 && !wait->preempted && is_now(r, wait->woken_ns, until_ns)) {
                e = add_moment(r, wait->woken_ns, thread, MOMENT_WAKE, wait, 0);
                if (e == 0 && wait->by != 0 && wait->by != thread && wait->by <= r->n_threads)
                        e = add_moment(r, wait->woken_ns, wait->by, MOMENT_SPLIT, NULL, 0);
        }
        if (e == 0 && is_now(r, wait->in_ns, until_ns))
                e = add_moment(r, wait->in_ns, thread, MOMENT_IN, wait, 0);
        return e;
}

static int add_thread(struct replay *r, uint32_t thread, uint64_t until_ns)
{
        const struct past_thread *t = past_of(r->past, thread);
        size_t i = past_waits_before(t, r->done_ns);
        uint32_t creator;
        int e = 0;

        if (t->born_ns != 0 && is_now(r, t->born_ns, until_ns)) {
                creator = past_creator(r->past, thread);
                if (creator != 0 && creator != thread && creator <= r->n_threads) {
                        e = add_moment(r, t->born_ns, creator, MOMENT_SPLIT, NULL, 0);
                        if (e == 0)
                                e = add_moment(r, t->born_ns, thread, MOMENT_BORN, NULL, creator);
                }
        }
        for (i -= i > t->waits.first; i < t->waits.n && past_waits(t)[i].out_ns < until_ns && e == 0; i++)
                e = add_wait(r, thread, &past_waits(t)[i], until_ns);
        return e;
}

static int compare_moments(const void *a, const void *b)
{
        const struct replay_moment *left = a, *right = b;

        if (left->time_ns != right->time_ns)
                return left->time_ns < right->time_ns ? -1 : 1;
        if (left->kind != right->kind)
                return left->kind < right->kind ? -1 : 1;
        return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static int add_marks(struct replay *r, uint64_t until_ns)
{
        size_t n = 0;
        int e = 0;

        for (size_t i = 0; i < r->n_marks && e == 0; i++)
                if (is_now(r, r->marks[i].time_ns, until_ns) && r->marks[i].thread <= r->n_threads)
                        e = add_moment(r, r->marks[i].time_ns, r->marks[i].thread, MOMENT_MARK, NULL, 0);
                else if (r->marks[i].time_ns >= until_ns)
                        r->marks[n++] = r->marks[i];
        r->n_marks = n;
        return e;
}

static int find_moments(struct replay *r, uint64_t until_ns)
{
        int e = add_marks(r, until_ns);

        for (uint32_t thread = 1; thread <= r->n_threads && e == 0; thread++)
                e = add_thread(r, thread, until_ns);
        if (e == 0 && r->n_moments > 1)
                qsort(r->moments, r->n_moments, sizeof(*r->moments), compare_moments);
        return e;
}

/* ------------------------------------------------------------------ stretches */

static int add_point(struct replay *r, struct replay_thread *t, const struct replay_point *point)
{
        const struct replay_point *before = t->n > t->first ? &t->points[t->n - 1] : NULL;

        if (r->learns || (before && before->time_ns > point->time_ns) ||
            (before && point->by == 0 && before->time_ns == point->time_ns &&
             before->gain_ns == point->gain_ns))
                return 0;
        if (t->first > t->n / 2 && t->n == t->capacity) {
                memmove(t->points, t->points + t->first, (t->n - t->first) * sizeof(*t->points));
                t->n -= t->first;
                t->first = 0;
        }
        if (array_reserve(&t->points, &t->capacity, t->n + 1, sizeof(*t->points)) < 0)
                return -ENOMEM;
        t->points[t->n++] = *point;
        r->n_points++;
        return 0;
}

/* Counts what the thread ran until now. */
static void count(const struct replay *r, uint32_t thread, uint64_t time_ns)
{
        struct replay_thread *t = thread_of(r, thread);
        const struct past_sample *samples;
        size_t n;

        if (!t->runs || time_ns <= t->since_ns)
                return;
        n = past_samples(past_of(r->past, thread), t->since_ns, time_ns, &samples);
        for (size_t i = 0; i < n; i++)
                replay_counts_add(&t->counts, path_names_saved(r->names, samples[i].stack),
                                  (double)samples[i].weight);
        t->ran_ns += time_ns - t->since_ns;
        t->since_ns = time_ns;
}

/* The stretch of a thread ends, and the next one begins. */
static int end_stretch(struct replay *r, uint32_t thread, uint64_t time_ns, uint32_t end, uint32_t begin)
{
        struct replay_thread *t = thread_of(r, thread);
        const struct replay_kind_key kind = { .group = path_names_group(r->names, thread),
                                              .begin = t->begin,
                                              .end = end };
        struct replay_point point = { .time_ns = time_ns };
        int e = 0;

        count(r, thread, time_ns);
        if (t->ran_ns != 0 && r->learns)
                e = replay_kinds_learn(&r->kinds, &kind, &t->counts);
        else if (t->ran_ns != 0)
                t->gain_ns += (int64_t)(replay_kinds_share(&r->kinds, &kind, &t->counts) * (double)t->ran_ns);
        t->counts = (struct replay_counts){ .n = 0 };
        t->ran_ns = 0;
        t->begin = begin;
        point.gain_ns = t->gain_ns;
        return e == 0 ? add_point(r, t, &point) : e;
}

static int find_bound(struct replay *r, const struct past_wait *wait, uint32_t *ret_bound)
{
        uint32_t place = 0;
        int e = wait->preempted ? 0 : path_names_place(r->names, wait->stack, &place);

        *ret_bound = wait->preempted ? BOUND_PREEMPTED : BOUND_WAIT + place;
        return e;
}

/* ------------------------------------------------------------------ waits */

/*
 * As end_stretch(); a fiber has the samples, and the gain, of the thread that runs it.  How it ends does not
 * matter there.
 */
static int end_any_stretch(struct replay *r, uint32_t thread, uint64_t time_ns, uint32_t end, uint32_t begin)
{
        struct replay_thread *t = thread_of(r, thread);
        struct replay_point point = { .time_ns = time_ns };
        int e;

        if (!past_of(r->past, thread)->is_fiber)
                return end_stretch(r, thread, time_ns, end, begin);
        if (!t->runs || t->carrier == 0)
                return 0;
        e = end_stretch(r, t->carrier, time_ns, BOUND_WAKE, BOUND_WAKE);
        t->gain_ns = point.gain_ns = thread_of(r, t->carrier)->gain_ns;
        return e == 0 ? add_point(r, t, &point) : e;
}

static int go_out(struct replay *r, const struct replay_moment *m)
{
        struct replay_thread *t = thread_of(r, m->thread);
        struct replay_point point = { .time_ns = m->time_ns };
        uint32_t bound;
        int e;

        e = find_bound(r, m->wait, &bound);
        if (e == 0)
                e = end_any_stretch(r, m->thread, m->time_ns, bound, bound);
        t->runs = false;
        t->since_ns = m->time_ns;
        point.gain_ns = t->gain_ns;
        return e == 0 ? add_point(r, t, &point) : e;
}

/* So much a thread that was woken at @time_ns can gain: then its wait takes no time. */
static int64_t most_gain(const struct replay *r, const struct replay_moment *m, uint64_t time_ns)
{
        const struct past_wait *first = past_first_timeout(r->past, r->names, m->thread, m->wait);

        return thread_of(r, m->thread)->gain_ns + (int64_t)(time_ns - first->out_ns);
}

/* The thread came to nothing between @begin_ns and @end_ns: it is there no later than at the end. */
static void skip_timeouts(const struct replay *r, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        struct replay_thread *t = thread_of(r, thread);
        int64_t new_ns = (int64_t)end_ns - t->gain_ns;

        for (size_t i = t->n; i > t->first && t->points[i - 1].time_ns > begin_ns; i--) {
                struct replay_point *point = &t->points[i - 1];

                if ((int64_t)point->time_ns - point->gain_ns > new_ns)
                        point->gain_ns = (int64_t)point->time_ns - new_ns;
        }
}

static bool is_at_barrier(struct replay *r, const struct past_wait *wait)
{
        uint32_t place;

        return wait->stack != 0 && path_names_place(r->names, wait->stack, &place) == 0 &&
               path_names_get(r->names, place)->meets != 0;
}

/* The next thread that leaves the barrier with that of @first; NULL = there is none. */
static struct replay_moment *next_at_barrier(struct replay *r, struct replay_moment *first,
                                             struct replay_moment *m)
{
        struct replay_moment *end = r->moments + r->n_moments;
        uint32_t waker = first->wait->by;

        for (m++; m < end && m->time_ns <= first->time_ns + BARRIER_NS; m++) {
                if (m->thread == waker && m->kind == MOMENT_OUT)
                        return NULL;
                if (m->kind == MOMENT_WAKE && m->thread != first->thread && m->wait->by == waker &&
                    is_at_barrier(r, m->wait))
                        return m;
        }
        return NULL;
}

/* Finds the last one of the threads that leave a barrier together and of the one that wakes them. */
static int meet(struct replay *r, struct replay_moment *first)
{
        uint32_t waker = first->wait->by, last = waker;
        struct replay_thread *w = thread_of(r, waker);
        struct replay_point jump = { .time_ns = first->time_ns, .is_jump = 1 };
        int64_t gain_ns = w->gain_ns;
        uint64_t last_ns = first->time_ns;

        for (struct replay_moment *m = first; m; m = next_at_barrier(r, first, m))
                if (most_gain(r, m, first->time_ns) < gain_ns) {
                        gain_ns = most_gain(r, m, first->time_ns);
                        last = m->thread;
                        last_ns = m->wait->out_ns;
                }
        for (struct replay_moment *m = first; m; m = next_at_barrier(r, first, m)) {
                uint64_t lag_ns = m->time_ns > last_ns ? m->time_ns - last_ns : 0;

                m->other = last;
                m->gain_ns = gain_ns + (int64_t)(m->time_ns - first->time_ns);
                m->lag_ns = lag_ns < UINT32_MAX ? (uint32_t)lag_ns : UINT32_MAX;
        }
        if (last == waker)
                return 0;
        jump.gain_ns = w->gain_ns;
        if (add_point(r, w, &(struct replay_point){ .time_ns = jump.time_ns, .gain_ns = jump.gain_ns }) < 0)
                return -ENOMEM;
        w->gain_ns = gain_ns;
        jump.gain_ns = gain_ns;
        jump.by = last & INT32_MAX;
        jump.lag_ns = first->lag_ns;
        return add_point(r, w, &jump);
}

static int wake(struct replay *r, struct replay_moment *m)
{
        struct replay_thread *t = thread_of(r, m->thread);
        struct replay_point point = { .time_ns = m->time_ns };
        uint32_t by = m->wait->by;
        int64_t own_ns = most_gain(r, m, m->time_ns);
        int e = 0;

        if (by == m->thread || by > r->n_threads)
                by = 0;
        if (past_of(r->past, m->thread)->is_fiber)
                t->carrier = by;
        if (r->learns)
                return 0;
        if (by != 0 && m->other == 0 && is_at_barrier(r, m->wait))
                e = meet(r, m);
        if (by != 0 && m->other != 0) {
                t->gain_ns = m->gain_ns;
                by = m->other;
                point.lag_ns = m->lag_ns;
        } else if (by != 0) {
                t->gain_ns = thread_of(r, by)->gain_ns;
        }
        t->passes = by == m->thread || (by != 0 && t->gain_ns >= own_ns);
        if (t->passes) {
                t->gain_ns = own_ns;
                by = m->thread;
                point.lag_ns = 0;
        }
        if (by != 0)
                skip_timeouts(r, m->thread, past_first_timeout(r->past, r->names, m->thread, m->wait)->out_ns,
                              m->time_ns);
        point.gain_ns = t->gain_ns;
        point.by = by & INT32_MAX;
        return e == 0 ? add_point(r, t, &point) : e;
}

/* The thread that had the CPU until @wait ended, and its gain then; 0 = no recorded one. */
static uint32_t find_owner(const struct replay *r, uint32_t thread, const struct past_wait *wait)
{
        uint64_t ready_ns = wait->preempted ? wait->out_ns : wait->woken_ns;
        struct past_owners owners = past_owners_of(r->past, wait->in_cpu, ready_ns, wait->in_ns);
        struct past_span owner, last = { .id = 0 };

        while (past_owners_next(&owners, &owner))
                last = owner;
        return last.id != 0 && last.id != thread && last.id <= r->n_threads &&
                               last.end_ns + SWITCH_NS >= wait->in_ns
                       ? last.id
                       : 0;
}

/*
 * The thread gets a CPU.  One that did not wait needed none; one that waited for the CPU of another thread
 * has it when that is done.
 */
static int go_in(struct replay *r, const struct replay_moment *m)
{
        struct replay_thread *t = thread_of(r, m->thread);
        struct replay_point point = { .time_ns = m->time_ns };
        uint64_t ready_ns = m->wait->preempted ? m->wait->out_ns : m->wait->woken_ns;
        int64_t most_ns = t->gain_ns + (int64_t)(m->time_ns - ready_ns), gain_ns = most_ns;
        uint32_t owner;

        t->runs = true;
        t->since_ns = m->time_ns;
        if (r->learns || m->time_ns <= ready_ns)
                return 0;
        if (!t->passes) {
                owner = find_owner(r, m->thread, m->wait);
                gain_ns = owner != 0 ? thread_of(r, owner)->gain_ns : 0;
        }
        t->passes = false;
        point.gain_ns = t->gain_ns;
        if (gain_ns <= t->gain_ns)
                return add_point(r, t, &point);
        t->gain_ns = point.gain_ns = gain_ns < most_ns ? gain_ns : most_ns;
        return add_point(r, t, &point);
}

static int be_born(struct replay *r, const struct replay_moment *m)
{
        struct replay_thread *t = thread_of(r, m->thread);
        const struct replay_point point = { .time_ns = m->time_ns,
                                            .gain_ns = thread_of(r, m->other)->gain_ns };

        t->gain_ns = point.gain_ns;
        t->since_ns = m->time_ns;
        return add_point(r, t, &point);
}

static int take(struct replay *r, struct replay_moment *m)
{
        switch ((enum moment_kind)m->kind) {
        case MOMENT_SPLIT:
                return end_any_stretch(r, m->thread, m->time_ns, BOUND_WAKE, BOUND_WAKE);
        case MOMENT_MARK:
                return end_any_stretch(r, m->thread, m->time_ns, BOUND_MARK, BOUND_MARK);
        case MOMENT_OUT:
                return go_out(r, m);
        case MOMENT_WAKE:
                return wake(r, m);
        case MOMENT_IN:
                return go_in(r, m);
        case MOMENT_BORN:
                return be_born(r, m);
        }
        return 0;
}

/* ------------------------------------------------------------------ going on */

static int reach_threads(struct replay *r)
{
        uint32_t id = r->n_threads + 1;

        if (r->n_threads < r->past->n_threads && array_reach(&r->threads, &r->threads_capacity, &r->n_threads,
                                                             r->past->n_threads, sizeof(*r->threads)) < 0)
                return -ENOMEM;
        for (; id <= r->n_threads; id++) {
                const struct past_thread *t = past_of(r->past, id);

                thread_of(r, id)->runs = true;
                thread_of(r, id)->since_ns = t->born_ns != 0 ? t->born_ns : r->past->trace->start_ns;
        }
        return 0;
}

/* Where there are too many points, each thread forgets the older half of its own. */
static void limit_points(struct replay *r)
{
        if (r->n_points <= REPLAY_POINTS_MAX)
                return;
        r->n_points = 0;
        for (uint32_t i = 0; i < r->n_threads; i++) {
                struct replay_thread *t = &r->threads[i];

                t->first += (t->n - t->first) / 2;
                r->n_points += t->n - t->first;
        }
}

int replay_advance(struct replay *r, uint64_t until_ns)
{
        int e = reach_threads(r);

        if (e < 0 || until_ns <= r->done_ns)
                return e;
        r->n_moments = 0;
        e = find_moments(r, until_ns);
        for (size_t i = 0; i < r->n_moments && e == 0; i++)
                e = take(r, &r->moments[i]);
        for (uint32_t thread = 1; thread <= r->n_threads && e == 0; thread++)
                count(r, thread, until_ns < r->past->latest_ns ? until_ns : r->past->latest_ns);
        r->done_ns = until_ns;
        limit_points(r);
        return e;
}

void replay_forget(struct replay *r, uint64_t time_ns)
{
        r->n_points = 0;
        for (uint32_t i = 0; i < r->n_threads; i++) {
                struct replay_thread *t = &r->threads[i];

                while (t->first + 1 < t->n && t->points[t->first + 1].time_ns < time_ns)
                        t->first++;
                r->n_points += t->n - t->first;
        }
}
