/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_set.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRACKER          UINT32_MAX
#define SAMPLE_RING_MIN  (UINT32_C(1) << 15)
#define DESCRIPTORS_LEFT 64
#define DESCRIPTORS_MAX  (UINT32_C(1) << 20) /* of a process, unless fs.nr_open was changed */

/* Each thread has as many. */
static size_t events_of_thread(const struct event_set *set)
{
        return set->cpus.n_cpus * (set->options.attr.request->n_specs + 1);
}

/* Threads that already run are many and descriptors few: no doorbells for them. */
static bool wants_doorbells(const struct event_set_options *options)
{
        return options->scope != EVENT_SCOPE_THREADS || options->attr.enable_on_exec;
}

/*
 * A single thread is always tried.  Many threads have to leave descriptors for the programs' regions, which
 * are opened later.
 */
static bool has_descriptors(const struct event_set *set, size_t n_tids)
{
        struct rlimit files = { .rlim_cur = 0 };

        return n_tids < 2 || getrlimit(RLIMIT_NOFILE, &files) < 0 ||
               set->n_handles + n_tids * events_of_thread(set) + DESCRIPTORS_LEFT <= files.rlim_cur;
}

static int explain_descriptors(const struct event_set *set, struct error *err)
{
        struct rlimit files = { .rlim_cur = 0 };

        (void)getrlimit(RLIMIT_NOFILE, &files);
        if (set->options.scope != EVENT_SCOPE_THREADS)
                return error_set(
                        err, -EMFILE, "%zu events on %zu CPUs need %zu descriptors, %llu are allowed",
                        set->options.attr.request->n_specs + 2, set->cpus.n_cpus,
                        events_of_thread(set) + set->cpus.n_cpus, (unsigned long long)files.rlim_cur);
        return error_set(
                err, -EMFILE,
                "%zu events on %zu CPUs need %zu descriptors for each thread that is already running, %llu are allowed",
                set->options.attr.request->n_specs + 1, set->cpus.n_cpus, events_of_thread(set),
                (unsigned long long)files.rlim_cur);
}

static const char *scope_words(const struct event_set *set)
{
        switch (set->options.scope) {
        case EVENT_SCOPE_CGROUP:
                return " on a cgroup";
        case EVENT_SCOPE_CPUS:
                return " system-wide";
        case EVENT_SCOPE_AUTO:
        case EVENT_SCOPE_THREADS:
                return "";
        }
        return "";
}

static int explain_open(const struct event_set *set, int code, const struct event_spec *spec,
                        struct error *err)
{
        const char *name = spec ? spec->name : "dummy";

        /*
         * The tracker is a software event that every kernel has; ENODEV comes from a CPU that has just gone
         * offline.
         */
        if (!spec && set->options.scope == EVENT_SCOPE_CGROUP &&
            (code == -EINVAL || code == -ENOENT || code == -EOPNOTSUPP))
                return error_set(err, code,
                                 "this kernel cannot record a cgroup: it was built without "
                                 "CONFIG_CGROUP_PERF; try another --scope");
        if (spec && code == -EOPNOTSUPP && spec->precise == 0)
                return error_set(
                        err, code,
                        "the event %s cannot be sampled on this machine: its counter has no interrupt; "
                        "an event that only counts goes after another: {cpu-clock,%s}:S",
                        name, name);
        switch (-code) {
        case EINVAL:
                if (!spec)
                        return error_set(err, code, "the kernel refuses the event %s", name);
                if (set->options.attr.inherit && event_request_reads_groups(set->options.attr.request))
                        return error_set(
                                err, code,
                                "the kernel refuses %s: before Linux 6.13 groups with :S cannot be read in "
                                "events that children inherit; record as root, or leave out :S",
                                name);
                return error_set(err, code,
                                 "the kernel refuses the event %s: it cannot be sampled, or not with these "
                                 "modifiers; an event that only counts goes after another: {cpu-clock,%s}:S",
                                 name, name);
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
                        "not permitted to open the event %s%s; 'hyprof doctor' shows what would allow it",
                        name, scope_words(set));
        case EMFILE:
                return explain_descriptors(set, err);
        default:
                errno = -code;
                return error_errno(err, "open the event %s", name);
        }
}

