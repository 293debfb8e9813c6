/* SPDX-License-Identifier: MIT */
/* Records come out in the order of time, whatever the runs are; equal ones in the order of arrival. */
#include "unit_test.h"

#include "base/error.h"
#include "import/rows/import_lanes.h"
#include "import/rows/import_sort.h"

#include "fixed_random.h"

#include <stdlib.h>

#define N_RECORDS 20000
#define N_CLOCKS  3

/* Clocks of different lengths and origins; the places of ticks rise. */
static uint64_t place(const void *context, uint32_t clock, uint64_t ticks)
{
        (void)context;
        return 1000 * (uint64_t)clock + ticks * (clock + 1);
}

static struct import_sort *sort_of(size_t n_run_records)
{
        struct import_sort *s = NULL;

        ck_assert_int_eq(import_sort_new(&s, -1, n_run_records * sizeof(struct import_record), NULL), 0);
        return s;
}

/* 1 = all sorted already, 2 = backwards, else mixed */
static uint64_t begin_of(int order, uint32_t i, uint64_t *state)
{
        return order == 1 ? i : order == 2 ? N_RECORDS - i : fixed_random_next(state) % 5000;
}

START_LOOP_TEST(all_in_order_by_any_run, 0, 12)
{
        static const size_t runs[] = { 7, 100, 3333, N_RECORDS + 1 };
        struct import_sort *s = sort_of(runs[_i / 3]);
        struct import_record r, before = { .begin = 0 };
        uint64_t begin_ns, end_ns, before_ns = 0, state = 5, n = 0;
        static bool seen[N_RECORDS];

        memset(seen, 0, sizeof(seen));
        for (uint32_t i = 0; i < N_RECORDS; i++) {
                r = (struct import_record){ .begin = begin_of(_i % 3, i, &state),
                                            .clock = (uint16_t)(i % N_CLOCKS),
                                            .what = i };
                r.end = r.begin + fixed_random_next(&state) % 3;
                ck_assert_int_eq(import_sort_add(s, &r, NULL), 0);
        }
        ck_assert_int_eq(import_sort_begin(s, place, NULL, NULL), 0);
        while (import_sort_next(s, &r, &begin_ns, &end_ns, NULL) == 1) {
                ck_assert_uint_eq(end_ns, place(NULL, r.clock, r.end));
                ck_assert_uint_eq(begin_ns, place(NULL, r.clock, r.begin));
                ck_assert_uint_ge(begin_ns, before_ns);
                if (n > 0 && begin_ns == before_ns)
                        ck_assert_uint_le(place(NULL, r.clock, r.end), place(NULL, before.clock, before.end));
                if (n > 0 && r.clock == before.clock && r.begin == before.begin && r.end == before.end)
                        ck_assert_uint_gt(r.what, before.what);
                ck_assert(!seen[r.what]);
                seen[r.what] = true;
                before = r;
                before_ns = begin_ns;
                n++;
        }
        ck_assert_uint_eq(n, N_RECORDS);
        import_sort_free(s);
}
END_TEST

START_TEST(nothing_comes_of_nothing)
{
        struct import_sort *s = sort_of(4);
        struct import_record r;
        uint64_t begin_ns, end_ns;

        ck_assert_int_eq(import_sort_begin(s, place, NULL, NULL), 0);
        ck_assert_int_eq(import_sort_next(s, &r, &begin_ns, &end_ns, NULL), 0);
        import_sort_free(s);
}
END_TEST

/* ---- lanes --------------------------------------------------------------------------------------------- */

static const struct import_nesting by_time = { 0, 0 };

/* Puts a span where it fits; returns which lane of the thread that is, from 0. */
static uint32_t put_part(struct import_lanes *l, uint64_t begin_ns, uint64_t end_ns,
                         struct import_nesting nesting)
{
        uint32_t lane = 0, thread;
        uint64_t at_ns;
        enum import_fit fit;

        while (import_lanes_end(l, begin_ns, &thread, &at_ns))
                ck_assert_uint_le(at_ns, begin_ns);
        fit = import_lanes_fit(l, l->n_lanes != 0 ? 1 : 0, end_ns, nesting, &lane);
        if (fit == IMPORT_FIT_NONE)
                ck_assert_int_eq(import_lanes_add(l, lane, 100 + l->n_lanes, &lane), 0);
        ck_assert(fit == IMPORT_FIT_NESTED || fit == IMPORT_FIT_NONE);
        ck_assert_int_eq(import_lanes_open(l, lane, end_ns, nesting.id), 0);
        return lane - 1;
}

static uint32_t put(struct import_lanes *l, uint64_t begin_ns, uint64_t end_ns)
{
        return put_part(l, begin_ns, end_ns, by_time);
}

