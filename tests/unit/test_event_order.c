/* SPDX-License-Identifier: MIT */
/* Events of several threads come out by time; equal times as they came in; what is too late is counted */

#include "analyze/trace/event_order.h"
#include "tests/unit/unit_test.h"

#include <errno.h>

struct seen {
        uint64_t times_ns[64];
        uint32_t threads[64];
        uint32_t n;
        int answer;
};

static int take(void *context, const struct ordered_event *event, struct error *err)
{
        struct seen *seen = context;

        (void)err;
        ck_assert_uint_lt(seen->n, 64);
        seen->times_ns[seen->n] = event->time_ns;
        seen->threads[seen->n++] = event->thread;
        return seen->answer;
}

static void add(struct event_order *o, uint64_t time_ns, uint32_t thread)
{
        struct ordered_event event = { .time_ns = time_ns, .thread = thread };

        ck_assert_int_eq(event_order_add(o, &event, NULL), 0);
}

START_TEST(test_two_threads_are_merged)
{
        struct seen seen = { .n = 0 };
        struct event_order o;

        event_order_init(&o, 0, take, &seen);
        for (uint32_t i = 0; i < 10; i++)
                add(&o, 100 + 2 * i, 1);
        for (uint32_t i = 0; i < 10; i++)
                add(&o, 101 + 2 * i, 2);
        ck_assert_uint_eq(seen.n, 0);
        ck_assert_int_eq(event_order_finish(&o, NULL), 0);
        ck_assert_uint_eq(seen.n, 20);
        for (uint32_t i = 0; i < 20; i++) {
                ck_assert_uint_eq(seen.times_ns[i], 100 + i);
                ck_assert_uint_eq(seen.threads[i], 1 + i % 2);
        }
        ck_assert_uint_eq(o.n_late, 0);
        event_order_deinit(&o);
}
END_TEST

START_TEST(test_equal_times_stay_in_order)
{
        struct seen seen = { .n = 0 };
        struct event_order o;

        event_order_init(&o, 0, take, &seen);
        for (uint32_t i = 0; i < 30; i++)
                add(&o, 5, i);
        ck_assert_int_eq(event_order_finish(&o, NULL), 0);
        for (uint32_t i = 0; i < 30; i++)
                ck_assert_uint_eq(seen.threads[i], i);
        event_order_deinit(&o);
}
END_TEST

/* A full buffer hands out its older half, and no more. */
START_TEST(test_a_full_buffer_hands_out_half)
{
        struct seen seen = { .n = 0 };
        struct event_order o;

        event_order_init(&o, 8, take, &seen);
        for (uint32_t i = 0; i < 9; i++)
                add(&o, 100 - i, 1);
        ck_assert_uint_eq(seen.n, 4);
        ck_assert_uint_eq(seen.times_ns[0], 93);
        add(&o, 1, 1);
        ck_assert_int_eq(event_order_finish(&o, NULL), 0);
        ck_assert_uint_eq(seen.n, 10);
        ck_assert_uint_eq(o.n_late, 2); /* 92 and 1 */
        event_order_deinit(&o);
}
END_TEST

START_TEST(test_a_failure_ends_it)
{
        struct seen seen = { .answer = -EIO };
        struct event_order o;

        event_order_init(&o, 0, take, &seen);
        add(&o, 1, 1);
        add(&o, 2, 1);
        ck_assert_int_eq(event_order_finish(&o, NULL), -EIO);
        ck_assert_uint_eq(seen.n, 1);
        event_order_deinit(&o);
}
END_TEST
