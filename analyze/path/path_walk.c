/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_walk.h"

#include "analyze/devices/device_works.h"
#include "analyze/path/lateness.h"
#include "analyze/path/past.h"
#include "analyze/path/past_timeouts.h"
#include "analyze/path/path_devices.h"
#include "analyze/path/path_names.h"
#include "analyze/path/replay.h"
#include "format/trace_spec.h"

#include <errno.h>

/* A thread's time that is being followed, backwards to `from_ns`. */
struct stretch {
        uint32_t thread;
        uint32_t fiber; /* that the thread runs; 0 = none */
        uint32_t depth, chain;
        uint32_t level; /* of recursion */
        bool is_other;  /* not the first thread: the path stays at what ended its last wait */
        uint64_t from_ns;
        /* who waited for it from when on, if the path stayed; thread 0 = the first thread, or no one */
        struct {
                uint32_t thread, depth, chain;
                uint64_t from_ns;
        } waiter;
        uint64_t acted_ns; /* when it woke another thread, so that it cannot have waited; 0 = not known */
};

void path_walk_init(struct path_walk *w, const struct past *past, path_walk_take *take, void *context)
{
        *w = (struct path_walk){
                .past = past, .take = take, .context = context, .n_segments_max = PATH_WALK_SEGMENTS_MAX
        };
        intern_init(&w->chains, sizeof(struct path_link), PATH_WALK_CHAINS_MAX);
}

void path_walk_deinit(struct path_walk *w)
{
        intern_deinit(&w->chains);
}

/* ------------------------------------------------------------------ segments */

static int emit(struct path_walk *w, const struct stretch *s, enum path_kind kind, uint64_t begin_ns,
                uint64_t end_ns, const struct past_wait *wait)
{
        const struct path_segment segment = { .begin_ns = begin_ns,
                                              .end_ns = end_ns,
                                              .thread = s->fiber != 0 ? s->fiber : s->thread,
                                              .on = s->thread,
                                              .depth = s->depth,
                                              .chain = s->chain,
                                              .kind = kind,
                                              .wait = wait };

        if (end_ns <= begin_ns)
                return 0;
        return w->take(w->context, &segment);
}

/* @n: counts the reason */
static int emit_cut(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t end_ns,
                    uint64_t *n)
{
        *n += end_ns > begin_ns;
        return emit(w, s, PATH_CUT, begin_ns, end_ns, NULL);
}

/* The thread ran; where it ran fibers, they are named instead. */
static int emit_fibers(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t end_ns)
{
        const struct past_list *fibers = &past_of(w->past, s->thread)->fibers;
        const struct past_span *spans = fibers->items;
        size_t from, i = past_spans(fibers, begin_ns, end_ns, &from);
        struct stretch of_fiber = *s;
        int r = 0;

        for (; i > from && r == 0 && w->n_steps++ < w->n_segments_max; i--) {
                uint64_t a = spans[i - 1].begin_ns > begin_ns ? spans[i - 1].begin_ns : begin_ns;
                uint64_t b = spans[i - 1].end_ns < end_ns ? spans[i - 1].end_ns : end_ns;

                if (b <= a)
                        continue;
                r = emit(w, s, PATH_RUN, b, end_ns, NULL);
                of_fiber.fiber = spans[i - 1].id;
                if (r == 0)
                        r = emit(w, &of_fiber, PATH_RUN, a, b, NULL);
                end_ns = a;
        }
        return r == 0 ? emit(w, s, PATH_RUN, begin_ns, end_ns, NULL) : r;
}

static int emit_run(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t end_ns)
{
        uint64_t late_ns = s->thread == w->late.thread ? w->late.until_ns : begin_ns;
        int r;

        if (late_ns <= begin_ns)
                return emit_fibers(w, s, begin_ns, end_ns);
        if (late_ns > end_ns)
                late_ns = end_ns;
        r = emit_fibers(w, s, late_ns, end_ns);
        return r == 0 ? emit(w, s, PATH_LATE, begin_ns, late_ns, NULL) : r;
}

/*
 * Where the chain has been at @thread before, it is that shorter chain again: threads that wake each other in
 * turns, as those of a pipe do.
 */
