/* SPDX-License-Identifier: MIT */
#include "instrument/client/ticks.h"

#include "base/namespace_clock.h"
#include "instrument/client_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLOCKSOURCE_PATH "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static int64_t namespace_ns;

/*
 * The kernel watches its clock sources and drops one that drifts, stops in deep
 * sleep or differs between sockets; its choice is the best judgement there is.
 */
uint32_t ticks_choose_kind(void)
{
        static const char wanted[] = TICKS_CLOCKSOURCE "\n";
        char name[64];
        int saved_errno = errno;
        int fd = open(CLOCKSOURCE_PATH, O_RDONLY | O_CLOEXEC);
        ssize_t n = -1;

        namespace_ns = namespace_clock_offset_ns();
        if (fd >= 0) {
                n = read(fd, name, sizeof(name));
                (void)close(fd);
        }
        errno = saved_errno;
        if (n == (ssize_t)sizeof(wanted) - 1 && memcmp(name, wanted, sizeof(wanted) - 1) == 0)
                return TICKS_COUNTER_KIND;
        return CLIENT_ABI_CLOCK_MONOTONIC_RAW;
}

uint64_t ticks_kernel_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t); /* cannot fail for this clock */
        return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t ticks_machine_ns(uint64_t own_ns)
{
        return own_ns - (uint64_t)namespace_ns;
}
