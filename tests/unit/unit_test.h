/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/unit_test.h - tests that run because they are written: no list of them, and
 * one main() for all files
 *
 * A file includes this instead of <check.h>.  Each of its tests registers itself; unit_test.c has main(),
 * which runs them in the order of their lines, each in a process of its own unless CK_FORK=no.
 *
 *     START_TEST(name) { ... } END_TEST                        once
 *     START_LOOP_TEST(name, first, end) { ... } END_TEST       once for each _i from `first` to `end` - 1
 *     START_TEST_IF(condition, name) { ... } END_TEST          only where the condition holds
 *     START_LOOP_TEST_IF(condition, name, first, end) { ... } END_TEST
 *
 * Conditions and ranges are evaluated in main().  A test whose condition does not hold is named with it in a
 * line of the output, "# left out: ...".  A range without a number fails: such a test would never run.
 *
 * UNIT_TEST_SPOIL(object) fills an object of the file, before its init, with bytes that are no zeros, as
 * those of a stack are: what its init leaves out shows.
 *
 * UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown, .begin = begin), once at most in a
 * file, states what differs from the usual.
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <check.h>
#include <stdbool.h>
#include <string.h>

#define UNIT_TEST_TIMEOUT_S 60

struct unit_test {
        const TTest *test;
        const char *condition; /* its text, or NULL */
        bool (*is_wanted)(void);
        void (*range)(int *ret_first, int *ret_end);
        struct unit_test *next; /* in the order of their lines */
};

struct unit_test_plan {
        double timeout_s;       /* of each test; 0 = UNIT_TEST_TIMEOUT_S */
        bool always_forks;      /* even with CK_FORK=no: what a test leaves would disturb the next */
        void (*setup)(void);    /* before each test, in its process; may be NULL */
        void (*teardown)(void); /* after each test that did not fail; may be NULL */
        /* First in main(): may run another program in place of this one, or exit.  May be NULL. */
        void (*begin)(int argc, char **argv);
};

/* Before main().  Their arguments must last; a program has one plan at most. */
void unit_test_add(struct unit_test *t);
void unit_test_set_plan(const struct unit_test_plan *plan);

/* Ends the program with exit status 77, which the runner counts as skipped for this reason. */
_Noreturn void unit_test_skip_all(const char *reason);

#define UNIT_TEST(name, condition_text, condition, first, end_)                                              \
        static void name##_fn(int _i CK_ATTRIBUTE_UNUSED);                                                   \
        static bool name##_is_wanted(void)                                                                   \
        {                                                                                                    \
                return (condition);                                                                          \
        }                                                                                                    \
        static void name##_range(int *ret_first, int *ret_end)                                               \
        {                                                                                                    \
                *ret_first = (int)(first);                                                                   \
                *ret_end = (int)(end_);                                                                      \
        }                                                                                                    \
        __attribute__((constructor)) static void name##_add(void)                                            \
        {                                                                                                    \
                static const TTest test = { #name, name##_fn, __FILE__, __LINE__ };                          \
                static struct unit_test t = { &test, condition_text, name##_is_wanted, name##_range, NULL }; \
                unit_test_add(&t);                                                                           \
        }                                                                                                    \
        static void name##_fn(int _i CK_ATTRIBUTE_UNUSED)

#undef START_TEST
#define START_TEST(name)                                UNIT_TEST(name, NULL, true, 0, 1)
#define START_LOOP_TEST(name, first, end)               UNIT_TEST(name, NULL, true, first, end)
#define START_TEST_IF(condition, name)                  UNIT_TEST(name, #condition, condition, 0, 1)
#define START_LOOP_TEST_IF(condition, name, first, end) UNIT_TEST(name, #condition, condition, first, end)

#define UNIT_TEST_SPOIL(object) memset(&(object), 0xa5, sizeof(object))

#define UNIT_TEST_PLAN(...)                                                \
        __attribute__((constructor)) static void plan_of_this_file(void)   \
        {                                                                  \
                static const struct unit_test_plan plan = { __VA_ARGS__ }; \
                unit_test_set_plan(&plan);                                 \
        }                                                                  \
        _Static_assert(1, "a plan ends with a semicolon")

#endif /* TESTS_UNIT_TEST_H */
