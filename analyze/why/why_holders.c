/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_holders.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

struct held_lock {
        uint64_t since_ns;
        uint32_t lock;
};

struct holder_thread {
        struct held_lock held[WHY_HELD_MAX];
        uint32_t n_held;
};

/* The waits for one lock: [first, first + n) of the sorted ones. */
struct lock_range {
        size_t first, n;
        uint64_t longest_ns;
};

struct holder_pass {
        struct why_holders *holders;
        const struct why_lock_waits *waits;
        struct lock_range *ranges; /* heap; by lock id - 1 */
        struct holder_thread *
                *threads; /* heap, each on the heap, NULL until it holds one; by thread id - 1 */
        uint32_t n_threads;
        uint64_t n_steps;
};

static int why_holders_no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "looking for the holders of locks: out of memory");
}

void why_holders_deinit(struct why_holders *h)
{
        intern_deinit(&h->keys);
        free(h->sums);
        *h = (struct why_holders){ .sums = NULL };
}

static int why_holders_add(struct why_holders *h, const struct why_holder_key *key, uint64_t amount)
{
        uint32_t id;
        int r = intern_add(&h->keys, key, sizeof(*key), &id);

        if (r == -EOVERFLOW)
                return 0;
        if (r < 0)
                return r;
        if (r == 1) {
                r = array_reserve(&h->sums, &h->sums_capacity, id, sizeof(*h->sums));
                if (r < 0)
                        return r;
                h->sums[id - 1] = (struct why_holder_sum){ .n = 0 };
        }
        h->sums[id - 1].n++;
        h->sums[id - 1].amount += amount;
        return 0;
}

/* The first wait of the range that could reach @time_ns. */
static size_t why_holders_find_first(const struct holder_pass *p, const struct lock_range *range,
                                     uint64_t time_ns)
{
        uint64_t from_ns = time_ns > range->longest_ns ? time_ns - range->longest_ns : 0;
        size_t low = range->first, high = range->first + range->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (p->waits->items[middle].begin_ns < from_ns)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* How much of a time lies in waits of other threads, all of them added up. */
static uint64_t overlap_ns(struct holder_pass *p, const struct why_holder_key *key, uint64_t begin_ns,
                           uint64_t end_ns)
{
        const struct lock_range *range = &p->ranges[key->lock - 1];
        uint64_t sum_ns = 0;

        for (size_t i = why_holders_find_first(p, range, begin_ns);
             i < range->first + range->n && p->n_steps < WHY_HOLDER_STEPS_MAX; i++) {
                const struct why_lock_wait *wait = &p->waits->items[i];
                uint64_t from_ns = wait->begin_ns > begin_ns ? wait->begin_ns : begin_ns;
                uint64_t to_ns = wait->end_ns < end_ns ? wait->end_ns : end_ns;

                p->n_steps++;
                if (wait->begin_ns >= end_ns)
                        break;
                if (wait->thread != key->thread && to_ns > from_ns)
                        sum_ns += to_ns - from_ns;
        }
        return sum_ns;
}

static int why_holders_add_time(struct holder_pass *p, const struct why_holder_key *key, uint64_t begin_ns,
                                uint64_t end_ns)
{
        uint64_t ns = overlap_ns(p, key, begin_ns, end_ns);

        return ns != 0 ? why_holders_add(p->holders, key, ns) : 0;
}

static int why_holders_let_go(struct holder_pass *p, uint32_t thread, uint32_t i, uint64_t time_ns)
{
        struct holder_thread *state = p->threads[thread - 1];
        struct why_holder_key key = { .lock = state->held[i].lock, .thread = thread, .doing = WHY_HELD };
        uint64_t since_ns = state->held[i].since_ns;

        state->held[i] = state->held[--state->n_held];
        return why_holders_add_time(p, &key, since_ns, time_ns);
}

static int why_holders_hold(struct holder_pass *p, uint32_t thread, uint32_t lock, uint64_t time_ns)
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
        if (state->n_held < WHY_HELD_MAX)
                state->held[state->n_held++] = (struct held_lock){ .since_ns = time_ns, .lock = lock };
        return 0;
}

static int why_holders_take_event(void *context, struct walked_thread *thread,
                                  const struct trace_event *event, struct error *err)
{
        struct holder_pass *p = context;
        struct holder_thread *state = p->threads[thread->id - 1];
        int r = 0;

        if (event->op == TRACE_OP_LOCK_OBTAIN) {
                r = why_holders_hold(p, thread->id, (uint32_t)event->lock_obtain.lock, event->time_ns);
        } else if (event->op == TRACE_OP_LOCK_RELEASE && state) {
                for (uint32_t i = state->n_held; i > 0 && r == 0; i--)
                        if (state->held[i - 1].lock == event->lock_release.lock) {
                                r = why_holders_let_go(p, thread->id, i - 1, event->time_ns);
                                break;
                        }
        }
        return r < 0 ? why_holders_no_memory(err) : 0;
}

