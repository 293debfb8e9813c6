/* SPDX-License-Identifier: MIT */
#include "analyze/path/past_timeouts.h"

#include "analyze/path/past.h"
#include "analyze/path/path_names.h"
#include "analyze/path/path_walk.h"
#include "format/trace_event.h"

#include <stdbool.h>

/* A call stack that was not recorded is like any other one. */
static bool are_one_place(struct path_names *names, uint32_t a, uint32_t b)
{
        uint32_t place_a, place_b;

        return a == b || a == 0 || b == 0 ||
               (path_names_place(names, a, &place_a) == 0 && path_names_place(names, b, &place_b) == 0 &&
                place_a == place_b);
}

static bool is_timeout(const struct past_wait *wait)
{
        return wait->end == WAIT_END_TIMER && wait->by == 0 && wait->state == TRACE_WAIT_SLEEPING;
}

/* The rules of a join: path_walk.c. */
const struct past_wait *past_timeouts_before(const struct past *p, struct path_names *names, uint32_t thread,
                                             const struct past_wait *wait)
{
        const struct past_thread *t = past_of(p, thread);
        const struct past_wait *waits = past_waits(t), *first = wait;
        uint64_t ran_ns = 0;

        if (t->is_fiber || wait->state != TRACE_WAIT_SLEEPING)
                return wait;
        for (const struct past_wait *at = wait; at > waits + t->waits.first && wait - at < PAST_TIMEOUTS_MAX;
             at--) {
                const struct past_wait *before = at - 1;

                ran_ns += at->out_ns > before->in_ns ? at->out_ns - before->in_ns : 0;
                if (ran_ns > PATH_WALK_JOIN_RAN_NS)
                        break;
                if (before->preempted)
                        continue;
                if (!is_timeout(before) || !are_one_place(names, before->stack, wait->stack) ||
                    past_woke(t, before->in_ns - 1, first->out_ns))
                        break;
                first = before;
                ran_ns = 0;
        }
        return first;
}

const struct past_wait *past_timeouts_after(const struct past *p, struct path_names *names, uint32_t thread,
                                            const struct past_wait *wait)
{
        const struct past_thread *t = past_of(p, thread);
        const struct past_wait *end = past_waits(t) + t->waits.n, *last = wait;
        uint64_t ran_ns = 0;

        if (t->is_fiber)
                return wait;
        for (const struct past_wait *at = wait; at + 1 < end && at - wait < PAST_TIMEOUTS_MAX; at++) {
                const struct past_wait *after = at + 1;

                if (!at->preempted && !is_timeout(at))
                        break;
                ran_ns += after->out_ns > at->in_ns ? after->out_ns - at->in_ns : 0;
                if (ran_ns > PATH_WALK_JOIN_RAN_NS)
                        break;
                if (after->preempted)
                        continue;
                if (after->state != TRACE_WAIT_SLEEPING || !are_one_place(names, wait->stack, after->stack) ||
                    past_woke(t, last->in_ns - 1, after->out_ns))
                        break;
                last = after;
                ran_ns = 0;
        }
        return last;
}

const struct past_wait *past_first_timeout(const struct past *p, struct path_names *names, uint32_t thread,
                                           const struct past_wait *wait)
{
        return wait->by != 0 && wait->by != thread ? past_timeouts_before(p, names, thread, wait) : wait;
}
