/* SPDX-License-Identifier: MIT */
#include "analyze/cores/wait_roots.h"

#include "analyze/cores/past_sweep.h"
#include "analyze/path/past.h"
#include "analyze/path/past_timeouts.h"
#include "analyze/path/path_names.h"
#include "analyze/path/path_walk.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Processes between a thread that was not born and one that was. */
#define CREATORS_MAX 8

enum item_state {
        ITEM_RUN,
        ITEM_READY,
        ITEM_WAIT, /* its root is known; id 0 = not looked at yet */
        ITEM_OPEN, /* `id` is of `opens`: its root is that of the wait, which has not ended */
};

#define ITEM_ID_MAX  ((UINT32_C(1) << 30) - 1)
#define ITEM_ID_BUSY ITEM_ID_MAX /* it is being looked at: threads wait for each other */

/* A wait that had not ended when a moment met it. */
struct open_wait {
        uint64_t out_ns;
        uint64_t first_ns; /* when the first of the waits began that timed out before, and are one with it */
        uint32_t thread;
        uint32_t n_items; /* that refer to it; 0 = free */
        uint32_t by;      /* who ended it; 0 = `root` */
        uint32_t root;
        uint32_t next_free;
        uint32_t before; /* if its timer ended it: the one of the same thread before; 0 = none */
        bool ended, is_lock;
};

void wait_roots_init(struct wait_roots *w, struct past_sweep *sweep, wait_roots_take *take, void *context)
{
        *w = (struct wait_roots){
                .sweep = sweep, .take = take, .context = context, .n_items_max = WAIT_ROOTS_ITEMS_MAX
        };
        intern_init(&w->roots, sizeof(struct wait_root), WAIT_ROOTS_MAX);
}

void wait_roots_deinit(struct wait_roots *w)
{
        for (size_t i = 0; i < w->n_pending; i++)
                free(w->pending[i].items);
        free(w->pending);
        free(w->opens);
        free(w->open_of);
        free(w->timed_out);
        intern_deinit(&w->roots);
        *w = (struct wait_roots){ .pending = NULL };
}

const struct wait_root *wait_roots_of(const struct wait_roots *w, const struct wait_item *item)
{
        return item->state == ITEM_WAIT ? wait_roots_get(w, item->id) : NULL;
}

const struct wait_item *wait_roots_running(const struct wait_moment *moment)
{
        for (uint32_t i = 0; i < moment->n_items; i++)
                if (moment->items[i].state == ITEM_RUN)
                        return &moment->items[i];
        return NULL;
}

static const struct past *past_in(const struct wait_roots *w)
{
        return &w->sweep->past;
}

/* ------------------------------------------------------------------ roots */

/* Where there is no room for more, the root has its kind alone: those come first. */
static int add_root(struct wait_roots *w, struct wait_root root, uint32_t *ret_id)
{
        struct wait_root plain = { .kind = 0 };
        int r = 0;

        for (; w->roots.n_items < WAIT_ROOT_KINDS && r >= 0; plain.kind++)
                r = intern_add(&w->roots, &plain, sizeof(plain), ret_id);
        if (r >= 0)
                r = intern_add(&w->roots, &root, sizeof(root), ret_id);
        if (r == -EOVERFLOW)
                *ret_id = root.kind + 1;
        return r < 0 && r != -EOVERFLOW ? r : 0;
}

/* The function that @stack shows; 0 = not known. */
static int find_own(struct wait_roots *w, uint32_t stack, uint32_t *ret_label)
{
        struct path_names *names = &w->sweep->names;
        uint32_t place;
        int r = path_names_place(names, stack, &place);

        if (r == 0)
                *ret_label = path_names_get(names, place)->own;
        return r;
}

static int add_thread_root(struct wait_roots *w, enum wait_root_kind kind, uint32_t thread, uint32_t stack,
                           uint32_t by, uint32_t *ret_id)
{
        struct wait_root root = { .kind = kind,
                                  .group = path_names_group(&w->sweep->names, thread),
                                  .by = by };
        int r = find_own(w, stack, &root.own);

        return r == 0 ? add_root(w, root, ret_id) : r;
}

