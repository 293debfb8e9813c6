/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_ends.h"

#include "analyze/waits/wait_ends.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

void live_ends_init(struct live_ends *e)
{
        *e = (struct live_ends){ .last = NULL };
        intern_init(&e->keys, sizeof(struct live_ended_wait), LIVE_ENDS_MAX);
}

void live_ends_deinit(struct live_ends *e)
{
        intern_deinit(&e->keys);
        live_window_deinit(&e->window);
        free(e->last);
        *e = (struct live_ends){ .last = NULL };
}

static struct live_end end_of(const struct trace_dictionary *d, uint32_t thread,
                              const struct thread_wait *wait)
{
        struct live_end end = { .kind = LIVE_END_NONE };

        if (!wait->is_woken)
                return end;
        end.kind = LIVE_END_INTERRUPT;
        if (wait_ends_is_softirq(d, wait->waker_name))
                return end;
        if (wait->waker_thread != 0 && wait->waker_thread != thread)
                return (struct live_end){ .kind = LIVE_END_THREAD,
                                          .thread = wait->waker_thread,
                                          .name = wait->waker_name,
                                          .stack = wait->waker_stack };
        if (wait->waker_thread == 0 && wait->waker_name != 0)
                end = (struct live_end){ .kind = LIVE_END_PROGRAM, .name = wait->waker_name };
        return end;
}

static int keep_last(struct live_ends *e, uint32_t thread, const struct live_end *end)
{
        int r;

        if (thread > LIVE_ENDS_THREADS_MAX)
                return 0;
        r = array_reach(&e->last, &e->capacity, &e->n_threads, thread, sizeof(*e->last));
        if (r == 0)
                e->last[thread - 1] = *end;
        return r;
}

/* The last seconds fill again; the sums of all time lose what came before. */
static void begin_anew(struct live_ends *e)
{
        intern_deinit(&e->keys);
        intern_init(&e->keys, sizeof(struct live_ended_wait), LIVE_ENDS_MAX);
        live_window_deinit(&e->window);
        e->n_anew++;
}

int live_ends_add(struct live_ends *e, const struct trace_dictionary *d, uint32_t thread,
                  const struct thread_wait *wait, uint64_t key)
{
        const struct live_ended_wait item = { .wait = key, .end = end_of(d, thread, wait) };
        uint64_t ns = wait->in_ns > wait->out_ns ? wait->in_ns - wait->out_ns : 0;
        uint32_t id = 0;
        int r = keep_last(e, thread, &item.end);

        if (r < 0 || item.end.kind == LIVE_END_NONE)
                return r;
        r = intern_add(&e->keys, &item, sizeof(item), &id);
        if (r == -EOVERFLOW) {
                begin_anew(e);
                r = intern_add(&e->keys, &item, sizeof(item), &id);
        }
        return r < 0 ? -ENOMEM : live_window_add(&e->window, wait->in_ns, id, ns);
}

const struct live_end *live_ends_last(const struct live_ends *e, uint32_t thread)
{
        return thread <= e->n_threads && e->last[thread - 1].kind != LIVE_END_NONE ? &e->last[thread - 1]
                                                                                   : NULL;
}
