/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_list.c: items are in the order of time, whatever the order in which they came
 */
#include "analyze/path/past_list.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>

static struct past_list list;

static void teardown(void)
{
        past_list_deinit(&list);
}

UNIT_TEST_PLAN(.teardown = teardown);

static uint64_t time_at(size_t i)
{
        return ((const uint64_t *)list.items)[i];
}

static void insert(uint64_t time_ns)
{
        ck_assert_int_eq(past_list_insert(&list, sizeof(time_ns), &time_ns), 0);
}

/* "10-20 a, 30- b": the spans as they are kept; '+' after an id for each further end that it needs. */
static const char *spans(void)
{
        static char text[512];
        size_t n = 0;

        text[0] = '\0';
        for (size_t i = list.first; i < list.n; i++) {
                const struct past_span *s = &past_list_spans(&list)[i];
                char end[32] = "";

                if (s->end_ns != UINT64_MAX)
                        (void)snprintf(end, sizeof(end), "%d", (int)s->end_ns);
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d-%s %c%.*s", n != 0 ? ", " : "",
                                      (int)s->begin_ns, end, (int)('a' + s->id - 1), (int)s->n_times, "++++");
        }
        return text;
}

static void open_span(uint64_t time_ns, char id, bool is_alone)
{
        ck_assert_int_eq(past_list_open(&list, time_ns, (uint32_t)(id - 'a' + 1), is_alone), 0);
}

static void close_span(uint64_t time_ns, char id)
{
        past_list_close(&list, time_ns, id != 0 ? (uint32_t)(id - 'a' + 1) : 0);
}

START_TEST(test_order)
{
        insert(10);
        insert(30);
        insert(20);
        insert(20);
        insert(5);
        ck_assert_uint_eq(past_list_count(&list), 5);
        ck_assert_uint_eq(time_at(0), 5);
        ck_assert_uint_eq(time_at(1), 10);
        ck_assert_uint_eq(time_at(2), 20);
        ck_assert_uint_eq(time_at(3), 20);
        ck_assert_uint_eq(time_at(4), 30);
        ck_assert_uint_eq(past_list_before(&list, 8, 0), 0);
        ck_assert_uint_eq(past_list_before(&list, 8, 5), 0);
        ck_assert_uint_eq(past_list_before(&list, 8, 20), 2);
        ck_assert_uint_eq(past_list_before(&list, 8, 21), 4);
        ck_assert_uint_eq(past_list_before(&list, 8, UINT64_MAX), 5);
}
END_TEST

/* Places that are counted stay the same when the oldest are dropped, until more are added. */
START_TEST(test_trim)
{
        for (uint64_t t = 0; t < 100; t++)
                insert(t);
        past_list_trim(&list, 8, 90);
        ck_assert_uint_eq(past_list_count(&list), 10);
        ck_assert_uint_eq(time_at(list.first), 90);
        ck_assert_uint_eq(past_list_before(&list, 8, 0), list.first);
        ck_assert_uint_eq(past_list_before(&list, 8, 95), list.first + 5);
        insert(3); /* later than all that was dropped */
        ck_assert_uint_eq(time_at(list.first), 3);
        past_list_trim(&list, 8, UINT64_MAX);
        ck_assert_uint_eq(past_list_count(&list), 0);
        insert(7);
        ck_assert_uint_eq(past_list_count(&list), 1);
}
END_TEST

/* A list that is trimmed needs no more room than what it holds at most, but for a third. */
START_TEST(test_room)
{
        for (uint64_t t = 0; t < 100000; t++) {
                insert(t);
                if (t >= 1000 && t % 10 == 0)
                        past_list_trim(&list, 8, t - 1000);
        }
        ck_assert_uint_eq(past_list_count(&list), 1010);
        ck_assert_uint_le(list.capacity, 2048);
}
END_TEST

START_TEST(test_random_order)
{
        uint64_t random = 7;

        for (int i = 0; i < 20000; i++)
                insert((uint64_t)i + fixed_random_next(&random) % 500);
        for (size_t i = 1; i < list.n; i++)
                ck_assert_uint_le(time_at(i - 1), time_at(i));
}
END_TEST

/* An item before too many others is refused: a trace in the order of the youngest first would cost hours. */
START_TEST(test_much_too_late)
{
        uint64_t early = 3;

        insert(1);
        for (uint64_t t = 0; t < PAST_LIST_LATE_MAX; t++)
                insert(10 + t);
        insert(5);
        ck_assert_int_eq(past_list_insert(&list, sizeof(early), &early), 1);
        ck_assert_uint_eq(past_list_count(&list), PAST_LIST_LATE_MAX + 2);
        ck_assert_uint_eq(time_at(0), 1);
        ck_assert_uint_eq(time_at(1), 5);
}
END_TEST

/* ------------------------------------------------------------------ spans */

START_TEST(test_spans)
{
        open_span(10, 'a', true);
        close_span(20, 'a');
        open_span(30, 'b', true);
        ck_assert_str_eq(spans(), "10-20 a, 30- b");
        close_span(40, 0);
        close_span(50, 0); /* there is none any more */
        close_span(50, 'c');
        ck_assert_str_eq(spans(), "10-20 a, 30-40 b");
        ck_assert_uint_eq(list.n_open, 0);
}
END_TEST

/* A recursive lock is held until it was released as often as it was obtained. */
START_TEST(test_spans_that_begin_again)
{
        open_span(10, 'a', true);
        open_span(12, 'a', true);
        open_span(14, 'a', true);
        close_span(16, 'a');
        ck_assert_str_eq(spans(), "10- a+");
        close_span(18, 'a');
        close_span(20, 'a');
        ck_assert_str_eq(spans(), "10-20 a");
}
END_TEST

