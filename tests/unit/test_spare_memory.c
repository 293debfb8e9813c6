/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/spare_memory.c: the default follows the machine and every cgroup above the program; what
 * was asked for is not cut
 */
#include "sampler/zones/spare_memory.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MB (UINT64_C(1) << 20)

static char top[] = "/tmp/spare_memory.XXXXXX";

static void put(const char *folder, const char *name, const char *text)
{
        char path[200];
        FILE *f;

        (void)snprintf(path, sizeof(path), "%s%s/%s", top, folder, name);
        f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_ge(fputs(text, f), 0);
        ck_assert_int_eq(fclose(f), 0);
}

static uint64_t of_group(const char *folder)
{
        char path[200];

        (void)snprintf(path, sizeof(path), "%s%s", top, folder);
        return spare_memory_of_group(path, top);
}

START_TEST(test_groups)
{
        char path[200];

        ck_assert_ptr_nonnull(mkdtemp(top));
        (void)snprintf(path, sizeof(path), "%s/outer", top);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        (void)snprintf(path, sizeof(path), "%s/outer/inner", top);
        ck_assert_int_eq(mkdir(path, 0700), 0);

        ck_assert_uint_eq(of_group("/outer/inner"), UINT64_MAX);
        put("/outer/inner", "memory.max", "max\n");
        ck_assert_uint_eq(of_group("/outer/inner"), UINT64_MAX);
        put("/outer", "memory.max", "838860800\n");
        put("/outer", "memory.current", "0\n");
        ck_assert_uint_eq(of_group("/outer/inner"), 100 * MB);
        put("/outer", "memory.current", "796917760\n"); /* 40 MB are left */
        ck_assert_uint_eq(of_group("/outer/inner"), 10 * MB);
        put("/outer/inner", "memory.max", "8388608\n");
        put("/outer/inner", "memory.current", "0\n");
        ck_assert_uint_eq(of_group("/outer/inner"), 1 * MB);
        put("/outer/inner", "memory.current", "9999999\n");
        ck_assert_uint_eq(of_group("/outer/inner"), 0);

        put("/outer/inner", "memory.max", "max\n"); /* cgroup v1 has other names */
        put("/outer", "memory.max", "max\n");
        put("/outer", "memory.limit_in_bytes", "9223372036854771712\n");
        put("/outer", "memory.usage_in_bytes", "0\n");
        ck_assert_uint_gt(of_group("/outer/inner"), UINT64_C(1) << 50);
        put("/outer/inner", "memory.limit_in_bytes", "50331648\n");
        put("/outer/inner", "memory.usage_in_bytes", "0\n");
        ck_assert_uint_eq(of_group("/outer/inner"), 6 * MB);

        (void)snprintf(path, sizeof(path), "rm -r %s", top);
        ck_assert_int_eq(system(path), 0); /* NOLINT(cert-env33-c): a path of our own */
}
END_TEST

START_TEST(test_wanted)
{
        struct spare_memory m;

        spare_memory_init(&m, 64 * MB);
        ck_assert_uint_eq(spare_memory_of_process(&m, 0), 64 * MB);
        spare_memory_init(&m, 1 * MB);
        ck_assert_uint_eq(spare_memory_of_process(&m, 0), 0);
        spare_memory_init(&m, 0);
        ck_assert_uint_le(spare_memory_of_process(&m, 0), SPARE_MEMORY_BYTES_MAX);
        ck_assert_uint_eq(spare_memory_old_ring_bytes(1), 1);
        ck_assert_uint_eq(spare_memory_old_ring_bytes(4096), 4096);
        ck_assert_uint_eq(spare_memory_old_ring_bytes(5 * MB), 4 * MB);
        ck_assert_uint_eq(spare_memory_old_ring_bytes(960 * MB), 256 * MB);
}
END_TEST

/* A size is advised only if it is enough: the number may be any, for the program counts. */
START_TEST(test_advised)
{
        ck_assert_uint_eq(spare_memory_round_up(1), 16 * MB);
        ck_assert_uint_eq(spare_memory_round_up(16 * MB + 1), 32 * MB);
        ck_assert_uint_eq(spare_memory_round_up(600 * MB), SPARE_MEMORY_BYTES_MAX);
        ck_assert_uint_eq(spare_memory_round_up(SPARE_MEMORY_BYTES_MAX), SPARE_MEMORY_BYTES_MAX);
        ck_assert_uint_eq(spare_memory_round_up(SPARE_MEMORY_BYTES_MAX + 1), 0);
        ck_assert_uint_eq(spare_memory_round_up(UINT64_MAX), 0);
}
END_TEST

/* The program that lacked the most says how much is needed, and its share of it is what it lacked. */
START_TEST(test_need)
{
        struct spare_need need = { .bytes = 0 };
        struct spare_lack lack = {
                .had_bytes = 16 * MB, .n_programs = 1, .group_bytes = 6 * MB, .room_bytes = 1
        };

        spare_need_add(&need, &lack);
        ck_assert_uint_eq(need.bytes, 0); /* nothing was lost */
        lack.lost_bytes = 10 * MB;
        spare_need_add(&need, &lack);
        ck_assert_uint_eq(need.bytes, 26 * MB);
        ck_assert_uint_eq(need.program_bytes, 26 * MB);
        ck_assert_uint_eq(need.group_bytes, 6 * MB);
        ck_assert_uint_eq(need.room_bytes, 1);

        lack = (struct spare_lack){ .lost_bytes = 25 * MB, .n_programs = 2, .group_bytes = UINT64_MAX };
        spare_need_add(&need, &lack); /* less than that one */
        ck_assert_uint_eq(need.group_bytes, 6 * MB);
        lack.n_programs = 20;
        spare_need_add(&need, &lack);
        ck_assert_uint_eq(need.bytes, 250 * MB);
        ck_assert_uint_eq(need.program_bytes, 25 * MB);
        ck_assert_uint_ge(spare_memory_share(need.bytes, 20), 25 * MB);
        ck_assert_uint_eq(need.group_bytes, UINT64_MAX);

        lack.lost_bytes = UINT64_MAX / 10;
        spare_need_add(&need, &lack);
        ck_assert_uint_eq(need.bytes, UINT64_MAX);
        lack.had_bytes = UINT64_MAX;
        spare_need_add(&need, &lack);
        ck_assert_uint_eq(need.bytes, UINT64_MAX);
}
END_TEST

/* However many programs there are, together they have at most what two of them may have alone. */
START_TEST(test_shares)
{
        const uint64_t one = 64 * MB;

        ck_assert_uint_eq(spare_memory_share(one, 1), one);
        ck_assert_uint_eq(spare_memory_share(one, 2), one);
        for (size_t n = 3; n < 2000; n++) {
                ck_assert_uint_le(spare_memory_share(one, n) * n, 2 * one);
                ck_assert_uint_ge(spare_memory_share(one, n) * n, 2 * one - 2 * n);
        }
        ck_assert_uint_le(spare_memory_share(UINT64_MAX, 20), UINT64_MAX / 10);
}
END_TEST
