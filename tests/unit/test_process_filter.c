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

static bool takes(struct process_filter *f, enum perf_record_kind kind, uint32_t pid, uint32_t tid)
{
        struct perf_record rec = { .kind = kind, .pid = pid, .tid = tid };

        return process_filter_takes(f, &rec);
}

static bool takes_sample(struct process_filter *f, uint32_t pid, uint32_t tid)
{
        return takes(f, PERF_RECORD_KIND_SAMPLE, pid, tid);
}

static bool forks(struct process_filter *f, uint32_t parent_pid, uint32_t pid, uint32_t tid)
{
        struct perf_record rec = { .kind = PERF_RECORD_KIND_FORK,
                                   .pid = pid,
                                   .tid = tid,
                                   .fork = { .parent_pid = parent_pid, .parent_tid = parent_pid } };

        return process_filter_takes(f, &rec);
}

static void set_up(struct process_filter *f)
{
        process_filter_init(f);
        ck_assert_int_eq(process_filter_add_process(f, OURS), 0);
        ck_assert_int_eq(process_filter_add_own(f, OWN), 0);
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
        struct process_filter f;

        set_up(&f);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                ck_assert_msg(takes(&f, kinds[i].kind, OURS, OURS + 1), "kind %d", (int)kinds[i].kind);
                ck_assert_int_eq(takes(&f, kinds[i].kind, OTHER, OTHER), kinds[i].about_nobody);
                ck_assert_int_eq(takes(&f, kinds[i].kind, OWN, OWN), kinds[i].about_nobody);
                ck_assert_int_eq(takes(&f, kinds[i].kind, 0, 0), kinds[i].about_nobody);
                ck_assert_int_eq(takes(&f, kinds[i].kind, UINT32_MAX, UINT32_MAX), kinds[i].about_nobody);
        }
        ck_assert_uint_eq(f.n_foreign, 3); /* the idle task belongs to no process */
        process_filter_deinit(&f);
}
END_TEST

START_TEST(test_children)
{
        struct process_filter f;

        set_up(&f);
        ck_assert(forks(&f, OURS, 101, 101));
        ck_assert(forks(&f, 101, 101, 102)); /* a thread */
        ck_assert(forks(&f, 101, 103, 103));
        ck_assert(!forks(&f, OTHER, 201, 201));
        ck_assert(takes_sample(&f, 101, 102));
        ck_assert(takes_sample(&f, 103, 103));
        ck_assert(!takes_sample(&f, 201, 201));
        /* Numbers come again, in both directions. */
        ck_assert(!forks(&f, OTHER, 103, 103));
        ck_assert(!takes_sample(&f, 103, 103));
        ck_assert(takes_sample(&f, 101, 101));
        ck_assert(forks(&f, OURS, 201, 201));
        ck_assert(takes_sample(&f, 201, 201));
        ck_assert(forks(&f, OURS, 103, 103));
        ck_assert(takes_sample(&f, 103, 103));
        process_filter_deinit(&f);
}
END_TEST

START_TEST(test_no_children)
{
        struct process_filter f;

        set_up(&f);
        f.no_children = true;
        ck_assert(!forks(&f, OURS, 101, 101));
        ck_assert(forks(&f, OURS, OURS, 102));
        ck_assert(!takes_sample(&f, 101, 101));
        ck_assert(takes_sample(&f, OURS, 102));
        process_filter_deinit(&f);
}
END_TEST

/* All but hyprof and what it forks, until such a number belongs to another process. */
START_TEST(test_everything)
{
        struct process_filter f;

        set_up(&f);
        f.everything = true;
        ck_assert(takes_sample(&f, OTHER, OTHER));
        ck_assert(!takes_sample(&f, OWN, OWN + 1));
        ck_assert(!forks(&f, OWN, 301, 301));
        ck_assert(!forks(&f, 301, 302, 302));
        ck_assert(!takes_sample(&f, 302, 302));
        ck_assert(!takes(&f, PERF_RECORD_KIND_MMAP, 302, 302));
        ck_assert(forks(&f, OTHER, 302, 302));
        ck_assert(takes_sample(&f, 302, 302));
        process_filter_deinit(&f);
}
END_TEST

/*
 * A single thread: the mappings of its process count, whichever thread makes them; the other threads do not.
 */
START_TEST(test_threads)
{
        struct process_filter f;

        process_filter_init(&f);
        ck_assert_int_eq(process_filter_add_thread(&f, OURS, 105), 0);
        ck_assert(takes_sample(&f, OURS, 105));
        ck_assert(!takes_sample(&f, OURS, OURS));
        ck_assert(!takes_sample(&f, OURS, 106));
        ck_assert(takes(&f, PERF_RECORD_KIND_MMAP, OURS, 106));
        ck_assert(!takes(&f, PERF_RECORD_KIND_MMAP, OTHER, OTHER));
        ck_assert(takes(&f, PERF_RECORD_KIND_EXIT, OURS, 105));
        ck_assert(!takes(&f, PERF_RECORD_KIND_EXIT, OURS, 106));
        ck_assert(!forks(&f, OURS, OURS, 107));
        ck_assert(!forks(&f, OURS, 108, 108));
        /* The number as another thread's, of the same process and of another one. */
        ck_assert(!forks(&f, OURS, OURS, 105));
        ck_assert(!takes_sample(&f, OURS, 105));
        process_filter_deinit(&f);
}
END_TEST

/* The command is a fork of hyprof until its execve(2). */
START_TEST(test_unborn)
{
        struct perf_record name = { .kind = PERF_RECORD_KIND_COMM, .pid = OURS, .tid = OURS };
        struct process_filter f;

        set_up(&f);
        f.unborn_pid = OURS;
        ck_assert(!takes_sample(&f, OURS, OURS));
        ck_assert(!takes(&f, PERF_RECORD_KIND_MMAP, OURS, OURS));
        ck_assert(!takes(&f, PERF_RECORD_KIND_SWITCH, OURS, OURS));
        ck_assert(!process_filter_takes(&f, &name));
        name.comm.exec = true;
        ck_assert(process_filter_takes(&f, &name));
        ck_assert(takes_sample(&f, OURS, OURS));
        ck_assert(takes(&f, PERF_RECORD_KIND_MMAP, OURS, OURS));
        process_filter_deinit(&f);
}
END_TEST

/* Foreign processes do not make it grow. */
START_TEST(test_bounded)
{
        struct process_filter f;

        set_up(&f);
        for (uint32_t pid = 1000; pid < 3000; pid++) {
                ck_assert(!forks(&f, OTHER, pid, pid));
                ck_assert(!takes_sample(&f, pid, pid));
        }
        ck_assert_uint_eq(f.pids.numbers.n_items, 1);
        ck_assert_uint_eq(f.own.numbers.n_items, 1);
        ck_assert_uint_eq(f.n_foreign, 2000);
        process_filter_deinit(&f);
}
END_TEST