/* The root of a wait that no recorded thread ended. */
static int add_end_root(struct wait_roots *w, uint32_t thread, const struct past_wait *wait, uint32_t *ret_id)
{
        static const enum wait_root_kind kinds[WAIT_END_KINDS] = {
                [WAIT_END_UNKNOWN] = WAIT_ROOT_UNKNOWN,     [WAIT_END_THREAD] = WAIT_ROOT_UNKNOWN,
                [WAIT_END_PROGRAM] = WAIT_ROOT_PROGRAM,     [WAIT_END_TIMER] = WAIT_ROOT_TIMER,
                [WAIT_END_DISK] = WAIT_ROOT_DISK,           [WAIT_END_NETWORK] = WAIT_ROOT_NETWORK,
                [WAIT_END_INTERRUPT] = WAIT_ROOT_INTERRUPT,
        };
        enum wait_root_kind kind = kinds[wait->end];

        return add_thread_root(w, kind, thread, wait->stack, kind == WAIT_ROOT_PROGRAM ? wait->name : 0,
                               ret_id);
}

static int add_unknown(struct wait_roots *w, uint32_t thread, uint32_t *ret_id)
{
        return add_thread_root(w, WAIT_ROOT_UNKNOWN, thread, 0, 0, ret_id);
}

/* The root of a thread that runs and has the lock that another one waits for. */
static int as_lock(struct wait_roots *w, uint32_t *id)
{
        struct wait_root root = *wait_roots_get(w, *id);

        root.kind = WAIT_ROOT_LOCK;
        return add_root(w, root, id);
}

/* ------------------------------------------------------------------ what a thread runs */

/* The sample nearest to a moment, rather of the same stretch on a CPU; 0 = there is none near. */
static uint32_t stack_at(const struct wait_roots *w, uint32_t thread, uint64_t time_ns)
{
        const struct past_thread *t = past_of(past_in(w), thread);
        const struct past_wait *waits = past_waits(t);
        size_t i = past_waits_before(t, time_ns + 1);
        uint64_t from_ns = time_ns > PAST_SWEEP_NEAR_NS ? time_ns - PAST_SWEEP_NEAR_NS : 0;
        uint64_t in_ns = i > t->waits.first ? waits[i - 1].in_ns : 0;
        uint64_t out_ns = i < t->waits.n ? waits[i].out_ns : UINT64_MAX;
        const struct past_sample *before, *after;
        size_t n_before = past_samples(t, from_ns, time_ns, &before);
        size_t n_after = past_samples(t, time_ns, time_ns + PAST_SWEEP_NEAR_NS, &after);
        bool is_before_here, is_after_here;

        if (n_before == 0 || n_after == 0)
                return n_before != 0 ? before[n_before - 1].stack : n_after != 0 ? after[0].stack : 0;
        before += n_before - 1;
        is_before_here = before->time_ns >= in_ns;
        is_after_here = after->time_ns < out_ns;
        if (is_before_here != is_after_here)
                return is_before_here ? before->stack : after->stack;
        return time_ns - before->time_ns < after->time_ns - time_ns ? before->stack : after->stack;
}

/* ------------------------------------------------------------------ waits that have not ended */

/* Takes a wait out of those that timed out. */
static void drop_timeout(struct wait_roots *w, uint32_t thread, uint32_t id)
{
        uint32_t *link = &w->timed_out[thread - 1];

        while (*link != 0 && *link != id)
                link = &w->opens[*link - 1].before;
        if (*link == id)
                *link = w->opens[id - 1].before;
}

static void drop_open(struct wait_roots *w, uint32_t id)
{
        struct open_wait *open = &w->opens[id - 1];

        if (--open->n_items != 0)
                return;
        drop_timeout(w, open->thread, id);
        if (w->open_of[open->thread - 1] == id)
                w->open_of[open->thread - 1] = 0;
        open->next_free = w->free_open;
        w->free_open = id;
}