/* The thread, cgroup or all that an event is opened on, in terms of perf_event_open(2). */
static pid_t pid_of(const struct event_set *set, uint32_t tid, unsigned long *ret_flags)
{
        *ret_flags = PERF_FLAG_FD_CLOEXEC;
        if (set->options.scope == EVENT_SCOPE_CPUS)
                return -1;
        if (set->options.scope != EVENT_SCOPE_CGROUP)
                return (pid_t)tid;
        *ret_flags |= PERF_FLAG_PID_CGROUP;
        return set->options.cgroup_fd;
}

/*
 * A kernel before 6.0 does not count losses in read(2): events are then opened without that count.  The
 * first event, a dummy, shows this.
 */
static int open_event(struct event_set *set, struct perf_event_attr *attr, uint32_t tid, int cpu,
                      int group_fd)
{
        unsigned long flags;
        pid_t pid = pid_of(set, tid, &flags);
        long fd;

        if (set->without_losses)
                attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
        fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
        if (fd < 0 && errno == EINVAL && set->n_handles == 0) {
                attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
                fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
                if (fd >= 0) {
                        set->without_losses = true;
                        set->layout.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
                }
        }
        /*
         * Counters that cannot exclude anything (RISC-V without Sscofpmf) do not count the hypervisor
         * anyway.
         */
        if (fd < 0 && errno == EINVAL && attr->type != PERF_TYPE_SOFTWARE && attr->exclude_hv) {
                attr->exclude_hv = 0;
                fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
        }
        return fd < 0 ? -errno : (int)fd;
}

/* A member joins its leader, which was opened just before on the same thread and CPU. */
static int leader_fd(const struct event_set *set, uint32_t spec)
{
        const struct event_spec *specs = set->options.attr.request->specs;

        if (spec == TRACKER || specs[spec].leader == spec)
                return -1;
        for (size_t i = set->n_handles; i-- > 0;)
                if (set->handles[i].spec == specs[spec].leader)
                        return set->handles[i].fd;
        return -1;
}

/* Returns the descriptor, owned by the set, or -errno. */
static int add_handle(struct event_set *set, struct perf_event_attr *attr, uint32_t tid, int cpu,
                      uint32_t spec)
{
        int fd, r = array_reserve(&set->handles, &set->handles_capacity, set->n_handles + 1,
                                  sizeof(*set->handles));
        uint64_t id;

        if (r < 0)
                return r;
        fd = open_event(set, attr, tid, cpu, leader_fd(set, spec));
        if (fd < 0)
                return fd;
        if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0) {
                r = -errno;
                (void)close(fd);
                return r;
        }
        set->handles[set->n_handles++] =
                (struct event_handle){ .fd = fd, .id = id, .spec = spec, .tid = tid };
        return fd;
}

/* Maps a ring, smaller if this user may not lock that much memory. */
static int map_ring(struct event_set *set, size_t ring, int fd, size_t *ring_bytes, struct error *err)
{
        int r = perf_ring_map(&set->rings[ring], fd, *ring_bytes, err);

        while (r == -EPERM && *ring_bytes > SAMPLE_RING_MIN) {
                *ring_bytes /= 2;
                r = perf_ring_map(&set->rings[ring], fd, *ring_bytes, err);
        }
        if (r == -EPERM)
                return error_set(
                        err, r,
                        "not permitted to lock %zu KiB for a kernel ring; raise kernel.perf_event_mlock_kb",
                        *ring_bytes / 1024);
        if (r < 0)
                return r;
        set->ring_fds[ring] = fd;
        return 0;
}

/* An event that does not accept the program, as a tracepoint may not, is recorded without it. */
static void attach_program(const struct event_set *set, uint32_t spec, int fd)
{
        const struct event_spec *words = spec == TRACKER ? NULL : &set->options.attr.request->specs[spec];

        if (words && words->role == EVENT_ROLE_SAMPLES && !words->only_counts && set->sample_program_fd > 0)
                (void)ioctl(fd, PERF_EVENT_IOC_SET_BPF, set->sample_program_fd);
}