/* A release that is not in the trace: who obtained it then had it from then on. */
START_TEST(test_span_without_an_end)
{
        open_span(10, 'a', true);
        open_span(30, 'b', true);
        ck_assert_str_eq(spans(), "10-30 a, 30- b");
        ck_assert_uint_eq(list.n_open, 1);
}
END_TEST

/* One that comes later in the trace than what happened after it. */
START_TEST(test_spans_out_of_order)
{
        open_span(30, 'b', true);
        open_span(10, 'a', true);
        ck_assert_str_eq(spans(), "10-30 a, 30- b");
        close_span(20, 'a');
        ck_assert_str_eq(spans(), "10-20 a, 30- b");
        close_span(40, 'b');
        ck_assert_str_eq(spans(), "10-20 a, 30-40 b");
}
END_TEST

/* Its own end comes later in the trace than that another one took its place. */
START_TEST(test_end_out_of_order)
{
        open_span(10, 'a', true);
        open_span(30, 'b', true);
        close_span(25, 'a');
        close_span(28, 'a'); /* it had ended by then */
        ck_assert_str_eq(spans(), "10-25 a, 30- b");
        ck_assert_uint_eq(list.n_open, 1);
}
END_TEST

/* One thread's spans come after all of another's, as the blocks of a trace do. */
START_TEST(test_many_spans_out_of_order)
{
        for (uint64_t t = 0; t < 1000; t++) {
                open_span(100 * t + 50, 'b', true);
                close_span(100 * t + 60, 'b');
        }
        for (uint64_t t = 0; t < 1000; t++) {
                open_span(100 * t + 10, 'a', true);
                close_span(100 * t + 20, 'a');
        }
        ck_assert_uint_eq(past_list_count(&list), 2000);
        for (size_t i = 0; i < 2000; i++)
                ck_assert_uint_eq(past_list_spans(&list)[list.first + i].end_ns,
                                  past_list_spans(&list)[list.first + i].begin_ns + 10);
        ck_assert_uint_eq(list.n_open, 0);
}
END_TEST

/* Readers share a lock; a writer ends whatever lasts. */
START_TEST(test_spans_that_overlap)
{
        size_t first;

        open_span(10, 'a', false);
        open_span(20, 'b', false);
        close_span(25, 'b');
        open_span(30, 'c', false);
        close_span(35, 'c');
        ck_assert_str_eq(spans(), "10- a, 20-25 b, 30-35 c");
        ck_assert_uint_eq(past_spans(&list, 50, 60, &first), 3);
        ck_assert_uint_eq(first, 0); /* a lasts, although those after it have ended */
        open_span(70, 'd', true);
        ck_assert_str_eq(spans(), "10-20 a, 20-25 b, 30-35 c, 70- d");
}
END_TEST

START_TEST(test_span_ends_before_it_began)
{
        open_span(10, 'a', true);
        close_span(5, 'a');
        ck_assert_str_eq(spans(), "10-10 a");
}
END_TEST

START_TEST(test_find_spans)
{
        size_t first;

        open_span(10, 'a', true);
        close_span(20, 'a');
        open_span(30, 'b', true);
        close_span(40, 'b');
        open_span(50, 'c', true);
        ck_assert_uint_eq(past_spans(&list, 0, 10, &first), 0);
        ck_assert_uint_eq(past_spans(&list, 15, 30, &first), 1);
        ck_assert_uint_eq(first, 0);
        ck_assert_uint_eq(past_spans(&list, 20, 31, &first), 2);
        ck_assert_uint_eq(first, 1);
        ck_assert_uint_eq(past_spans(&list, 60, 70, &first), 3);
        ck_assert_uint_eq(first, 2);
        ck_assert_uint_eq(past_spans(&list, 0, UINT64_MAX, &first), 3);
        ck_assert_uint_eq(first, 0);
}
END_TEST

/* One that lasts keeps no others in the list. */
START_TEST(test_trim_spans)
{
        open_span(10, 'a', false);
        for (uint64_t t = 20; t < 100; t += 10) {
                open_span(t, 'b', false);
                close_span(t + 5, 'b');
        }
        past_list_trim_spans(&list, 85);
        ck_assert_str_eq(spans(), "10- a, 80-85 b, 90-95 b");
        ck_assert_uint_eq(list.n_open, 1);
        close_span(99, 'a');
        ck_assert_uint_eq(list.n_open, 0);
        past_list_trim_spans(&list, 200);
        ck_assert_uint_eq(past_list_count(&list), 0);
}
END_TEST

START_TEST(test_trim_alone)
{
        open_span(10, 'a', true);
        close_span(20, 'a');
        open_span(30, 'b', true);
        open_span(50, 'c', true);
        past_list_trim_alone(&list, 30);
        ck_assert_str_eq(spans(), "10-20 a, 30-50 b, 50- c");
        past_list_trim_alone(&list, 45);
        ck_assert_str_eq(spans(), "30-50 b, 50- c");
        past_list_trim_alone(&list, 100);
        ck_assert_str_eq(spans(), "50- c");
        ck_assert_uint_eq(list.n_open, 1);
}
END_TEST

/* Spans that never end, of many: each new one is found and ended in bounded time. */
START_TEST(test_many_open_spans)
{
        for (uint32_t i = 0; i < 100000; i++)
                ck_assert_int_eq(past_list_open(&list, i, i + 1, false), 0);
        for (uint32_t i = 0; i < 100000; i++)
                past_list_close(&list, 200000, i + 200000);
        ck_assert_uint_eq(list.n_open, 100000);
        past_list_close(&list, 200000, 100000);
        past_list_close(&list, 200000, 1); /* too long ago to be found */
        ck_assert_uint_eq(list.n_open, 99999);
}
END_TEST
