/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_walk.h"

#include "analyze/path/past.h"
#include "analyze/path/path_names.h"
#include "format/trace_spec.h"

#include <errno.h>

/* A thread's time that is being followed, backwards to `from_ns`. */
struct stretch {
        uint32_t thread;
        uint32_t depth, chain;
        uint32_t level; /* of recursion */
        bool is_other;  /* not the first thread: the path stays at what ended its last wait */
        uint64_t from_ns;
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
                                              .thread = s->thread,
                                              .depth = s->depth,
                                              .chain = s->chain,
                                              .kind = kind,
                                              .wait = wait };

        if (end_ns <= begin_ns)
                return 0;
        return w->take(w->context, &segment);
}

/* The thread ran; where it ran fibers, they are named instead. */
static int emit_run(struct path_walk *w, const struct stretch *s, uint64_t begin_ns, uint64_t end_ns)
{
        const struct past_list *fibers = &past_of(w->past, s->thread)->fibers;
        const struct past_span *spans = fibers->items;
        size_t from, i = past_spans(fibers, begin_ns, end_ns, &from);
        struct stretch of_fiber = *s;
        int r = 0;

        for (; i > from && r == 0; i--) {
                uint64_t a = spans[i - 1].begin_ns > begin_ns ? spans[i - 1].begin_ns : begin_ns;
                uint64_t b = spans[i - 1].end_ns < end_ns ? spans[i - 1].end_ns : end_ns;

                if (b <= a)
                        continue;
                r = emit(w, s, PATH_RUN, b, end_ns, NULL);
                of_fiber.thread = spans[i - 1].id;
                if (r == 0)
                        r = emit(w, &of_fiber, PATH_RUN, a, b, NULL);
                end_ns = a;
        }
        return r == 0 ? emit(w, s, PATH_RUN, begin_ns, end_ns, NULL) : r;
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

/* The stretch of a thread that @s waited for. */
static int make_next(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                     uint32_t thread, enum path_how how, uint64_t from_ns, struct stretch *ret)
{
        *ret = (struct stretch){
                .thread = thread, .level = s->level + 1, .is_other = true, .from_ns = from_ns
        };
        return add_link(w, s, wait ? wait->stack : 0, how, ret);
}

/* Goes on at another thread, from @end_ns back to @from_ns, and returns. */
static int follow(struct path_walk *w, const struct stretch *s, const struct past_wait *wait, uint32_t thread,
                  enum path_how how, uint64_t from_ns, uint64_t end_ns)
{
        struct stretch next;
        int r;

        if (end_ns <= from_ns)
                return 0;
        if (s->level >= PATH_WALK_LEVELS_MAX) {
                w->n_too_deep++;
                return emit(w, s, PATH_CUT, from_ns, end_ns, NULL);
        }
        r = make_next(w, s, wait, thread, how, from_ns, &next);
        return r < 0 ? r : walk(w, next, end_ns);
}

/*
 * The thread waited in [@from_ns, @end_ns) for a lock that it had asked for in @asked: goes on at each
 * holder in its part.
 */
static int follow_holders(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                          const struct past_span *asked, uint64_t from_ns, uint64_t end_ns, bool *ret_found)
{
        const struct past_list *holds = &w->past->holds[asked->id - 1];
        const struct past_span *spans = holds->items;
        size_t first, i = past_spans(holds, from_ns, end_ns, &first);
        int r = 0;

        *ret_found = false;
        for (; i > first && r == 0; i--) {
                uint64_t a = spans[i - 1].begin_ns > from_ns ? spans[i - 1].begin_ns : from_ns;
                uint64_t b = spans[i - 1].end_ns < end_ns ? spans[i - 1].end_ns : end_ns;

                if (b <= a || spans[i - 1].id == s->thread)
                        continue;
                *ret_found = true;
                r = emit(w, s, PATH_LOCK, b, end_ns, wait);
                if (r == 0)
                        r = follow(w, s, wait, spans[i - 1].id, PATH_HOW_LOCK, a, b);
                end_ns = a;
        }
        return r == 0 && *ret_found ? emit(w, s, PATH_LOCK, from_ns, end_ns, wait) : r;
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
        return wait->is_network ? PATH_HOW_SENT : PATH_HOW_WOKEN;
}

/*
 * The thread waited in [@from_ns, @end_ns).
 * @next:  where the path stays, if it does: the caller goes on there, from @end_ns on; else its thread is 0
 */
static int follow_wait(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                       uint64_t from_ns, uint64_t end_ns, struct stretch *next)
{
        const struct past_span *asked = past_lock_wait(past_of(w->past, s->thread), end_ns);
        bool is_followed = false;
        int r = 0;

        next->thread = 0;
        if (end_ns <= from_ns)
                return 0;
        if (asked && asked->begin_ns < end_ns)
                r = follow_holders(w, s, wait, asked, from_ns, end_ns, &is_followed);
        if (r < 0 || is_followed)
                return r;
        if (!has_waker(s, wait))
                return emit(w, s, PATH_WAIT, from_ns, end_ns, wait);
        if (!s->is_other && !w->is_strict)
                return follow(w, s, wait, wait->by, how_woken(wait), from_ns, end_ns);
        r = make_next(w, s, wait, wait->by, how_woken(wait), s->from_ns, next);
        next->level = s->level; /* it does not return here */
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

/*
 * The first of the waits that are one with @i: a join of several results.  A preemption in between does not
 * count.
 */
static size_t find_join(struct path_walk *w, const struct stretch *s, size_t i)
{
        const struct past_thread *t = past_of(w->past, s->thread);
        const struct past_wait *waits = past_waits(t), *last = &waits[i];
        uint64_t ran_ns = 0;
        size_t first = i;

        if (last->is_lock || last->state != TRACE_WAIT_SLEEPING || !has_waker(s, last))
                return i;
        for (size_t k = i; k > t->waits.first && waits[k].out_ns > s->from_ns; k--) {
                const struct past_wait *before = &waits[k - 1];

                if (i - k >= PATH_WALK_JOIN_MAX) {
                        w->n_joins_cut++;
                        break;
                }
                ran_ns += waits[k].out_ns > before->in_ns ? waits[k].out_ns - before->in_ns : 0;
                if (ran_ns > PATH_WALK_JOIN_RAN_NS || before->in_ns < s->from_ns)
                        break;
                if (before->preempted)
                        continue;
                if (before->state != TRACE_WAIT_SLEEPING || before->is_lock ||
                    !are_one_place(w, before->stack, last->stack) ||
                    past_woke(t, before->in_ns - 1, waits[first].out_ns))
                        break;
                first = k - 1;
                ran_ns = 0;
        }
        return first;
}

/* ------------------------------------------------------------------ a thread, backwards */

static int emit_cut(struct path_walk *w, const struct stretch *s, uint64_t end_ns)
{
        if (end_ns > s->from_ns)
                w->n_too_many++;
        return emit(w, s, PATH_CUT, s->from_ns, end_ns, NULL);
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
        r = emit_run(w, s, begin_ns, *end_ns);
        *end_ns = begin_ns;
        if (r < 0 || begin_ns == s->from_ns)
                return r;
        if (t->born_ns < w->past->kept_ns)
                return emit_cut(w, s, begin_ns);
        creator = past_creator(w->past, s->thread);
        if (creator == 0 || creator == s->thread)
                return emit(w, s, PATH_UNBORN, s->from_ns, begin_ns, NULL);
        r = make_next(w, s, NULL, creator, PATH_HOW_MADE, s->from_ns, next);
        next->level = s->level;
        return r;
}

/* A fiber runs where the thread does that carries it. */
static int walk_carrier(struct path_walk *w, const struct stretch *s, uint32_t carrier, uint64_t begin_ns,
                        uint64_t end_ns)
{
        struct stretch on = *s;

        if (carrier == 0 || carrier == s->thread || s->level >= PATH_WALK_LEVELS_MAX)
                return emit(w, s, PATH_RUN, begin_ns, end_ns, NULL);
        on.thread = carrier;
        on.from_ns = begin_ns;
        on.level++;
        return walk(w, on, end_ns);
}

static int walk_run(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                    uint64_t begin_ns, uint64_t end_ns)
{
        if (end_ns <= begin_ns)
                return 0;
        return past_of(w->past, s->thread)->is_fiber ? walk_carrier(w, s, wait->by, begin_ns, end_ns)
                                                     : emit_run(w, s, begin_ns, end_ns);
}

/*
 * Walks through the wait number *@i, from *@end_ns back to where it begins, with what is joined with it.
 * @next:  as in follow_wait()
 */
static int walk_wait(struct path_walk *w, const struct stretch *s, size_t *i, uint64_t *end_ns,
                     struct stretch *next)
{
        const struct past_wait *waits = past_waits(past_of(w->past, s->thread)), *wait = &waits[*i];
        uint64_t begin_ns = wait->out_ns > s->from_ns ? wait->out_ns : s->from_ns;
        uint64_t b = wait->in_ns < *end_ns ? wait->in_ns : *end_ns, woken_ns;
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
        r = emit(w, s, PATH_MACHINE, woken_ns, b, wait);
        if (r < 0)
                return r;
        *i = find_join(w, s, *i);
        if (waits[*i].out_ns < begin_ns)
                begin_ns = waits[*i].out_ns > s->from_ns ? waits[*i].out_ns : s->from_ns;
        r = follow_wait(w, s, wait, begin_ns, woken_ns, next);
        *end_ns = next->thread != 0 ? woken_ns : begin_ns;
        return r;
}

/* NOLINTNEXTLINE(misc-no-recursion): at most PATH_WALK_LEVELS_MAX deep */
static int walk(struct path_walk *w, struct stretch s, uint64_t end_ns)
{
        const struct past_thread *t = past_of(w->past, s.thread);
        size_t i = past_waits_before(t, end_ns);
        int r = 0;

        while (end_ns > s.from_ns && r == 0) {
                struct stretch next = { .thread = 0 };
                const struct past_wait *wait;

                if (w->n_steps++ >= w->n_segments_max)
                        return emit_cut(w, &s, end_ns);
                if (i == t->waits.first) {
                        r = walk_beginning(w, &s, &end_ns, &next);
                        if (next.thread == 0)
                                return r;
                } else {
                        wait = &past_waits(t)[--i];
                        if (wait->in_ns < end_ns) {
                                uint64_t begin_ns = wait->in_ns > s.from_ns ? wait->in_ns : s.from_ns;

                                r = walk_run(w, &s, wait, begin_ns, end_ns);
                                end_ns = begin_ns;
                        }
                        if (r == 0 && end_ns > s.from_ns)
                                r = walk_wait(w, &s, &i, &end_ns, &next);
                }
                if (next.thread == 0)
                        continue;
                s = next;
                t = past_of(w->past, s.thread);
                i = past_waits_before(t, end_ns);
        }
        return r;
}

int path_walk_run(struct path_walk *w, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        struct stretch s = { .thread = thread, .from_ns = begin_ns };

        if (thread == 0 || thread > w->past->n_threads)
                return 0;
        w->n_steps = 0;
        return walk(w, s, end_ns);
}