static int why_holders_take_sample(void *context, struct walked_thread *thread,
                                   const struct trace_event *event, struct error *err)
{
        struct holder_pass *p = context;
        const struct holder_thread *state = p->threads[thread->id - 1];
        int r = 0;

        if (!state || event->sample.event != p->holders->event)
                return 0;
        for (uint32_t i = 0; i < state->n_held && r == 0; i++) {
                struct why_holder_key key = { .lock = state->held[i].lock,
                                              .thread = thread->id,
                                              .doing = WHY_HELD_SAMPLE,
                                              .stack = (uint32_t)event->sample.stack };

                if (overlap_ns(p, &key, event->time_ns, event->time_ns + 1) != 0)
                        r = why_holders_add(p->holders, &key,
                                            event->sample.weight != 0 ? event->sample.weight : 1);
        }
        return r < 0 ? why_holders_no_memory(err) : 0;
}

static int why_holders_take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                                 struct error *err)
{
        struct holder_pass *p = context;
        const struct holder_thread *state = p->threads[thread->id - 1];
        int r = 0;

        if (!state || wait->preempted)
                return 0;
        for (uint32_t i = 0; i < state->n_held && r == 0; i++) {
                struct why_holder_key key = { .lock = state->held[i].lock,
                                              .thread = thread->id,
                                              .doing = WHY_HELD_WAIT,
                                              .stack = wait->stack };

                r = why_holders_add_time(p, &key, wait->out_ns, wait->in_ns);
        }
        return r < 0 ? why_holders_no_memory(err) : 0;
}

static int why_holders_compare(const void *a, const void *b)
{
        const struct why_lock_wait *left = a, *right = b;

        if (left->lock != right->lock)
                return left->lock < right->lock ? -1 : 1;
        return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static int why_holders_prepare(struct holder_pass *p, struct loaded_trace *trace,
                               struct why_lock_waits *waits)
{
        uint32_t n_locks = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCKS);

        p->n_threads = trace_dictionary_count(trace->dictionary, TRACE_TABLE_THREADS);
        p->ranges = calloc((size_t)n_locks + 1, sizeof(*p->ranges));
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        p->threads = calloc((size_t)p->n_threads + 1, sizeof(*p->threads));
        if (!p->ranges || !p->threads)
                return -ENOMEM;
        qsort(waits->items, waits->n_items, sizeof(*waits->items), why_holders_compare);
        for (size_t i = 0; i < waits->n_items; i++) {
                const struct why_lock_wait *wait = &waits->items[i];
                struct lock_range *range = &p->ranges[wait->lock - 1];

                if (range->n++ == 0)
                        range->first = i;
                if (wait->end_ns - wait->begin_ns > range->longest_ns)
                        range->longest_ns = wait->end_ns - wait->begin_ns;
        }
        return 0;
}

/* Locks that were not released before the recording ended. */
static int why_holders_finish(struct holder_pass *p, uint64_t end_ns)
{
        int r = 0;

        for (uint32_t i = 0; i < p->n_threads; i++)
                while (r == 0 && p->threads[i] && p->threads[i]->n_held != 0)
                        r = why_holders_let_go(p, i + 1, p->threads[i]->n_held - 1, end_ns);
        return r;
}

static void why_holders_release(struct holder_pass *p)
{
        for (uint32_t i = 0; p->threads && i < p->n_threads; i++)
                free(p->threads[i]);
        free(p->threads);
        free(p->ranges);
}

int why_holders_take(struct why_holders *h, struct loaded_trace *trace, struct why_lock_waits *waits,
                     uint32_t event, struct error *err)
{
        struct holder_pass pass = { .holders = h, .waits = waits };
        struct trace_sink sink = { .context = &pass,
                                   .sample = why_holders_take_sample,
                                   .wait = why_holders_take_wait,
                                   .event = why_holders_take_event };
        struct trace_walk walk;
        int r;

        *h = (struct why_holders){ .event = event };
        intern_init(&h->keys, sizeof(struct why_holder_key), WHY_HOLDER_ROWS_MAX);
        if (waits->n_items == 0)
                return 0;
        if (why_holders_prepare(&pass, trace, waits) < 0) {
                why_holders_release(&pass);
                return why_holders_no_memory(err);
        }
        r = trace_walk_init(&walk, trace, NULL, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : why_holders_no_memory(err);
        if (r == 0 && why_holders_finish(&pass, walk.last_ns) < 0)
                r = why_holders_no_memory(err);
        trace_walk_deinit(&walk);
        why_holders_release(&pass);
        return r;
}
