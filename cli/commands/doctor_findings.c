/* SPDX-License-Identifier: MIT */
#include "cli/commands/doctor_findings.h"

#include "sampler/kernel/perf_access.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_FEW 1024
#define MLOCK_KIB_MIN   516 /* what kernels allow by default */
#define TRACING         "/sys/kernel/tracing"

static void doctor_findings_add_row(struct doctor_findings *f, bool good, const char *what,
                                    const char *format, ...) __attribute__((format(printf, 4, 5)));

static void doctor_findings_add_row(struct doctor_findings *f, bool good, const char *what,
                                    const char *format, ...)
{
        struct doctor_finding *item = &f->items[f->n_items++];
        va_list args;

        assert(f->n_items <= DOCTOR_FINDINGS_MAX);
        *item = (struct doctor_finding){ .what = what, .good = good };
        va_start(args, format);
        (void)vsnprintf(item->words, sizeof(item->words), format, args);
        va_end(args);
}

/* The latest one's. */
static void set_remedy(struct doctor_findings *f, const char *command)
{
        struct doctor_finding *item = &f->items[f->n_items - 1];

        (void)snprintf(item->remedy, sizeof(item->remedy), "%s", command);
}

static void add_refused(struct doctor_findings *f, const struct perf_access *a, const char *what, int code,
                        bool wants_kernel)
{
        struct perf_refusal refusal;

        perf_access_explain(a, code, wants_kernel, &refusal);
        doctor_findings_add_row(f, false, what, "%s", refusal.reason);
        set_remedy(f, refusal.remedy);
}

static void doctor_findings_add_code(struct doctor_findings *f, const struct perf_access *a)
{
        if (a->user_error == 0)
                doctor_findings_add_row(f, true, "user code", "call stacks of one's own programs");
        else
                add_refused(f, a, "user code", a->user_error, false);
        if (a->kernel_error == 0)
                doctor_findings_add_row(f, true, "kernel code", "the kernel's part of call stacks");
        else
                add_refused(f, a, "kernel code", a->kernel_error, true);
        if (a->kernel_symbols) {
                doctor_findings_add_row(f, true, "kernel names", "/proc/kallsyms shows addresses");
                return;
        }
        doctor_findings_add_row(f, false, "kernel names",
                                "addresses are hidden (kernel.kptr_restrict is %ld)", a->kptr_restrict);
        set_remedy(f, a->kptr_restrict > 0 ? "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"
                                           : "sudo sysctl kernel.perf_event_paranoid=1");
}

/* Without them there are no names of tracepoints; context switches are recorded all the same. */
static void add_tracepoints(struct doctor_findings *f)
{
        if (access(TRACING "/events/sched/sched_switch/id", R_OK) == 0) {
                doctor_findings_add_row(f, true, "tracepoints", TRACING " can be read");
                return;
        }
        if (access(TRACING "/events", F_OK) < 0 && errno == ENOENT) {
                doctor_findings_add_row(f, false, "tracepoints",
                                        "tracefs is not mounted: tracepoints have no names");
                set_remedy(f, "sudo mount -t tracefs none " TRACING);
                return;
        }
        doctor_findings_add_row(f, false, "tracepoints",
                                TRACING " cannot be read: tracepoints have no names");
        set_remedy(f, "sudo mount -o remount,mode=755 " TRACING);
}

static void doctor_findings_add_events(struct doctor_findings *f, const struct perf_access *a)
{
        struct perf_refusal refusal;

        perf_access_explain(a, a->hardware_error, false, &refusal);
        if (a->hardware_error == 0)
                doctor_findings_add_row(f, true, "hardware counters",
                                        "cycles, instructions, cache misses ...");
        else
                doctor_findings_add_row(f, false, "hardware counters",
                                        "%s; cpu-clock is sampled instead of cycles", refusal.reason);
        add_tracepoints(f);
        doctor_findings_add_row(f, a->build_id_error == 0, "build-ids", "%s",
                                a->build_id_error == 0 ? "the kernel reports them with each mapping"
                                                       : "not from this kernel (5.12 does)");
}

static void doctor_findings_add_files(struct doctor_findings *f, const struct perf_access *a)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *servers = getenv("DEBUGINFOD_URLS");
        bool has_servers = servers && servers[0] != '\0';

        doctor_findings_add_row(
                f, a->map_files, "deleted files", "%s",
                a->map_files ? "mapped files can be read after they were deleted"
                             : "needs CAP_CHECKPOINT_RESTORE: files that a program deletes are lost");
        if (!a->map_files)
                set_remedy(f, "sudo hyprof record ...");
        doctor_findings_add_row(f, has_servers, "debug files", "%s",
                                has_servers ? "debuginfod is asked for them (DEBUGINFOD_URLS)"
                                            : "of this machine alone: DEBUGINFOD_URLS names no server");
}

/* "2", or "unknown" */
static const char *setting(long value, char digits[24])
{
        if (value == LONG_MIN)
                (void)snprintf(digits, 24, "unknown");
        else
                (void)snprintf(digits, 24, "%ld", value);
        return digits;
}

static void add_rights(struct doctor_findings *f, const struct perf_access *a)
{
        char paranoid[24], kptr[24];

        doctor_findings_add_row(f, true, "settings",
                                "kernel.perf_event_paranoid is %s, kernel.kptr_restrict is %s",
                                setting(a->paranoid, paranoid), setting(a->kptr_restrict, kptr));
        doctor_findings_add_row(f, a->has_perfmon, "capabilities", "CAP_PERFMON: %s, CAP_IPC_LOCK: %s",
                                a->has_perfmon ? "yes" : "no", a->locks_memory ? "yes" : "no");
        doctor_findings_add_row(f, !a->is_filtered, "system calls", "%s",
                                a->is_filtered ? "a seccomp filter is there, as in containers"
                                               : "no seccomp filter");
}

static void add_limits(struct doctor_findings *f, const struct perf_access *a)
{
        struct rlimit files = { .rlim_max = 0 };
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

        (void)getrlimit(RLIMIT_NOFILE, &files);
        doctor_findings_add_row(f, files.rlim_max >= DESCRIPTORS_FEW, "descriptors",
                                "up to %llu; %ld are needed on %ld CPUs for one event",
                                (unsigned long long)files.rlim_max, 2 * n_cpus, n_cpus);
        if (a->max_sample_hz != LONG_MIN)
                doctor_findings_add_row(f, true, "sample rate",
                                        "up to %ld Hz (kernel.perf_event_max_sample_rate)", a->max_sample_hz);
        if (a->mlock_kib != LONG_MIN && !a->locks_memory)
                doctor_findings_add_row(f, a->mlock_kib >= MLOCK_KIB_MIN, "ring memory",
                                        "%ld KiB for each CPU", a->mlock_kib);
}

void doctor_findings_add(struct doctor_findings *findings, const struct perf_access *access)
{
        doctor_findings_add_code(findings, access);
        doctor_findings_add_events(findings, access);
        doctor_findings_add_files(findings, access);
        add_rights(findings, access);
        add_limits(findings, access);
}
