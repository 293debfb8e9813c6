/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_walk.h"

#include "analyze/path/past.h"
#include "format/trace_spec.h"

#include <errno.h>

/* A thread's time that is being followed. */
struct stretch {
        uint32_t thread;
        uint32_t depth, chain;
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
        w->n_segments++;
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

/* The chain to a thread that @s waits for.  Where there is no room for more, the chain ends here. */
static int add_link(struct path_walk *w, const struct stretch *s, uint32_t stack, enum path_how how,
                    uint32_t *ret_chain)
{
        const struct path_link link = { .parent = s->chain, .thread = s->thread, .stack = stack, .how = how };
        int r = intern_add(&w->chains, &link, sizeof(link), ret_chain);

        if (r != -EOVERFLOW)
                return r < 0 ? r : 0;
        w->n_chains_cut++;
        *ret_chain = s->chain;
        return 0;
}

/* ------------------------------------------------------------------ whom a wait is for */

static int walk(struct path_walk *w, struct stretch s, uint64_t end_ns);

/* Goes on at another thread, from @end_ns back to @from_ns. */
static int follow(struct path_walk *w, const struct stretch *s, const struct past_wait *wait, uint32_t thread,
                  enum path_how how, uint64_t from_ns, uint64_t end_ns)
{
        struct stretch next = { .thread = thread, .depth = s->depth + 1, .from_ns = from_ns };
        int r;

        if (end_ns <= from_ns)
                return 0;
        if (s->depth >= PATH_WALK_DEPTH_MAX) {
                w->n_too_deep++;
                return emit(w, s, PATH_CUT, from_ns, end_ns, NULL);
        }
        r = add_link(w, s, wait ? wait->stack : 0, how, &next.chain);
        return r < 0 ? r : walk(w, next, end_ns);
}

/*
 * The thread waited in [@from_ns, @end_ns) for a lock that it had asked for in @asked: goes on at each
 * holder in its part.  The part of the first holder begins at @until_ns, which may be earlier.
 */
static int follow_holders(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                          const struct past_span *asked, uint64_t from_ns, uint64_t until_ns, uint64_t end_ns,
                          bool *ret_found)
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
                        r = follow(w, s, wait, spans[i - 1].id, PATH_HOW_LOCK, a == from_ns ? until_ns : a,
                                   b);
                end_ns = a == from_ns ? until_ns : a;
                if (end_ns <= from_ns)
                        break;
        }
        if (r == 0 && *ret_found && end_ns > until_ns)
                r = emit(w, s, PATH_LOCK, until_ns, end_ns, wait);
        return r;
}

/*
 * The thread waited in [@from_ns, @end_ns); the path in [@until_ns, @end_ns) is that of what it waited for.
 * @until_ns: at most @from_ns
 */
static int follow_wait(struct path_walk *w, const struct stretch *s, const struct past_wait *wait,
                       uint64_t from_ns, uint64_t until_ns, uint64_t end_ns)
{
        const struct past_span *asked = past_lock_wait(past_of(w->past, s->thread), end_ns);
        bool is_followed = false;
        int r = 0;

        if (end_ns <= until_ns)
                return 0;
        if (asked && asked->begin_ns < end_ns)
                r = follow_holders(w, s, wait, asked, from_ns, until_ns, end_ns, &is_followed);
        if (r < 0 || is_followed)
                return r;
        if (wait->by != 0 && wait->by != s->thread)
                return follow(w, s, wait, wait->by, wait->is_network ? PATH_HOW_SENT : PATH_HOW_WOKEN,
                              until_ns, end_ns);
        r = emit(w, s, PATH_WAIT, from_ns, end_ns, wait);
        return r == 0 ? emit(w, s, PATH_CUT, until_ns, from_ns, NULL) : r;
}

