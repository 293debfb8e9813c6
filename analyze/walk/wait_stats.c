/* SPDX-License-Identifier: MIT */
#include "analyze/walk/wait_stats.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

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
        int r;

        if (n_threads <= s->n_threads)
                return 0;
        r = array_reserve(&s->threads, &s->threads_capacity, n_threads, sizeof(*s->threads));
        if (r < 0)
                return r;
        memset(s->threads + s->n_threads, 0, (n_threads - s->n_threads) * sizeof(*s->threads));
        s->n_threads = n_threads;
        return 0;
}

static uint64_t wait_stats_elapsed(uint64_t from_ns, uint64_t to_ns)
{
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The id of the row of waits with @key, new if need be. */
static int wait_stats_find_row(struct wait_stats *s, const struct wait_key *key, uint32_t *ret_id)
{
        int r = array_reserve(&s->rows, &s->rows_capacity, (size_t)s->keys.n_items + 1, sizeof(*s->rows));

        if (r < 0)
                return r;
        r = intern_add(&s->keys, key, sizeof(*key), ret_id);
        if (r == 1)
                s->rows[*ret_id - 1] = (struct wait_row){ .n_open = 0 };
        return r < 0 ? r : 0;
}

static int wait_stats_add_waker(struct wait_stats *s, const struct waker_key *key, uint64_t wait_ns)
{
        uint32_t id;
        int r = array_reserve(&s->wakers, &s->wakers_capacity, (size_t)s->waker_keys.n_items + 1,
                              sizeof(*s->wakers));

        if (r < 0)
                return r;
        r = intern_add(&s->waker_keys, key, sizeof(*key), &id);
        if (r < 0)
                return r;
        if (r == 1)
                s->wakers[id - 1] = (struct wait_sum){ .n_waits = 0 };
        wait_sum_add(&s->wakers[id - 1], wait_ns);
        return 0;
}

int wait_stats_add(struct wait_stats *s, uint32_t thread_id, const struct thread_wait *wait)
{
        struct wait_thread *thread = &s->threads[thread_id - 1];
        struct wait_key key = { .stack = wait->stack, .path = wait->path, .wait = wait->state };
        uint64_t wait_ns = wait_stats_elapsed(wait->out_ns, wait->in_ns);
        struct waker_key waker = {
                .thread = wait->waker_thread,
                .name = wait->waker_name,
                .stack = wait->waker_stack,
        };
        struct wait_row *row;
        int r;

        if (wait->preempted) {
                if (wait->ended)
                        wait_sum_add(&thread->preempted, wait_ns);
                return 0;
        }
        r = wait_stats_find_row(s, &key, &waker.row);
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
        wait_sum_add(&row->delays, wait_stats_elapsed(wait->woken_ns, wait->in_ns));
        wait_sum_add(&thread->waits.delays, wait_stats_elapsed(wait->woken_ns, wait->in_ns));
        return wait_stats_add_waker(s, &waker, wait_ns);
}
