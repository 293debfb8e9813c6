/* SPDX-License-Identifier: MIT */
/* analyze/path/shown_segments.c: the longer ones of too many stay, in order; the others are counted */
#include "analyze/path/path_walk.h"
#include "analyze/path/shown_segments.h"
#include "tests/unit/unit_test.h"

/* Segments of 1 and of 1000 ns in turn. */
static void add(struct shown_segments *s, uint64_t n)
{
        uint64_t at_ns = 0;

        for (uint64_t i = 0; i < n; i++) {
                uint64_t ns = i % 2 == 0 ? 1 : 1000 + i;
                struct path_segment segment = {
                        .begin_ns = at_ns, .end_ns = at_ns + ns, .thread = 1, .kind = PATH_MACHINE
                };

                ck_assert_int_eq(shown_segments_add(s, &segment), 0);
                at_ns += ns;
        }
}

START_TEST(test_all_that_fit)
{
        struct shown_segments s = { .items = NULL };

        add(&s, SHOWN_SEGMENTS_MAX);
        ck_assert_uint_eq(s.n_items, SHOWN_SEGMENTS_MAX);
        ck_assert_uint_eq(s.n_dropped, 0);
        for (size_t i = 1; i < s.n_items; i++)
                ck_assert_uint_eq(s.items[i].begin_ns, s.items[i - 1].end_ns);
        shown_segments_deinit(&s);
}
END_TEST

START_TEST(test_longer_ones_stay)
{
        struct shown_segments s = { .items = NULL };
        uint64_t n = 3 * SHOWN_SEGMENTS_MAX, longest = 0;

        add(&s, n);
        ck_assert_uint_le(s.n_items, SHOWN_SEGMENTS_MAX);
        ck_assert_uint_ge(s.n_items, SHOWN_SEGMENTS_MAX / 4);
        ck_assert_uint_eq(s.n_items + s.n_dropped, n);
        for (size_t i = 1; i < s.n_items; i++)
                ck_assert_uint_ge(s.items[i].begin_ns, s.items[i - 1].end_ns);
        for (size_t i = 0; i < s.n_items; i++)
                longest += s.items[i].end_ns - s.items[i].begin_ns == 1000 + n - 1;
        ck_assert_uint_eq(longest, 1);
        shown_segments_clear(&s);
        ck_assert_uint_eq(s.n_items + s.n_dropped, 0);
        shown_segments_deinit(&s);
}
END_TEST

START_TEST(test_equally_long_ones)
{
        struct shown_segments s = { .items = NULL };

        for (uint64_t i = 0; i <= SHOWN_SEGMENTS_MAX; i++) {
                struct path_segment segment = { .begin_ns = 10 * i,
                                                .end_ns = 10 * i + 10,
                                                .kind = PATH_MACHINE };

                ck_assert_int_eq(shown_segments_add(&s, &segment), 0);
        }
        ck_assert_uint_ge(s.n_items, SHOWN_SEGMENTS_MAX / 2);
        ck_assert_uint_eq(s.n_items + s.n_dropped, SHOWN_SEGMENTS_MAX + 1);
        shown_segments_deinit(&s);
}
END_TEST
