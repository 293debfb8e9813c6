/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_command.c: each variable that differs once, none where nothing differs or is unknown
 */
#include "analyze/diff/diff_command.h"

#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

static void put(char *words, size_t n, struct text_view text)
{
        size_t used = strlen(words);

        (void)snprintf(words + used, n - used, "%.*s ", text.bytes ? (int)text.n_bytes : 1,
                       text.bytes ? text.bytes : "-");
}

START_TEST(test_differences)
{
        static const struct {
                const char *first, *second, *wanted; /* name, value before, value after */
        } cases[] = {
                { "GOGC=2", "none", "GOGC 2 - " },
                { "none", "GOGC=2", "GOGC - 2 " },
                { "A=1 B=2 C=3", "A=1 B=4 D=5", "B 2 4 C 3 - D - 5 " },
                { "A=", "A=1", "A  1 " },
                { "A=", "none", "A  - " },
                { "A=1=2", "A=1=3", "A 1=2 1=3 " },
                { "A=1 B=2", "B=2 A=1", "" },
                { "A=1", "A=1", "" },
                { "none", "none", "" },
                /* An older recording does not state it. */
                { "", "A=1", "" },
                { "A=1", "", "" },
                /* Foreign traces. */
                { "  =1 A A=1  ", "=2 B A=1", "" },
                { " ", "=", "" },
                { "A=1 A=2", "A=1", "A 2 1 " },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct diff_environment e = { .first = { cases[i].first, strlen(cases[i].first) },
                                              .second = { cases[i].second, strlen(cases[i].second) } };
                struct diff_variable v;
                char words[100] = "";

                while (diff_environment_next(&e, &v)) {
                        put(words, sizeof(words), v.name);
                        put(words, sizeof(words), v.first);
                        put(words, sizeof(words), v.second);
                }
                ck_assert_str_eq(words, cases[i].wanted);
                ck_assert_int_eq(diff_environment_next(&e, &v), 0);
        }
}
END_TEST