/* Opens an event and directs it into its ring, which is mapped with the first event. */
static int add_event(struct event_set *set, struct perf_event_attr *attr, uint32_t tid, size_t at,
                     uint32_t spec, struct error *err)
{
        const struct event_spec *words = spec == TRACKER ? NULL : &set->options.attr.request->specs[spec];
        size_t tracker_bytes = set->options.tracker_ring_bytes;
        size_t ring = at * 2 + (spec != TRACKER);
        int fd;

        if (words && !event_spec_is_on_cpu(words, set->cpus.cpus[at]))
                return 0;
        fd = add_handle(set, attr, tid, set->cpus.cpus[at], spec);
        /* -EINVAL comes without the right to see the kernel, where the counter cannot exclude anything. */
        if (words && event_spec_is_total(words, spec) &&
            (fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP || fd == -EINVAL))
                return 0; /* --stat has the others */
        if (fd == -ESRCH)
                return error_set(err, fd, "thread %u has ended", tid);
        if (fd < 0)
                return explain_open(set, fd, words, err);
        if (words && words->only_counts)
                return 0; /* nothing of it comes into a ring */
        attach_program(set, spec, fd);
        if (set->ring_fds[ring] < 0)
                return map_ring(set, ring, fd, spec == TRACKER ? &tracker_bytes : &set->ring_bytes, err);
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, set->ring_fds[ring]) < 0)
                return error_errno(err, "redirect event %s into the ring of CPU %d",
                                   words ? words->name : "dummy", set->cpus.cpus[at]);
        return 0;
}

static int add_doorbell(struct event_set *set, uint32_t tid, size_t at, struct error *err)
{
        struct perf_event_attr attr = event_attr_of_doorbell(&set->options.attr);
        struct event_doorbell *bell = &set->doorbells[at];
        int fd = open_event(set, &attr, tid, set->cpus.cpus[at], -1);

        if (fd < 0)
                return explain_open(set, fd, NULL, err);
        bell->fd = fd;
        return perf_ring_map(&bell->ring, fd, (size_t)sysconf(_SC_PAGESIZE), err);
}

/*
 * The doorbells are opened before the trackers: the kernel writes first to the event that was opened last,
 * so the tracker's record is already there when the doorbell rings.
 */
static int add_doorbells(struct event_set *set, uint32_t tid, struct error *err)
{
        int r = 0;

        set->doorbells = calloc(set->cpus.n_cpus, sizeof(*set->doorbells));
        if (!set->doorbells)
                return error_set(err, -ENOMEM, "no memory for events");
        for (size_t at = 0; at < set->cpus.n_cpus; at++)
                set->doorbells[at].fd = -1;
        for (size_t at = 0; r == 0 && at < set->cpus.n_cpus; at++)
                r = add_doorbell(set, tid, at, err);
        return r;
}

/* Adds the event to the tracker's ring.  Returns 0 or -errno. */
static int add_kernel_code(struct event_set *set, size_t at)
{
        struct perf_event_attr attr = event_attr_of_kernel_code(&set->options.attr);
        int fd = (int)syscall(SYS_perf_event_open, &attr, -1, set->cpus.cpus[at], -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0)
                return -errno;
        set->kernel_code_fds[at] = fd;
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, set->ring_fds[at * 2]) < 0 ? -errno : 0;
}

static void close_kernel_code(struct event_set *set)
{
        for (size_t at = 0; set->kernel_code_fds && at < set->cpus.n_cpus; at++)
                io_close(&set->kernel_code_fds[at]);
        free(set->kernel_code_fds);
        set->kernel_code_fds = NULL;
}

/*
 * Kernel code is made and removed on any CPU, so all CPUs get these events or none.  The recording can go
 * on without them.
 */
