/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_set.c: an event is found by its number, and a thread that two events
 * record is counted once
 */
#include "sampler/events/event_set.h"

#include "sampler/kernel/perf_record.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>

#define FIRST 1000 /* a thread; the events of spec 0 on CPU 0 were opened on it */
#define LATE  1001 /* another one; those on CPU 1 */

static void open_set(struct event_set *set)
{
        fake_events_open(set, 0);
        event_owners_init(&set->owners);
        for (size_t i = 0; i < set->n_handles; i++)
                set->handles[i].tid = set->handles[i].id == FAKE_EVENT_SPEC_0_B ? LATE : FIRST;
        ck_assert_int_eq(event_owners_add(&set->owners, FIRST, FIRST), 0);
        ck_assert_int_eq(event_owners_add(&set->owners, LATE, LATE), 0);
}

static bool is_double(struct event_set *set, enum perf_record_kind kind, uint32_t tid, uint64_t event)
{
        struct perf_record rec = { .kind = kind, .tid = tid, .event = event };

        return event_set_is_double(set, &rec);
}

static void begin_thread_at(struct event_set *set, uint32_t tid, uint32_t parent_tid, uint64_t time_ns)
{
        struct perf_record rec = { .kind = PERF_RECORD_KIND_FORK,
                                   .tid = tid,
                                   .time_ns = time_ns,
                                   .event = FAKE_EVENT_TRACKER,
                                   .fork = { .parent_tid = parent_tid } };

        ck_assert(!event_set_is_double(set, &rec));
}

static void begin_thread(struct event_set *set, uint32_t tid, uint32_t parent_tid)
{
        begin_thread_at(set, tid, parent_tid, 0);
}

START_TEST(test_find_spec)
{
        struct event_set set;

        fake_events_open(&set, 0);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_SPEC_0), 0);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_SPEC_0_B), 0);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_SPEC_1), 1);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_TRACKER), -1);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_STRANGER), -1);
        ck_assert_int_eq(event_set_find_spec(&set, 0), -1);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_SPEC_0 + 5), -1);
        event_set_close(&set);
        ck_assert_int_eq(event_set_find_spec(&set, FAKE_EVENT_SPEC_0), -1);
}
END_TEST

/* A total of --stat that this machine lacks is left out; an event that was asked for is not. */
START_TEST(test_totals_that_are_not_there)
{
        struct event_request request = { .n_specs = 1, .rate_hz = 99 };
        struct event_set_options options = { .attr = { .request = &request, .ring_bytes = 65536 },
                                             .tracker_ring_bytes = 65536,
                                             .scope = EVENT_SCOPE_CPUS };
        struct event_set set;
        size_t n_handles;

        request.specs[0] =
                (struct event_spec){ .name = "cpu-clock", .type = PERF_TYPE_SOFTWARE, .unit = "ns" };
        if (event_set_open(&set, &options, NULL) < 0)
                return; /* not permitted here */
        n_handles = set.n_handles;
        event_set_close(&set);
        request.specs[request.n_specs++] =
                (struct event_spec){ .name = "branches", .type = 0x7ffffff0, .unit = "events", .leader = 1 };
        ck_assert_int_lt(event_set_open(&set, &options, NULL), 0);
        request.specs[1].only_counts = true;
        ck_assert_int_eq(event_set_open(&set, &options, NULL), 0);
        ck_assert_uint_eq(set.n_handles, n_handles);
        event_set_close(&set);
}
END_TEST

/* Threads that were all there before the first event was opened have inherited none. */
START_TEST(test_no_overlap)
{
        struct event_set set;

        open_set(&set);
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0));
        event_set_close(&set);
}
END_TEST

START_TEST(test_overlap)
{
        struct event_set set;

        open_set(&set);
        event_set_expect_overlap(&set);
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, FIRST, FAKE_EVENT_SPEC_0));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0_B));
        /* LATE has inherited the events of FIRST. */
        ck_assert(is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0));
        ck_assert(is_double(&set, PERF_RECORD_KIND_SWITCH, LATE, FAKE_EVENT_SPEC_0));
        /* Settings that only inform are of all. */
        ck_assert(!is_double(&set, PERF_RECORD_KIND_MMAP, LATE, FAKE_EVENT_TRACKER));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_COMM, LATE, FAKE_EVENT_TRACKER));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_EXIT, LATE, FAKE_EVENT_TRACKER));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_LOST, LATE, FAKE_EVENT_SPEC_0));
        /* Everything counts for an unknown thread; so does a record that names no event of ours. */
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, 1002, FAKE_EVENT_SPEC_0));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, 1002, FAKE_EVENT_SPEC_0_B));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_STRANGER));
        event_set_close(&set);
}
END_TEST

/* Whatever a thread starts is recorded as it is itself, and so on; also when numbers come again. */
START_TEST(test_overlap_is_inherited)
{
        struct event_set set;

        open_set(&set);
        event_set_expect_overlap(&set);
        begin_thread(&set, 1002, LATE);
        begin_thread(&set, 1003, 1002);
        begin_thread(&set, 1004, FIRST);
        for (uint32_t tid = 1002; tid <= 1003; tid++) {
                ck_assert(is_double(&set, PERF_RECORD_KIND_SAMPLE, tid, FAKE_EVENT_SPEC_0));
                ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, tid, FAKE_EVENT_SPEC_0_B));
        }
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, 1004, FAKE_EVENT_SPEC_0));
        begin_thread(&set, 1002, FIRST);
        begin_thread(&set, LATE, FIRST);
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, 1002, FAKE_EVENT_SPEC_0));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0));
        event_set_close(&set);
}
END_TEST

/*
 * A thread that was found late and was started while events were opened has its own; later
 * its number is another's.
 */
START_TEST(test_overlap_while_opening)
{
        struct event_set set;

        open_set(&set);
        event_set_expect_overlap(&set);
        set.added_ns = 500;
        begin_thread_at(&set, LATE, FIRST, 499);
        ck_assert(is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0));
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0_B));
        begin_thread_at(&set, 1002, FIRST, 499);
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, 1002, FAKE_EVENT_SPEC_0));
        begin_thread_at(&set, LATE, FIRST, 500);
        ck_assert(!is_double(&set, PERF_RECORD_KIND_SAMPLE, LATE, FAKE_EVENT_SPEC_0));
        event_set_close(&set);
}
END_TEST

/* Events of threads sample from the moment they are opened: a recording begins when all of them are. */
START_TEST(test_older_samples_are_forgotten)
{
        static const uint64_t record[] = { UINT64_C(16) << 48, 0 };
        struct event_set set;

        fake_events_open(&set, 0);
        event_owners_init(&set.owners);
        set.options.scope = EVENT_SCOPE_THREADS;
        for (size_t i = 0; i < FAKE_N_RINGS; i++)
                fake_ring_write(&set.rings[i], record, sizeof(record));
        ck_assert_int_eq(event_set_enable(&set, NULL), 0);
        for (size_t i = 0; i < FAKE_N_RINGS; i++) {
                bool is_of_samples = i == FAKE_SAMPLES_0 || i == FAKE_SAMPLES_1;

                ck_assert_uint_eq(set.rings[i].meta->data_tail, is_of_samples ? sizeof(record) : 0);
        }
        event_set_close(&set);
}
END_TEST
