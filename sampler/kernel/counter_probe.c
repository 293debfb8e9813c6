/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/counter_probe.h"

#include "base/clock.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 3

static int judge(int fd, uint64_t period)
{
        uint64_t begin_ns = clock_raw_ns(), changed_ns = begin_ns, now_ns = begin_ns, before = 0, value;

        while (now_ns - begin_ns < PACE_PROBE_SPIN_NS) {
                if (read(fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
                        return 0;
                now_ns = clock_raw_ns();
                if (value / PACE_PROBE_LATE_PERIODS >= period && now_ns - begin_ns >= PACE_PROBE_LATE_NS)
                        return -EIO;
                if (value != before)
                        changed_ns = now_ns;
                else if (value >= period && now_ns - changed_ns > PACE_PROBE_STOPPED_NS)
                        return 0;
                before = value;
        }
        return 0;
}

static int probe_once(const struct perf_event_attr *attr, uint64_t period)
{
        int r, fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0)
                return -errno;
        /* PERF_EVENT_IOC_REFRESH enables the event until it has overflowed once. */
        r = ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0 ? 0 : judge(fd, period);
        (void)close(fd);
        return r;
}

int counter_probe_run(const struct perf_event_attr *attr, uint64_t period)
{
        int r = 0;

        /*
         * A machine that was not scheduled during a try had no interrupt either, so "never" takes several
         * tries.
         */
        for (int i = 0; i < TRIES; i++) {
                r = probe_once(attr, period);
                if (r != -EIO)
                        return r;
        }
        return r;
}