/* Whether something is known to which the path could go. */
static bool has_cause(const struct path_walk *w, const struct stretch *s, const struct past_wait *wait)
{
        (void)w;
        return wait->by != 0 && wait->by != s->thread;
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

        if (last->is_lock || last->state != TRACE_WAIT_SLEEPING || !has_cause(w, s, last))
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
                    (before->stack != 0 && last->stack != 0 && before->stack != last->stack) ||
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

/* The time before the first wait that is kept. */
static int walk_beginning(struct path_walk *w, const struct stretch *s, uint64_t end_ns)
{
        const struct past_thread *t = past_of(w->past, s->thread);
        uint64_t begin_ns = t->born_ns > w->past->kept_ns ? t->born_ns : w->past->kept_ns;
        uint32_t creator;
        int r;

        if (begin_ns < s->from_ns)
                begin_ns = s->from_ns;
        if (begin_ns > end_ns)
                begin_ns = end_ns;
        r = emit_run(w, s, begin_ns, end_ns);
        if (r < 0 || begin_ns == s->from_ns)
                return r;
        if (t->born_ns < w->past->kept_ns || w->n_segments >= w->n_segments_max)
                return emit_cut(w, s, begin_ns);
        creator = past_creator(w->past, s->thread);
        if (creator == 0 || creator == s->thread)
                return emit(w, s, PATH_UNBORN, s->from_ns, begin_ns, NULL);
        return follow(w, s, NULL, creator, PATH_HOW_MADE, s->from_ns, begin_ns);
}

/* A fiber runs where the thread does that carries it. */
static int walk_carrier(struct path_walk *w, const struct stretch *s, uint32_t carrier, uint64_t begin_ns,
                        uint64_t end_ns)
{
        struct stretch on = *s;

        if (carrier == 0)
                return emit(w, s, PATH_RUN, begin_ns, end_ns, NULL);
        on.thread = carrier;
        on.from_ns = begin_ns;
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
 * Walks through a wait, up to @end_ns, and what is joined with it.
 * @ret_end_ns:  where the thread goes on backwards; `from_ns` if the path is complete
 */
static int walk_wait(struct path_walk *w, const struct stretch *s, size_t *i, uint64_t end_ns,
                     uint64_t *ret_end_ns)
{
        const struct past_wait *waits = past_waits(past_of(w->past, s->thread)), *wait = &waits[*i];
        uint64_t begin_ns = wait->out_ns > s->from_ns ? wait->out_ns : s->from_ns;
        uint64_t b = wait->in_ns < end_ns ? wait->in_ns : end_ns, woken_ns;
        bool stays;
        int r;

        *ret_end_ns = begin_ns;
        if (b <= begin_ns)
                return 0;
        if (wait->preempted)
                return emit(w, s, PATH_MACHINE, begin_ns, b, wait);
        woken_ns = wait->woken_ns > begin_ns ? wait->woken_ns : begin_ns;
        if (woken_ns > b)
                woken_ns = b;
        r = emit(w, s, PATH_MACHINE, woken_ns, b, wait);
        if (r < 0)
                return r;
        *i = find_join(w, s, *i);
        if (waits[*i].out_ns < begin_ns)
                begin_ns = waits[*i].out_ns > s->from_ns ? waits[*i].out_ns : s->from_ns;
        stays = (s->depth != 0 || w->is_strict) && has_cause(w, s, wait) && woken_ns > begin_ns;
        *ret_end_ns = stays ? s->from_ns : begin_ns;
        return follow_wait(w, s, wait, begin_ns, *ret_end_ns, woken_ns);
}

static int walk(struct path_walk *w, struct stretch s, uint64_t end_ns)
{
        const struct past_thread *t = past_of(w->past, s.thread);
        size_t i = past_waits_before(t, end_ns);
        int r = 0;

        while (end_ns > s.from_ns && r == 0) {
                const struct past_wait *wait;

                if (i == t->waits.first)
                        return walk_beginning(w, &s, end_ns);
                if (w->n_segments >= w->n_segments_max)
                        return emit_cut(w, &s, end_ns);
                i--;
                wait = &past_waits(t)[i];
                if (wait->in_ns < end_ns) {
                        uint64_t begin_ns = wait->in_ns > s.from_ns ? wait->in_ns : s.from_ns;

                        r = walk_run(w, &s, wait, begin_ns, end_ns);
                        end_ns = begin_ns;
                }
                if (r == 0 && end_ns > s.from_ns)
                        r = walk_wait(w, &s, &i, end_ns, &end_ns);
        }
        return r;
}

int path_walk_run(struct path_walk *w, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        struct stretch s = { .thread = thread, .from_ns = begin_ns };

        if (thread == 0 || thread > w->past->n_threads)
                return 0;
        w->n_segments = 0;
        return walk(w, s, end_ns);
}
