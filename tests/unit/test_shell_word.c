/* SPDX-License-Identifier: MIT */
/* view/shell_word.h: whatever a name is, a shell takes it for that one word */
#include "base/byte_buffer.h"
#include "view/shell_word.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        const char *name, *word;
} cases[] = {
        { "run.hyp", "run.hyp" },
        { "/a/b-c_d.1,x:y+z@w%", "/a/b-c_d.1,x:y+z@w%" },
        { "my run.hyp", "'my run.hyp'" },
        { "it's", "'it'\\''s'" },
        { "$(x)`y`;z&*?[~#!", "'$(x)`y`;z&*?[~#!'" },
        { "", "''" },
        { "\xc3\xa9", "'\xc3\xa9'" },
};

START_TEST(test_words)
{
        struct byte_buffer storage = { .data = NULL };

        ck_assert_str_eq(shell_word_make(&storage, "before, and longer than others", 30),
                         "'before, and longer than others'");
        ck_assert_str_eq(shell_word_make(&storage, cases[_i].name, strlen(cases[_i].name)), cases[_i].word);
        byte_buffer_deinit(&storage);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("shell_word");
        TCase *tests = tcase_create("words");
        SRunner *runner;
        int n_failed;

        tcase_add_loop_test(tests, test_words, 0, (int)(sizeof(cases) / sizeof(cases[0])));
        suite_add_tcase(suite, tests);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_ENV);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