static int add_open(struct wait_roots *w, uint32_t thread, const struct past_wait *wait, uint32_t *ret_id)
{
        uint32_t id = w->open_of[thread - 1];

        if (id != 0 && w->opens[id - 1].out_ns == wait->out_ns && !w->opens[id - 1].ended) {
                w->opens[id - 1].n_items++;
                *ret_id = id;
                return 0;
        }
        id = w->free_open;
        if (id != 0) {
                w->free_open = w->opens[id - 1].next_free;
        } else {
                if (array_reserve(&w->opens, &w->opens_capacity, (size_t)w->n_opens + 1, sizeof(*w->opens)) <
                    0)
                        return -ENOMEM;
                id = ++w->n_opens;
        }
        w->opens[id - 1] = (struct open_wait){
                .out_ns = wait->out_ns,
                .first_ns = past_timeouts_before(past_in(w), &w->sweep->names, thread, wait)->out_ns,
                .thread = thread,
                .n_items = 1
        };
        w->open_of[thread - 1] = id;
        *ret_id = id;
        return add_thread_root(w, WAIT_ROOT_OPEN, thread, wait->stack, 0, &w->opens[id - 1].root);
}

/* Keeps a wait that timed out: the thread may wait on for the same. */
static void keep_timeout(struct wait_roots *w, uint32_t thread, uint32_t id)
{
        uint32_t *last = &w->timed_out[thread - 1], n = 0;

        if (*last != 0 && w->opens[*last - 1].out_ns < w->opens[id - 1].first_ns)
                *last = 0;
        for (uint32_t at = *last; at != 0; at = w->opens[at - 1].before)
                n++;
        w->opens[id - 1].before = n < PAST_TIMEOUTS_MAX ? *last : 0;
        *last = id;
}

/* A wait ended that was no timeout: so did those that timed out and are one with it. */
static void end_timeouts(struct wait_roots *w, uint32_t thread, const struct past_wait *wait,
                         uint64_t first_ns)
{
        uint32_t id = w->timed_out[thread - 1];

        while (id != 0 && w->opens[id - 1].out_ns >= first_ns && wait->by != 0 && wait->by != thread) {
                struct open_wait *open = &w->opens[id - 1];

                open->by = wait->by;
                open->is_lock = wait->is_lock;
                first_ns = open->first_ns < first_ns ? open->first_ns : first_ns;
                id = open->before;
        }
        w->timed_out[thread - 1] = 0;
}

int wait_roots_over(struct wait_roots *w, uint32_t thread, uint64_t out_ns)
{
        uint32_t id = thread <= w->n_threads ? w->open_of[thread - 1] : 0;
        struct open_wait *open = id != 0 ? &w->opens[id - 1] : NULL;
        bool is_open = id != 0 && open->out_ns == out_ns && !open->ended;
        const struct past_wait *wait;
        uint64_t first_ns;

        if (!is_open && (thread > w->n_threads || w->timed_out[thread - 1] == 0))
                return 0;
        wait = past_wait_at(past_in(w), thread, out_ns);
        if (!wait)
                return 0;
        first_ns = past_timeouts_before(past_in(w), &w->sweep->names, thread, wait)->out_ns;
        if (is_open && open->first_ns > first_ns)
                open->first_ns = first_ns;
        if (wait->end != WAIT_END_TIMER && !wait->preempted)
                end_timeouts(w, thread, wait, is_open ? open->first_ns : first_ns);
        if (!is_open)
                return 0;
        open->ended = true;
        open->is_lock = wait->is_lock;
        if (wait->by != 0 && wait->by != thread) {
                open->by = wait->by;
                return add_unknown(w, thread, &open->root);
        }
        if (wait->end == WAIT_END_TIMER)
                keep_timeout(w, thread, id);
        return add_end_root(w, thread, wait, &open->root);
}

/* ------------------------------------------------------------------ a moment, when it is new */

/* A holder of the lock that the thread waits for; 0 = none is known. */
static uint32_t find_holder(const struct past *p, uint32_t thread, uint64_t time_ns)
{
        const struct past_span *asked = past_lock_wait(past_of(p, thread), time_ns), *spans;
        size_t first, i;

        if (!asked || asked->id == 0 || asked->id > p->n_locks)
                return 0;
        spans = p->holds[asked->id - 1].items;
        i = past_spans(&p->holds[asked->id - 1], time_ns, time_ns + 1, &first);
        for (; i > first; i--)
                if (spans[i - 1].end_ns > time_ns && spans[i - 1].id != thread)
                        return spans[i - 1].id;
        return 0;
}

/* The item of a thread, or of the one that made it; NULL = neither lived. */
static struct wait_item *find_item(const struct wait_roots *w, const struct wait_moment *m, uint32_t thread)
{
        const struct past *p = past_in(w);