static bool find_in_chain(const struct path_walk *w, const struct stretch *s, struct stretch *next)
{
        uint32_t depth = s->depth;

        for (const struct path_link *link = path_walk_link(w, s->chain); link; depth--) {
                if (link->thread == next->thread) {
                        next->chain = link->parent;
                        next->depth = depth - 1;
                        return true;
                }
                link = path_walk_link(w, link->parent);
        }
        return false;
}

/* The chain to a thread that @s waits for.  Where there is no room for more, it does not grow. */
static int add_link(struct path_walk *w, const struct stretch *s, uint32_t stack, enum path_how how,
                    struct stretch *next)
{
        const struct path_link link = { .parent = s->chain, .thread = s->thread, .stack = stack, .how = how };
        int r = -EOVERFLOW;

        next->chain = s->chain;
        next->depth = s->depth;
        if (next->thread == s->thread || find_in_chain(w, s, next))
                return 0;
        if (s->depth < PATH_WALK_DEPTH_MAX)
                r = intern_add(&w->chains, &link, sizeof(link), &next->chain);
        if (r >= 0)
                next->depth++;
        else if (r == -EOVERFLOW)
                w->n_chains_cut++;
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

/* ------------------------------------------------------------------ whom a wait is for */

static int walk(struct path_walk *w, struct stretch s, uint64_t end_ns);

/* NOLINTBEGIN(misc-no-recursion,readability-function-size): at most PATH_WALK_LEVELS_MAX deep */

/* The stretch of a thread that @s waited for, back to where @s is at @from_ns. */
static int make_next(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                     uint32_t thread, enum path_how how, uint64_t from_ns, struct stretch *ret)
{
        if (w->replay)
                from_ns = replay_same_time(w->replay, s->thread, from_ns, thread);
        *ret = (struct stretch){
                .thread = thread, .level = s->level + 1, .is_other = true, .from_ns = from_ns
        };
        return add_link(w, s, wait ? wait->stack : 0, how, ret);
}

/* Goes on at another thread, from @end_ns back to where @s is at @from_ns, and returns. */
static int go_to(struct path_walk *w, const struct stretch *s, const struct past_wait *wait, uint32_t thread,
                 enum path_how how, uint64_t from_ns, uint64_t end_ns)
{
        struct stretch next;
        int r;

        if (s->level >= PATH_WALK_LEVELS_MAX)
                return emit_cut(w, s, from_ns, end_ns, &w->n_too_deep);
        r = make_next(w, s, wait, thread, how, from_ns, &next);
        if (wait && wait->by == thread && wait->woken_ns == end_ns)
                next.acted_ns = end_ns;
        return r < 0 ? r : walk(w, next, end_ns);
}

static int follow(struct path_walk *w, const struct stretch *s, const struct past_wait *wait, uint32_t thread,
                  enum path_how how, uint64_t from_ns, uint64_t end_ns)
{
        return end_ns > from_ns ? go_to(w, s, wait, thread, how, from_ns, end_ns) : 0;
}

/* Goes on at another thread, and does not return: the caller does so, with @next. */
static int stay(struct path_walk *w, const struct stretch *s, const struct past_wait *wait, uint32_t thread,
                enum path_how how, struct stretch *next)
{
        int r = make_next(w, s, wait, thread, how, s->from_ns, next);

