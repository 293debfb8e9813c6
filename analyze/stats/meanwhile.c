/* SPDX-License-Identifier: MIT */
#include "analyze/stats/meanwhile.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct held_lock {
        uint64_t since_ns;
        uint32_t lock;
};

struct holder_thread {
        struct held_lock held[MEANWHILE_HELD_MAX];
        uint32_t n_held;
};

/* The waits for one lock or thread: [first, first + n) of the sorted ones. */
struct wait_range {
        size_t first, n;
        uint64_t longest_ns;
};

struct meanwhile_pass {
        struct meanwhile *meanwhile;
        const struct meanwhile_waits *waits;
        struct meanwhile_waits next; /* of threads that are waited for */
        struct wait_range *ranges;   /* heap; by lock id - 1, then by thread id - 1 */
        /* heap, each item on the heap, NULL until its thread holds a lock; by thread id - 1 */
        struct holder_thread **threads;
        uint32_t n_threads, n_locks, level;
        uint64_t n_steps;
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "looking for what others did meanwhile: out of memory");
}

void meanwhile_deinit(struct meanwhile *m)
{
        intern_deinit(&m->keys);
        free(m->sums);
        *m = (struct meanwhile){ .sums = NULL };
}

int meanwhile_waits_add(struct meanwhile_waits *w, const struct meanwhile_wait *items, size_t n)
{
        int r;

        if (n > MEANWHILE_WAITS_MAX - w->n_items) {
                w->n_left_out += n;
                return 0;
        }
        r = array_reserve(&w->items, &w->capacity, w->n_items + n, sizeof(*w->items));
        if (r < 0 || n == 0)
                return r;
        memcpy(w->items + w->n_items, items, n * sizeof(*items));
        w->n_items += n;
        return 0;
}

/* ------------------------------------------------------------------ times that lie in waits */

static int add_amount(struct meanwhile *m, const struct meanwhile_key *key, uint64_t amount)
{
        uint32_t id;
        int r = intern_add_row(&m->keys, key, &m->sums, &m->sums_capacity, sizeof(*m->sums), &id);

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        m->sums[id - 1].n++;
        m->sums[id - 1].amount += amount;
        return 0;
}

/* An activity of a thread from @begin_ns to @end_ns; a sample has a weight and no length. */
struct stretch {
        struct meanwhile_key key;
        uint64_t begin_ns, end_ns, weight;
};

/* The first wait of the range that may end after @time_ns. */
static size_t find_first_wait(const struct meanwhile_pass *p, const struct wait_range *range,
                              uint64_t time_ns)
{
        const struct meanwhile_wait *waits = p->waits->items + range->first;

        if (time_ns < range->longest_ns)
                return range->first;
        return range->first + array_count_to(waits, range->n, sizeof(*waits),
                                             offsetof(struct meanwhile_wait, begin_ns),
                                             time_ns - range->longest_ns);
}

/* Adds the part of a stretch in one wait.  If the stretch is a wait itself, the next level gets it. */
static int add_overlap(struct meanwhile_pass *p, const struct meanwhile_wait *wait, struct stretch s)
{
        struct meanwhile_wait next = { .begin_ns = s.begin_ns, .end_ns = s.end_ns };
        int r;

        next.begin_ns = wait->begin_ns > s.begin_ns ? wait->begin_ns : s.begin_ns;
        next.end_ns = wait->end_ns < s.end_ns ? wait->end_ns : s.end_ns;
        if (wait->thread == s.key.thread || next.end_ns <= next.begin_ns)
                return 0;
        s.key.kind = wait->kind;
        s.key.level = p->level;
        r = add_amount(p->meanwhile, &s.key, s.weight != 0 ? s.weight : next.end_ns - next.begin_ns);
        if (r < 0 || s.key.by == 0 || p->level + 1 == MEANWHILE_LEVELS)
                return r;
        next.by = s.key.by;
        next.thread = s.key.thread;
        next.kind = wait->kind;
        return meanwhile_waits_add(&p->next, &next, 1);
}

