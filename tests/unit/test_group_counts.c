/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/group_counts.c: each count belongs to one sample, the first after it; nothing counts twice,
 * nothing goes backwards
 */
#include "sampler/events/event_set.h"
#include "sampler/events/group_counts.h"
#include "sampler/kernel/perf_record.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT                                                                 \
        (PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | \
         PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST)

/* Spec 0 leads 1 and 2, on two CPUs. */
enum { LEADER_A = 10, MEMBER_A, OTHER_A, LEADER_B = 20, MEMBER_B, OTHER_B };

struct fixture {
        struct event_set events;
        struct group_counts counts;
        uint64_t leader; /* its value in the next record */
};

static struct fixture f;

static void set_up(bool inherited, bool scales)
{
        memset(&f, 0, sizeof(f));
        f.events.handles = calloc(6, sizeof(*f.events.handles));
        ck_assert_ptr_nonnull(f.events.handles);
        for (uint32_t cpu = 0; cpu < 2; cpu++)
                for (uint32_t spec = 0; spec < 3; spec++)
                        f.events.handles[f.events.n_handles++] = (struct event_handle){
                                .fd = -1, .id = LEADER_A + cpu * 10 + spec, .spec = spec
                        };
        group_counts_init(&f.counts, FORMAT, inherited, scales);
}

static void tear_down(void)
{
        group_counts_deinit(&f.counts);
        event_set_close(&f.events);
}

struct values {
        uint64_t leader_event;
        uint32_t tid;
        uint64_t enabled_ns, running_ns;
        uint64_t first, second; /* of the members */
};

static void take(const struct values *v)
{
        const uint64_t words[] = { 3,         v->enabled_ns,       v->running_ns,
                                   f.leader,  v->leader_event,     0,
                                   v->first,  v->leader_event + 1, 0,
                                   v->second, v->leader_event + 2, 0 };
        struct perf_record rec = { .kind = PERF_RECORD_KIND_SAMPLE, .tid = v->tid, .event = v->leader_event };

        rec.sample.counts = (const uint8_t *)words;
        rec.sample.counts_bytes = sizeof(words);
        ck_assert_int_eq(group_counts_take(&f.counts, &f.events, &rec), 0);
}

static void end_thread(uint32_t tid)
{
        struct perf_record rec = { .kind = PERF_RECORD_KIND_EXIT, .tid = tid };

        ck_assert_int_eq(group_counts_take(&f.counts, &f.events, &rec), 0);
        ck_assert_uint_eq(f.counts.n_counts, 0);
}

static void expect(uint64_t first, uint64_t second)
{
        uint64_t found[3] = { 0, 0, 0 };

        for (size_t i = 0; i < f.counts.n_counts; i++) {
                ck_assert_uint_lt(f.counts.counts[i].spec, 3);
                ck_assert_uint_ne(f.counts.counts[i].weight, 0);
                found[f.counts.counts[i].spec] = f.counts.counts[i].weight;
        }
        ck_assert_uint_eq(found[0], 0);
        ck_assert_uint_eq(found[1], first);
        ck_assert_uint_eq(found[2], second);
}

/* Counters of CPUs: the count goes on for every thread that runs there; from 0. */
START_TEST(test_of_cpus)
{
        set_up(false, true);
        take(&(struct values){ LEADER_A, 1, 10, 10, 100, 7 });
        expect(100, 7);
        take(&(struct values){ LEADER_A, 2, 20, 20, 150, 7 });
        expect(50, 0);
        take(&(struct values){ LEADER_B, 1, 20, 20, 1, 1000 });
        expect(1, 1000);
        end_thread(1);
        take(&(struct values){ LEADER_A, 1, 30, 30, 151, 9 });
        expect(1, 2);
}
END_TEST

/*
 * Counters of threads with the same number: each begins with 0, also after another one with
 * that number has ended.
 */
START_TEST(test_inherited)
{
        set_up(true, false);
        take(&(struct values){ LEADER_A, 1, 10, 10, 100, 7 });
        take(&(struct values){ LEADER_A, 2, 10, 10, 30, 1 });
        expect(30, 1);
        take(&(struct values){ LEADER_A, 1, 20, 20, 110, 8 });
        expect(10, 1);
        take(&(struct values){ LEADER_B, 1, 20, 20, 5, 6 });
        expect(5, 6);
        end_thread(1);
        take(&(struct values){ LEADER_A, 1, 20, 20, 200, 3 });
        expect(200, 3);
        take(&(struct values){ LEADER_B, 1, 20, 20, 6, 7 });
        expect(6, 7);
        take(&(struct values){ LEADER_A, 2, 20, 20, 31, 2 });
        expect(1, 1);
}
END_TEST

START_TEST(test_backwards)
{
        set_up(false, true);
        take(&(struct values){ LEADER_A, 1, 10, 10, 100, 7 });
        take(&(struct values){ LEADER_A, 1, 5, 5, 60, 8 });
        expect(0, 1);
        take(&(struct values){ LEADER_A, 1, 15, 15, 70, 8 });
        expect(10, 0);
}
END_TEST

