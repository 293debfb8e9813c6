/* SPDX-License-Identifier: MIT */
#include "sampler/rights/perf_access.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/pace/pace.h"
#include "sampler/rights/privileges.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROBE_CYCLES      100000
#define SETTING_BYTES_MAX 4096
#define KALLSYMS_HEAD     4096 /* enough for the first symbols */
#define ADDRESS_DIGITS    16
#define PROBE_TRIES       3

/* ------------------------------------------------------------------ does a counter interrupt? */

static int judge(int fd, uint64_t period)
{
        uint64_t begin_ns = clock_raw_ns(), changed_ns = begin_ns, now_ns, before = 0, value;
        uint64_t began_at_ns = clock_thread_ns();

        /* By our own time: on a busy machine the rest says nothing about the counter. */
        while (clock_thread_ns() - began_at_ns < PACE_PROBE_SPIN_NS) {
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
        for (int i = 0; i < PROBE_TRIES; i++) {
                r = probe_once(attr, period);
                if (r != -EIO)
                        return r;
        }
        return r;
}

/* ------------------------------------------------------------------ what can be opened */

/* Opens an event on ourselves and closes it again: 0 or -errno. */
static int try_attr(struct perf_event_attr *attr)
{
        long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0)
                return -errno;
        (void)close((int)fd);
        return 0;
}

static struct perf_event_attr make_attr(uint32_t type, uint64_t config, bool exclude_kernel)
{
        return (struct perf_event_attr){
                .size = sizeof(struct perf_event_attr),
                .type = type,
                .config = config,
                .sample_period = 1000000,
                .disabled = 1,
                .exclude_hv = 1,
                .exclude_kernel = exclude_kernel,
        };
}

static int try_event(uint32_t type, uint64_t config, bool exclude_kernel)
{
        struct perf_event_attr attr = make_attr(type, config, exclude_kernel);

        return try_attr(&attr);
}

/* The counter has to raise interrupts as well: without them there are no samples. */
static int try_cycles(void)
{
        struct perf_event_attr attr = make_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
        int r;

        attr.sample_period = PROBE_CYCLES;
        r = counter_probe_run(&attr, PROBE_CYCLES);
        /* A processor whose counters support no exclusion has no counter interrupts either. */
        return r == -EINVAL ? -EOPNOTSUPP : r;
}

static int try_build_ids(void)
{
        struct perf_event_attr attr = make_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);

        attr.mmap = 1;
        attr.mmap2 = 1;
        attr.build_id = 1;
        return try_attr(&attr);
}

/*
 * Not every kernel copies stacks on every machine or for every user: the probe asks as the recording does.
 */
static int try_stack_copies(void)
{
        struct perf_event_attr attr = make_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true);

        if (!unwind_machine_own())
                return -EOPNOTSUPP;
        unwind_request_fill_attr(&(struct unwind_request){ .copy_bytes = UNWIND_COPY_MIN }, &attr);
        return try_attr(&attr);
}

static long read_setting(const char *path)
{
        struct byte_buffer text = { .data = NULL };
        long value = LONG_MIN;
        char *end;

        if (io_read_file(AT_FDCWD, path, SETTING_BYTES_MAX, &text, NULL) == 0 && text.used_bytes > 0) {
                value = strtol((const char *)text.data, &end, 10);
                if (end == (const char *)text.data)
                        value = LONG_MIN;
        }
        byte_buffer_deinit(&text);
        return value;
}

bool perf_access_shows_addresses(const char *kallsyms, size_t n_bytes)
{
        for (size_t i = 0; i + ADDRESS_DIGITS < n_bytes; i++)
                if ((i == 0 || kallsyms[i - 1] == '\n') && strspn(kallsyms + i, "0") < ADDRESS_DIGITS)
                        return true;
        return false;
}

static bool kernel_symbols_visible(void)
{
        char head[KALLSYMS_HEAD + 1];
        size_t got = 0;
        int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
        bool is_read = fd >= 0 && io_read_full(fd, head, KALLSYMS_HEAD, &got, NULL) == 0;

        io_close(&fd);
        head[got] = '\0';
        return is_read && perf_access_shows_addresses(head, got);
}

bool perf_access_find_mapped_file(const char *maps, unsigned long *ret_start, unsigned long *ret_end)
{
        const char *line = maps;

        while (*line != '\0') {
                size_t n_bytes = strcspn(line, "\n");

                if (memchr(line, '/', n_bytes))
                        return sscanf(line, "%lx-%lx", ret_start, ret_end) == 2; /* NOLINT(cert-err34-c) */
                line += n_bytes + (line[n_bytes] == '\n');
        }
        return false;
}

/*
 * A process that has changed its user, or has its rights from its file, does not own its folder in /proc
 * until it makes itself dumpable.  Other processes of that user still may not look at it: they have fewer
 * capabilities.
 */
