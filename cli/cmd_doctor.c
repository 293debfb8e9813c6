/* SPDX-License-Identifier: MIT */
#include "cli/cmd_doctor.h"

#include "cli/command_frame.h"
#include "cli/complaint.h"
#include "cli/exit_status.h"
#include "cli/standard_output.h"
#include "sampler/perf_access.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#define DESCRIPTORS_FEW 1024

static const struct option_row option_rows[] = {
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof doctor",
        .operands = "",
        .about =
                "Shows what this machine and this user can record, and the command that would allow the rest.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = programs can be recorded; 1 = they cannot; 2 = usage\n",
};

static void line(bool good, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void line(bool good, const char *what, const char *format, ...)
{
        va_list args;

        (void)printf("%-4s %-22s ", good ? "yes" : "no", what);
        va_start(args, format);
        (void)vprintf(format, args);
        va_end(args);
        (void)fputc('\n', stdout);
}

static void try(const char *command)
{
        if (command[0] != '\0')
                (void)printf("     %-22s try: %s\n", "", command);
}

static void show_user(const struct perf_access *a)
{
        struct perf_refusal refusal;

        if (a->user_error == 0) {
                line(true, "user code", "callstacks of one's own programs");
                return;
        }
        perf_access_explain(a, a->user_error, false, &refusal);
        line(false, "user code", "%s", refusal.reason);
        try(refusal.remedy);
}

static void show_kernel(const struct perf_access *a)
{
        struct perf_refusal refusal;

        if (a->kernel_error == 0) {
                line(true, "kernel code", "the kernel's part of callstacks");
        } else {
                perf_access_explain(a, a->kernel_error, true, &refusal);
                line(false, "kernel code", "%s", refusal.reason);
                try(refusal.remedy);
        }
        if (a->kernel_symbols) {
                line(true, "kernel names", "/proc/kallsyms shows addresses");
        } else {
                line(false, "kernel names", "addresses are hidden (kernel.kptr_restrict is %ld)",
                     a->kptr_restrict);
                try(a->kptr_restrict > 0 ? "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"
                                         : "sudo sysctl kernel.perf_event_paranoid=1");
        }
}

static void show_hardware(const struct perf_access *a)
{
        struct perf_refusal refusal;

        perf_access_explain(a, a->hardware_error, false, &refusal);
        if (a->hardware_error == 0)
                line(true, "hardware counters", "cycles, instructions, cache misses ...");
        else
                line(false, "hardware counters", "%s; cpu-clock is sampled instead of cycles",
                     refusal.reason);
        line(a->build_id_error == 0, "build-ids", "%s",
             a->build_id_error == 0 ? "the kernel reports them with each mapping"
                                    : "not from this kernel (5.12 does)");
}

static void show_files(const struct perf_access *a)
{
        line(a->map_files, "deleted files", "%s",
             a->map_files ? "mapped files can be read after they were deleted"
                          : "needs CAP_CHECKPOINT_RESTORE: files that a program deletes are lost");
        if (!a->map_files)
                try("sudo hyprof record ...");
}

static void show_limits(const struct perf_access *a)
{
        struct rlimit files = { .rlim_max = 0 };
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

        (void)getrlimit(RLIMIT_NOFILE, &files);
        line(files.rlim_max >= DESCRIPTORS_FEW, "descriptors",
             "up to %llu; %ld are needed on %ld CPUs for one event", (unsigned long long)files.rlim_max,
             2 * n_cpus, n_cpus);
        if (a->max_sample_hz != LONG_MIN)
                line(true, "sample rate", "up to %ld Hz for hardware counters", a->max_sample_hz);
        if (a->mlock_kib != LONG_MIN && !a->locks_memory)
                line(a->mlock_kib >= 516, "ring memory", "%ld KiB for each CPU", a->mlock_kib);
}

static int run(void *context, struct common_options *common)
{
        struct perf_access access;
        struct utsname system;

        (void)context;
        (void)common;
        perf_access_read(&access);
        if (uname(&system) == 0)
                (void)printf("hyprof %s on Linux %s %s, as %s\n\n", HYPROF_VERSION, system.release,
                             system.machine, access.is_root ? "root" : "an ordinary user");
        show_user(&access);
        show_kernel(&access);
        show_hardware(&access);
        show_files(&access);
        show_limits(&access);
        (void)printf("\n%s\n", access.user_error == 0
                                       ? "hyprof record COMMAND works here."
                                       : "hyprof record cannot work here until that is allowed.");
        return standard_output_finish(access.user_error == 0 ? EXIT_STATUS_OK : EXIT_STATUS_FAILED,
                                      "the findings");
}

const struct option_table *cmd_doctor_options(void)
{
        return &table;
}

int cmd_doctor(int argc, char **argv)
{
        const struct command_frame frame = { .table = &table, .run = run };

        return command_frame_run(&frame, argc, argv);
}
