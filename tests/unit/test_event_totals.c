/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_totals.c: a total is the sum over descriptors, whatever layout they are read in; what
 * shared a counter is said
 */
#include "format/trace_dictionary.h"
#include "sampler/events/event_set.h"
#include "sampler/events/event_totals.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define GROUP (PERF_FORMAT_GROUP | PERF_FORMAT_ID | TIMES)
#define DUMMY UINT32_MAX

static const struct {
        uint64_t read_format, id;
        uint64_t words[12];
        size_t n_words; /* fewer are refused */
        struct event_count count;
} layouts[] = {
        { TIMES | PERF_FORMAT_LOST, 7, { 100, 50, 40, 3 }, 4, { 100, 50, 40, 3 } },
        { TIMES, 7, { 100, 50, 40 }, 3, { 100, 50, 40, 0 } },
        { TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST, 7, { 100, 50, 40, 7, 3 }, 5, { 100, 50, 40, 3 } },
        { GROUP | PERF_FORMAT_LOST,
          7,
          { 2, 50, 40, 100, 7, 3, 200, 8, 4 },
          9,
          { .value = 100, .enabled_ns = 50, .running_ns = 40, .n_lost = 3 } },
        { GROUP | PERF_FORMAT_LOST,
          8,
          { 2, 50, 40, 100, 7, 3, 200, 8, 4 },
          9,
          { .value = 200, .enabled_ns = 50, .running_ns = 40, .n_lost = 4 } },
        { GROUP, 8, { 2, 50, 40, 100, 7, 200, 8 }, 7, { 200, 50, 40, 0 } },
};

/* loop test */
START_LOOP_TEST(test_layout, 0, sizeof(layouts) / sizeof(layouts[0]))
{
        struct event_count count = { .value = 99 };

        for (size_t n_words = 0; n_words < layouts[_i].n_words; n_words++)
                ck_assert_int_eq(event_count_decode(layouts[_i].words, n_words, layouts[_i].read_format,
                                                    layouts[_i].id, &count),
                                 -EBADMSG);
        ck_assert_uint_eq(count.value, 99);
        ck_assert_int_eq(event_count_decode(layouts[_i].words, layouts[_i].n_words, layouts[_i].read_format,
                                            layouts[_i].id, &count),
                         0);
        ck_assert_uint_eq(count.value, layouts[_i].count.value);
        ck_assert_uint_eq(count.enabled_ns, layouts[_i].count.enabled_ns);
        ck_assert_uint_eq(count.running_ns, layouts[_i].count.running_ns);
        ck_assert_uint_eq(count.n_lost, layouts[_i].count.n_lost);
        if (layouts[_i].read_format & PERF_FORMAT_GROUP)
                ck_assert_int_eq(event_count_decode(layouts[_i].words, layouts[_i].n_words,
                                                    layouts[_i].read_format, 9, &count),
                                 -EBADMSG);
}
END_TEST

START_TEST(test_impossible_group)
{
        uint64_t words[4] = { UINT64_MAX, 1, 2, 3 };
        struct event_count count;

        ck_assert_int_eq(event_count_decode(words, 4, GROUP, 1, &count), -EBADMSG);
        words[0] = UINT64_C(1) << 61;
        ck_assert_int_eq(event_count_decode(words, 4, GROUP, 1, &count), -EBADMSG);
        words[0] = 0;
        ck_assert_int_eq(event_count_decode(words, 4, GROUP, 1, &count), -EBADMSG);
}
END_TEST

static void add(struct event_totals *totals, uint32_t spec, uint64_t value, uint64_t enabled_ns,
                uint64_t running_ns)
{
        const struct event_count count = { value, enabled_ns, running_ns, 0 };

        event_totals_add(totals, spec, &count);
}

/* A thread on two CPUs: each of its events waits, by the kernel's account, while it is on the other. */
START_TEST(test_other_cpus_are_no_sharing)
{
        struct event_request request = { .n_specs = 1 };
        struct event_totals totals = { .shared = false };

        add(&totals, DUMMY, 0, 1000000, 600000);
        add(&totals, 0, 60, 1000000, 600000);
        add(&totals, DUMMY, 0, 1000000, 400000);
        add(&totals, 0, 40, 1000000, 399000);
        event_totals_finish(&totals, &request);
        ck_assert_uint_eq(totals.specs[0].value, 100);
        ck_assert_uint_eq(totals.specs[0].running_ns, 999000);
        ck_assert_uint_eq(totals.specs[0].enabled_ns, 999000);
        ck_assert(!totals.shared);
}
END_TEST

