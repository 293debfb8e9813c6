/* SPDX-License-Identifier: MIT */
#include "analyze/stats/lock_stats.h"

#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LOCK_STATS_PARTIES_MAX <= 64, "free_place() has a bit for each");

int lock_stats_init(struct lock_stats *s, uint32_t n_locks)
{
        *s = (struct lock_stats){ .n_locks = n_locks };
        intern_init(&s->keys, sizeof(struct lock_row_key), LOCK_STATS_ROWS_MAX);
        s->locks = calloc((size_t)n_locks + 1, sizeof(*s->locks));
        return s->locks ? 0 : -ENOMEM;
}

int lock_stats_reserve(struct lock_stats *s, uint32_t n_locks)
{
        struct lock_state *larger;

        if (n_locks <= s->n_locks)
                return 0;
        larger = reallocarray(s->locks, (size_t)n_locks + 1, sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        memset(larger + s->n_locks, 0, ((size_t)n_locks + 1 - s->n_locks) * sizeof(*larger));
        s->locks = larger;
        s->n_locks = n_locks;
        return 0;
}

void lock_stats_deinit(struct lock_stats *s)
{
        for (uint32_t i = 0; s->locks && i < s->n_locks; i++) {
                free(s->locks[i].holding.items);
                free(s->locks[i].waiting.items);
                histogram_deinit(&s->locks[i].waits_ns);
                histogram_deinit(&s->locks[i].holds_ns);
        }
        free(s->locks);
        free(s->rows);
        intern_deinit(&s->keys);
        *s = (struct lock_stats){ .locks = NULL };
}

/* ------------------------------------------------------------------ rows */

static int add_row(struct lock_stats *s, const struct lock_row_key *key, const struct lock_party *party,
                   uint64_t ns)
{
        struct lock_row *row;
        uint32_t id;
        int r = intern_add_row(&s->keys, key, &s->rows, &s->rows_capacity, sizeof(*s->rows), &id);

        if (r == -EOVERFLOW) {
                s->n_rows_lost++;
                return 0;
        }
        if (r < 0)
                return r;
        row = &s->rows[id - 1];
        row->n++;
        row->total_ns += ns;
        row->max_ns = ns > row->max_ns ? ns : row->max_ns;
        row->blocked_ns += party->blocked_ns;
        row->n_contended += party->contended;
        return 0;
}

/* ------------------------------------------------------------------ who holds, who waits */

static bool is_in_the_way(const struct lock_party *holder, const struct lock_party *waiter)
{
        return holder->thread != waiter->thread && !(holder->shared && waiter->shared);
}

/* The time since the last event of the lock is attributed to the holders in that time. */
static void account(struct lock_state *lock, uint64_t time_ns)
{
        uint64_t ns = time_ns > lock->at_ns ? time_ns - lock->at_ns : 0;

        if (time_ns > lock->at_ns)
                lock->at_ns = time_ns;
        for (uint32_t w = 0; ns != 0 && w < lock->waiting.n; w++) {
                bool blocked = false;

                for (uint32_t h = 0; h < lock->holding.n; h++)
                        if (is_in_the_way(&lock->holding.items[h], &lock->waiting.items[w])) {
                                lock->holding.items[h].blocked_ns += ns;
                                blocked = true;
                        }
                lock->blocked_ns += blocked ? ns : 0;
        }
}

static void mark_contended(struct lock_state *lock, struct lock_party *waiter)
{
        for (uint32_t h = 0; h < lock->holding.n; h++)
                if (is_in_the_way(&lock->holding.items[h], waiter))
                        waiter->contended = true;
}

/* The index of the thread's last entry; @p->n if the thread has none. */
static uint32_t find_party(const struct lock_parties *p, uint32_t thread)
{
        for (uint32_t i = p->n; i > 0; i--)
                if (p->items[i - 1].thread == thread)
                        return i - 1;
        return p->n;
}

static uint32_t free_place(const struct lock_parties *p)
{
        uint64_t taken = 0;

        for (uint32_t i = 0; i < p->n; i++)
                taken |= UINT64_C(1) << p->items[i].place;
        return (uint32_t)__builtin_ctzll(~taken);
}

static int enter(struct lock_stats *s, struct lock_parties *p, const struct ordered_event *event)
{
        if (p->n == LOCK_STATS_PARTIES_MAX) {
                s->n_untracked++;
                return 0;
        }
        if (array_reserve(&p->items, &p->capacity, p->n + 1, sizeof(*p->items)) < 0)
                return -ENOMEM;
        p->items[p->n] = (struct lock_party){ .since_ns = event->time_ns,
                                              .thread = event->thread,
                                              .path = event->path,
                                              .place = free_place(p),
                                              .shared = event->value[0] != 0 };
        p->n++;
        return 0;
}

/* Ends the wait or hold at @index. */
static int leave(struct lock_stats *s, uint32_t lock, struct lock_parties *p, uint32_t index,
                 uint64_t time_ns)
{
        struct lock_state *state = &s->locks[lock - 1];
        struct lock_party party = p->items[index];
        bool holds = p == &state->holding;
        uint64_t ns = time_ns > party.since_ns ? time_ns - party.since_ns : 0;
        struct lock_row_key key = {
                .lock = lock, .thread = party.thread, .path = party.path, .holds = holds
        };

        p->items[index] = p->items[--p->n];
        state->n_contended += party.contended;
        if (s->take) {
                const struct lock_span span = { .begin_ns = party.since_ns,
                                                .end_ns = party.since_ns + ns,
                                                .lock = lock,
                                                .thread = party.thread,
                                                .place = party.place,
                                                .holds = holds };
                int r = s->take(s->context, &span, NULL);

                if (r < 0)
                        return r;
        }
        if (histogram_add(holds ? &state->holds_ns : &state->waits_ns, ns) < 0)
                return -ENOMEM;
        return add_row(s, &key, &party, ns);
}

static int begin_wait(struct lock_stats *s, struct lock_state *lock, const struct ordered_event *event)
{
        uint32_t n = lock->waiting.n;
        int r = enter(s, &lock->waiting, event);

        if (lock->waiting.n > n)
                mark_contended(lock, &lock->waiting.items[n]);
        return r;
}

static int end_wait(struct lock_stats *s, const struct ordered_event *event)
{
        struct lock_state *lock = &s->locks[event->subject - 1];
        uint32_t index = find_party(&lock->waiting, event->thread);

        return index < lock->waiting.n ? leave(s, event->subject, &lock->waiting, index, event->time_ns) : 0;
}

static int obtain(struct lock_stats *s, const struct ordered_event *event)
{
        struct lock_state *lock = &s->locks[event->subject - 1];
        int r = end_wait(s, event);

        lock->n_obtains++;
        lock->n_shared += event->value[0] != 0;
        if (r == 0)
                r = enter(s, &lock->holding, event);
        for (uint32_t w = 0; w < lock->waiting.n; w++)
                mark_contended(lock, &lock->waiting.items[w]);
        return r;
}

static int release(struct lock_stats *s, const struct ordered_event *event)
{
        struct lock_state *lock = &s->locks[event->subject - 1];
        uint32_t index = find_party(&lock->holding, event->thread);

        /* Some locks may be released by a thread other than their holder. */
        if (index == lock->holding.n && index == 1)
                index = 0;
        if (index >= lock->holding.n) {
                s->n_releases_alone++;
                return 0;
        }
        return leave(s, event->subject, &lock->holding, index, event->time_ns);
}

int lock_stats_add(struct lock_stats *s, const struct ordered_event *event)
{
        struct lock_state *lock = &s->locks[event->subject - 1];

        account(lock, event->time_ns);
        if (!lock->any && (event->op == TRACE_OP_LOCK_WAIT || event->op == TRACE_OP_LOCK_OBTAIN)) {
                lock->any = true;
                s->n_used++;
        }
        switch (event->op) {
        case TRACE_OP_LOCK_WAIT:
                return begin_wait(s, lock, event);
        case TRACE_OP_LOCK_OBTAIN:
                return obtain(s, event);
        case TRACE_OP_LOCK_RELEASE:
                return release(s, event);
        case EVENT_WALK_GIVE_UP:
                lock->n_given_up++;
                return end_wait(s, event);
        case TRACE_OP_LOCK_MARK:
                lock->mark = (uint32_t)event->value[0];
                return 0;
        case TRACE_OP_LOCK_NAME:
                lock->name = (uint32_t)event->value[0];
                return 0;
        case TRACE_OP_LOCK_GONE:
                lock->is_gone = true;
                return 0;
        default:
                return 0;
        }
}

int lock_stats_finish(struct lock_stats *s, uint64_t end_ns)
{
        int r = 0;

        for (uint32_t i = 0; i < s->n_locks && r == 0; i++) {
                struct lock_state *lock = &s->locks[i];
                uint64_t at_ns = end_ns > lock->at_ns ? end_ns : lock->at_ns;

                account(lock, at_ns);
                s->n_open_holds += lock->holding.n;
                s->n_open_waits += lock->waiting.n;
                while (lock->waiting.n != 0 && r == 0)
                        r = leave(s, i + 1, &lock->waiting, 0, at_ns);
                while (lock->holding.n != 0 && r == 0)
                        r = leave(s, i + 1, &lock->holding, 0, at_ns);
        }
        return r;
}

/* ------------------------------------------------------------------ a trace */

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        int r = lock_stats_add(context, event);

        return r < 0 ? error_set(err, r, "adding up locks: out of memory") : 0;
}

int lock_stats_take(struct lock_stats *s, struct loaded_trace *trace, const struct trace_filter *filter,
                    struct event_walk *walk, struct error *err)
{
        struct event_walk_request request = {
                .ops = EVENT_WALK_OP(TRACE_OP_LOCK_WAIT) | EVENT_WALK_OP(TRACE_OP_LOCK_OBTAIN) |
                       EVENT_WALK_OP(TRACE_OP_LOCK_RELEASE) | EVENT_WALK_OP(TRACE_OP_LOCK_MARK) |
                       EVENT_WALK_OP(TRACE_OP_LOCK_GONE) | EVENT_WALK_OP(TRACE_OP_LOCK_NAME),
                .take = take_event,
                .context = s,
                .wants_paths = true,
                .wants_give_up = true,
        };
        int r;

        *walk = (struct event_walk){ .walk = { .threads = NULL } };
        if (lock_stats_init(s, trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCKS)) < 0)
                return error_set(err, -ENOMEM, "adding up locks: out of memory");
        r = event_walk_take(walk, trace, filter, &request, err);
        if (r == 0 && lock_stats_finish(s, trace->end_ns) < 0)
                r = error_set(err, -ENOMEM, "adding up locks: out of memory");
        return r;
}