        for (int n = 0; thread != 0 && thread <= p->n_threads && n < CREATORS_MAX; n++) {
                size_t low = 0, high = m->n_items;

                while (low < high) {
                        size_t middle = low + (high - low) / 2;

                        if (m->items[middle].thread < thread)
                                low = middle + 1;
                        else
                                high = middle;
                }
                if (low < m->n_items && m->items[low].thread == thread)
                        return &m->items[low];
                if (past_of(p, thread)->born_ns <= m->time_ns)
                        return NULL;
                thread = past_creator(p, thread);
        }
        return NULL;
}

static void set_item(struct wait_item *item, enum item_state state, uint32_t id)
{
        item->state = state;
        item->id = id & ITEM_ID_MAX;
}

/*
 * Gives an item the root of another one, which it waits for.  A holder that waits itself holds no lock that
 * the thread at the end of the chain would have.
 */
static int copy_root(struct wait_roots *w, struct wait_item *item, const struct wait_item *from, bool is_lock)
{
        uint32_t id = from->id;
        int r = 0;

        if (from->state == ITEM_OPEN) {
                w->opens[id - 1].n_items++;
                set_item(item, ITEM_OPEN, id);
                return 0;
        }
        if (is_lock && from->state == ITEM_RUN)
                r = as_lock(w, &id);
        set_item(item, ITEM_WAIT, id);
        return r;
}

/* The wait of a moment; of one that timed out, and went on, that in which it ended. */
static const struct past_wait *find_wait(struct wait_roots *w, uint32_t thread, uint64_t time_ns)
{
        const struct past_wait *wait = past_wait_at(past_in(w), thread, time_ns), *last;

        if (!wait || wait->woken_ns == UINT64_MAX || wait->end != WAIT_END_TIMER)
                return wait;
        last = past_timeouts_after(past_in(w), &w->sweep->names, thread, wait);
        return last->woken_ns == UINT64_MAX || (last->by != 0 && last->by != thread) ? last : wait;
}

static int look(struct wait_roots *w, const struct wait_moment *m, struct wait_item *item, unsigned depth);

/* NOLINTBEGIN(misc-no-recursion): at most WAIT_ROOTS_DEPTH_MAX deep; a moment that is settled is not again */
/* Goes on at the thread that an item waits for. */
static int follow(struct wait_roots *w, const struct wait_moment *m, struct wait_item *item, uint32_t thread,
                  bool is_lock, unsigned depth)
{
        struct wait_item *next = find_item(w, m, thread);
        uint32_t id = 0;
        int r = next ? look(w, m, next, depth + 1) : 0;

        if (r < 0)
                return r;
        if (next && next != item && !(next->state == ITEM_WAIT && next->id == ITEM_ID_BUSY))
                return copy_root(w, item, next, is_lock);
        r = add_unknown(w, item->thread, &id);
        set_item(item, ITEM_WAIT, id);
        return r;
}

/* Finds the root of an item, or the wait that has to end for it. */
static int look(struct wait_roots *w, const struct wait_moment *m, struct wait_item *item, unsigned depth)
{
        const struct past_wait *wait;
        uint32_t holder, id = 0;
        bool is_over;
        int r;

        if (item->state != ITEM_WAIT || item->id != 0)
                return 0;
        set_item(item, ITEM_WAIT, ITEM_ID_BUSY);
        wait = find_wait(w, item->thread, m->time_ns);
        holder = find_holder(past_in(w), item->thread, m->time_ns);
        is_over = wait && wait->woken_ns != UINT64_MAX;
        if (!wait || depth > WAIT_ROOTS_DEPTH_MAX) {
                r = add_unknown(w, item->thread, &id);
        } else if (holder != 0) {
                return follow(w, m, item, holder, true, depth);
        } else if (is_over && wait->by != 0 && wait->by != item->thread) {
                return follow(w, m, item, wait->by, wait->is_lock, depth);
        } else if (is_over) {
                r = add_end_root(w, item->thread, wait, &id);
        } else {
                r = add_open(w, item->thread, wait, &id);
                set_item(item, ITEM_OPEN, id);
                return r;
        }
        set_item(item, ITEM_WAIT, id);
        return r;
}

