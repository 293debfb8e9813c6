/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/manual_writer.c: prose becomes roff in which no character is an order by chance, or
 * text of the same words
 */
#include "cli/manual/manual_writer.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *prose, *roff, *text;
} cases[] = {
        { "one  two\nthree\n", "one two three\n", "  one two three\n" },
        { "one\n\ntwo\n", "one\n.PP\ntwo\n", "  one\n\n  two\n" },
        { "# HEAD\n\none\n", ".SH HEAD\none\n", "HEAD\n  one\n" },
        { "one\n# HEAD\ntwo", "one\n.SH HEAD\ntwo\n", "  one\n\nHEAD\n  two\n" },
        { "    a  b\n    c\n", ".RS 4\n.nf\na  b\nc\n.fi\n.RE\n", "      a  b\n      c\n" },
        { "one\n    a\ntwo\n", "one\n.PP\n.RS 4\n.nf\na\n.fi\n.RE\n.PP\ntwo\n",
          "  one\n\n      a\n\n  two\n" },
        { ".x 'y' --z \\n\n", "\\&.x \\(aqy\\(aq \\-\\-z \\en\n", "  .x 'y' --z \\n\n" },
        { "    .x\n    'y\n", ".RS 4\n.nf\n\\&.x\n\\(aqy\n.fi\n.RE\n", "      .x\n      'y\n" },
        { "", "", "" },
        { "\n\n", "", "" },
        { "#\n", ".SH \n", "\n" },
};

static void write_prose(const char *prose, bool is_roff, char *text, size_t n_bytes)
{
        FILE *out = fmemopen(text, n_bytes, "w");
        struct manual_writer w;

        manual_writer_init(&w, out, is_roff, 2);
        manual_writer_prose(&w, prose, strlen(prose));
        ck_assert_int_eq(fclose(out), 0);
}

/* loop test */
START_LOOP_TEST(test_prose, 0, sizeof(cases) / sizeof(cases[0]))
{
        char text[512] = "";

        write_prose(cases[_i].prose, true, text, sizeof(text));
        ck_assert_str_eq(text, cases[_i].roff);
        memset(text, 0, sizeof(text));
        write_prose(cases[_i].prose, false, text, sizeof(text));
        ck_assert_str_eq(text, cases[_i].text);
}
END_TEST

/* In lines of at most so many characters, and no word is lost. */
START_TEST(test_wrapped)
{
        char prose[4096] = "", text[8192] = "";
        size_t n_words = 0;

        for (unsigned i = 0; i < 300; i++)
                (void)strcat(prose, i % 7 == 0 ? "--option " : "word ");
        write_prose(prose, true, text, sizeof(text));
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                ck_assert_uint_le(strlen(line), 80);
                for (const char *c = line; *c != '\0'; c++)
                        n_words += *c == ' ';
                n_words++;
        }
        ck_assert_uint_eq(n_words, 300);
}
END_TEST

START_TEST(test_item)
{
        char text[256] = "";
        FILE *out = fmemopen(text, sizeof(text), "w");
        struct manual_writer w;

        manual_writer_init(&w, out, true, 0);
        manual_writer_item(&w, "-x, --exact", "no \"guess\"");
        ck_assert_int_eq(fclose(out), 0);
        ck_assert_str_eq(text, ".TP\n\\fB\\-x, \\-\\-exact\\fR\nno \"guess\"\n");
}
END_TEST
