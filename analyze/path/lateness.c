/* SPDX-License-Identifier: MIT */
#include "analyze/path/lateness.h"

#include "analyze/path/past.h"

/* The part of a wait in which the thread could run; empty if it ran at once. */
struct ready {
        uint64_t begin_ns, end_ns;
        uint16_t cpu;
};

static struct ready ready_part(const struct past_wait *wait, uint64_t from_ns, uint64_t end_ns)
{
        struct ready ready = { .begin_ns = wait->preempted ? wait->out_ns : wait->woken_ns,
                               .end_ns = wait->in_ns,
                               .cpu = wait->in_cpu };

        if (wait->preempted || wait->in_cpu == PAST_NO_CPU)
                ready.cpu = wait->out_cpu;
        if (ready.begin_ns < from_ns)
                ready.begin_ns = from_ns;
        if (ready.end_ns > end_ns)
                ready.end_ns = end_ns;
        return ready;
}

/* Without what threads of its own process had. */
static uint64_t lost_in(const struct past *past, uint32_t thread, const struct ready *ready)
{
        struct past_owners owners;
        struct past_span owner;
        uint64_t ns;

        if (ready->end_ns <= ready->begin_ns)
                return 0;
        ns = ready->end_ns - ready->begin_ns;
        owners = past_owners_of(past, ready->cpu, ready->begin_ns, ready->end_ns);
        while (past_owners_next(&owners, &owner))
                if (past_of(past, owner.id)->process == past_of(past, thread)->process)
                        ns -= owner.end_ns - owner.begin_ns;
        return ns;
}

/* Since when the thread works without a wait for anything but a CPU; at least @from_ns. */
static uint64_t works_since(const struct past_thread *t, uint64_t from_ns, uint64_t end_ns)
{
        for (size_t i = past_waits_before(t, end_ns); i > t->waits.first; i--) {
                const struct past_wait *wait = &past_waits(t)[i - 1];

                if (wait->in_ns <= from_ns)
                        break;
                if (!wait->preempted)
                        return wait->woken_ns > from_ns ? wait->woken_ns : from_ns;
        }
        return from_ns;
}

static uint64_t lost(const struct past *past, uint32_t thread, uint64_t from_ns, uint64_t end_ns)
{
        const struct past_thread *t = past_of(past, thread);
        uint64_t ns = 0;

        for (size_t i = past_waits_before(t, end_ns); i > t->waits.first; i--) {
                const struct past_wait *wait = &past_waits(t)[i - 1];
                struct ready ready = ready_part(wait, from_ns, end_ns);

                if (wait->in_ns <= from_ns)
                        break;
                ns += lost_in(past, thread, &ready);
        }
        return ns;
}

/* When the thread has run for @ns from @begin_ns on, or waits for something else than a CPU. */
static uint64_t run_until(const struct past_thread *t, uint64_t ns, uint64_t begin_ns, uint64_t end_ns)
{
        size_t i = past_waits_before(t, begin_ns);
        uint64_t at_ns = begin_ns;

        if (i > t->waits.first && past_waits(t)[i - 1].in_ns > at_ns)
                at_ns = past_waits(t)[i - 1].in_ns;
        for (; at_ns < end_ns; i++) {
                const struct past_wait *wait = i < t->waits.n ? &past_waits(t)[i] : NULL;
                uint64_t out_ns = wait && wait->out_ns < end_ns ? wait->out_ns : end_ns;

                if (out_ns > at_ns && out_ns - at_ns >= ns)
                        return at_ns + ns;
                if (!wait || !wait->preempted)
                        return out_ns;
                ns -= out_ns > at_ns ? out_ns - at_ns : 0;
                at_ns = wait->in_ns;
        }
        return end_ns;
}

uint64_t lateness_until(const struct past *past, uint32_t waiter, uint32_t waker, uint64_t from_ns,
                        uint64_t wait_ns, uint64_t end_ns)
{
        const struct past_thread *of_waiter = past_of(past, waiter), *of_waker = past_of(past, waker);
        uint64_t waker_ns, waiter_ns;

        if (past->skips_cpus || of_waiter->is_fiber || of_waker->is_fiber)
                return wait_ns;
        from_ns = works_since(of_waiter, from_ns, wait_ns);
        from_ns = works_since(of_waker, from_ns, wait_ns);
        waker_ns = lost(past, waker, from_ns, wait_ns);
        waiter_ns = waker_ns != 0 ? lost(past, waiter, from_ns, wait_ns) : 0;
        if (waker_ns <= waiter_ns)
                return wait_ns;
        return run_until(of_waker, waker_ns - waiter_ns, wait_ns, end_ns);
}
