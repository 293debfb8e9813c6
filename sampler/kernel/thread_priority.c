/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/thread_priority.h"

#include "base/clock.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RAISED_NICE (-10)

/*
 * Processor time until another thread's turn comes.  A thread that asks for little at a time is let in sooner
 * (since Linux 6.12): that matters for a file that is gone a millisecond later.
 */
#define RAISED_SLICE_NS (100 * NS_PER_US)

#define RESET_ON_FORK \
        1 /* SCHED_FLAG_RESET_ON_FORK of <linux/sched.h>: no thread of a thread's has it as well */

/* As in <linux/sched/types.h>, which does not go together with libc's <sched.h>. */
struct scheduling {
        uint32_t size_bytes;
        uint32_t policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns; /* 0 = the kernel's own */
        uint64_t deadline_ns;
        uint64_t period_ns;
        uint32_t util_min, util_max;
};

static void set(int nice, uint64_t slice_ns)
{
        struct scheduling scheduling = { .size_bytes = sizeof(scheduling),
                                         .policy = SCHED_OTHER,
                                         .slice_ns = slice_ns };

        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
        if (sched_getscheduler(0) != SCHED_OTHER)
                return; /* the user has set it */
        scheduling.nice = thread_priority_get();
        (void)syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

int thread_priority_get(void)
{
        return getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
}

void thread_priority_raise(void)
{
        set(RAISED_NICE, RAISED_SLICE_NS);
}

void thread_priority_put_first(void)
{
        struct scheduling scheduling = {
                .size_bytes = sizeof(scheduling), .policy = SCHED_FIFO, .flags = RESET_ON_FORK, .priority = 1
        };

        if (sched_getscheduler(0) != SCHED_OTHER || syscall(SYS_sched_setattr, 0, &scheduling, 0) < 0)
                thread_priority_raise();
}

void thread_priority_restore(int before)
{
        set(before, 0);
}