/* Adds a stretch to all waits of other threads, for a lock or for a thread, in which it lies. */
static int add_stretch(struct meanwhile_pass *p, const struct wait_range *range, const struct stretch *s)
{
        int r = 0;

        for (size_t i = find_first_wait(p, range, s->begin_ns);
             i < range->first + range->n && p->n_steps < MEANWHILE_STEPS_MAX && r == 0; i++) {
                p->n_steps++;
                if (p->waits->items[i].begin_ns >= s->end_ns)
                        break;
                r = add_overlap(p, &p->waits->items[i], *s);
        }
        return r;
}

/* Adds a stretch of a thread that others wait for, or that holds a lock that others wait for. */
static int add_doing(struct meanwhile_pass *p, struct stretch s)
{
        const struct holder_thread *state = p->threads[s.key.thread - 1];
        int r = 0;

        if (s.end_ns <= s.begin_ns)
                return 0;
        if (p->ranges[p->n_locks + s.key.thread - 1].n != 0)
                r = add_stretch(p, &p->ranges[p->n_locks + s.key.thread - 1], &s);
        for (uint32_t i = 0; state && i < state->n_held && r == 0; i++)
                r = add_stretch(p, &p->ranges[state->held[i].lock - 1], &s);
        return r;
}

/* ------------------------------------------------------------------ locks */

static int release_lock(struct meanwhile_pass *p, uint32_t thread, uint32_t i, uint64_t time_ns)
{
        struct holder_thread *state = p->threads[thread - 1];
        struct stretch s = { .key = { .thread = thread, .doing = MEANWHILE_HELD },
                             .begin_ns = state->held[i].since_ns,
                             .end_ns = time_ns };
        uint32_t lock = state->held[i].lock;

        state->held[i] = state->held[--state->n_held];
        return add_stretch(p, &p->ranges[lock - 1], &s);
}

static int hold_lock(struct meanwhile_pass *p, uint32_t thread, uint32_t lock, uint64_t time_ns)
{
        struct holder_thread *state = p->threads[thread - 1];

        if (p->ranges[lock - 1].n == 0)
                return 0;
        if (!state) {
                state = calloc(1, sizeof(*state));
                if (!state)
                        return -ENOMEM;
                p->threads[thread - 1] = state;
        }
        if (state->n_held < MEANWHILE_HELD_MAX)
                state->held[state->n_held++] = (struct held_lock){ .since_ns = time_ns, .lock = lock };
        return 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct meanwhile_pass *p = context;
        struct holder_thread *state = p->threads[thread->id - 1];
        int r = 0;

        if (event->op == TRACE_OP_LOCK_OBTAIN) {
                r = hold_lock(p, thread->id, (uint32_t)event->lock_obtain.lock, event->time_ns);
        } else if (event->op == TRACE_OP_LOCK_RELEASE && state) {
                for (uint32_t i = state->n_held; i > 0 && r == 0; i--)
                        if (state->held[i - 1].lock == event->lock_release.lock) {
                                r = release_lock(p, thread->id, i - 1, event->time_ns);
                                break;
                        }
        }
        return r < 0 ? no_memory(err) : 0;
}

/* ------------------------------------------------------------------ samples and waits */

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct meanwhile_pass *p = context;
        struct stretch s = { .key = { .thread = thread->id,
                                      .doing = MEANWHILE_SAMPLE,
                                      .stack = (uint32_t)event->sample.stack },
                             .begin_ns = event->time_ns,
                             .end_ns = event->time_ns + 1,
                             .weight = event->sample.weight != 0 ? event->sample.weight : 1 };

        if (event->sample.event != p->meanwhile->event)
                return 0;
        return add_doing(p, s) < 0 ? no_memory(err) : 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct meanwhile_pass *p = context;
        struct stretch waited = {
                .key = { .thread = thread->id, .doing = MEANWHILE_WAITED, .stack = wait->stack },
                .begin_ns = wait->out_ns,
                .end_ns = wait->in_ns
        };
        struct stretch ready = { .key = { .thread = thread->id, .doing = MEANWHILE_PREEMPTED },
                                 .begin_ns = wait->in_ns,
                                 .end_ns = wait->in_ns };
        int r;

        if (wait->preempted) {
                waited.end_ns = ready.begin_ns = wait->out_ns;
        } else if (wait->is_woken && wait->woken_ns > wait->out_ns && wait->woken_ns <= wait->in_ns) {
                waited.key.by = wait->waker_thread;
                waited.end_ns = ready.begin_ns = wait->woken_ns;
        }
        r = add_doing(p, waited);
        if (r == 0)
                r = add_doing(p, ready);
        return r < 0 ? no_memory(err) : 0;
}

