/* SPDX-License-Identifier: MIT */
/* analyze/why/why_judge.c: each threshold decides: just beyond it the confidence is lower */
#include "analyze/why/why_judge.h"
#include "tests/unit/unit_test.h"

/* Good enough in everything, by as little as possible. */
static const struct why_evidence high = { .n_slow = 8,
                                          .n_typical = 8,
                                          .n_slow_with = 4,
                                          .n_times = 10,
                                          .n_tests = 50,
                                          .p = 0.00099 / 50,
                                          .share = 0.21,
                                          .own_low = 0.2,
                                          .is_sampled = true };

START_TEST(test_all_together_are_high)
{
        ck_assert_int_eq(why_judge(&high), WHY_CONFIDENCE_HIGH);
        ck_assert_double_eq_tol(why_judge_p(&high), 0.00099, 1e-9);
}
END_TEST

START_LOOP_TEST(test_too_few_of_anything_is_too_few, 0, 4)
{
        struct why_evidence few[4] = { high, high, high, high };

        few[0].n_slow = 7;
        few[1].n_typical = 7;
        few[2].n_slow_with = 3;
        few[3].n_times = 9;
        ck_assert_int_eq(why_judge(&few[_i]), WHY_CONFIDENCE_TOO_FEW);
        few[_i].is_sampled = false; /* what is recorded is recorded whole */
        ck_assert_int_eq(why_judge(&few[_i]), _i < 3 ? WHY_CONFIDENCE_TOO_FEW : WHY_CONFIDENCE_HIGH);
}
END_TEST

/* Each candidate that was looked at makes chance more likely. */
START_TEST(test_p_is_corrected_for_the_number_of_candidates)
{
        struct why_evidence e = high;

        e.n_tests = 51;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
        e.share = 0.25;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_MEDIUM);
        e.n_tests = 506;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
        e.n_tests = 10000000;
        ck_assert_double_eq(why_judge_p(&e), 1);
}
END_TEST

START_TEST(test_p_decides)
{
        struct why_evidence e = high;

        e.share = 0.25;
        e.p = 0.00101 / 50;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_MEDIUM);
        e.p = 0.0099 / 50;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_MEDIUM);
        e.p = 0.0101 / 50;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
}
END_TEST

START_TEST(test_the_share_decides)
{
        struct why_evidence e = high;

        e.own_low = 0.199;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
        e.share = 0.25;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_MEDIUM);
        e.own_low = 0;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
        e = high;
        e.share = 0.049;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
        e.own_low = 0.1;
        e.share = 0.249;
        ck_assert_int_eq(why_judge(&e), WHY_CONFIDENCE_LOW);
}
END_TEST