/* Where a thread runs that runs, by its last switch. */
static uint16_t cpu_of_running(const struct past *past, uint32_t thread, uint64_t time_ns)
{
        const struct past_thread *t = past_of(past, thread);
        size_t n = past_waits_before(t, time_ns);

        return n != 0 ? past_waits(t)[n - 1].in_cpu : PAST_NO_CPU;
}

/* Where a thread that could run is in a queue. */
static uint16_t cpu_of_ready(const struct past_wait *wait)
{
        if (!wait)
                return PAST_NO_CPU;
        if (wait->preempted)
                return wait->out_cpu;
        return wait->in_ns != UINT64_MAX ? wait->in_cpu : PAST_NO_CPU;
}

/* Counts the ready threads that are behind one of the recorded ones.  Both lists have few CPUs. */
static void count_queued(const struct past *past, struct wait_moment *m)
{
        for (uint32_t i = 0; i < m->n_items; i++) {
                const struct past_wait *wait;
                uint16_t cpu;

                if (m->items[i].state != ITEM_READY)
                        continue;
                (void)past_state_at(past, m->items[i].thread, m->time_ns, &wait);
                cpu = cpu_of_ready(wait);
                for (uint32_t k = 0; k < m->n_items && cpu != PAST_NO_CPU; k++)
                        if (m->items[k].state == ITEM_RUN &&
                            cpu_of_running(past, m->items[k].thread, m->time_ns) == cpu) {
                                m->n_queued++;
                                break;
                        }
        }
}

/* Fills in the threads that live. */
static int fill_items(struct wait_roots *w, struct wait_moment *m)
{
        const struct past_sweep *s = w->sweep;
        int r = 0;

        m->items = calloc((size_t)s->n_live + 1, sizeof(*m->items));
        if (!m->items)
                return -ENOMEM;
        for (uint32_t i = 0; i < s->n_live && r == 0; i++) {
                const struct past_wait *wait;
                enum past_state state = past_state_at(&s->past, s->live[i], m->time_ns, &wait);
                struct wait_item *item = &m->items[m->n_items];
                uint32_t id = 0;

                if (state == PAST_ABSENT)
                        continue;
                m->n_items++;
                item->thread = s->live[i];
                set_item(item, ITEM_WAIT, 0);
                if (state == PAST_WAITS)
                        continue;
                m->n_running += state == PAST_RUNS;
                m->n_ready += state == PAST_READY;
                if (state == PAST_RUNS)
                        r = add_thread_root(w, WAIT_ROOT_RUN, item->thread,
                                            stack_at(w, item->thread, m->time_ns), 0, &id);
                else
                        r = add_thread_root(w, WAIT_ROOT_READY, item->thread, wait ? wait->stack : 0, 0, &id);
                set_item(item, state == PAST_RUNS ? ITEM_RUN : ITEM_READY, id);
        }
        if (m->n_ready != 0 && m->n_running != 0)
                count_queued(&s->past, m);
        return r;
}

/* ------------------------------------------------------------------ moments that are kept */

static bool matters(const struct wait_roots *w, const struct wait_moment *m, const struct wait_item *item)
{
        return !w->subject_only || item->thread == m->subject;
}

/* Whether the root of an item is known by now: 1, 0 or -errno. */
static int settle_item(struct wait_roots *w, const struct wait_moment *m, struct wait_item *item,
                       unsigned depth)
{
        struct open_wait open;
        struct wait_item *next;
        uint32_t id = item->id;
        int r;

        if (item->state != ITEM_OPEN)
                return 1;
        open = w->opens[id - 1];
        if (!open.ended)
                return 0;
        next = open.by != 0 ? find_item(w, m, open.by) : NULL;
        if (next && next != item && depth < WAIT_ROOTS_DEPTH_MAX) {
                r = settle_item(w, m, next, depth + 1);
                if (r >= 0 && !(next->state == ITEM_OPEN && next->id == id)) {
                        int is_known = r;

                        r = copy_root(w, item, next, open.is_lock);
                        drop_open(w, id);
                        return r < 0 ? r : is_known;
                }
                if (r < 0)
                        return r;
        }
        set_item(item, ITEM_WAIT, open.root);
        drop_open(w, id);
        return 1;
}
/* NOLINTEND(misc-no-recursion) */

