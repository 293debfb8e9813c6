/* SPDX-License-Identifier: MIT */
#include "sampler/event_set.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/cpu_list.h"
#include "sampler/perf_record.h"
#include "sampler/unwinder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRACKER              UINT32_MAX
#define SAMPLE_RING_MIN      (UINT32_C(1) << 15)
#define WAKE_WHEN_FULL_SHARE 4

uint64_t event_set_clock_period_ns(uint64_t rate_hz)
{
        return NS_PER_S / rate_hz;
}

static struct perf_event_attr common_attr(const struct event_set *set)
{
        return (struct perf_event_attr){
                .size = sizeof(struct perf_event_attr),
                .sample_type = set->sample_type,
                .sample_id_all = 1,
                .disabled = 1,
                .enable_on_exec = 1,
                .inherit = 1,
                .use_clockid = 1,
                .clockid = CLOCK_MONOTONIC_RAW,
                .watermark = 1,
        };
}

static struct perf_event_attr sampling_attr(const struct event_set *set,
                                            const struct event_set_options *options, size_t i)
{
        const struct event_spec *spec = &options->specs[i];
        struct perf_event_attr attr = common_attr(set);

        attr.type = spec->type;
        attr.config = spec->config;
        if (spec->is_clock) {
                attr.sample_period = event_set_clock_period_ns(options->rate_hz);
        } else {
                attr.freq = 1;
                attr.sample_freq = options->rate_hz;
        }
        attr.exclude_user = spec->exclude_user;
        attr.exclude_kernel = spec->exclude_kernel;
        attr.exclude_callchain_kernel = spec->exclude_kernel;
        attr.exclude_hv = 1;
        attr.read_format = PERF_FORMAT_LOST;
        attr.context_switch = i == 0; /* once is enough */
        attr.wakeup_watermark = (uint32_t)(options->ring_bytes / WAKE_WHEN_FULL_SHARE);
        return attr;
}

static struct perf_event_attr tracker_attr(const struct event_set *set,
                                           const struct event_set_options *options)
{
        struct perf_event_attr attr = common_attr(set);

        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
        attr.exclude_kernel = 1; /* no sample ever comes from it: the least rights will do */
        attr.mmap = 1;
        attr.mmap2 = 1;
        attr.mmap_data = 1; /* the clients' regions are data */
        attr.comm = 1;
        attr.comm_exec = 1;
        attr.task = 1;
        attr.build_id = options->build_ids;
        attr.read_format = PERF_FORMAT_LOST;
        attr.wakeup_watermark = 1;
        return attr;
}

static int explain_open(int code, const struct event_spec *spec, size_t n_wanted, struct error *err)
{
        const char *name = spec ? spec->name : "dummy";
        struct rlimit files = { .rlim_cur = 0 };

        switch (-code) {
        case ENOENT:
        case ENODEV:
        case EOPNOTSUPP:
                return error_set(err, code,
                                 "the event %s is not available: this machine exposes no such counter "
                                 "(virtual machine?); try -e cpu-clock",
                                 name);
        case EACCES:
        case EPERM:
                return error_set(
                        err, code,
                        "not permitted to open the event %s; 'hyprof doctor' shows what would allow it",
                        name);
        case EMFILE:
                (void)getrlimit(RLIMIT_NOFILE, &files);
                return error_set(
                        err, code,
                        "%zu events need more descriptors than the limit of %llu; raise it: ulimit -n",
                        n_wanted, (unsigned long long)files.rlim_cur);
        default:
                errno = -code;
                return error_errno(err, "open the event %s", name);
        }
}

/* A kernel before 6.0 does not count losses in read(2): then without. */
static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
        long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0 && errno == EINVAL && attr->read_format) {
                attr->read_format = 0;
                fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        }
        return fd < 0 ? -errno : (int)fd;
}

static int add_handle(struct event_set *set, struct perf_event_attr *attr, pid_t pid, int cpu, uint32_t spec)
{
        int fd = open_event(attr, pid, cpu);
        uint64_t id;

        if (fd < 0)
                return fd;
        if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
                int code = -errno;

                (void)close(fd);
                return code;
        }
        set->handles[set->n_handles++] = (struct event_handle){ .fd = fd, .id = id, .spec = spec };
        return fd;
}

/* Maps a ring, smaller if this user may not lock that much memory. */
static int map_ring(struct event_set *set, int fd, size_t *ring_bytes, struct error *err)
{
        int r = perf_ring_map(&set->rings[set->n_rings], fd, *ring_bytes, err);

        while (r == -EPERM && *ring_bytes > SAMPLE_RING_MIN) {
                *ring_bytes /= 2;
                r = perf_ring_map(&set->rings[set->n_rings], fd, *ring_bytes, err);
        }
        if (r == -EPERM)
                return error_set(
                        err, r,
                        "not permitted to lock %zu KiB for a kernel ring; raise kernel.perf_event_mlock_kb",
                        *ring_bytes / 1024);
        if (r < 0)
                return r;
        set->ring_fds[set->n_rings++] = fd;
        return 0;
}

