/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/cpu_quota.c: the counters of a process's group are added up, and what they say is kept by
 * time, in bounded memory
 */
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "sampler/proc/cpu_quota.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDED UINT32_MAX /* number of no process */

START_TEST(test_stat)
{
        struct cpu_quota_stat sum = { .n_periods = 0 };

        cpu_quota_add_stat(
                &sum, "usage_usec 7\nnr_periods 48\nnr_throttled 44\nthrottled_usec 1600\nnr_bursts 9\n");
        ck_assert_uint_eq(sum.n_periods, 48);
        ck_assert_uint_eq(sum.n_throttled, 44);
        ck_assert_uint_eq(sum.throttled_ns, 1600000);
        cpu_quota_add_stat(&sum, "nr_periods 2\nnr_throttled 1\nthrottled_time 5\nburst_time 3");
        ck_assert_uint_eq(sum.n_periods, 50);
        ck_assert_uint_eq(sum.n_throttled, 45);
        ck_assert_uint_eq(sum.throttled_ns, 1600005);
        cpu_quota_add_stat(&sum,
                           "nr_periods\n\nthrottled_time\nnr_throttled x\nnr_periodsx 4\nusage_usec 7\n");
        ck_assert_uint_eq(sum.n_periods, 50);
        ck_assert_uint_eq(sum.n_throttled, 45);
        ck_assert_uint_eq(sum.throttled_ns, 1600005);
        /* names of the same length, and their beginnings */
        cpu_quota_add_stat(&sum, "nr_perioda 4\nnr_throttlee 4\nthrottled_uses 4\nthrottled_tims 4\n");
        cpu_quota_add_stat(&sum, "nr_p 4\nnr_t 4\nthrottled_u 4\nthrottled_t 4\n 4\n");
        ck_assert_uint_eq(sum.n_periods, 50);
        ck_assert_uint_eq(sum.n_throttled, 45);
        ck_assert_uint_eq(sum.throttled_ns, 1600005);
}
END_TEST

START_TEST(test_limit)
{
        struct cpu_quota_limit limit = { .quota_us = 0 };

        cpu_quota_take_limit(&limit, "max 100000\n");
        cpu_quota_take_limit(&limit, "-1\n 100000\n");
        cpu_quota_take_limit(&limit, "");
        cpu_quota_take_limit(&limit, "10000");
        cpu_quota_take_limit(&limit, "0 40000");
        ck_assert_uint_eq(limit.period_us, 0);
        cpu_quota_take_limit(&limit, "50000 100000\n");
        cpu_quota_take_limit(&limit, "10000\n 40000\n"); /* tighter */
        cpu_quota_take_limit(&limit, "40000 100000\n");
        ck_assert_uint_eq(limit.quota_us, 10000);
        ck_assert_uint_eq(limit.period_us, 40000);
}
END_TEST

/* A hierarchy in a folder of its own, whose process has ended: its last group is read on. */
struct fixture {
        char folder[32], inner[48], stat[64], inner_stat[64];
        struct cpu_quota *quota;
};

static struct fixture f;

static void write_stat(const char *path, unsigned n_periods, uint64_t throttled_ns)
{
        FILE *file = fopen(path, "we");

        ck_assert_ptr_nonnull(file);
        (void)fprintf(file, "nr_periods %u\nnr_throttled %u\nthrottled_time %" PRIu64 "\n", n_periods,
                      n_periods / 2, throttled_ns);
        ck_assert_int_eq(fclose(file), 0);
}