/* ------------------------------------------------------------------ the pass */

static int compare(const void *a, const void *b)
{
        const struct meanwhile_wait *left = a, *right = b;

        if (left->lock != right->lock)
                return left->lock < right->lock ? -1 : 1;
        if (left->by != right->by)
                return left->by < right->by ? -1 : 1;
        return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static int pass_init(struct meanwhile_pass *p, struct loaded_trace *trace, struct meanwhile_waits *waits)
{
        p->n_locks = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCKS);
        p->n_threads = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS);
        p->ranges = calloc((size_t)p->n_locks + p->n_threads + 1, sizeof(*p->ranges));
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        p->threads = calloc((size_t)p->n_threads + 1, sizeof(*p->threads));
        if (!p->ranges || !p->threads)
                return -ENOMEM;
        qsort(waits->items, waits->n_items, sizeof(*waits->items), compare);
        for (size_t i = 0; i < waits->n_items; i++) {
                const struct meanwhile_wait *wait = &waits->items[i];
                struct wait_range *range = wait->lock != 0 ? &p->ranges[wait->lock - 1]
                                                           : &p->ranges[p->n_locks + wait->by - 1];

                if (range->n++ == 0)
                        range->first = i;
                if (wait->end_ns - wait->begin_ns > range->longest_ns)
                        range->longest_ns = wait->end_ns - wait->begin_ns;
        }
        return 0;
}

/* Ends the holds of locks that were not released before the recording ended. */
static int pass_finish(struct meanwhile_pass *p, uint64_t end_ns)
{
        int r = 0;

        for (uint32_t i = 0; i < p->n_threads; i++)
                while (r == 0 && p->threads[i] && p->threads[i]->n_held != 0)
                        r = release_lock(p, i + 1, p->threads[i]->n_held - 1, end_ns);
        return r;
}

static void pass_deinit(struct meanwhile_pass *p)
{
        for (uint32_t i = 0; p->threads && i < p->n_threads; i++)
                free(p->threads[i]);
        free(p->threads);
        free(p->ranges);
}

/* @ret_next: the waits of the next level; to be freed in any case. */
static int take_level(struct meanwhile *m, struct loaded_trace *trace, struct meanwhile_waits *waits,
                      uint32_t level, struct meanwhile_waits *ret_next, struct error *err)
{
        struct meanwhile_pass pass = { .meanwhile = m, .waits = waits, .level = level };
        struct trace_sink sink = {
                .context = &pass, .sample = take_sample, .wait = take_wait, .event = take_event
        };
        struct trace_walk walk;
        int r;

        if (pass_init(&pass, trace, waits) < 0) {
                pass_deinit(&pass);
                return no_memory(err);
        }
        r = trace_walk_init(&walk, trace, NULL, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        if (r == 0 && pass_finish(&pass, walk.last_ns) < 0)
                r = no_memory(err);
        trace_walk_deinit(&walk);
        pass_deinit(&pass);
        *ret_next = pass.next;
        return r;
}

int meanwhile_take(struct meanwhile *m, struct loaded_trace *trace, struct meanwhile_waits *waits,
                   uint32_t event, struct error *err)
{
        struct meanwhile_waits now = *waits;
        int r = 0;

        *m = (struct meanwhile){ .event = event };
        intern_init(&m->keys, sizeof(struct meanwhile_key), MEANWHILE_ROWS_MAX);
        for (uint32_t level = 0; level < MEANWHILE_LEVELS && now.n_items != 0 && r == 0; level++) {
                struct meanwhile_waits next = { .items = NULL };

                r = take_level(m, trace, &now, level, &next, err);
                if (level != 0)
                        free(now.items);
                now = next;
        }
        if (now.items != waits->items)
                free(now.items);
        return r;
}