/* Half of the time without its counters: what was counted is half of it.  For an unknown thread. */
START_TEST(test_scaling)
{
        set_up(false, true);
        take(&(struct values){ LEADER_A, 1, 1000, 1000, 100, 7 });
        ck_assert(!f.counts.shared);
        take(&(struct values){ LEADER_A, 1, 3000, 2000, 150, 8 });
        expect(100, 2);
        ck_assert(f.counts.shared);
        take(&(struct values){ LEADER_A, 1, 4000, 3000, 250, 8 });
        expect(100, 0);
        take(&(struct values){ LEADER_A, 1, UINT64_MAX, 3001, UINT64_MAX, 8 });
        expect(UINT64_MAX, 0);
        take(&(struct values){ LEADER_B, 1, 1000, 0, 5, 0 }); /* no time at all: as it is */
        expect(5, 0);
        take(&(struct values){ LEADER_B, 1, 201000, 199000, 15, 0 }); /* what switching takes */
        expect(10, 0);
        tear_down();

        set_up(true, false);
        take(&(struct values){ LEADER_A, 1, 3000, 1000, 100, 7 });
        expect(100, 7);
        ck_assert(!f.counts.shared);
}
END_TEST

START_TEST(test_other_records)
{
        const uint64_t strange[] = { 1, 10, 10, 55, 999, 0 };
        struct perf_record rec = { .kind = PERF_RECORD_KIND_SAMPLE, .event = LEADER_A };

        set_up(false, true);
        take(&(struct values){ LEADER_A, 1, 10, 10, 100, 7 });
        ck_assert_int_eq(group_counts_take(&f.counts, &f.events, &rec), 0); /* without counters */
        expect(0, 0);
        rec.sample.counts = (const uint8_t *)strange;
        rec.sample.counts_bytes = sizeof(strange);
        ck_assert_int_eq(group_counts_take(&f.counts, &f.events, &rec), 0); /* of an unknown event */
        expect(0, 0);
        rec.sample.counts_bytes = 8; /* cut off */
        ck_assert_int_eq(group_counts_take(&f.counts, &f.events, &rec), 0);
        expect(0, 0);
        take(&(struct values){ LEADER_A, 1, 10, 10, 101, 7 });
        expect(1, 0);
        rec.kind = PERF_RECORD_KIND_SWITCH;
        ck_assert_int_eq(group_counts_take(&f.counts, &f.events, &rec), 0);
        expect(0, 0);
        tear_down();

        set_up(false, true);
        group_counts_init(&f.counts, 0, false, true); /* no groups are read */
        take(&(struct values){ LEADER_A, 1, 10, 10, 100, 7 });
        expect(0, 0);
}
END_TEST

/*
 * The leader's count is of the same span as its members': a late or throttled interrupt changes the
 * ratio of neither.
 */
START_TEST(test_leader)
{
        set_up(false, true);
        f.leader = 5000;
        take(&(struct values){ LEADER_A, 1, 1000, 1000, 5000, 7 });
        ck_assert_uint_eq(f.counts.leader_weight, 5000);
        expect(5000, 7);
        f.leader = 45000;
        take(&(struct values){ LEADER_A, 2, 9000, 9000, 45000, 7 });
        ck_assert_uint_eq(f.counts.leader_weight, 40000);
        expect(40000, 0);
        f.leader = 45010;
        take(&(struct values){ LEADER_A, 2, 11000, 10000, 45010, 7 }); /* half of the time */
        ck_assert_uint_eq(f.counts.leader_weight, 20);
        expect(20, 0);
        f.leader = 3;
        take(&(struct values){ LEADER_B, 1, 1000, 1000, 6, 0 });
        ck_assert_uint_eq(f.counts.leader_weight, 3);
        f.leader = 100;
        take(&(struct values){ LEADER_A, 2, 12000, 11000, 45011, 7 }); /* it began anew */
        ck_assert_uint_eq(f.counts.leader_weight, 0);
        end_thread(1);
        ck_assert_uint_eq(f.counts.leader_weight, 0);
        tear_down();

        set_up(true, false); /* each thread its own, while the table grows */
        for (uint32_t tid = 1; tid <= 100; tid++) {
                f.leader = tid;
                take(&(struct values){ LEADER_A, tid, 10, 10, tid, 1 });
                ck_assert_uint_eq(f.counts.leader_weight, tid);
        }
}
END_TEST

/*
 * Thousands of threads that come and go: nothing is mixed up, and the memory of those
 * that ended is used again.
 */
START_TEST(test_many_threads)
{
        set_up(true, false);
        for (uint32_t round = 0; round < 10; round++) {
                for (uint32_t tid = 1; tid <= 1000; tid++)
                        take(&(struct values){ LEADER_A, tid, 10, 10, tid, 1 });
                for (uint32_t tid = 1; tid <= 1000; tid++) {
                        take(&(struct values){ LEADER_B, tid, 10, 10, tid * 2, 1 });
                        take(&(struct values){ LEADER_A, tid, 20, 20, tid * 3, 1 });
                        expect(tid * 2, 0);
                }
                for (uint32_t tid = 1000; tid >= 1; tid -= 1)
                        end_thread(tid);
        }
        ck_assert_uint_eq(f.counts.n_entries, 6000);
        end_thread(1);
        end_thread(0);
}
END_TEST

UNIT_TEST_PLAN(.teardown = tear_down);