        next->level = s->level;
        return r;
}

/* For which lock the thread waited when a wait ended; NULL = none. */
static const struct past_span *find_asked(const struct path_walk *w, const struct stretch *s, uint64_t end_ns)
{
        const struct past_span *asked = past_lock_wait(past_of(w->past, s->thread), end_ns);

        return asked && asked->begin_ns < end_ns ? asked : NULL;
}

/* The part of [*a_ns, *b_ns) in which another thread held the lock.  Returns whether there is any. */
static bool clip(const struct past_span *hold, uint32_t thread, uint64_t *a_ns, uint64_t *b_ns)
{
        if (hold->begin_ns > *a_ns)
                *a_ns = hold->begin_ns;
        if (hold->end_ns < *b_ns)
                *b_ns = hold->end_ns;
        return hold->id != thread && *b_ns > *a_ns;
}

/* A wait for a lock that was held. */
struct lock_wait {
        const struct past_span *holds;
        size_t first, end; /* the first one overlaps the wait, others may have ended before */
        uint64_t from_ns, end_ns;
};

/* Finds who held the lock that was asked for, NULL = none was.  Returns whether another thread did. */
static bool find_holders(const struct path_walk *w, const struct stretch *s, const struct past_span *asked,
                         uint64_t from_ns, uint64_t end_ns, struct lock_wait *ret)
{
        const struct past_list *holds = asked ? &w->past->holds[asked->id - 1] : NULL;

        if (!holds)
                return false;
        *ret = (struct lock_wait){ .holds = past_list_spans(holds), .from_ns = from_ns, .end_ns = end_ns };
        ret->end = past_spans(holds, from_ns, end_ns, &ret->first);
        for (; ret->first < ret->end; ret->first++) {
                uint64_t a = from_ns, b = end_ns;

                if (clip(&ret->holds[ret->first], s->thread, &a, &b))
                        return true;
        }
        return false;
}

/* Whether the path stays at what ended the thread's last wait. */
static bool stays(const struct path_walk *w, const struct stretch *s)
{
        return s->is_other || w->is_strict;
}

/* No thread is known to have held the lock.  @wait: NULL = the thread ran meanwhile */
static int emit_unheld(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t end_ns,
                       const struct past_wait *wait)
{
        return wait ? emit(w, s, PATH_LOCK, begin_ns, end_ns, wait) : emit_run(w, s, begin_ns, end_ns);
}

/*
 * Goes on at each holder of the lock in its part, and stays at the first of them, if it stays.
 * @wait:    NULL = the thread ran meanwhile: then it does not stay
 * @end_ns:  then from there on
 */
static int follow_holders(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                          const struct lock_wait *lock, uint64_t *end_ns, struct stretch *next)
{
        uint64_t left_ns = lock->end_ns; /* the wait before this time is left */
        int r = 0;

        for (size_t i = lock->end; i > lock->first && r == 0 && left_ns > lock->from_ns; i--) {
                const struct past_span *hold = &lock->holds[i - 1];
                uint64_t a = lock->from_ns, b = left_ns;

                if (!clip(hold, s->thread, &a, &b))
                        continue;
                if (w->n_steps++ >= w->n_segments_max)
                        return emit_cut(w, s, lock->from_ns, left_ns, &w->n_too_many);
                if (wait && left_ns == lock->end_ns && hold->id == wait->by)
                        b = left_ns; /* it released the lock a moment before it woke the thread */
                r = emit_unheld(w, s, b, left_ns, wait);
                left_ns = a;
                if (r == 0 && wait && stays(w, s) && (a == lock->from_ns || i - 1 == lock->first)) {
                        *end_ns = b;
                        return stay(w, s, wait, hold->id, PATH_HOW_LOCK, next);
                }
                if (r == 0)
                        r = follow(w, s, wait, hold->id, PATH_HOW_LOCK, a, b);
        }
        return r == 0 ? emit_unheld(w, s, lock->from_ns, left_ns, wait) : r;
}

/* Whether a recorded thread ended the wait. */
static bool has_waker(const struct stretch *s, const struct past_wait *wait)
{
        return wait->by != 0 && wait->by != s->thread;
}

static enum path_how how_woken(const struct past_wait *wait)
{
        if (wait->is_lock)
                return PATH_HOW_LOCK;
        return wait->is_sent ? PATH_HOW_SENT : wait->is_flow ? PATH_HOW_FLOW : PATH_HOW_WOKEN;
}

/*
 * Whether the thread slept until its own timer, and that was over before another one began to wait for it.
 * The other one was delayed by what the thread did then, perhaps with a lock, and not by its sleep.
 */
static bool slept_before(const struct stretch *s, const struct past_wait *wait)
{
        return wait->end == WAIT_END_TIMER && s->waiter.thread != 0 && wait->woken_ns <= s->waiter.from_ns;
}

/* The path goes on at the thread that waited for @s, where it did other things. */
static int return_to_waiter(const struct stretch *s, struct stretch *next)
{
        *next = (struct stretch){ .thread = s->waiter.thread,
                                  .depth = s->waiter.depth,
                                  .chain = s->waiter.chain,
                                  .level = s->level,
                                  .is_other = true,
                                  .from_ns = s->from_ns };
        return 0;
}

/*
 * The thread waited in [@from_ns, *@end_ns).
 * @next:  where the path stays, if it does: the caller goes on there, from *@end_ns on; else its thread is 0
 */
static int follow_wait(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                       uint64_t from_ns, uint64_t *end_ns, struct stretch *next)
{
        struct lock_wait lock;
        int r;

        next->thread = 0;
        if (*end_ns <= from_ns)
                return 0;
        /* it woke another thread in the middle of its wait: times of two CPUs, or of late records */
        if (s->acted_ns == *end_ns && wait->woken_ns > *end_ns)
                return emit(w, s, PATH_WAIT, from_ns, *end_ns, wait);
        if (find_holders(w, s, find_asked(w, s, *end_ns), from_ns, *end_ns, &lock))
                return follow_holders(w, s, wait, &lock, end_ns, next);
        if (!has_waker(s, wait) && slept_before(s, wait))
                return return_to_waiter(s, next);
        if (!has_waker(s, wait))
                return emit(w, s, PATH_WAIT, from_ns, *end_ns, wait);
        if (!stays(w, s)) {
                w->late.thread = wait->by;
                w->late.until_ns = lateness_until(w->past, s->thread, wait->by, s->from_ns, from_ns, *end_ns);
                r = follow(w, s, wait, wait->by, how_woken(wait), from_ns, *end_ns);
                w->late.thread = 0;
                return r;
        }
        r = stay(w, s, wait, wait->by, how_woken(wait), next);
        next->acted_ns = wait->woken_ns == *end_ns ? *end_ns : 0;
        next->waiter.thread = s->thread;
        next->waiter.depth = s->depth;
        next->waiter.chain = s->chain;
        next->waiter.from_ns = from_ns;
        return r;
}

/* ------------------------------------------------------------------ devices */

/* How sure the places of works are that far; see path.c. */
static void count_vague(struct path_walk *w, const struct device_work *work, uint64_t ns)
{
        if (device_works_bound_ns(w->works, work) > DEVICE_WORKS_LATE_NS)
                w->vague_ns += ns;
}

static int emit_work(struct path_walk *w, const struct stretch *s, enum path_kind kind, uint64_t begin_ns,
                     uint64_t end_ns, const struct path_device_wait *wait, const struct device_work *work)
{
        const struct path_segment segment = { .begin_ns = begin_ns,
                                              .end_ns = end_ns,
                                              .thread = s->thread,
                                              .on = s->thread,
                                              .depth = s->depth,
                                              .chain = s->chain,
                                              .kind = kind,
                                              .wait = wait->wait,
                                              .work = work,
                                              .asked = wait->work };

        if (end_ns <= begin_ns)
                return 0;
        count_vague(w, work, end_ns - begin_ns);
        return w->take(w->context, &segment);
}

/* Hands over the works of the lane in [@from_ns, @end_ns): others came first, and then this one. */
static int walk_lane(struct path_walk *w, const struct stretch *s, const struct path_device_wait *wait,
                     uint64_t from_ns, uint64_t end_ns)
{
        const struct device_work *work = device_works_before(w->works, wait->work, end_ns);
        int r = 0;

        while (work && work->end_ns > from_ns && end_ns > from_ns && r == 0) {
                uint64_t a = work->begin_ns > from_ns ? work->begin_ns : from_ns;
                uint64_t b = work->end_ns < end_ns ? work->end_ns : end_ns;

                if (w->n_steps++ >= w->n_segments_max)
                        return emit_cut(w, s, from_ns, end_ns, &w->n_too_many);
                r = emit_work(w, s, PATH_LAUNCH, b, end_ns, wait, wait->work);
                if (r == 0)
                        r = emit_work(w, s, PATH_DEVICE, a, b, wait, work);
                end_ns = a;
                work = device_works_before(w->works, work, end_ns);
        }
        return r == 0 ? emit_work(w, s, PATH_LAUNCH, from_ns, end_ns, wait, wait->work) : r;
}

/* Since when the thread waited that had asked for the work, as far as this is the path's. */
static uint64_t find_asked_since(const struct stretch *s, const struct path_device_wait *wait)
{
        uint64_t since_ns = wait->wait->out_ns;

        if (wait->asker.thread == s->waiter.thread)
                since_ns = s->waiter.from_ns;
        else if (wait->asker.chain == 0 && s->waiter.thread == 0)
                since_ns = s->from_ns; /* of the first thread, which has joined its waits */
        if (since_ns < wait->work->asked_ns)
                since_ns = wait->work->asked_ns;
        return since_ns > s->from_ns ? since_ns : s->from_ns;
}

/*
 * The wait of @s, or that of a thread which waited for @s, was for a device.
 * @begin_ns:      of the wait of @s itself, as far as this is the path's
 * @end_ns, @next: as in follow_wait()
 */
static int follow_device(struct path_walk *w, const struct stretch *s, const struct path_device_wait *device,
                         uint64_t begin_ns, uint64_t *end_ns, struct stretch *next)
{
        bool is_own = device->asker.thread == s->thread;
        uint64_t from_ns = is_own ? begin_ns : find_asked_since(s, device), ended_ns = device->ended_ns;
        struct stretch asker = *s, lane = { .thread = 0 };
        int r;

        asker.thread = device->asker.thread;
        asker.depth = device->asker.depth;
        asker.chain = device->asker.chain;
        if (ended_ns < from_ns)
                ended_ns = from_ns;
        if (ended_ns > *end_ns)
                ended_ns = *end_ns;
        r = add_link(w, &asker, device->wait->stack, PATH_HOW_DEVICE, &lane);
        lane.thread = asker.thread;
        if (r == 0) /* until it was noticed */
                r = emit(w, s, PATH_WAIT, ended_ns, *end_ns, device->end);
        if (r == 0)
                r = walk_lane(w, &lane, device, from_ns, ended_ns);
        *end_ns = from_ns;
        if (!is_own) {
                *next = asker;
                next->waiter.thread = 0;
                next->acted_ns = 0;
        }
        return r;
}

/* Whether the wait of @s was for a device, unless something else is known to have ended it. */
static bool find_device(const struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                        uint64_t end_ns, struct path_device_wait *ret)
{
        const struct path_asker at = { .thread = s->thread, .depth = s->depth, .chain = s->chain };

        if (has_waker(s, wait) || (s->acted_ns == end_ns && wait->woken_ns > end_ns))
                return false;
        if (!path_devices_find(w, at, wait, ret))
                return false;
        return ret->asker.thread == s->thread || find_asked_since(s, ret) < end_ns;
}

/*
 * The same in a replay, for a wait that ends at @end: another thread had to come there as well.
 * @end_ns:  of the part of the wait; then where the path goes on
 */
static int follow_replayed(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                           const struct replay_point *end, uint64_t from_ns, uint64_t *end_ns,
                           struct stretch *next)
{
        uint64_t last_ns = end->time_ns - end->lag_ns;
        int r;

