/* SPDX-License-Identifier: MIT */
#include "analyze/waits/wait_stats.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"

#include <stdlib.h>

void wait_stats_init(struct wait_stats *s)
{
        *s = (struct wait_stats){ .rows = NULL };
        intern_init(&s->keys, sizeof(struct wait_key), 0);
        intern_init(&s->waker_keys, sizeof(struct waker_key), 0);
}

void wait_stats_deinit(struct wait_stats *s)
{
        intern_deinit(&s->keys);
        intern_deinit(&s->waker_keys);
        free(s->rows);
        free(s->wakers);
        free(s->threads);
        wait_stats_init(s);
}

int wait_stats_reserve(struct wait_stats *s, uint32_t n_threads)
{
        return array_reach(&s->threads, &s->threads_capacity, &s->n_threads, n_threads, sizeof(*s->threads));
}

static uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The id of the row of waits with @key, new if need be. */
static int find_row(struct wait_stats *s, const struct wait_key *key, uint32_t *ret_id)
{
        int r = intern_add_row(&s->keys, key, &s->rows, &s->rows_capacity, sizeof(*s->rows), ret_id);

        return r < 0 ? r : 0;
}

static int add_waker(struct wait_stats *s, const struct waker_key *key, uint64_t wait_ns)
{
        uint32_t id;
        int r = intern_add_row(&s->waker_keys, key, &s->wakers, &s->wakers_capacity, sizeof(*s->wakers), &id);

        if (r < 0)
                return r;
        wait_sum_add(&s->wakers[id - 1], wait_ns);
        return 0;
}

int wait_stats_add(struct wait_stats *s, uint32_t thread_id, const struct thread_wait *wait)
{
        struct wait_thread *thread = &s->threads[thread_id - 1];
        uint64_t wait_ns = elapsed(wait->out_ns, wait->in_ns);
        struct wait_key key = {
                .stack = wait->stack,
                .path = wait->path,
                .wait = wait->state,
                .length = wait_length_of(wait_ns),
        };
        struct waker_key waker = {
                .thread = wait->waker_thread,
                .name = wait->waker_name,
                .stack = wait->waker_stack,
                .below = wait->below,
        };
        struct wait_row *row;
        int r;

        if (wait->preempted) {
                if (wait->ended)
                        wait_sum_add(&thread->preempted, wait_ns);
                return 0;
        }
        if (wait->ended && wait->state == TRACE_WAIT_STOPPED)
                thread->stopped_ns += elapsed(wait->out_ns, wait->is_woken && wait->woken_ns < wait->in_ns
                                                                    ? wait->woken_ns
                                                                    : wait->in_ns);
        r = find_row(s, &key, &waker.row);
        if (r < 0)
                return r;
        row = &s->rows[waker.row - 1];
        if (!wait->ended) {
                row->n_open++;
                row->open_ns += wait_ns;
                thread->waits.n_open++;
                thread->waits.open_ns += wait_ns;
                return 0;
        }
        wait_sum_add(&row->ended, wait_ns);
        wait_sum_add(&thread->waits.ended, wait_ns);
        if (!wait->is_woken)
                return 0;
        wait_sum_add(&row->delays, elapsed(wait->woken_ns, wait->in_ns));
        wait_sum_add(&thread->waits.delays, elapsed(wait->woken_ns, wait->in_ns));
        return add_waker(s, &waker, wait_ns);
}