static void add_kernel_code_of_all(struct event_set *set)
{
        struct timespec now = { .tv_sec = 0 };
        int r = 0;

        set->kernel_code_fds = calloc(set->cpus.n_cpus, sizeof(*set->kernel_code_fds));
        if (!set->kernel_code_fds)
                return;
        for (size_t at = 0; at < set->cpus.n_cpus; at++)
                set->kernel_code_fds[at] = -1;
        for (size_t at = 0; r == 0 && at < set->cpus.n_cpus; at++)
                r = add_kernel_code(set, at);
        if (r < 0) {
                close_kernel_code(set);
                return;
        }
        (void)clock_gettime(CLOCK_BOOTTIME, &now);
        set->kernel_code_boot_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Events of a thread, of the cgroup or of all CPUs; @n_specs 0: without samples. */
static int add_events(struct event_set *set, uint32_t tid, size_t n_specs, struct error *err)
{
        int r = wants_doorbells(&set->options) && !set->doorbells ? add_doorbells(set, tid, err) : 0;

        for (size_t at = 0; r == 0 && at < set->cpus.n_cpus; at++) {
                struct perf_event_attr attr = event_attr_of_tracker(&set->options.attr);

                r = add_event(set, &attr, tid, at, TRACKER, err);
                for (uint32_t spec = 0; r == 0 && spec < n_specs; spec++) {
                        attr = event_attr_of_spec(&set->options.attr, spec);
                        r = add_event(set, &attr, tid, at, spec, err);
                }
        }
        return r;
}

static int add_thread(struct event_set *set, uint32_t tid, size_t n_specs, struct error *err)
{
        int r = event_owners_add(&set->owners, tid, tid);

        return r < 0 ? error_set(err, r, "no memory for events") : add_events(set, tid, n_specs, err);
}

/*
 * Raising the soft limit of descriptors costs nothing; the hard limit is an administrator's decision, and
 * is raised only if we have the rights of one.
 */
static void raise_descriptor_limit(void)
{
        struct rlimit files, more = { .rlim_cur = DESCRIPTORS_MAX, .rlim_max = DESCRIPTORS_MAX };

        if (getrlimit(RLIMIT_NOFILE, &files) < 0)
                return;
        if (files.rlim_max < DESCRIPTORS_MAX && privileges_has(CAP_SYS_RESOURCE) &&
            setrlimit(RLIMIT_NOFILE, &more) == 0)
                return;
        if (files.rlim_cur < files.rlim_max) {
                files.rlim_cur = files.rlim_max;
                (void)setrlimit(RLIMIT_NOFILE, &files);
        }
}

int event_set_open(struct event_set *set, const struct event_set_options *options, struct error *err)
{
        int r;

        *set = (struct event_set){ .options = *options, .ring_bytes = options->attr.ring_bytes };
        set->options.attr.tracker_ring_bytes = wants_doorbells(options) ? options->tracker_ring_bytes : 0;
        set->layout = event_attr_layout(&options->attr);
        event_owners_init(&set->owners);
        raise_descriptor_limit();
        r = options->cpus ? cpu_list_choose(&set->cpus, options->cpus, err)
                          : cpu_list_read_online(&set->cpus, err);
        if (r < 0)
                goto fail;
        set->rings = calloc(set->cpus.n_cpus * 2, sizeof(*set->rings));
        set->ring_fds = calloc(set->cpus.n_cpus * 2, sizeof(*set->ring_fds));
        if (!set->rings || !set->ring_fds) {
                r = error_set(err, -ENOMEM, "no memory for events");
                goto fail;
        }
        set->n_rings = set->cpus.n_cpus * 2;
        for (size_t i = 0; i < set->n_rings; i++)
                set->ring_fds[i] = -1;
        if (options->scope != EVENT_SCOPE_THREADS)
                r = add_events(set, 0, options->attr.request->n_specs, err);
        if (r < 0)
                goto fail;
        if (options->wants_kernel_code && options->scope != EVENT_SCOPE_THREADS && !options->cpus)
                add_kernel_code_of_all(set);
        return 0;

fail:
        event_set_close(set);
        return r;
}

/* Records of mappings, names and ends stay: they are in rings of their own. */
static void forget_samples(struct event_set *set)
{
        for (size_t i = 0; i < set->n_rings; i++)
                if (!event_set_is_tracker_ring(set, i))
                        perf_ring_discard(&set->rings[i]);
}

static int add_threads(struct event_set *set, const uint32_t *tids, size_t n_tids, size_t n_specs,
                       struct error *err)
{
        uint64_t forgot_ns = clock_raw_ns();
        int n_added = 0;

        if (!has_descriptors(set, n_tids))
                return explain_open(set, -EMFILE, NULL, err);
        for (size_t i = 0; i < n_tids; i++) {
                int r = add_thread(set, tids[i], n_specs, err);

                if (r < 0 && r != -ESRCH)
                        return r;
                n_added += r == 0;
                if (clock_raw_ns() - forgot_ns < PACE_ATTACH_FORGET_NS)
                        continue;
                forget_samples(set);
                forgot_ns = clock_raw_ns();
        }
        set->added_ns = clock_raw_ns();
        return n_added;
}

void event_set_use_program(struct event_set *set, int program_fd)
{
        set->sample_program_fd = program_fd;
        for (size_t i = 0; i < set->n_handles; i++)
                attach_program(set, set->handles[i].spec, set->handles[i].fd);
}

int event_set_add(struct event_set *set, const uint32_t *tids, size_t n_tids, struct error *err)
{
        return add_threads(set, tids, n_tids, set->options.attr.request->n_specs, err);
}

int event_set_watch(struct event_set *set, const uint32_t *tids, size_t n_tids, struct error *err)
{
        return add_threads(set, tids, n_tids, 0, err);
}

int event_set_enable(struct event_set *set, struct error *err)
{
        if (set->options.scope == EVENT_SCOPE_THREADS) {
                forget_samples(set);
                return 0;
        }
        for (int samples = 0; samples < 2; samples++)
                for (size_t i = 0; i < set->n_handles; i++)
                        if ((set->handles[i].spec != TRACKER) == samples &&
                            ioctl(set->handles[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
                                return error_errno(err, "enable events");
        event_set_ring_again(set);
        return 0;
}

bool event_set_has_doorbells(const struct event_set *set)
{
        return set->doorbells != NULL;
}

void event_set_answer(struct event_set *set, size_t at)
{
        perf_ring_discard(&set->doorbells[at].ring);
}

/* If the ioctl fails, the doorbell rings too often, or urgent files wait for the collector's next look. */
static void turn(struct event_doorbell *bell, bool on)
{
        if (__atomic_exchange_n(&bell->rings, on, __ATOMIC_RELAXED) != on)
                (void)ioctl(bell->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void event_set_silence(struct event_set *set, size_t at)
{
        turn(&set->doorbells[at], false);
}

void event_set_ring_again(struct event_set *set)
{
        for (size_t at = 0; set->doorbells && at < set->cpus.n_cpus; at++)
                turn(&set->doorbells[at], true);
}

int event_set_try_cpus(void)
{
        struct perf_event_attr attr = { .size = sizeof(attr),
                                        .type = PERF_TYPE_SOFTWARE,
                                        .config = PERF_COUNT_SW_DUMMY,
                                        .disabled = 1,
                                        .exclude_kernel = 1,
                                        .exclude_hv = 1 };
        struct cpu_list online = { .cpus = NULL };
        long fd;
        int r = cpu_list_read_online(&online, NULL);

        if (r < 0)
                return r;
        fd = syscall(SYS_perf_event_open, &attr, -1, online.cpus[0], -1, PERF_FLAG_FD_CLOEXEC);
        r = fd < 0 ? -errno : 0;
        if (fd >= 0)
                (void)close((int)fd);
        cpu_list_deinit(&online);
        return r;
}

void event_set_expect_overlap(struct event_set *set)
{
        set->overlaps = true;
}

void event_set_close(struct event_set *set)
{
        for (size_t i = 0; i < set->n_rings; i++)
                perf_ring_unmap(&set->rings[i]);
        for (size_t i = 0; i < set->n_handles; i++)
                io_close(&set->handles[i].fd);
        for (size_t at = 0; set->doorbells && at < set->cpus.n_cpus; at++) {
                perf_ring_unmap(&set->doorbells[at].ring);
                io_close(&set->doorbells[at].fd);
        }
        free(set->doorbells);
        close_kernel_code(set);
        free(set->handles);
        free(set->rings);
        free(set->ring_fds);
        cpu_list_deinit(&set->cpus);
        event_owners_deinit(&set->owners);
        *set = (struct event_set){ .handles = NULL };
}

void event_set_disable(struct event_set *set)
{
        for (size_t i = 0; i < set->n_handles; i++)
                (void)ioctl(set->handles[i].fd, PERF_EVENT_IOC_DISABLE, 0);
        for (size_t at = 0; set->doorbells && at < set->cpus.n_cpus; at++)
                event_set_silence(set, at);
}

void event_set_pause(struct event_set *set, bool paused)
{
        for (size_t i = 0; i < set->n_handles; i++)
                if (set->handles[i].spec != TRACKER)
                        (void)ioctl(set->handles[i].fd,
                                    paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
}

static const struct event_handle *find_handle(const struct event_set *set, uint64_t id)
{
        size_t low = 0, high = set->n_handles;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (set->handles[middle].id < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < set->n_handles && set->handles[low].id == id ? &set->handles[low] : NULL;
}

int event_set_find_spec(const struct event_set *set, uint64_t id)
{
        const struct event_handle *handle = find_handle(set, id);

        return handle && handle->spec != TRACKER ? (int)handle->spec : -1;
}

/*
 * Only samples and switches would count twice; a repeated record of a mapping, a name or an end changes
 * nothing.
 */
void event_owners_init(struct event_owners *o)
{
        *o = (struct event_owners){ .owners = NULL };
        intern_init(&o->tids, sizeof(uint32_t), 0);
}

void event_owners_deinit(struct event_owners *o)
{
        intern_deinit(&o->tids);
        free(o->owners);
        o->owners = NULL;
        o->capacity = 0;
}

int event_owners_add(struct event_owners *o, uint32_t tid, uint32_t owner)
{
        uint32_t id = 0;
        int r = array_reserve(&o->owners, &o->capacity, (size_t)o->tids.n_items + 1, sizeof(*o->owners));

        if (r == 0)
                r = intern_add(&o->tids, &tid, sizeof(tid), &id);
        if (r < 0)
                return r;
        o->owners[id - 1] = owner;
        return 0;
}

uint32_t event_owners_find(const struct event_owners *o, uint32_t tid)
{
        uint32_t id = intern_find(&o->tids, &tid, sizeof(tid));

        return id ? o->owners[id - 1] : 0;
}

bool event_set_is_double(struct event_set *set, const struct perf_record *rec)
{
        const struct event_handle *handle;
        uint32_t owner;

        if (!set->overlaps)
                return false;
        if (rec->kind == PERF_RECORD_KIND_FORK) {
                /*
                 * A thread that began while events were opened, and has its own events, may have inherited
                 * only some of them.
                 */
                if (rec->time_ns < set->added_ns && event_owners_find(&set->owners, rec->tid) == rec->tid)
                        return false;
                owner = event_owners_find(&set->owners, rec->fork.parent_tid);
                /* If there is no memory for the owner, records that are taken twice stay so. */
                if (owner != 0)
                        (void)event_owners_add(&set->owners, rec->tid, owner);
                return false;
        }
        if (rec->kind != PERF_RECORD_KIND_SAMPLE && rec->kind != PERF_RECORD_KIND_SWITCH)
                return false;
        handle = find_handle(set, rec->event);
        owner = event_owners_find(&set->owners, rec->tid);
        return handle && owner != 0 && owner != handle->tid;
}

uint64_t event_set_count_bytes(const struct event_set *set)
{
        uint64_t n_bytes = 0;

        for (size_t i = 0; i < set->n_rings; i++)
                n_bytes += set->rings[i].map_bytes;
        for (size_t at = 0; set->doorbells && at < set->cpus.n_cpus; at++)
                n_bytes += set->doorbells[at].ring.map_bytes;
        return n_bytes;
}

bool event_set_is_tracker_ring(const struct event_set *set, size_t ring)
{
        (void)set;
        return ring % 2 == 0; /* see add_event() */
}