        if (*end_ns < wait->woken_ns)
                last_ns = replay_same_time(w->replay, s->thread, *end_ns, end->by);
        r = stays(w, s) ? stay(w, s, wait, end->by, how_woken(wait), next)
                        : go_to(w, s, wait, end->by, how_woken(wait), from_ns, last_ns);
        *end_ns = next->thread != 0 ? last_ns : from_ns;
        return r;
}

/* A call stack that was not recorded is like any other one. */
static bool are_one_place(const struct path_walk *w, uint32_t a, uint32_t b)
{
        uint32_t place_a, place_b;

        if (a == b || a == 0 || b == 0)
                return true;
        return w->names && path_names_place(w->names, a, &place_a) == 0 &&
               path_names_place(w->names, b, &place_b) == 0 && place_a == place_b;
}

/* Each wait for a lock is one of its own: it has its holder. */
static bool may_join(const struct path_walk *w, const struct stretch *s, const struct past_wait *wait)
{
        return wait->state == TRACE_WAIT_SLEEPING && !wait->is_lock && !find_asked(w, s, wait->woken_ns);
}

/*
 * The first of the waits that are one with @i: a join of several results.  A preemption in between does not
 * count.  It is not known which threads a fiber woke, so its waits are never joined.
 * @since_ns: earlier ones are not
 */
static size_t find_join(struct path_walk *w, const struct stretch *s, size_t i, uint64_t since_ns)
{
        const struct past_thread *t = past_of(w->past, s->thread);
        const struct past_wait *waits = past_waits(t), *last = &waits[i];
        uint64_t ran_ns = 0;
        uint32_t n_ended = 0;
        size_t first = i;

        if (t->is_fiber || !may_join(w, s, last))
                return i;
        for (size_t k = i; k > t->waits.first && waits[k].out_ns > since_ns; k--) {
                const struct past_wait *before = &waits[k - 1];

                /* A thread that looks whether it is time does so for as long as it takes. */
                w->n_steps += i - k >= PATH_WALK_JOIN_MAX;
                if (n_ended >= PATH_WALK_JOIN_MAX || w->n_steps >= w->n_segments_max) {
                        w->n_joins_cut++;
                        break;
                }
                ran_ns += waits[k].out_ns > before->in_ns ? waits[k].out_ns - before->in_ns : 0;
                if (ran_ns > PATH_WALK_JOIN_RAN_NS || before->in_ns < since_ns)
                        break;
                if (before->preempted)
                        continue;
                if (!may_join(w, s, before) || !are_one_place(w, before->stack, last->stack) ||
                    past_woke(t, before->in_ns - 1, waits[first].out_ns))
                        break;
                first = k - 1;
                ran_ns = 0;
                n_ended += before->end != WAIT_END_TIMER;
        }
        return first;
}

/*
 * The first wait that is one with @i.
 * @device: for whose work it waited; NULL = none.  Before it had asked for that, it waited for something
 *          else.
 */
static size_t find_first(struct path_walk *w, const struct stretch *s, size_t i,
                         const struct path_device_wait *device)
{
        if (has_waker(s, &past_waits(past_of(w->past, s->thread))[i]))
                return find_join(w, s, i, s->from_ns);
        if (!device || device->asker.thread != s->thread)
                return i;
        return find_join(w, s, i, device->work->asked_ns > s->from_ns ? device->work->asked_ns : s->from_ns);
}

/* The thread ran.  In a trace without switches, it waited where it asked for a lock that another one held. */
static int walk_ran(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t end_ns)
{
        const struct past_list *lock_waits = &past_of(w->past, s->thread)->lock_waits;
        const struct past_span *spans = past_list_spans(lock_waits);
        size_t first, i = past_spans(lock_waits, begin_ns, end_ns, &first);
        struct stretch next;
        int r = 0;

        for (; i > first && r == 0 && !w->past->has_switches; i--) {
                uint64_t a = spans[i - 1].begin_ns > begin_ns ? spans[i - 1].begin_ns : begin_ns;
                uint64_t b = spans[i - 1].end_ns < end_ns ? spans[i - 1].end_ns : end_ns;
                struct lock_wait lock;

                if (b <= a || spans[i - 1].end_ns == UINT64_MAX ||
                    !find_holders(w, s, &spans[i - 1], a, b, &lock))
                        continue;
                r = emit_run(w, s, b, end_ns);
                end_ns = a;
                if (r == 0)
                        r = follow_holders(w, s, NULL, &lock, &b, &next);
        }
        return r == 0 ? emit_run(w, s, begin_ns, end_ns) : r;
}

/* ------------------------------------------------------------------ a thread, backwards */

/*
 * The thread ran in [@begin_ns, *@end_ns); in a replay it may have to wait there.
 * @next:  where the path stays then, from *@end_ns on; else its thread is 0
 */
static int walk_on_cpu(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t *end_ns,
                       struct stretch *next)
{
        uint64_t run_end_ns = *end_ns, last_ns;
        const struct replay_point *jump;
        int r = 0;