/* Whether all that matters is known: 1, 0 or -errno. */
static int settle(struct wait_roots *w, const struct wait_moment *m)
{
        int all = 1;

        for (uint32_t i = 0; i < m->n_items; i++) {
                int r;

                if (!matters(w, m, &m->items[i]))
                        continue;
                r = settle_item(w, m, &m->items[i], 0);
                if (r < 0)
                        return r;
                all &= r;
        }
        return all;
}

/* Hands a moment out; what is not known by now stays so. */
static int hand_out(struct wait_roots *w, struct wait_moment *m)
{
        bool is_early = false;
        int r;

        for (uint32_t i = 0; i < m->n_items; i++) {
                uint32_t id = m->items[i].id;

                if (m->items[i].state != ITEM_OPEN)
                        continue;
                is_early |= matters(w, m, &m->items[i]);
                set_item(&m->items[i], ITEM_WAIT, w->opens[id - 1].root);
                drop_open(w, id);
        }
        w->n_early += is_early;
        r = w->take(w->context, m);
        free(m->items);
        m->items = NULL;
        return r;
}

/* Hands out the moments that are complete, and then the oldest until at most @n_items_max items are left. */
static int hand_out_some(struct wait_roots *w, size_t n_items_max)
{
        size_t n = 0, kept = 0;
        int r = 0;

        for (size_t i = 0; i < w->n_pending && r >= 0; i++) {
                struct wait_moment m = w->pending[i];

                r = settle(w, &m);
                if (r > 0) {
                        w->n_items -= m.n_items;
                        r = hand_out(w, &m);
                        w->pending[i].items = NULL;
                } else if (r == 0) {
                        w->pending[i].items = NULL;
                        w->pending[n++] = m;
                }
        }
        if (r < 0)
                return r;
        for (w->n_pending = n; kept < n && w->n_items > n_items_max && r == 0; kept++) {
                w->n_items -= w->pending[kept].n_items;
                r = hand_out(w, &w->pending[kept]);
        }
        w->n_pending -= kept;
        if (w->n_pending != 0)
                memmove(w->pending, w->pending + kept, w->n_pending * sizeof(*w->pending));
        return r;
}

static int reach_threads(struct wait_roots *w)
{
        uint32_t n = past_in(w)->n_threads;
        uint32_t *open_of, *timed_out;

        if (n <= w->n_threads)
                return 0;
        open_of = realloc(w->open_of, n * sizeof(*open_of));
        if (!open_of)
                return -ENOMEM;
        w->open_of = open_of;
        timed_out = realloc(w->timed_out, n * sizeof(*timed_out));
        if (!timed_out)
                return -ENOMEM;
        w->timed_out = timed_out;
        memset(open_of + w->n_threads, 0, (n - w->n_threads) * sizeof(*open_of));
        memset(timed_out + w->n_threads, 0, (n - w->n_threads) * sizeof(*timed_out));
        w->n_threads = n;
        return 0;
}

/* Keeps a moment until the waits have ended. */
static int keep(struct wait_roots *w, const struct wait_moment *m)
{
        if (array_reserve(&w->pending, &w->pending_capacity, w->n_pending + 1, sizeof(*m)) < 0) {
                free(m->items);
                return -ENOMEM;
        }
        w->pending[w->n_pending++] = *m;
        w->n_items += m->n_items;
        return w->n_items > w->n_items_max ? hand_out_some(w, w->n_items_max / 4 * 3) : 0;
}

int wait_roots_add(struct wait_roots *w, uint64_t time_ns, uint32_t subject)
{
        struct wait_moment m = { .time_ns = time_ns, .subject = subject };
        bool is_open = false;
        int r = reach_threads(w);

        if (r == 0)
                r = fill_items(w, &m);
        for (uint32_t i = 0; i < m.n_items && r == 0; i++) {
                r = look(w, &m, &m.items[i], 0);
                is_open |= m.items[i].state == ITEM_OPEN && matters(w, &m, &m.items[i]);
        }
        if (r < 0) {
                free(m.items);
                return r;
        }
        w->n_moments++;
        return is_open ? keep(w, &m) : hand_out(w, &m);
}

int wait_roots_finish(struct wait_roots *w)
{
        return hand_out_some(w, 0);
}
