/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/python_frames.bpf.c: each recording waits until the kernel has verified its programs, so they
 * stay small to the verifier: its work does not grow with the number of ways through them
 */
#include "base/error.h"
#include "sampler/python/python_source.h"
#include "tests/unit/unit_test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES   (UINT32_C(1) << 21)
#define MAPS_MAX     16
#define VERIFIED_MAX 10000 /* some 6,200; 30,000 if what follows a search is verified for each end */

static struct python_source *source;

/* With the programs at tracepoints.  Here, since a test can only fail or pass. */
static void open_source(int argc, char **argv)
{
        struct error err = ERROR_NONE;

        (void)argc;
        (void)argv;
        if (python_source_open(RING_BYTES, true, &source, &err) < 0)
                unit_test_skip_all(err.text);
}

UNIT_TEST_PLAN(.begin = open_source);

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
        uint32_t map = id_of_map(python_source_map(source)), program = 0, n_programs = 0;

        while (bpf_prog_get_next_id(program, &program) == 0) {
                uint32_t n_verified = count_verified(program, map);

                ck_assert_uint_lt(n_verified, VERIFIED_MAX);
                n_programs += n_verified > 0;
        }
        ck_assert_uint_eq(n_programs, 3); /* of samples, switches, wake-ups */
}
END_TEST
