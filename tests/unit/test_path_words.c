/* SPDX-License-Identifier: MIT */
/*
 * view/path/path_words.c: the answer names programs where their functions have no names
 */
#include "view/path/path_words.h"

#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"
#include "view/shared/answer_words.h"

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
