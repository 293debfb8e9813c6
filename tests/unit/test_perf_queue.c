/* SPDX-License-Identifier: MIT */
/* import/perf/perf_queue.c: records go on in the order of time, whole, and their memory is used again */
#include "import/perf/perf_queue.h"

#include "fixed_random.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

#define N_ROUNDS    ((size_t)40)
#define N_OF_ROUND  ((size_t)2000)
#define BODY_MAX    300
#define LONGEST_MAX 65528 /* bytes of a record behind its header */

static size_t length_of(uint64_t number)
{
        return (size_t)(number * 7919 % BODY_MAX);
}

static void add(struct perf_queue *q, uint64_t number, uint64_t time)
{
        uint8_t body[BODY_MAX];
        struct perf_raw_record record = {
                .type = 9, .body = body, .n_bytes = length_of(number), .at = number
        };

        memset(body, (int)(number % 251), sizeof(body));
        ck_assert_int_eq(perf_queue_add(q, &record, time), 0);
}

/* Takes what may go on: in the order of @times, and of numbers among equal ones. */
static size_t take(struct perf_queue *q, const uint64_t *times, uint64_t *last)
{
        struct perf_raw_record record;
        size_t n = 0;

        for (; perf_queue_next(q, &record); n++) {
                if (*last != UINT64_MAX)
                        ck_assert(times[*last] < times[record.at] ||
                                  (times[*last] == times[record.at] && *last < record.at));
                *last = record.at;
                ck_assert_uint_eq(record.n_bytes, length_of(record.at));
                for (size_t i = 0; i < record.n_bytes; i++)
                        ck_assert_uint_eq(record.body[i], record.at % 251);
        }
        return n;
}

/* Loop test: with how many records each record is out of order, at most. */
START_LOOP_TEST(test_rounds, 0, 3)
{
        static const uint64_t apart[] = { 1, 50, 2000 };
        uint64_t *times = malloc(N_ROUNDS * N_OF_ROUND * sizeof(*times)), state = 7, last = UINT64_MAX;
        struct perf_queue q = { .n = 0 };
        size_t n = 0, n_taken = 0, most_bytes = 0;

        ck_assert_ptr_nonnull(times);
        for (size_t round = 0; round < N_ROUNDS; round++) {
                for (size_t i = 0; i < N_OF_ROUND; i++, n++) {
                        times[n] = n + fixed_random_next(&state) % apart[_i];
                        add(&q, n, times[n]);
                }
                most_bytes = q.n_bytes > most_bytes ? q.n_bytes : most_bytes;
                perf_queue_mark(&q, false);
                n_taken += take(&q, times, &last);
                ck_assert_uint_ge(n_taken + 2 * N_OF_ROUND, n);
        }
        /* Two rounds, and the blocks at both ends. */
        ck_assert_uint_lt(most_bytes, 3 * N_OF_ROUND * (BODY_MAX / 2 + sizeof(struct perf_queued)) +
                                              3 * sizeof(struct perf_queue_block));
        perf_queue_mark(&q, true);
        n_taken += take(&q, times, &last);
        ck_assert_uint_eq(n_taken, n);
        ck_assert_uint_le(q.n_bytes, sizeof(struct perf_queue_block));
        perf_queue_deinit(&q);
        free(times);
}
END_TEST

/* Records that stay keep their blocks: those count as well, so that the memory has a limit. */
START_TEST(test_blocks_count)
{
        static uint8_t body[LONGEST_MAX];
        struct perf_raw_record record = { .body = body, .n_bytes = sizeof(body) };
        struct perf_queue q = { .n = 0 };
        size_t n = 0, n_gone = 0;

        while (n < 10000) {
                ck_assert_int_eq(perf_queue_add(&q, &record, ++n), 0);
                ck_assert_uint_le(q.n_bytes, PERF_QUEUE_BYTES_MAX + 2 * sizeof(struct perf_queue_block));
                while (q.n_ready > 0 && perf_queue_next(&q, &record))
                        n_gone++;
                record.body = body;
        }
        ck_assert_uint_gt(n_gone, n / 2);
        perf_queue_deinit(&q);
}
END_TEST

/* Loop test: in order; with marks, as perf writes them; a little out of order; the rings of two CPUs. */
START_LOOP_TEST(test_a_file_without_marks_takes_less, 0, 4)
{
        static uint8_t body[LONGEST_MAX];
        const struct perf_raw_record full = { .body = body, .n_bytes = sizeof(body) };
        const bool takes_less = _i == 0 || _i == 2;
        struct perf_raw_record record;
        struct perf_queue q = { .n = 0 };
        size_t most_bytes = 0;

        if (_i == 1)
                perf_queue_mark(&q, false);
        for (uint64_t n = 0; n < 8000; n++) {
                uint64_t time = _i == 2 ? n ^ 63 : _i == 3 && n >= 500 ? n - 500 : n;

                ck_assert_int_eq(perf_queue_add(&q, &full, time), 0);
                most_bytes = q.n_bytes > most_bytes ? q.n_bytes : most_bytes;
                while (q.n_ready > 0 && perf_queue_next(&q, &record))
                        continue;
                if (_i == 3 && n < 1500) /* the second ring has older ones */
                        ck_assert_uint_eq(q.n, n + 1);
        }
        if (takes_less)
                ck_assert_uint_le(most_bytes, PERF_QUEUE_NO_MARK_BYTES + 2 * sizeof(struct perf_queue_block));
        else
                ck_assert_uint_gt(most_bytes, PERF_QUEUE_NO_MARK_BYTES * 5 / 4);
        perf_queue_deinit(&q);
}
END_TEST

START_TEST(test_an_end_in_the_middle)
{
        struct perf_raw_record record;
        struct perf_queue q = { .n = 0 };

        for (uint64_t i = 0; i < 3000; i++)
                add(&q, i, i);
        perf_queue_mark(&q, true);
        for (unsigned i = 0; i < 1500; i++)
                ck_assert(perf_queue_next(&q, &record));
        perf_queue_deinit(&q);
        ck_assert_uint_eq(q.n_bytes, 0);
}
END_TEST
