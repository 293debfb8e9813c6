/* SPDX-License-Identifier: MIT */
#include "sampler/rights/thread_priority.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RAISED_NICE (-10)

/* SCHED_FLAG_RESET_ON_FORK of <linux/sched.h>: new threads do not inherit the scheduling */
#define RESET_ON_FORK 1

/* As in <linux/sched/types.h>, which cannot be included together with libc's <sched.h>. */
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
        set(RAISED_NICE, PACE_RAISED_SLICE_NS);
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

int thread_priority_set_real_time(int tid, int priority)
{
        struct scheduling scheduling = { .size_bytes = sizeof(scheduling),
                                         .policy = SCHED_FIFO,
                                         .flags = RESET_ON_FORK,
                                         .priority = (uint32_t)priority };

        return syscall(SYS_sched_setattr, tid, &scheduling, 0) < 0 ? -errno : 0;
}

void thread_priority_end_real_time(int tid)
{
        struct scheduling scheduling = { .size_bytes = sizeof(scheduling),
                                         .policy = SCHED_OTHER,
                                         .flags = RESET_ON_FORK, /* taking that back needs a right */
                                         .nice = getpriority(PRIO_PROCESS, (id_t)tid),
                                         .slice_ns = PACE_RAISED_SLICE_NS };

        (void)syscall(SYS_sched_setattr, tid, &scheduling, 0);
}

uint64_t thread_priority_waited_ns(void)
{
        struct byte_buffer text = { .data = NULL };
        uint64_t waited_ns = 0;

        if (io_read_file(AT_FDCWD, "/proc/thread-self/schedstat", 256, &text, NULL) == 0) {
                const char *second = strchr((const char *)text.data, ' ');

                waited_ns = second ? strtoull(second, NULL, 10) : 0;
        }
        byte_buffer_deinit(&text);
        return waited_ns;
}
