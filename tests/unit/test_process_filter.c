/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_filter.c: of everybody's records exactly those are taken that are about what was
 * named, and its children
 */
#include "sampler/proc/process_filter.h"

#include "sampler/kernel/perf_record.h"
#include "tests/unit/unit_test.h"

#define OURS  100
#define OTHER 200
#define OWN   300

static struct process_filter f;

static bool takes(enum perf_record_kind kind, uint32_t pid, uint32_t tid)
{
        struct perf_record rec = { .kind = kind, .pid = pid, .tid = tid };

        return process_filter_takes(&f, &rec);
}

static bool takes_sample(uint32_t pid, uint32_t tid)
{
        return takes(PERF_RECORD_KIND_SAMPLE, pid, tid);
}

static bool forks(uint32_t parent_pid, uint32_t pid, uint32_t tid)
{
        struct perf_record rec = { .kind = PERF_RECORD_KIND_FORK,
                                   .pid = pid,
                                   .tid = tid,
                                   .fork = { .parent_pid = parent_pid, .parent_tid = parent_pid } };

        return process_filter_takes(&f, &rec);
}

static void setup(void)
{
        process_filter_init(&f);
        ck_assert_int_eq(process_filter_add_process(&f, OURS), 0);
        ck_assert_int_eq(process_filter_add_own(&f, OWN), 0);
}

static void teardown(void)
{
        process_filter_deinit(&f);
}

/* Every kind but forks, which have their own test. */
START_TEST(test_kinds)
{
        static const struct {
                enum perf_record_kind kind;
                bool about_nobody;
        } kinds[] = {
                { PERF_RECORD_KIND_SAMPLE, false },  { PERF_RECORD_KIND_MMAP, false },
                { PERF_RECORD_KIND_COMM, false },    { PERF_RECORD_KIND_EXIT, false },
                { PERF_RECORD_KIND_SWITCH, false },  { PERF_RECORD_KIND_WAKEUP, false },
                { PERF_RECORD_KIND_LOST, true },     { PERF_RECORD_KIND_LOST_SAMPLES, true },
                { PERF_RECORD_KIND_THROTTLE, true }, { PERF_RECORD_KIND_OTHER, true },
        };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                ck_assert_msg(takes(kinds[i].kind, OURS, OURS + 1), "kind %d", (int)kinds[i].kind);
                ck_assert_int_eq(takes(kinds[i].kind, OTHER, OTHER), kinds[i].about_nobody);
                ck_assert_int_eq(takes(kinds[i].kind, OWN, OWN), kinds[i].about_nobody);
                ck_assert_int_eq(takes(kinds[i].kind, 0, 0), kinds[i].about_nobody);
                ck_assert_int_eq(takes(kinds[i].kind, UINT32_MAX, UINT32_MAX), kinds[i].about_nobody);
        }
        ck_assert_uint_eq(f.n_foreign, 3); /* the idle task belongs to no process */
}
END_TEST

START_TEST(test_children)
{
        ck_assert(forks(OURS, 101, 101));
        ck_assert(forks(101, 101, 102)); /* a thread */
        ck_assert(forks(101, 103, 103));
        ck_assert(!forks(OTHER, 201, 201));
        ck_assert(takes_sample(101, 102));
        ck_assert(takes_sample(103, 103));
        ck_assert(!takes_sample(201, 201));
        /* Numbers come again, in both directions. */
        ck_assert(!forks(OTHER, 103, 103));
        ck_assert(!takes_sample(103, 103));
        ck_assert(takes_sample(101, 101));
        ck_assert(forks(OURS, 201, 201));
        ck_assert(takes_sample(201, 201));
        ck_assert(forks(OURS, 103, 103));
        ck_assert(takes_sample(103, 103));
}
END_TEST

START_TEST(test_no_children)
{
        f.no_children = true;
        ck_assert(!forks(OURS, 101, 101));
        ck_assert(forks(OURS, OURS, 102));
        ck_assert(!takes_sample(101, 101));
        ck_assert(takes_sample(OURS, 102));
}
END_TEST

/* All but hyprof and what it forks, until such a number belongs to another process. */
START_TEST(test_everything)
{
        f.everything = true;
        ck_assert(takes_sample(OTHER, OTHER));
        ck_assert(!takes_sample(OWN, OWN + 1));
        ck_assert(!forks(OWN, 301, 301));
        ck_assert(!forks(301, 302, 302));
        ck_assert(!takes_sample(302, 302));
        ck_assert(!takes(PERF_RECORD_KIND_MMAP, 302, 302));
        ck_assert(forks(OTHER, 302, 302));
        ck_assert(takes_sample(302, 302));
}
END_TEST

/*
 * A single thread: the mappings of its process count, whichever thread makes them; the other threads do not.
 */
START_TEST(test_threads)
{
        teardown();
        process_filter_init(&f);
        ck_assert_int_eq(process_filter_add_thread(&f, OURS, 105), 0);
        ck_assert(takes_sample(OURS, 105));
        ck_assert(!takes_sample(OURS, OURS));
        ck_assert(!takes_sample(OURS, 106));
        ck_assert(takes(PERF_RECORD_KIND_MMAP, OURS, 106));
        ck_assert(!takes(PERF_RECORD_KIND_MMAP, OTHER, OTHER));
        ck_assert(takes(PERF_RECORD_KIND_EXIT, OURS, 105));
        ck_assert(!takes(PERF_RECORD_KIND_EXIT, OURS, 106));
        ck_assert(!forks(OURS, OURS, 107));
        ck_assert(!forks(OURS, 108, 108));
        /* The number as another thread's, of the same process and of another one. */
        ck_assert(!forks(OURS, OURS, 105));
        ck_assert(!takes_sample(OURS, 105));
}
END_TEST

/* The command is a fork of hyprof until its execve(2). */
START_TEST(test_unborn)
{
        struct perf_record name = { .kind = PERF_RECORD_KIND_COMM, .pid = OURS, .tid = OURS };

        f.unborn_pid = OURS;
        ck_assert(!takes_sample(OURS, OURS));
        ck_assert(!takes(PERF_RECORD_KIND_MMAP, OURS, OURS));
        ck_assert(!takes(PERF_RECORD_KIND_SWITCH, OURS, OURS));
        ck_assert(!process_filter_takes(&f, &name));
        name.comm.exec = true;
        ck_assert(process_filter_takes(&f, &name));
        ck_assert(takes_sample(OURS, OURS));
        ck_assert(takes(PERF_RECORD_KIND_MMAP, OURS, OURS));
}
END_TEST

/* Foreign processes do not make it grow. */
START_TEST(test_bounded)
{
        for (uint32_t pid = 1000; pid < 3000; pid++) {
                ck_assert(!forks(OTHER, pid, pid));
                ck_assert(!takes_sample(pid, pid));
        }
        ck_assert_uint_eq(f.pids.pages.n_items, 1);
        ck_assert_uint_eq(f.own.pages.n_items, 1);
        ck_assert_uint_eq(f.n_foreign, 2000);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