        while (r == 0 && w->replay &&
               (jump = replay_jump(w->replay, s->thread, begin_ns, run_end_ns)) != NULL) {
                r = walk_ran(w, s, jump->time_ns, run_end_ns);
                run_end_ns = jump->time_ns;
                last_ns = jump->time_ns - jump->lag_ns;
                if (r == 0 && stays(w, s)) {
                        *end_ns = last_ns;
                        return stay(w, s, NULL, jump->by, PATH_HOW_WOKEN, next);
                }
                if (r == 0)
                        r = go_to(w, s, NULL, jump->by, PATH_HOW_WOKEN, run_end_ns, last_ns);
        }
        *end_ns = begin_ns;
        return r == 0 ? walk_ran(w, s, begin_ns, run_end_ns) : r;
}

/*
 * The time before the first wait that is kept.
 * @next:  who made the thread, if the path goes on there, from *@end_ns on; else its thread is 0
 */
static int walk_beginning(struct path_walk *w, const struct stretch *s, uint64_t *end_ns,
                          struct stretch *next)
{
        const struct past_thread *t = past_of(w->past, s->thread);
        uint64_t begin_ns = t->born_ns > w->past->kept_ns ? t->born_ns : w->past->kept_ns;
        uint32_t creator;
        int r;

        next->thread = 0;
        if (begin_ns < s->from_ns)
                begin_ns = s->from_ns;
        if (begin_ns > *end_ns)
                begin_ns = *end_ns;
        r = walk_on_cpu(w, s, begin_ns, end_ns, next);
        if (r < 0 || next->thread != 0 || begin_ns == s->from_ns)
                return r;
        if (t->born_ns < w->past->kept_ns)
                return emit_cut(w, s, s->from_ns, begin_ns, &w->n_too_old);
        creator = past_creator(w->past, s->thread);
        if (creator == 0 || creator == s->thread)
                return emit(w, s, PATH_UNBORN, s->from_ns, begin_ns, NULL);
        return stay(w, s, NULL, creator, PATH_HOW_MADE, next);
}

/* Returns 0 or -errno.  @next:  as in follow_wait(); else *@end_ns is `from_ns` then */
static int walk_steps(struct path_walk *w, const struct stretch *s, uint64_t *end_ns, struct stretch *next);

/*
 * A fiber runs where the thread does that carries it.
 * @next:  as in follow_wait()
 */
static int walk_carrier(struct path_walk *w, const struct stretch *s, uint32_t carrier, uint64_t begin_ns,
                        uint64_t *end_ns, struct stretch *next)
{
        struct stretch on = *s;
        int r;

        if (carrier == 0 || carrier == s->thread || s->level >= PATH_WALK_LEVELS_MAX) {
                r = emit(w, s, PATH_RUN, begin_ns, *end_ns, NULL);
                *end_ns = begin_ns;
                return r;
        }
        on.thread = carrier;
        on.from_ns = begin_ns;
        on.level++;
        r = walk_steps(w, &on, end_ns, next);
        next->from_ns = s->from_ns;
        next->level = s->level;
        return r;
}

/* @before: the wait that the thread came from; @next: as in follow_wait() */
static int walk_run(struct path_walk *w, const struct stretch *s, const struct past_wait *before,
                    uint64_t *end_ns, struct stretch *next)
{
        uint64_t begin_ns = before->in_ns > s->from_ns ? before->in_ns : s->from_ns;

        next->thread = 0;
        if (begin_ns >= *end_ns)
                return 0;
        if (past_of(w->past, s->thread)->is_fiber)
                return walk_carrier(w, s, before->by, begin_ns, end_ns, next);
        return walk_on_cpu(w, s, begin_ns, end_ns, next);
}

/*
 * Walks through the wait number *@i, from *@end_ns back to where it begins, with what is joined with it.
 * @next:  as in follow_wait()
 */
static int walk_wait(struct path_walk *w, const struct stretch *s, size_t *i, uint64_t *end_ns,
                     struct stretch *next)
{
        const struct past_wait *waits = past_waits(past_of(w->past, s->thread)), *wait = &waits[*i];
        const struct replay_point *end = w->replay ? replay_wait_end(w->replay, s->thread, wait) : NULL;
        uint64_t begin_ns = wait->out_ns > s->from_ns ? wait->out_ns : s->from_ns;
        uint64_t b = wait->in_ns < *end_ns ? wait->in_ns : *end_ns, woken_ns, noticed_ns;
        struct path_device_wait device;
        bool has_device;
        size_t first;
        int r;

