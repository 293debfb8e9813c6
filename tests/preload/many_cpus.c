/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: a machine that has more CPUs, on which nothing runs
 *
 * MANY_CPUS=512  so many are online, as /sys and sysconf(3) say it
 *
 * An event on a CPU that there is not becomes one on another that counts nothing; its ring is real and empty.
 * So the cost of a record on a large machine can be measured on a small one.  BPF's rings of these CPUs
 * are real and empty as well.  Programs that the process starts are not concerned: LD_PRELOAD is taken away.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ONLINE_PATH "/sys/devices/system/cpu/online"

typedef long kernel_call(long number, ...);
typedef long sysconf_call(int name);

static kernel_call *call_kernel;
static sysconf_call *call_sysconf;
static long n_cpus, n_real_cpus;

static void find_calls(void);

/* An event on a CPU that there is not. */
static long open_silent(const struct perf_event_attr *wanted, unsigned long cpu, unsigned long group,
                        unsigned long flags)
{
        struct perf_event_attr attr;

        memcpy(&attr, wanted, sizeof(attr));
        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.freq = attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.task = attr.context_switch = 0;
        attr.ksymbol = attr.bpf_event = attr.text_poke = 0;
        attr.sample_period = 0;
        return call_kernel(SYS_perf_event_open, &attr, -1L, cpu % (unsigned long)n_real_cpus, group,
                           flags & ~(unsigned long)PERF_FLAG_PID_CGROUP);
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
        if (number == SYS_perf_event_open && (int)a[2] >= n_real_cpus)
                return open_silent((const void *)a[0], a[2], a[3],
                                   a[4]); /* NOLINT(performance-no-int-to-ptr) */
        return call_kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long sysconf(int name)
{
        if (!call_kernel)
                find_calls();
        return name == _SC_NPROCESSORS_ONLN && n_cpus > n_real_cpus ? n_cpus : call_sysconf(name);
}

static int open_list(void)
{
        int fd = memfd_create("online", MFD_CLOEXEC);

        if (fd >= 0 && (dprintf(fd, "0-%ld\n", n_cpus - 1) < 0 || lseek(fd, 0, SEEK_SET) < 0))
                abort();
        return fd;
}

int openat(int folder, const char *path, int flags, ...);
int openat(int folder, const char *path, int flags, ...)
{
        va_list rest;
        unsigned mode;

        va_start(rest, flags);
        mode = va_arg(rest, unsigned);
        va_end(rest);
        return strcmp(path, ONLINE_PATH) == 0 ? open_list()
                                              : (int)call_kernel(SYS_openat, folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

/* Libraries call sysconf(3) before the constructors of others have run. */
static void find_calls(void)
{
        void *found = dlsym(RTLD_NEXT, "syscall");

        memcpy(&call_kernel, &found, sizeof(found));
        found = dlsym(RTLD_NEXT, "sysconf");
        memcpy(&call_sysconf, &found, sizeof(found));
        n_real_cpus = call_sysconf(_SC_NPROCESSORS_ONLN);
}

__attribute__((constructor)) static void begin(void)
{
        const char *wanted = getenv("MANY_CPUS");

        if (!call_kernel)
                find_calls();
        n_cpus = wanted ? strtol(wanted, NULL, 10) : 0;
        (void)unsetenv("LD_PRELOAD");
}
