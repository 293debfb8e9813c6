/* SPDX-License-Identifier: MIT */
/*
 * base/name_guess.c: what is nearly right is found, also a part or other capitals; what
 * is another word is not
 */
#include "base/name_guess.h"
#include "tests/unit/unit_test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
        const char *wanted, *names[4]; /* end with NULL */
        const char *best;
} cases[] = {
        { "dispach", { "parse", "dispatch" }, "dispatch" },
        { "wrokers", { "worker", "main" }, "worker" },
        { "WORKER", { "workers", "worker" }, "worker" }, /* capitals cost nothing */
        { "parse", { "main", "json::Parser::parse_all" }, "json::Parser::parse_all" },
        { "parse", { "a_parse_b", "parsf" }, "parsf" }, /* one letter wrong goes before a part */
        { "nosuch", { "main", "work", "libc.so.6" }, "" },
        { "a", { "b", "c" }, "" }, /* nothing of it is right */
        { "ab", { "cabd" }, "" },  /* too short to be a part */
        { "", { "a", "" }, "" },
        { "main", { "", "" }, "" },
};

/* Words of the command line: a slip or two, by their length. */
START_TEST(test_known_words)
{
        static const struct {
                const char *wanted, *name;
                bool is_near;
        } words[] = {
                { "rceord", "record", true }, { "cycels", "cycles", true }, { "jsno", "json", true },
                { "stat", "list", false },    { "stat", "heat", false },    { "nosuch", "tsc", false },
                { "perf", "diff", false },    { "stat", "to", false },      { "xml", "md", false },
                { "", "to", false },
        };

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
                struct name_guess g;

                name_guess_init(&g, words[i].wanted, strlen(words[i].wanted));
                name_guess_offer(&g, words[i].name);
                ck_assert_msg((g.best[0] != '\0') == words[i].is_near, "%s: %s", words[i].wanted,
                              words[i].name);
        }
}
END_TEST

/* loop test */
START_LOOP_TEST(test_names_of_a_trace, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct name_guess g;

        name_guess_init(&g, cases[_i].wanted, strlen(cases[_i].wanted));
        for (int i = 0; i < 4 && cases[_i].names[i]; i++)
                name_guess_offer_bytes(&g, cases[_i].names[i], strlen(cases[_i].names[i]));
        ck_assert_str_eq(g.best, cases[_i].best);
}
END_TEST

/* Bytes that are no string, of any length, are passed over. */
START_TEST(test_hostile_names)
{
        static const char with_nul[] = "wor\0ker";
        char longest[NAME_GUESS_BYTES + 1];
        struct name_guess g;

        memset(longest, 'w', sizeof(longest));
        name_guess_init(&g, "worker", 6);
        name_guess_offer_bytes(&g, with_nul, sizeof(with_nul) - 1);
        name_guess_offer_bytes(&g, longest, sizeof(longest));
        name_guess_offer_bytes(&g, NULL, 0);
        ck_assert_str_eq(g.best, "");
        name_guess_init(&g, longest, sizeof(longest)); /* cut */
        name_guess_offer_bytes(&g, longest, NAME_GUESS_BYTES - 1);
        ck_assert_uint_eq(strlen(g.best), NAME_GUESS_BYTES - 1);
}
END_TEST

/* A trace of millions of names costs no more than some thousands. */
START_TEST(test_work_is_bounded)
{
        struct name_guess g;

        name_guess_init(&g, "worker", 6);
        for (int i = 0; i < NAME_GUESS_OFFERS_MAX + 10; i++)
                name_guess_offer_bytes(&g, "nobody", 6);
        ck_assert_uint_eq(g.n_offers, NAME_GUESS_OFFERS_MAX);
        name_guess_offer_bytes(&g, "workar", 6);
        ck_assert_str_eq(g.best, "");
        name_guess_offer_bytes(&g, "Worker", 6); /* that costs little */
        ck_assert_str_eq(g.best, "Worker");
}
END_TEST
