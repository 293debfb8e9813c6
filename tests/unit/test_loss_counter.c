/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/loss_counter.c: every loss becomes a row exactly once, and the total holds what was
 * lost, not what was mended
 */
#include "format/trace_dictionary.h"
#include "sampler/tracks/loss_counter.h"
#include "tests/unit/unit_test.h"

#include <stdbool.h>
#include <string.h>

static const struct trace_loss *row(const struct trace_dictionary *d, uint32_t id)
{
        return trace_dictionary_row(d, TRACE_TABLE_LOSSES, id);
}

START_TEST(test_flush)
{
        struct loss_counter c = { .pending = { 0 } };
        struct trace_dictionary d;

        trace_dictionary_init(&d, 0);
        ck_assert_int_eq(loss_counter_flush(&c, &d, 1), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 0);

        loss_counter_add(&c, TRACE_LOSS_THROTTLED, 2);
        loss_counter_add(&c, TRACE_LOSS_KERNEL_RING_FULL, 10);
        loss_counter_add(&c, TRACE_LOSS_KERNEL_RING_FULL, 5);
        loss_counter_add(&c, TRACE_LOSS_CLIENT_GONE, 0);
        ck_assert_int_eq(loss_counter_flush(&c, &d, 1000), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 2);
        ck_assert_uint_eq(row(&d, 1)->reason, TRACE_LOSS_KERNEL_RING_FULL);
        ck_assert_uint_eq(row(&d, 1)->count, 15);
        ck_assert_uint_eq(row(&d, 1)->thread, 0);
        ck_assert_uint_eq(row(&d, 1)->time_ns, 1000);
        ck_assert_uint_eq(row(&d, 2)->reason, TRACE_LOSS_THROTTLED);
        ck_assert_uint_eq(row(&d, 2)->count, 2);

        ck_assert_int_eq(loss_counter_flush(&c, &d, 2000), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 2);
        loss_counter_add(&c, TRACE_LOSS_KERNEL_RING_FULL, 1);
        ck_assert_int_eq(loss_counter_flush(&c, &d, 3000), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 3);
        ck_assert_uint_eq(row(&d, 3)->count, 1);
        ck_assert_uint_eq(c.totals[TRACE_LOSS_KERNEL_RING_FULL], 16);
        trace_dictionary_deinit(&d);
}
END_TEST

START_TEST(test_of_a_thread)
{
        struct loss_counter c = { .pending = { 0 } };
        struct trace_dictionary d;

        trace_dictionary_init(&d, 0);
        ck_assert_int_eq(loss_counter_add_thread(&c, &d, TRACE_LOSS_CLIENT_RING_FULL, 7, 100, 50), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 1);
        ck_assert_uint_eq(row(&d, 1)->reason, TRACE_LOSS_CLIENT_RING_FULL);
        ck_assert_uint_eq(row(&d, 1)->thread, 7);
        ck_assert_uint_eq(row(&d, 1)->count, 100);
        ck_assert_uint_eq(row(&d, 1)->time_ns, 50);
        ck_assert_uint_eq(loss_counter_total(&c), 100);

        ck_assert_int_eq(loss_counter_flush(&c, &d, 60), 0); /* it is there already */
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 1);
        trace_dictionary_deinit(&d);
}
END_TEST

/* loop test, by reason: is something missing, or was it only changed? */
START_LOOP_TEST(test_total, 1, TRACE_LOSS_COUNT)
{
        static const bool lost[TRACE_LOSS_COUNT] = {
                [TRACE_LOSS_KERNEL_RING_FULL] = true, [TRACE_LOSS_CLIENT_RING_FULL] = true,
                [TRACE_LOSS_CLIENT_NO_RING] = true,   [TRACE_LOSS_CLIENT_GONE] = true,
                [TRACE_LOSS_ZONE_TOO_DEEP] = true,    [TRACE_LOSS_RECORD_GARBAGE] = true,
                [TRACE_LOSS_DROPPED_ZONES] = true,    [TRACE_LOSS_DROPPED_MESSAGES] = true,
                [TRACE_LOSS_DROPPED_PLOTS] = true,    [TRACE_LOSS_DROPPED_FRAMES] = true,
                [TRACE_LOSS_DROPPED_MEMORY] = true,   [TRACE_LOSS_DROPPED_LOCKS] = true,
                [TRACE_LOSS_DROPPED_DEVICES] = true,  [TRACE_LOSS_STRING_TABLE_FULL] = true,
                [TRACE_LOSS_BLOB_REFUSED] = true,     [TRACE_LOSS_BLOB_DAMAGED] = true,
                [TRACE_LOSS_ATTACHMENTS_FULL] = true, [TRACE_LOSS_SAMPLES_LOST] = true,
                [TRACE_LOSS_SWITCHES_LOST] = true,    [TRACE_LOSS_CLIENT_NO_FILES] = true,
                [TRACE_LOSS_THREAD_UNKNOWN] = true,   [TRACE_LOSS_CLIENT_NO_SPACE] = true,
        };
        struct loss_counter c = { .pending = { 0 } };

        loss_counter_add(&c, (enum trace_loss_reason)_i, 3);
        loss_counter_add(&c, (enum trace_loss_reason)_i, 4);
        ck_assert_uint_eq(loss_counter_total(&c), lost[_i] ? 7 : 0);
}
END_TEST

/* Counters are the programs': their sum stops at the largest number. */
START_TEST(test_largest_total)
{
        struct loss_counter c = { .pending = { 0 } };

        loss_counter_add(&c, TRACE_LOSS_DROPPED_ZONES, 2);
        loss_counter_add(&c, TRACE_LOSS_DROPPED_MEMORY, UINT64_MAX - 1);
        ck_assert_uint_eq(loss_counter_total(&c), UINT64_MAX);
}
END_TEST

/* A table that is full is no reason to end a recording; the totals go on. */
START_TEST(test_full_table)
{
        struct loss_counter c = { .pending = { 0 } };
        struct trace_dictionary d;

        trace_dictionary_init(&d, 1);
        loss_counter_add(&c, TRACE_LOSS_KERNEL_RING_FULL, 1);
        loss_counter_add(&c, TRACE_LOSS_CLIENT_GONE, 2);
        ck_assert_int_eq(loss_counter_flush(&c, &d, 1), 0);
        ck_assert_int_eq(loss_counter_add_thread(&c, &d, TRACE_LOSS_CLIENT_RING_FULL, 1, 3, 2), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_LOSSES), 1);
        ck_assert_uint_eq(row(&d, 1)->reason, TRACE_LOSS_KERNEL_RING_FULL);
        ck_assert_uint_eq(loss_counter_total(&c), 6);
        trace_dictionary_deinit(&d);
}
END_TEST
