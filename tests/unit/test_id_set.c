/* SPDX-License-Identifier: MIT */
/* analyze/trace/id_set.c: each id counts once, in whatever order they come */
#include "analyze/trace/id_set.h"
#include "tests/unit/unit_test.h"

START_TEST(test_each_id_counts_once)
{
        static const uint32_t ids[] = { 5, 0, 63, 64, 5, 1000000, 0, 65, 64, 999999 };
        struct id_set set = { .words = NULL };

        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
                ck_assert_int_eq(id_set_add(&set, ids[i]), 0);
        ck_assert_uint_eq(set.n_ids, 7);
        for (uint32_t id = 0; id < 3000; id++)
                ck_assert_int_eq(id_set_add(&set, id), 0);
        ck_assert_uint_eq(set.n_ids, 3002);
        id_set_deinit(&set);
        ck_assert_uint_eq(set.n_ids, 0);
}
END_TEST
