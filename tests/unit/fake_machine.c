/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_machine.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_file {
        enum fake_machine_kind kind;
        const char *path, *text;
};

static const struct fake_file files[] = {
        { FAKE_MACHINE_INTEL, "devices/cpu/type", "4\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/event", "config:0-7\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/umask", "config:8-15\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/inv", "config:23\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/cmask", "config:24-31\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/ldlat", "config1:0-15\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/frontend", "config2:0-23\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/strange", "config7:0-3\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/format/broken", "config:7-3\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/events/topdown-slots", "event=0x00,umask=0x4\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/events/topdown-slots.scale", "2\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/events/of-core", "event=0x2,umask=?\n" },
        { FAKE_MACHINE_INTEL, "devices/cpu/events/in-circles", "in-circles\n" },
        { FAKE_MACHINE_INTEL, "devices/msr/type", "10\n" },
        { FAKE_MACHINE_INTEL, "devices/msr/format/event", "config:0-63\n" },
        { FAKE_MACHINE_INTEL, "devices/msr/events/tsc", "event=0x00\n" },
        { FAKE_MACHINE_INTEL, "devices/uncore_imc_0/type", "14\n" },
        { FAKE_MACHINE_INTEL, "devices/uncore_imc_0/cpumask", "0,28\n" },
        { FAKE_MACHINE_INTEL, "devices/uncore_imc_0/format/event", "config:0-7,32-35\n" },
        { FAKE_MACHINE_INTEL, "devices/nonsense/type", "four\n" },
        { FAKE_MACHINE_INTEL, "tracing/events/sched/sched_switch/id", "316\n" },
        { FAKE_MACHINE_INTEL, "tracing/events/sched/sched_waking/id", "318\n" },
        { FAKE_MACHINE_INTEL, "tracing/events/sched/sched_waking/format",
          "name: sched_waking\nID: 318\nformat:\n"
          "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
          "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
          "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
          "\tfield:int far;\toffset:70000;\tsize:4;\tsigned:1;\n"
          "\nprint fmt: \"pid=%d\", REC->pid\n" },
        { FAKE_MACHINE_INTEL, "tracing/events/syscalls/sys_enter_openat/id", "900\n" },
        { FAKE_MACHINE_INTEL, "tracing/events/header_page", "no tracepoint\n" },
        { FAKE_MACHINE_ARM, "devices/armv8_pmuv3_0/type", "8\n" },
        { FAKE_MACHINE_ARM, "devices/armv8_pmuv3_0/cpus", "0-3\n" },
        { FAKE_MACHINE_ARM, "devices/armv8_pmuv3_0/format/event", "config:0-15\n" },
        { FAKE_MACHINE_ARM, "devices/armv8_pmuv3_0/events/l1d_cache_refill", "event=0x0003\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_core/type", "4\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_core/cpus", "0-3\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_core/format/event", "config:0-7\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_core/events/mem-loads", "event=0xcd\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_atom/type", "10\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_atom/cpus", "4-7,70\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_atom/format/event", "config:0-7\n" },
        { FAKE_MACHINE_HYBRID, "devices/cpu_atom/events/mem-loads", "event=0xd0\n" },
};

void fake_machine_put(const struct fake_machine *machine, const char *path, const char *text)
{
        char whole[2 * FAKE_MACHINE_PATH_BYTES];
        size_t root_bytes = strlen(machine->root);
        FILE *file;

        ck_assert_int_lt(snprintf(whole, sizeof(whole), "%s/%s", machine->root, path), (int)sizeof(whole));
        for (size_t i = root_bytes + 1; whole[i] != '\0'; i++)
                if (whole[i] == '/') {
                        whole[i] = '\0';
                        (void)mkdir(whole, 0700);
                        whole[i] = '/';
                }
        file = fopen(whole, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
}

void fake_machine_make(struct fake_machine *machine, enum fake_machine_kind kind)
{
        const char *folder = getenv("TMPDIR");

        memset(machine, 0, sizeof(*machine));
        (void)snprintf(machine->root, 200, "%s/fake_machine_XXXXXX", folder ? folder : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(machine->root));
        (void)snprintf(machine->devices, sizeof(machine->devices), "%.200s/devices", machine->root);
        (void)snprintf(machine->tracing, sizeof(machine->tracing), "%.200s/tracing", machine->root);
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
                if (files[i].kind == kind)
                        fake_machine_put(machine, files[i].path, files[i].text);
        machine->places = (struct event_places){ .devices = machine->devices,
                                                 .tracing = machine->tracing,
                                                 .without_library = true };
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
        (void)status;
        (void)kind;
        (void)where;
        return remove(path);
}

void fake_machine_remove(struct fake_machine *machine)
{
        ck_assert_int_eq(nftw(machine->root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
