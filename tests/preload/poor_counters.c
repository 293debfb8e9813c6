/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: a processor whose counters count and do not interrupt
 *
 * POOR_COUNTERS=refused  as Linux treats RISC-V without Sscofpmf: it refuses samples of a counter, and one
 *                        that is to leave out anything, such as the kernel
 * POOR_COUNTERS=silent   the kernel promises samples of a counter, and none comes
 *
 * The counter is a clock in truth, so it counts on every machine.  Only syscall(3) is changed.  Programs that
 * the process starts are not concerned: LD_PRELOAD is taken away.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define NEVER_NS (UINT64_C(1) << 60)

typedef long kernel_call(long number, ...);

static kernel_call *call_kernel;
static int is_silent;

/* Returns 0, or the error number with which the kernel refuses it. */
static int become_poor(struct perf_event_attr *attr)
{
        if (!is_silent && (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
                           attr->exclude_idle || attr->exclude_host || attr->exclude_guest))
                return EINVAL;
        if (!is_silent && attr->sample_period != 0)
                return EOPNOTSUPP;
        attr->type = PERF_TYPE_SOFTWARE;
        attr->config = PERF_COUNT_SW_TASK_CLOCK;
        if (attr->sample_period != 0) {
                attr->freq = 0;
                attr->sample_period = NEVER_NS;
        }
        return 0;
}

long syscall(long number, ...);
long syscall(long number, ...)
{
        unsigned long a[6];
        va_list rest;

        va_start(rest, number);
        for (size_t i = 0; i < 6; i++)
                a[i] = va_arg(rest, unsigned long);
        va_end(rest);
        if (number == SYS_perf_event_open) {
                struct perf_event_attr attr;

                memcpy(&attr, (const void *)a[0], sizeof(attr)); /* NOLINT(performance-no-int-to-ptr) */
                if (attr.type == PERF_TYPE_HARDWARE) {
                        errno = become_poor(&attr);
                        if (errno != 0)
                                return -1;
                        return call_kernel(number, &attr, a[1], a[2], a[3], a[4]);
                }
        }
        return call_kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((constructor)) static void begin(void)
{
        const char *how = getenv("POOR_COUNTERS");
        void *found = dlsym(RTLD_NEXT, "syscall");

        memcpy(&call_kernel, &found, sizeof(found));
        is_silent = how && strcmp(how, "silent") == 0;
        (void)unsetenv("LD_PRELOAD");
}
