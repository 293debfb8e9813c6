/* SPDX-License-Identifier: MIT */
#include "analyze/wait_stats.h"

#include "analyze/thread_timeline.h"
#include "base/array.h"
#include "format/trace_event.h"

#include <stdlib.h>
#include <string.h>

void wait_stats_init(struct wait_stats *s)
{
        *s = (struct wait_stats){ .rows = NULL };
        intern_init(&s->keys, sizeof(struct wait_key), 0);
        intern_init(&s->waker_keys, sizeof(struct waker_key), 0);
        intern_init(&s->paths, sizeof(struct wait_path), 0);
}

void wait_stats_deinit(struct wait_stats *s)
{
        intern_deinit(&s->keys);
        intern_deinit(&s->waker_keys);
        intern_deinit(&s->paths);
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

static uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
        return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The id of the row of waits with @key, new if need be. */
static int find_row(struct wait_stats *s, const struct wait_key *key, uint32_t *ret_id)
{
        int r = array_reserve(&s->rows, &s->rows_capacity, (size_t)s->keys.n_items + 1, sizeof(*s->rows));

        if (r < 0)
                return r;
        r = intern_add(&s->keys, key, sizeof(*key), ret_id);
        if (r == 1)
                s->rows[*ret_id - 1] = (struct wait_row){ .n_open = 0 };
        return r < 0 ? r : 0;
}

static int add_waker(struct wait_stats *s, const struct waker_key *key, uint64_t wait_ns)
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

static int switch_out(struct wait_stats *s, struct wait_thread *thread, struct thread_timeline *timeline,
                      const struct trace_event *event)
{
        uint64_t wait = event->switch_out.wait;

        thread->is_out = thread->is_woken = false;
        if (thread->has_ended || wait == TRACE_WAIT_ENDED || wait == TRACE_WAIT_IDLE)
                return 0;
        thread->is_out = true;
        thread->out_ns = event->time_ns;
        thread->is_preempted = event->switch_out.preempted != 0 || wait == TRACE_WAIT_PREEMPTED;
        if (thread->is_preempted)
                return 0;
        thread->key = (struct wait_key){
                .stack = (uint32_t)event->switch_out.stack,
                /* One number stands for all that a newer version may say. */
                .wait = wait < TRACE_WAIT_STATE_COUNT ? (uint32_t)wait : TRACE_WAIT_STATE_COUNT,
        };
        return thread_timeline_find_path(timeline, &s->paths, &thread->key.path);
}

/* The first one ends the wait; a later one finds the thread ready to run. */
static void wakeup(struct wait_stats *s, struct wait_thread *thread, const struct trace_event *event)
{
        s->n_wakeups++;
        if (!thread->is_out || thread->is_woken || thread->is_preempted)
                return;
        thread->is_woken = true;
        thread->woken_ns = event->time_ns;
        thread->waker = (struct waker_key){
                .thread = (uint32_t)event->wakeup.waker,
                .name = (uint32_t)event->wakeup.name,
                .stack = (uint32_t)event->wakeup.stack,
        };
}

static int switch_in(struct wait_stats *s, struct wait_thread *thread, uint64_t time_ns)
{
        uint64_t wait_ns = elapsed(thread->out_ns, time_ns);
        struct wait_row *row;
        uint32_t id;
        int r;

        if (!thread->is_out)
                return 0;
        thread->is_out = false;
        if (thread->is_preempted) {
                wait_sum_add(&thread->preempted, wait_ns);
                return 0;
        }
        r = find_row(s, &thread->key, &id);
        if (r < 0)
                return r;
        row = &s->rows[id - 1];
        wait_sum_add(&row->ended, wait_ns);
        wait_sum_add(&thread->waits.ended, wait_ns);
        if (!thread->is_woken)
                return 0;
        wait_sum_add(&row->delays, elapsed(thread->woken_ns, time_ns));
        wait_sum_add(&thread->waits.delays, elapsed(thread->woken_ns, time_ns));
        thread->waker.row = id;
        return add_waker(s, &thread->waker, wait_ns);
}

int wait_stats_add(struct wait_stats *s, uint32_t thread_id, struct thread_timeline *timeline,
                   const struct trace_event *event)
{
        struct wait_thread *thread = &s->threads[thread_id - 1];

        switch (event->op) {
        case TRACE_OP_SWITCH_OUT:
                return switch_out(s, thread, timeline, event);
        case TRACE_OP_SWITCH_IN:
                return switch_in(s, thread, event->time_ns);
        case TRACE_OP_WAKEUP:
                wakeup(s, thread, event);
                break;
        case TRACE_OP_THREAD_EXIT:
                thread->has_ended = true;
                thread->is_out = false;
                break;
        default:
                break;
        }
        return 0;
}

int wait_stats_finish(struct wait_stats *s, uint64_t end_ns)
{
        for (uint32_t i = 0; i < s->n_threads; i++) {
                struct wait_thread *thread = &s->threads[i];
                uint64_t open_ns = elapsed(thread->out_ns, end_ns);
                struct wait_row *row;
                uint32_t id = 0;
                int r;

                if (!thread->is_out || thread->is_preempted)
                        continue;
                thread->is_out = false;
                r = find_row(s, &thread->key, &id);
                if (r < 0)
                        return r;
                row = &s->rows[id - 1];
                row->n_open++;
                row->open_ns += open_ns;
                thread->waits.n_open++;
                thread->waits.open_ns += open_ns;
        }
        return 0;
}
