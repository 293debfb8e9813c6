/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/host_clocks.c: each clock of the machine is read where its own readings before and after say
 * it was, against a time that lies between those of the caller
 */
#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "instrument/tick_clock.h"
#include "sampler/kernel/host_clocks.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static uint64_t read_ns(clockid_t clock)
{
        struct timespec t;

        ck_assert_int_eq(clock_gettime(clock, &t), 0);
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t read_kind(enum trace_clock_kind kind)
{
        if (kind == TRACE_CLOCK_MONOTONIC)
                return read_ns(CLOCK_MONOTONIC);
        if (kind == TRACE_CLOCK_REALTIME)
                return read_ns(CLOCK_REALTIME);
        return kind == TRACE_CLOCK_BOOTTIME ? read_ns(CLOCK_BOOTTIME) : tick_source_read();
}

static bool is_here(enum trace_clock_kind kind)
{
        return kind >= TRACE_CLOCK_MONOTONIC || (uint32_t)kind == tick_source_kind();
}

/* loop test: every kind that has ticks of its own; the machine may stop anywhere: only the order is sure */
START_LOOP_TEST(test_a_reading_is_between_two, TRACE_CLOCK_TSC, TRACE_CLOCK_BOOTTIME + 1)
{
        enum trace_clock_kind kind = (enum trace_clock_kind)_i;

        for (int i = 0; i < 100; i++) {
                uint64_t before_ns = clock_raw_ns(), before = read_kind(kind), after, after_ns;
                struct trace_clock row;

                ck_assert_int_eq(host_clocks_read(kind, &row), is_here(kind));
                if (!is_here(kind))
                        return;
                after = read_kind(kind);
                after_ns = clock_raw_ns();
                ck_assert_uint_eq(row.kind, (uint32_t)kind);
                ck_assert_uint_le(before, row.ticks);
                ck_assert_uint_le(row.ticks, after);
                ck_assert_uint_le(before_ns + row.error_ns, row.raw_ns + 1); /* the bracket is inside */
                ck_assert_uint_le(row.raw_ns + row.error_ns, after_ns + 2);
                ck_assert_uint_gt(row.error_ns, 0);
                ck_assert_uint_eq(row.recording, 0);
        }
}
END_TEST

START_TEST(test_no_such_clock)
{
        struct trace_clock row;

        ck_assert(!host_clocks_read((enum trace_clock_kind)0, &row));
        ck_assert(!host_clocks_read((enum trace_clock_kind)99, &row));
}
END_TEST

/* The trace has the machine's clocks: in a time namespace this process sees others. */
START_TEST(test_time_namespace)
{
        int64_t offset_ns = clock_namespace_ns;
        struct trace_clock machine, inside;

        ck_assert(host_clocks_read(TRACE_CLOCK_MONOTONIC, &machine));
        clock_namespace_ns = offset_ns - (int64_t)NS_PER_S * 1000000;
        ck_assert(host_clocks_read(TRACE_CLOCK_MONOTONIC, &inside));
        ck_assert(!host_clocks_read(TRACE_CLOCK_BOOTTIME, &inside));
        clock_namespace_ns = offset_ns;
        ck_assert_uint_ge(inside.ticks, machine.ticks + NS_PER_S * 1000000);
        ck_assert_uint_ge(inside.raw_ns, machine.raw_ns + NS_PER_S * 1000000);
}
END_TEST

/* Each clock that there is, once each time. */
START_TEST(test_rows)
{
        struct trace_dictionary d;
        uint32_t n[TRACE_CLOCK_BOOTTIME + 1] = { 0 };

        trace_dictionary_init(&d, 0);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(host_clocks_add(&d), 0);
        for (uint32_t i = 1; i <= trace_dictionary_count(&d, TRACE_TABLE_CLOCKS); i++) {
                const struct trace_clock *row = trace_dictionary_row(&d, TRACE_TABLE_CLOCKS, i);

                ck_assert_uint_le(row->kind, TRACE_CLOCK_BOOTTIME);
                n[row->kind]++;
        }
        for (uint32_t kind = TRACE_CLOCK_TSC; kind <= TRACE_CLOCK_BOOTTIME; kind++)
                ck_assert_uint_eq(n[kind], is_here((enum trace_clock_kind)kind) ? 3 : 0);
        ck_assert_uint_eq(n[TRACE_CLOCK_MONOTONIC_RAW], 0);
        trace_dictionary_deinit(&d);
}
END_TEST
