/* SPDX-License-Identifier: MIT */
/* export/perf_data/perf_data_rounds.c: a mark stands where the order of times allows one, and only there */
#include "export/perf_data/perf_data_parts.h"

#include "fixed_random.h"
#include "unit_test.h"

#define N_CHUNKS   ((size_t)30)
#define N_OF_CHUNK ((size_t)20)

static uint64_t times[N_CHUNKS][N_OF_CHUNK];

static size_t plan(struct perf_data_rounds *r)
{
        for (size_t i = 0; i < N_CHUNKS; i++) {
                for (size_t j = 0; j < N_OF_CHUNK; j++)
                        perf_data_rounds_note(r, times[i][j]);
                ck_assert_int_eq(perf_data_rounds_end_chunk(r), 0);
        }
        return perf_data_rounds_plan(r);
}

/* Whether no record after chunk @i is older than @limit. */
static bool is_over(size_t i, uint64_t limit)
{
        for (size_t later = i + 1; later < N_CHUNKS; later++)
                for (size_t j = 0; j < N_OF_CHUNK; j++)
                        if (times[later][j] != 0 && times[later][j] < limit)
                                return false;
        return true;
}

/* Loop test: by how many records each is out of order, at most: within a chunk, over two, anywhere. */
START_LOOP_TEST(test_marks, 0, 4)
{
        static const uint64_t apart[] = { 1, 20, 35, 600 };
        struct perf_data_rounds r = { .n = 0 };
        uint64_t newest = 0, limit = 0, state = (uint64_t)_i + 1;
        size_t n_marks = 0, n;

        for (size_t i = 0; i < N_CHUNKS; i++)
                for (size_t j = 0; j < N_OF_CHUNK; j++)
                        times[i][j] = fixed_random_next(&state) % 8 == 0
                                              ? 0
                                              : 1 + i * N_OF_CHUNK + j +
                                                        fixed_random_next(&state) % apart[_i];
        n = plan(&r);
        ck_assert_uint_eq(r.n, N_CHUNKS);
        for (size_t i = 0; i < N_CHUNKS; i++) {
                ck_assert_int_eq(r.chunks[i].has_mark, is_over(i, limit));
                for (size_t j = 0; j < N_OF_CHUNK; j++)
                        newest = times[i][j] > newest ? times[i][j] : newest;
                limit = r.chunks[i].has_mark ? newest : limit;
                n_marks += r.chunks[i].has_mark;
        }
        ck_assert_uint_eq(n, n_marks);
        ck_assert_int_eq(n == N_CHUNKS, _i < 2);
        perf_data_rounds_deinit(&r);
}
END_TEST

/* Records after the last chunk count, and a chunk without records has no mark. */
START_TEST(test_the_rest)
{
        struct perf_data_rounds r = { .n = 0 };

        perf_data_rounds_note(&r, 10);
        ck_assert_int_eq(perf_data_rounds_end_chunk(&r), 0);
        ck_assert_int_eq(perf_data_rounds_end_chunk(&r), 0);
        perf_data_rounds_note(&r, 20);
        ck_assert_int_eq(perf_data_rounds_end_chunk(&r), 0);
        perf_data_rounds_note(&r, 5);
        ck_assert_uint_eq(perf_data_rounds_plan(&r), 1);
        ck_assert(r.chunks[0].has_mark);
        perf_data_rounds_deinit(&r);
}
END_TEST