START_TEST(test_sharing)
{
        struct event_request request = { .n_specs = 2 };
        struct event_totals totals = { .shared = false };

        add(&totals, DUMMY, 0, 1000000, 600000);
        add(&totals, 0, 60, 1000000, 300000);
        add(&totals, 1, 7, 1000000, 600000);
        add(&totals, DUMMY, 0, 1000000, 400000);
        add(&totals, 0, 40, 1000000, 200000);
        add(&totals, 1, 7, 1000000, 400000);
        event_totals_finish(&totals, &request);
        ck_assert_uint_eq(totals.specs[0].enabled_ns, 1000000);
        ck_assert_uint_eq(totals.specs[0].running_ns, 500000);
        ck_assert_uint_eq(totals.specs[1].enabled_ns, totals.specs[1].running_ns);
        ck_assert(totals.shared);
}
END_TEST

/* An event of some CPUs runs while its programs are there; how long that was meant to be is unknown. */
START_TEST(test_some_cpus)
{
        struct event_request request = { .n_specs = 1, .specs = { { .on_some_cpus = true } } };
        struct event_totals totals = { .shared = false };

        add(&totals, DUMMY, 0, 1000, 1000);
        add(&totals, 0, 60, 1000, 300);
        event_totals_finish(&totals, &request);
        ck_assert_uint_eq(totals.specs[0].enabled_ns, 300);
        ck_assert(!totals.shared);
}
END_TEST

/* Descriptors that are pipes: what they hold is what the kernel would have said. */
static void put_handle(struct event_set *set, uint32_t spec, uint64_t value, uint64_t time_ns)
{
        const uint64_t words[] = { value, time_ns, time_ns, 0 };
        int ends[2];

        ck_assert_int_eq(pipe(ends), 0);
        ck_assert_int_eq(write(ends[1], words, sizeof(words)), sizeof(words));
        ck_assert_int_eq(close(ends[1]), 0);
        set->handles[set->n_handles++] =
                (struct event_handle){ .fd = ends[0], .id = 100 + set->n_handles, .spec = spec };
}

START_TEST(test_rows)
{
        static const uint32_t ids[] = { 5, 6 };
        const struct event_request request = { .n_specs = 2 };
        struct event_set set = { .options = { .attr = { .request = &request } } };
        struct trace_dictionary dictionary;
        const struct trace_counter *row;
        bool shared = true;

        set.handles = calloc(6, sizeof(*set.handles));
        ck_assert_ptr_nonnull(set.handles);
        trace_dictionary_init(&dictionary, 0);
        for (uint64_t cpu = 0; cpu < 2; cpu++) {
                put_handle(&set, DUMMY, 0, 500);
                put_handle(&set, 0, 1000 + cpu, 500);
                put_handle(&set, 1, 20, 500);
        }
        ck_assert_int_eq(event_totals_write(&set, ids, &dictionary, &shared, NULL), 0);
        ck_assert(!shared);
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_COUNTERS), 2);
        row = trace_dictionary_row(&dictionary, TRACE_TABLE_COUNTERS, 1);
        ck_assert_uint_eq(row->event, 5);
        ck_assert_uint_eq(row->value, 2001);
        ck_assert_uint_eq(row->enabled_ns, 1000);
        ck_assert_uint_eq(row->running_ns, 1000);
        row = trace_dictionary_row(&dictionary, TRACE_TABLE_COUNTERS, 2);
        ck_assert_uint_eq(row->event, 6);
        ck_assert_uint_eq(row->value, 40);
        /* By now the pipes are empty. */
        ck_assert_int_eq(event_totals_write(&set, ids, &dictionary, &shared, NULL), -EBADMSG);
        trace_dictionary_deinit(&dictionary);
        event_set_close(&set);
}
END_TEST