        next->thread = 0;
        if (b <= begin_ns) {
                *end_ns = begin_ns < *end_ns ? begin_ns : *end_ns;
                return 0;
        }
        if (wait->preempted) {
                *end_ns = begin_ns;
                return emit(w, s, PATH_MACHINE, begin_ns, b, wait);
        }
        woken_ns = wait->woken_ns > begin_ns ? wait->woken_ns : begin_ns;
        if (woken_ns > b)
                woken_ns = b;
        if (end && end->by == s->thread) { /* it does not wait any more, nor for a CPU */
                wait = past_first_timeout(w->past, w->names, s->thread, wait);
                *i = (size_t)(wait - waits);
                *end_ns = wait->out_ns > s->from_ns ? wait->out_ns : s->from_ns;
                return 0;
        }
        r = emit(w, s, PATH_MACHINE, woken_ns, b, wait);
        noticed_ns = woken_ns;
        woken_ns = past_flows_handed_ns(w->past, s->thread, wait, begin_ns, woken_ns);
        if (r == 0)
                r = emit(w, s, PATH_WAIT, woken_ns, noticed_ns, wait);
        if (r < 0)
                return r;
        has_device = find_device(w, s, wait, woken_ns, &device);
        first = find_first(w, s, *i, has_device ? &device : NULL);
        has_device = has_device && (first < *i || !device.is_poll);
        *i = first;
        if (waits[*i].out_ns < begin_ns)
                begin_ns = waits[*i].out_ns > s->from_ns ? waits[*i].out_ns : s->from_ns;
        if (end && end->by != 0) {
                *end_ns = woken_ns;
                return follow_replayed(w, s, wait, end, begin_ns, end_ns, next);
        }
        r = has_device ? follow_device(w, s, &device, begin_ns, &woken_ns, next)
                       : follow_wait(w, s, wait, begin_ns, &woken_ns, next);
        *end_ns = next->thread != 0 ? woken_ns : begin_ns;
        return r;
}

static int walk_steps(struct path_walk *w, const struct stretch *s, uint64_t *end_ns, struct stretch *next)
{
        const struct past_thread *t = past_of(w->past, s->thread);
        size_t i = past_waits_before(t, *end_ns);
        int r = 0;

        next->thread = 0;
        while (*end_ns > s->from_ns && r == 0 && next->thread == 0) {
                if (w->n_steps++ >= w->n_segments_max) {
                        r = emit_cut(w, s, s->from_ns, *end_ns, &w->n_too_many);
                        *end_ns = s->from_ns;
                } else if (i == t->waits.first) {
                        r = walk_beginning(w, s, end_ns, next);
                        if (next->thread == 0)
                                *end_ns = s->from_ns;
                } else {
                        r = walk_run(w, s, &past_waits(t)[--i], end_ns, next);
                        if (r == 0 && next->thread == 0 && *end_ns > s->from_ns)
                                r = walk_wait(w, s, &i, end_ns, next);
                }
        }
        return r;
}

static int walk(struct path_walk *w, struct stretch s, uint64_t end_ns)
{
        struct stretch next;
        uint64_t before_ns = end_ns;
        unsigned n_still = 0;
        int r;

        do {
                r = walk_steps(w, &s, &end_ns, &next);
                s = next;
                n_still = end_ns < before_ns ? 0 : n_still + 1;
                before_ns = end_ns;
                if (r == 0 && s.thread != 0 && n_still > PATH_WALK_LEVELS_MAX)
                        return emit_cut(w, &s, s.from_ns, end_ns, &w->n_too_deep);
        } while (r == 0 && s.thread != 0);
        return r;
}

/* NOLINTEND(misc-no-recursion,readability-function-size) */

int path_walk_run(struct path_walk *w, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        struct stretch s = { .thread = thread, .from_ns = begin_ns };
        int r = past_flows_settle(w->past, end_ns);

        if (r < 0 || thread == 0 || thread > w->past->n_threads)
                return r;
        w->n_steps = 0;
        return walk(w, s, end_ns);
}