static void fixture_init(void)
{
        UNIT_TEST_SPOIL(f);
        (void)snprintf(f.folder, sizeof(f.folder), "/tmp/cpu_quota.XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(f.folder));
        (void)snprintf(f.inner, sizeof(f.inner), "%s/inner", f.folder);
        ck_assert_int_eq(mkdir(f.inner, 0700), 0);
        (void)snprintf(f.stat, sizeof(f.stat), "%s/cpu.stat", f.folder);
        (void)snprintf(f.inner_stat, sizeof(f.inner_stat), "%s/cpu.stat", f.inner);
        f.quota = calloc(1, sizeof(*f.quota));
        ck_assert_ptr_nonnull(f.quota);
        cpu_quota_begin(f.quota, 0, NS_PER_S);
        ck_assert(!f.quota->has_mount);
        f.quota->has_mount = true;
        (void)snprintf(f.quota->mount.path, sizeof(f.quota->mount.path), "%s", f.folder);
        (void)snprintf(f.quota->mount.root, sizeof(f.quota->mount.root), "/");
        (void)snprintf(f.quota->folder, sizeof(f.quota->folder), "%s", f.inner);
}

static void fixture_deinit(void)
{
        (void)unlink(f.stat);
        (void)unlink(f.inner_stat);
        ck_assert_int_eq(rmdir(f.inner), 0);
        ck_assert_int_eq(rmdir(f.folder), 0);
        free(f.quota);
}

static void check_list(const struct cpu_quota *q, const char *expected)
{
        struct byte_buffer list = { .data = NULL };

        cpu_quota_list(q, &list);
        byte_buffer_add(&list, "", 1);
        ck_assert_str_eq((const char *)list.data, expected);
        byte_buffer_deinit(&list);
}

/* 0 is no process: the group stays. */
START_TEST(test_readings_become_spans)
{
        write_stat(f.stat, 2, 0);
        cpu_quota_read(f.quota, ENDED, NS_PER_S + 100 * NS_PER_MS, false);
        check_list(f.quota, "");
        write_stat(f.stat, 4, 30 * NS_PER_MS); /* the quota of the group above */
        cpu_quota_read(f.quota, ENDED, NS_PER_S + 150 * NS_PER_MS, false);
        check_list(f.quota, ""); /* too soon */
        cpu_quota_read(f.quota, ENDED, NS_PER_S + 200 * NS_PER_MS, false);
        check_list(f.quota, "1100000+100000=30000;");
        cpu_quota_read(f.quota, ENDED, NS_PER_S + 300 * NS_PER_MS, false);
        write_stat(f.inner_stat, 4, 7 * NS_PER_MS + 600);
        cpu_quota_read(f.quota, ENDED, NS_PER_S + 310 * NS_PER_MS, true);
        check_list(f.quota, "1100000+100000=30000;1300000+10000=7001;");
        ck_assert_uint_eq(f.quota->total.throttled_ns, 37 * NS_PER_MS + 600);
        ck_assert_uint_eq(f.quota->total.n_periods, 8);
        ck_assert_uint_eq(f.quota->total.n_throttled, 4);
        write_stat(f.stat, 1, 0); /* made again */
        cpu_quota_read(f.quota, ENDED, 2 * NS_PER_S, true);
        write_stat(f.stat, 2, NS_PER_MS);
        cpu_quota_read(f.quota, ENDED, 3 * NS_PER_S, true);
        ck_assert_uint_eq(f.quota->total.throttled_ns, 38 * NS_PER_MS + 600);
        write_stat(f.stat, 9, 0); /* made again, and it has had more periods since */
        cpu_quota_read(f.quota, ENDED, 4 * NS_PER_S, true);
        ck_assert_uint_eq(f.quota->total.throttled_ns, 38 * NS_PER_MS + 600);
}
END_TEST

/* Without a quota, after the first seconds, it is read once in a second. */
START_TEST(test_seldom_without_a_quota)
{
        cpu_quota_read(f.quota, ENDED, 4 * NS_PER_S, false);
        write_stat(f.stat, 4, 30 * NS_PER_MS);
        cpu_quota_read(f.quota, ENDED, 4 * NS_PER_S + 900 * NS_PER_MS, false);
        check_list(f.quota, "");
        cpu_quota_read(f.quota, ENDED, 5 * NS_PER_S, false);
        check_list(f.quota, "4000000+1000000=30000;");
}
END_TEST

/* However long it takes, the list is bounded, in order, and its sum is the total. */
START_TEST(test_spans_are_bounded)
{
        uint64_t sum_ns = 0, done_ns = NS_PER_S;

        for (unsigned i = 1; i <= 3 * CPU_QUOTA_SPANS_MAX; i++) {
                write_stat(f.stat, i, i * NS_PER_MS);
                cpu_quota_read(f.quota, ENDED, NS_PER_S + i * (NS_PER_S / 10), false);
        }
        ck_assert_uint_le(f.quota->n_spans, CPU_QUOTA_SPANS_MAX);
        ck_assert_uint_ge(f.quota->n_spans, CPU_QUOTA_SPANS_MAX / 2);
        for (size_t i = 0; i < f.quota->n_spans; i++) {
                ck_assert_uint_eq(f.quota->spans[i].begin_ns, done_ns);
                done_ns = f.quota->spans[i].end_ns;
                sum_ns += f.quota->spans[i].throttled_ns;
        }
        ck_assert_uint_eq(sum_ns, f.quota->total.throttled_ns);
        ck_assert_uint_eq(done_ns, NS_PER_S + 3 * CPU_QUOTA_SPANS_MAX * (NS_PER_S / 10));
}
END_TEST

UNIT_TEST_PLAN(.setup = fixture_init, .teardown = fixture_deinit);
