/* SPDX-License-Identifier: MIT */
/* view/text/shell_word.c: a shell that is given the word has the path again, whatever it is called */
#include "tests/unit/unit_test.h"
#include "view/text/shell_word.h"

#include <stdio.h>
#include <string.h>

static const char *const paths[][2] = {
        { "run.hyp", "run.hyp" },
        { "/a/b-c_d.hyp", "/a/b-c_d.hyp" },
        { "-", "-" },
        { "-x.hyp", "-- -x.hyp" },
        { "a b.hyp", "'a b.hyp'" },
        { "it's.hyp", "'it'\\''s.hyp'" },
        { "$(true);*", "'$(true);*'" },
        { "- x", "-- '- x'" },
        { "", "''" },
};

START_LOOP_TEST(test_words, 0, sizeof(paths) / sizeof(paths[0]))
{
        struct shell_word word = shell_word_of(paths[_i][0]);
        char command[SHELL_WORD_BYTES_MAX + 64], answer[64] = "";
        FILE *shell;

        ck_assert_str_eq(word.text, paths[_i][1]);
        (void)snprintf(command, sizeof(command), "for w in %s; do :; done; printf %%s. \"$w\"", word.text);
        shell = popen(command, "r");
        ck_assert_ptr_nonnull(shell);
        ck_assert_uint_gt(fread(answer, 1, sizeof(answer) - 1, shell), 0);
        ck_assert_int_eq(pclose(shell), 0);
        answer[strlen(answer) - 1] = '\0';
        ck_assert_str_eq(answer, paths[_i][0]);
}
END_TEST

START_TEST(test_long_paths_are_cut)
{
        char path[2 * SHELL_WORD_BYTES_MAX];
        struct shell_word word;

        memset(path, '\'', sizeof(path) - 1);
        path[sizeof(path) - 1] = '\0';
        word = shell_word_of(path);
        ck_assert_uint_lt(strlen(word.text), sizeof(word.text));
        memset(path, 'a', sizeof(path) - 1);
        word = shell_word_of(path);
        ck_assert_uint_gt(strlen(word.text), sizeof(word.text) - 16);
}
END_TEST
