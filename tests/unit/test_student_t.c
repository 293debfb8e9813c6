/* SPDX-License-Identifier: MIT */
/* analyze/diff/diff_test.c: Student's distribution has the numbers of the tables */
#include "analyze/diff/diff_test.h"
#include "tests/unit/unit_test.h"

#include <math.h>

/* From the tables of the distribution. */
START_TEST(test_probabilities)
{
        static const struct {
                double t, df, p;
        } rows[] = {
                { 12.7062047, 1, 0.05 },   { 4.30265273, 2, 0.05 },  { 2.22813885, 10, 0.05 },
                { 63.6567412, 1, 0.01 },   { 3.16927267, 10, 0.01 }, { 4.58689386, 10, 0.001 },
                { 1.95996398, 1e9, 0.05 }, { 2.04227246, 30, 0.05 },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                ck_assert_double_eq_tol(student_t_two_sided(rows[i].t, rows[i].df), rows[i].p, 1e-8);
                ck_assert_double_eq_tol(student_t_two_sided(-rows[i].t, rows[i].df), rows[i].p, 1e-8);
                ck_assert_double_eq_tol(student_t_quantile(rows[i].p, rows[i].df), rows[i].t, 1e-5);
        }
}
END_TEST

START_TEST(test_extremes)
{
        ck_assert_double_eq(student_t_two_sided(0, 5), 1);
        ck_assert_double_eq(student_t_two_sided((double)NAN, 5), 1);
        ck_assert_double_eq(student_t_two_sided(HUGE_VAL, 5), 0);
        ck_assert_double_gt(student_t_two_sided(1e4, 3), 0);
        ck_assert_double_lt(student_t_two_sided(1e4, 3), 1e-10);
}
END_TEST
