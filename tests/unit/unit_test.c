/* SPDX-License-Identifier: MIT */
/* main() of all unit tests. */
#include "tests/unit/unit_test.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define LINES_MAX 4096 /* of a file; further ones share their places */

static struct unit_test *tests;
static const struct unit_test_plan *plan;

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

/*
 * Each assertion that holds calls this, for the words about a crash.  Check writes to a file then, which was
 * most of the tests' time: it learns of the first round of a loop only.
 */
void __wrap__mark_point(const char *file, int line)
{
        static bool was_told[LINES_MAX];
        struct rlimit size;

        if (was_told[line % LINES_MAX])
                return;
        if (getrlimit(RLIMIT_FSIZE, &size) < 0 || size.rlim_cur != RLIM_INFINITY)
                return; /* part of it may be written, which Check cannot read */
        was_told[line % LINES_MAX] = true;
        __real__mark_point(file, line);
}

void unit_test_add(struct unit_test *t)
{
        struct unit_test **at = &tests;

        while (*at && (*at)->test->line < t->test->line)
                at = &(*at)->next;
        t->next = *at;
        *at = t;
}

void unit_test_set_plan(const struct unit_test_plan *p)
{
        assert(!plan);
        plan = p;
}

_Noreturn void unit_test_skip_all(const char *reason)
{
        puts(reason);
        exit(77);
}

static void add_to(const struct unit_test *t, TCase *tc)
{
        int first, end;

        if (!t->is_wanted()) {
                printf("# left out: %s: not %s\n", t->test->name, t->condition);
                return;
        }
        t->range(&first, &end);
        if (first >= end) {
                printf("%s would never run: from %d to %d\n", t->test->name, first, end);
                exit(EXIT_FAILURE);
        }
        tcase_add_loop_test(tc, t->test, first, end);
}

int main(int argc, char **argv)
{
        static const struct unit_test_plan usual;
        Suite *suite = suite_create(program_invocation_short_name);
        TCase *tc = tcase_create("all");
        SRunner *runner;
        int n_failed;

        if (!plan)
                plan = &usual;
        if (plan->begin)
                plan->begin(argc, argv);
        tcase_set_timeout(tc, plan->timeout_s != 0 ? plan->timeout_s : UNIT_TEST_TIMEOUT_S);
        if (plan->setup || plan->teardown)
                tcase_add_checked_fixture(tc, plan->setup, plan->teardown);
        for (const struct unit_test *t = tests; t; t = t->next)
                add_to(t, tc);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        if (plan->always_forks)
                srunner_set_fork_status(runner, CK_FORK);
        srunner_run_all(runner, CK_ENV);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
