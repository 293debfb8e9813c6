/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_devices.h"

#include "analyze/devices/device_works.h"
#include "analyze/path/past.h"
#include "analyze/path/path_walk.h"

/* Whether it is not known what else may have ended it. */
static bool may_be_device(const struct past_wait *wait)
{
        switch ((enum wait_end_kind)wait->end) {
        case WAIT_END_UNKNOWN:
        case WAIT_END_PROGRAM:
        case WAIT_END_TIMER:
        case WAIT_END_INTERRUPT:
                return true;
        case WAIT_END_THREAD:
        case WAIT_END_DISK:
        case WAIT_END_NETWORK:
        case WAIT_END_KINDS:
                break;
        }
        return false;
}

/* By the program's word, or by its call stack. */
static bool is_for_lock(const struct path_walk *w, uint32_t thread, const struct past_wait *wait)
{
        const struct past_span *asked = past_lock_wait(past_of(w->past, thread), wait->woken_ns);

        return wait->is_lock || (asked && asked->begin_ns < wait->woken_ns);
}

/* Whether a wait of @asker may be for a device. */
static bool may_wait(const struct path_walk *w, uint32_t asker, const struct past_wait *wait)
{
        return wait && !wait->preempted && !is_for_lock(w, asker, wait);
}

/* The thread itself had asked. */
static bool find_own(const struct path_walk *w, struct path_device_wait *ret)
{
        const struct past_wait *wait = ret->end;
        uint32_t thread = ret->asker.thread;

        if (!may_wait(w, thread, wait))
                return false;
        ret->is_poll = wait->end == WAIT_END_TIMER;
        ret->work = device_works_ended(w->works, thread, wait->out_ns, wait->woken_ns);
        if (!ret->work && ret->is_poll)
                ret->work = device_works_last(w->works, thread, wait->woken_ns,
                                              wait->in_ns + PATH_WALK_JOIN_RAN_NS);
        if (ret->work)
                ret->ended_ns = ret->work->end_ns;
        return ret->work != NULL;
}

/* A thread that waits for the one at the end of the chain had asked. */
static bool find_of_waiter(const struct path_walk *w, struct path_device_wait *ret)
{
        const struct past_wait *wait = past_wait_at(w->past, ret->asker.thread, ret->end->woken_ns - 1);
        const struct device_work *before;
        uint32_t thread = ret->asker.thread;

        if (!may_wait(w, thread, wait))
                return false;
        ret->wait = wait;
        ret->work = device_works_ended(w->works, thread, wait->out_ns, ret->end->woken_ns);
        if (ret->work) {
                ret->ended_ns = ret->work->end_ns;
                return true;
        }
        ret->work = device_works_last(w->works, thread, ret->end->woken_ns, wait->woken_ns);
        before = ret->work ? device_works_before(w->works, ret->work, ret->end->woken_ns) : NULL;
        if (before && before->end_ns > ret->end->woken_ns) /* that has begun since */
                before = device_works_before(w->works, before, before->begin_ns);
        if (!before || !device_works_may_wake(w->works, before, ret->end->woken_ns))
                return false;
        ret->ended_ns = before->end_ns;
        return true;
}

bool path_devices_find(const struct path_walk *w, struct path_asker at, const struct past_wait *wait,
                       struct path_device_wait *ret)
{
        const struct path_link *link;

        *ret = (struct path_device_wait){ .end = wait, .wait = wait, .asker = at };
        if (!w->works || w->works->n_of_threads == 0 || !may_be_device(wait) || wait->woken_ns == 0 ||
            wait->in_ns == UINT64_MAX)
                return false;
        if (find_own(w, ret))
                return true;
        ret->is_poll = false;
        if (is_for_lock(w, at.thread, wait))
                return false;
        for (link = path_walk_link(w, at.chain); link && link->how == PATH_HOW_WOKEN;
             link = path_walk_link(w, link->parent)) {
                ret->asker = (struct path_asker){ link->thread, ret->asker.depth - 1, link->parent };
                if (find_of_waiter(w, ret))
                        return true;
        }
        return false;
}