START_TEST(crossing_spans_go_to_the_first_lane_where_they_nest)
{
        struct import_lanes l = { .lanes = NULL };
        uint32_t thread;
        uint64_t at_ns;

        ck_assert_uint_eq(put(&l, 10, 100), 0);
        ck_assert_uint_eq(put(&l, 10, 100), 0); /* equal: inside */
        ck_assert_uint_eq(put(&l, 20, 50), 0);
        ck_assert_uint_eq(put(&l, 30, 120), 1); /* crosses */
        ck_assert_uint_eq(put(&l, 40, 60), 1);  /* crosses 20..50, is within 30..120 */
        ck_assert_uint_eq(put(&l, 45, 70), 2);
        ck_assert_uint_eq(put(&l, 50, 90), 0); /* begins where one ends */
        ck_assert_uint_eq(put(&l, 130, 130), 0);
        ck_assert_uint_eq(put(&l, 130, 131), 0);
        ck_assert(import_lanes_end(&l, UINT64_MAX, &thread, &at_ns));
        ck_assert_uint_eq(at_ns, 131);
        ck_assert(!import_lanes_end(&l, UINT64_MAX, &thread, &at_ns));
        import_lanes_deinit(&l);
}
END_TEST

START_TEST(spans_with_a_parent_nest_in_that_one_only)
{
        struct import_lanes l = { .lanes = NULL };

        ck_assert_uint_eq(put_part(&l, 10, 100, (struct import_nesting){ 1, 0 }), 0);
        ck_assert_uint_eq(put_part(&l, 20, 90, (struct import_nesting){ 2, 1 }), 0);
        ck_assert_uint_eq(put_part(&l, 30, 80, (struct import_nesting){ 3, 1 }), 1); /* beside its sibling */
        ck_assert_uint_eq(put_part(&l, 40, 50, (struct import_nesting){ 4, 3 }), 1);
        ck_assert_uint_eq(put_part(&l, 42, 45, (struct import_nesting){ 5, 9 }),
                          2); /* its parent is not there */
        ck_assert_uint_eq(put_part(&l, 60, 70, (struct import_nesting){ 6, 2 }),
                          0); /* not on the empty lane */
        ck_assert_uint_eq(put_part(&l, 61, 200, (struct import_nesting){ 7, 6 }),
                          2); /* longer than its parent */
        ck_assert_uint_eq(put_part(&l, 62, 63, (struct import_nesting){ 8, 0 }),
                          3); /* no parent: none is open there */
        import_lanes_deinit(&l);
}
END_TEST

/* Every zone ends once, in the order of time, the inner one first. */
START_TEST(random_spans_nest)
{
        static uint64_t stacks[IMPORT_LANES_MAX][64];
        static size_t depths[IMPORT_LANES_MAX];
        struct import_lanes l = { .lanes = NULL };
        uint64_t state = 9, now_ns = 0, at_ns, last_ns = 0;
        uint32_t thread;

        for (int i = 0; i < 5000; i++) {
                uint64_t end_ns;
                uint32_t lane = 0;

                now_ns += fixed_random_next(&state) % 4;
                end_ns = now_ns + fixed_random_next(&state) % 40;
                while (import_lanes_end(&l, now_ns, &thread, &at_ns)) {
                        ck_assert_uint_ge(at_ns, last_ns);
                        last_ns = at_ns;
                        ck_assert_uint_eq(stacks[thread][--depths[thread]], at_ns);
                }
                if (import_lanes_fit(&l, l.n_lanes != 0 ? 1 : 0, end_ns, by_time, &lane) == IMPORT_FIT_NONE)
                        ck_assert_int_eq(import_lanes_add(&l, lane, l.n_lanes, &lane), 0);
                ck_assert_int_eq(import_lanes_open(&l, lane, end_ns, 0), 0);
                thread = l.lanes[lane - 1].thread;
                ck_assert(depths[thread] == 0 || stacks[thread][depths[thread] - 1] >= end_ns);
                stacks[thread][depths[thread]++] = end_ns;
        }
        ck_assert_uint_gt(l.n_lanes, 2);
        import_lanes_deinit(&l);
}
END_TEST

START_TEST(depth_and_number_of_lanes_are_bounded)
{
        struct import_lanes l = { .lanes = NULL };
        uint32_t lane = 0;

        for (uint64_t i = 0; i < IMPORT_NESTED_MAX; i++)
                ck_assert_uint_eq(put(&l, i, 1000000 - i), 0);
        ck_assert_int_eq(import_lanes_fit(&l, 1, 5000, by_time, &lane), IMPORT_FIT_TOO_DEEP);
        import_lanes_deinit(&l);
        for (uint64_t i = 0; i < IMPORT_LANES_MAX; i++)
                ck_assert_uint_eq(put(&l, i, 1000 + i), i);
        ck_assert_int_eq(import_lanes_fit(&l, 1, 5000, by_time, &lane), IMPORT_FIT_TOO_MANY);
        import_lanes_deinit(&l);
}
END_TEST
