/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/python_frames.bpf.c: each recording waits until the kernel has verified its programs, so they
 * stay small to the verifier: its work does not grow with the number of ways through them
 */
#include "base/error.h"
#include "sampler/python/python_source.h"
#include "tests/unit/unit_test.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES   (UINT32_C(1) << 21)
#define MAPS_MAX     16
#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define VERIFIED_MAX 20000 /* some 6,200, on Linux 6.1 13,100; 30,000 if each end of a search is verified */

static struct python_source *source;
static struct error opening;

/*
 * With the programs at tracepoints.  Here, since a test can only fail or pass.  Programs that the kernel
 * refuses are a failure; there are none without the right, in a kernel without its types or its compiler, and
 * in a build without BPF.
 */
static void open_source(int argc, char **argv)
{
        int r = python_source_begin(RING_BYTES, PYTHON_HOOK_WAITS | PYTHON_HOOK_CALLS, &source, &opening);

        (void)argc;
        (void)argv;
        if (r == 0)
                r = python_source_finish(source, &opening);
        if (r < 0 &&
            (r == -EPERM || geteuid() != 0 || access(KERNEL_TYPES, R_OK) < 0 ||
             strstr(opening.text, "was built without BPF") || strstr(opening.text, "BPF compiler is off")))
                unit_test_skip_all(opening.text);
}

UNIT_TEST_PLAN(.begin = open_source);

/* Since Linux 6.16; by the types that the kernel states, since others may have brought it to theirs. */
static bool has_ends_of_switches(void)
{
        struct btf *types = btf__load_vmlinux_btf();
        bool has = btf__find_by_name_kind(types, "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF) > 0;

        btf__free(types);
        return has;
}

static uint32_t id_of_map(int fd)
{
        struct bpf_map_info info;
        uint32_t n_bytes = sizeof(info);

        memset(&info, 0, sizeof(info));
        ck_assert_int_eq(bpf_obj_get_info_by_fd(fd, &info, &n_bytes), 0);
        return info.id;
}

/* Its instructions, if it uses the map; 0 if it does not, or has ended. */
static uint32_t count_verified(uint32_t program, uint32_t map)
{
        uint32_t maps[MAPS_MAX] = { 0 }, n_bytes, n_verified = 0;
        struct bpf_prog_info info;
        int fd = bpf_prog_get_fd_by_id(program);

        if (fd < 0)
                return 0;
        memset(&info, 0, sizeof(info));
        info.map_ids = (uintptr_t)maps;
        info.nr_map_ids = MAPS_MAX;
        n_bytes = sizeof(info);
        if (bpf_obj_get_info_by_fd(fd, &info, &n_bytes) == 0)
                for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++)
                        if (maps[i] == map)
                                n_verified = info.verified_insns;
        (void)close(fd);
        return n_verified;
}

START_TEST(test_the_kernel_verifies_few_instructions)
{
        uint32_t map, program = 0, n_programs = 0;

        ck_assert_msg(source, "%s", opening.text);
        map = id_of_map(python_source_map(source));
        while (bpf_prog_get_next_id(program, &program) == 0) {
                uint32_t n_verified = count_verified(program, map);

                ck_assert_uint_lt(n_verified, VERIFIED_MAX);
                n_programs += n_verified > 0;
        }
        /* of samples, switches, wake-ups, ends of calls, and the ends of switches where there are any */
        ck_assert_uint_eq(n_programs, has_ends_of_switches() ? 5 : 4);
}
END_TEST