static int try_map_files(void)
{
        int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
        struct byte_buffer maps = { .data = NULL };
        unsigned long start, end;
        char path[64];
        int fd, r = -ENOENT;

        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        /* Names in the folder have no leading zeros. */
        if (io_read_file(AT_FDCWD, "/proc/self/maps", SIZE_MAX / 2, &maps, NULL) == 0 &&
            perf_access_find_mapped_file((const char *)maps.data, &start, &end)) {
                (void)snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", start, end);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                r = fd < 0 ? -errno : 0;
                io_close(&fd);
        }
        byte_buffer_deinit(&maps);
        (void)prctl(PR_SET_DUMPABLE, dumpable == 1, 0, 0, 0);
        return r;
}

long perf_access_max_sample_hz(void)
{
        return read_setting("/proc/sys/kernel/perf_event_max_sample_rate");
}

void perf_access_read(struct perf_access *ret_access)
{
        *ret_access = (struct perf_access){
                .user_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true),
                .kernel_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false),
                .hardware_error = try_cycles(),
                .build_id_error = try_build_ids(),
                .stack_copy_error = try_stack_copies(),
                .paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid"),
                .kptr_restrict = read_setting("/proc/sys/kernel/kptr_restrict"),
                .max_sample_hz = perf_access_max_sample_hz(),
                .mlock_kib = read_setting("/proc/sys/kernel/perf_event_mlock_kb"),
                .kernel_symbols = kernel_symbols_visible(),
                .map_files_error = try_map_files(),
                .is_root = geteuid() == 0,
                .has_perfmon = privileges_has(CAP_PERFMON) || privileges_has(CAP_SYS_ADMIN),
                .locks_memory = privileges_has(CAP_IPC_LOCK),
                .is_filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0,
        };
}

bool perf_access_only_counts(const struct perf_access *access)
{
        return access->hardware_error == -EOPNOTSUPP || access->hardware_error == -EIO;
}

static void set_words(struct perf_refusal *refusal, const char *reason, const char *remedy)
{
        (void)snprintf(refusal->reason, sizeof(refusal->reason), "%s", reason);
        (void)snprintf(refusal->remedy, sizeof(refusal->remedy), "%s", remedy);
}

/*
 * The levels of perf_event_paranoid: those from 2 on forbid kernel code, those from 3 on (Debian, Ubuntu,
 * Android) everything.
 */
static void explain_denial(const struct perf_access *a, bool wants_kernel, struct perf_refusal *refusal)
{
        long enough = wants_kernel ? 1 : 2;

        if (!a->has_perfmon && a->paranoid > enough) {
                (void)snprintf(refusal->reason, sizeof(refusal->reason),
                               "kernel.perf_event_paranoid is %ld; %ld or CAP_PERFMON is needed", a->paranoid,
                               enough);
                (void)snprintf(refusal->remedy, sizeof(refusal->remedy),
                               "sudo sysctl kernel.perf_event_paranoid=%ld", enough);
        } else if (a->is_filtered) {
                set_words(refusal, "a seccomp filter (of a container?) forbids perf_event_open",
                          "docker run --cap-add=PERFMON --security-opt seccomp=FILE ...");
        } else if (a->has_perfmon) {
                set_words(refusal, "a container or a security module forbids perf_event_open",
                          "docker run --security-opt apparmor=unconfined ...");
        } else {
                set_words(refusal, "a container or a security module forbids perf_event_open",
                          "sudo hyprof record ..., or: docker run --cap-add=PERFMON ...");
        }
}

void perf_access_explain(const struct perf_access *access, int code, bool wants_kernel,
                         struct perf_refusal *ret_refusal)
{
        *ret_refusal = (struct perf_refusal){ .reason = "" };
        switch (-code) {
        case EACCES:
        case EPERM:
                explain_denial(access, wants_kernel, ret_refusal);
                break;
        case ENOENT:
        case ENODEV:
                set_words(ret_refusal, "this machine has none (virtual machine?)", "");
                break;
        case EOPNOTSUPP:
                set_words(ret_refusal, "they count, but have no interrupt (RISC-V: no Sscofpmf)", "");
                break;
        case EIO:
                set_words(ret_refusal, "they count, but their interrupt never comes (virtual machine?)", "");
                break;
        case ENOSYS:
                if (access->is_filtered)
                        set_words(ret_refusal, "a seccomp filter (of a container?) hides perf_event_open",
                                  "docker run --cap-add=PERFMON --security-opt seccomp=FILE ...");
                else
                        set_words(ret_refusal, "this kernel was built without performance events",
                                  "grep CONFIG_PERF_EVENTS /boot/config-$(uname -r)");
                break;
        default:
                set_words(ret_refusal, strerrordesc_np(-code), "");
        }
}

void perf_access_explain_copies(const struct perf_access *access, struct perf_refusal *ret_refusal)
{
        bool denied = access->stack_copy_error == -EACCES || access->stack_copy_error == -EPERM;

        *ret_refusal = (struct perf_refusal){ .reason = "" };
        if (access->user_error < 0)
                perf_access_explain(access, access->user_error, false, ret_refusal);
        else if (denied)
                set_words(ret_refusal, "this kernel does not permit them to this user",
                          access->has_perfmon ? "" : "sudo hyprof record ...");
        else
                set_words(ret_refusal, "this kernel has none on this machine", "");
}