static int open_cpu(struct event_set *set, const struct event_set_options *options, int cpu, size_t n_wanted,
                    struct error *err)
{
        struct perf_event_attr attr = tracker_attr(set, options);
        size_t tracker_bytes = options->tracker_ring_bytes;
        int first_fd = -1;
        int fd = add_handle(set, &attr, options->pid, cpu, TRACKER);
        int r;

        if (fd < 0)
                return explain_open(fd, NULL, n_wanted, err);
        r = map_ring(set, fd, &tracker_bytes, err);
        if (r < 0)
                return r;

        for (size_t i = 0; i < options->n_specs; i++) {
                attr = sampling_attr(set, options, i);
                fd = add_handle(set, &attr, options->pid, cpu, (uint32_t)i);
                if (fd < 0)
                        return explain_open(fd, &options->specs[i], n_wanted, err);
                if (i == 0) {
                        first_fd = fd;
                        r = map_ring(set, fd, &set->ring_bytes, err);
                } else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first_fd) < 0) {
                        r = error_errno(err, "event %s into the ring of CPU %d", options->specs[i].name, cpu);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The soft limit of descriptors costs nothing to raise; only the hard one is somebody's decision. */
static void raise_descriptor_limit(void)
{
        struct rlimit files;

        if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
                files.rlim_cur = files.rlim_max;
                (void)setrlimit(RLIMIT_NOFILE, &files);
        }
}

int event_set_open(struct event_set *set, const struct event_set_options *options, struct error *err)
{
        struct cpu_list cpus = { .n_cpus = 0 };
        size_t n_wanted;
        int r;

        *set = (struct event_set){ .ring_bytes = options->ring_bytes,
                                   .sample_type = PERF_RECORD_SAMPLE_TYPE | options->unwinder->sample_type };
        raise_descriptor_limit();
        r = cpu_list_read_online(&cpus, err);
        if (r < 0)
                return r;
        n_wanted = cpus.n_cpus * (options->n_specs + 1);
        set->handles = calloc(n_wanted, sizeof(*set->handles));
        set->rings = calloc(cpus.n_cpus * 2, sizeof(*set->rings));
        set->ring_fds = calloc(cpus.n_cpus * 2, sizeof(*set->ring_fds));
        if (!set->handles || !set->rings || !set->ring_fds) {
                r = error_set(err, -ENOMEM, "no memory for %zu events", n_wanted);
                goto fail;
        }
        for (size_t i = 0; i < cpus.n_cpus; i++) {
                r = open_cpu(set, options, cpus.cpus[i], n_wanted, err);
                if (r < 0)
                        goto fail;
        }
        cpu_list_deinit(&cpus);
        return 0;

fail:
        cpu_list_deinit(&cpus);
        event_set_close(set);
        return r;
}

void event_set_close(struct event_set *set)
{
        for (size_t i = 0; i < set->n_rings; i++)
                perf_ring_unmap(&set->rings[i]);
        for (size_t i = 0; i < set->n_handles; i++)
                io_close(&set->handles[i].fd);
        free(set->handles);
        free(set->rings);
        free(set->ring_fds);
        *set = (struct event_set){ .handles = NULL };
}

void event_set_disable(struct event_set *set)
{
        for (size_t i = 0; i < set->n_handles; i++)
                (void)ioctl(set->handles[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

int event_set_find_spec(const struct event_set *set, uint64_t id)
{
        /* As many as CPUs x events: a line or two of memory. */
        for (size_t i = 0; i < set->n_handles; i++)
                if (set->handles[i].id == id && set->handles[i].spec != TRACKER)
                        return (int)set->handles[i].spec;
        return -1;
}

bool event_set_is_tracker_ring(const struct event_set *set, size_t ring)
{
        (void)set;
        return ring % 2 == 0; /* open_cpu() maps the dummy's first */
}

uint64_t event_set_count_lost(const struct event_set *set)
{
        uint64_t n_lost = 0;

        for (size_t i = 0; i < set->n_handles; i++) {
                uint64_t values[2]; /* the counter and, with PERF_FORMAT_LOST, the losses */

                if (read(set->handles[i].fd, values, sizeof(values)) != sizeof(values))
                        return UINT64_MAX;
                n_lost += values[1];
        }
        return n_lost;
}
