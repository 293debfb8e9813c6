/* SPDX-License-Identifier: MIT */
/*
 * view/path/path_words.c: the answer names programs where functions say less
 */
#include "view/path/path_words.h"

#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"
#include "view/shared/answer_words.h"

#include <string.h>

static uint32_t shell, sort;

/* A shell waits for a program all the time. */
static void setup(void)
{
        path_lab_init();
        shell = path_lab_thread("sh", 0);
        sort = path_lab_new_thread("sort", 1, 20, 1, 10);
        path_lab_wait(shell, 10, 2000, 2000, sort, 0);
        path_lab_samples(shell, 2000, 2020, 10, 0);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static const char *answer(const char *zone)
{
        static struct answer_words words;
        const struct path_request request = { .zone = zone };

        words = (struct answer_words){ .used_bytes = 0 };
        path_lab_get(&request);
        path_words_answer(&path_lab.path, &words);
        return words.text;
}

START_TEST(test_function_with_a_name)
{
        path_lab_samples(sort, 20, 2000, 10, path_lab_function("compare"));
        ck_assert_str_eq(answer(NULL),
                         "99% of the run (2.01 us): process 'sort' (20) ran compare(); sh waited for it");
}
END_TEST

START_TEST(test_function_without_a_name)
{
        path_lab_samples(sort, 20, 2000, 10,
                         trace_builder_push(&path_lab.b, 0, path_lab.program, 0x9000, NULL));
        ck_assert_str_eq(answer(NULL), "99% of the run (2.01 us): sort (without symbols)");
}
END_TEST

/* It is the wait that counts, not what its function is called. */
START_TEST(test_wait_without_a_name)
{
        uint32_t place = trace_builder_push(&path_lab.b, 0, path_lab.program, 0x9000, NULL);

        path_lab_wait(sort, 100, 1900, 1900, 0, path_lab_kernel(place, "io_schedule"));
        ck_assert_ptr_nonnull(strstr(answer(NULL), "process 'sort' (20) waited for the disk"));
}
END_TEST

/* Programs that took the CPU from each other for longer than any function ran. */
START_TEST(test_programs_that_compete)
{
        uint32_t other = path_lab_new_thread("uniq", 1, 30, 1, 10);

        path_lab_wait(other, 20, 1000, 1000, sort, 0);
        path_lab_preempt(sort, 1000, 1600);
        path_lab_wait(other, 1600, 2015, 2015, sort, 0);
        path_lab_samples(sort, 20, 400, 10, path_lab_function("read"));
        path_lab_samples(sort, 400, 700, 10, path_lab_function("compare"));
        path_lab_samples(sort, 700, 1000, 10, path_lab_function("merge"));
        path_lab_samples(sort, 1600, 2000, 10, path_lab_function("write"));
        ck_assert_str_eq(
                answer(NULL),
                "98% of the run (2.01 us): sort; other recorded programs had the CPUs for 30% of the "
                "time, shares are of the rest");
}
END_TEST

/* Another process of the same program is called a process, not a thread. */
START_TEST(test_process_of_the_same_program)
{
        uint32_t child = path_lab_new_thread("sh", 1, 40, 1, 10);

        path_lab_wait(shell, 2020, 9000, 9000, child, 0);
        path_lab_samples(child, 2000, 9000, 10, path_lab_function("expand"));
        path_lab_samples(shell, 9000, 9010, 10, 0);
        ck_assert_ptr_nonnull(strstr(answer(NULL), "process 'sh' ran expand()"));
}
END_TEST

/* Such a wait is not unknown: nothing ended it, and the answer is as certain as any. */
START_TEST(test_wait_that_had_not_ended)
{
        path_lab_samples(sort, 20, 2000, 10, path_lab_function("compare"));
        path_lab_out(shell, 2030, path_lab_kernel(path_lab_function("await"), "do_wait"));
        path_lab_samples(sort, 2100, 90000, 10, path_lab_function("compare"));
        ck_assert_str_eq(answer(NULL),
                         "98% of the run (90.0 us): sh waited in await() to the end of the recording");
        ck_assert(path_unknown_share(&path_lab.path) < 0.01);
}
END_TEST

/* Whose time it was does not depend on samples; what it ran does. */
START_LOOP_TEST(test_few_samples, 0, 2)
{
        path_lab_samples(sort, 20, 2000, _i == 0 ? 200 : 400, path_lab_function("compare"));
        ck_assert_str_eq(
                answer(NULL),
                _i == 0 ? "99% of the run (2.01 us): process 'sort' (20) ran compare(); sh waited for it"
                        : "99% of the run (2.01 us): process 'sort' (20) ran compare(); sh waited for it; the "
                          "function is by 5 samples: less certain");
}
END_TEST
