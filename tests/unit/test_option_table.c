/* SPDX-License-Identifier: MIT */
/*
 * cli/options/option_table.c: options are found in every form that people write, and a wrong one is
 * named as it was written
 */
#include "base/io.h"
#include "cli/options/option_table.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARGS_MAX 12

enum { OPTION_DEEP = OPTION_LONG_ONLY, OPTION_ZONES, OPTION_STYLE, OPTION_COUNT };

static const struct option_row rows[] = {
        { 'o', "output", "FILE", "write to FILE" },
        { 'q', "quiet", NULL, "say nothing" },
        { 'h', "help", NULL, "print this text" },
        { OPTION_DEEP, "deep", "N", "how deep" },
        { OPTION_ZONES, "zones", "[=HOW]", "with zones" },
        { OPTION_STYLE, "style", "att|intel", "of instructions" },
        { OPTION_COUNT, "a-count-with-a-long-name", "N|all",
          "how many of them there are to be, which is said in so many words that they need more than one line" },
};

static struct option_table table_of(bool ends_at_operand)
{
        return (struct option_table){
                .command = "hyprof test",
                .operands = "[FILE]",
                .n_operands_max = 2,
                .about = "What it does.",
                .rows = rows,
                .n_rows = sizeof(rows) / sizeof(rows[0]),
                .closing = "The end.\n",
                .ends_at_operand = ends_at_operand,
        };
}

/* The options that were taken, as "o=FILE q deep=3 ". */
struct taken {
        char text[128];
        size_t used;
        int refuse; /* this letter; 0 = none */
};

static int take(void *context, int letter, const char *value)
{
        struct taken *t = context;

        if (letter == t->refuse)
                return -EINVAL;
        if (letter == OPTION_DEEP)
                t->used += (size_t)snprintf(t->text + t->used, sizeof(t->text) - t->used, "deep=%s ", value);
        else if (letter == OPTION_STYLE || letter == OPTION_COUNT)
                t->used += (size_t)snprintf(t->text + t->used, sizeof(t->text) - t->used, "%s=%s ",
                                            letter == OPTION_STYLE ? "style" : "count", value);
        else if (letter == OPTION_ZONES)
                t->used += (size_t)snprintf(t->text + t->used, sizeof(t->text) - t->used, "zones%s%s ",
                                            value ? "=" : "", value ? value : "");
        else
                t->used += (size_t)snprintf(t->text + t->used, sizeof(t->text) - t->used, "%c%s%s ", letter,
                                            value ? "=" : "", value ? value : "");
        ck_assert_uint_lt(t->used, sizeof(t->text));
        return 0;
}

/* A command line in one piece, cut at the blanks, as main() would get it. */
struct command_line {
        char text[256];
        char *argv[ARGS_MAX + 1];
        int argc;
};

static void split(struct command_line *line, const char *text)
{
        char *rest = line->text;

        (void)snprintf(line->text, sizeof(line->text), "test %s", text);
        line->argc = 0;
        for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
                line->argv[line->argc++] = word;
        line->argv[line->argc] = NULL;
        ck_assert_int_le(line->argc, ARGS_MAX);
}

static const struct {
        const char *line;
        bool ends_at_operand;
        const char *taken;
        const char *operands; /* with blanks between */
} good[] = {
        { "-q", false, "q ", "" },
        { "-o out file", false, "o=out ", "file" },
        { "-oout -q", false, "o=out q ", "" },
        { "-qoout", false, "q o=out ", "" },
        { "--output=out --quiet --deep 3", false, "o=out q deep=3 ", "" },
        { "--output out", false, "o=out ", "" },
        { "file -q other", false, "q ", "file other" },
        { "-q -- -o", false, "q ", "-o" },
        { "-o -q", false, "o=-q ", "" },
        { "- -q", false, "q ", "-" },
        { "-q program -o its", true, "q ", "program -o its" },
        { "program --deep", true, "", "program --deep" },
        { "-q -- program -x", true, "q ", "program -x" },
        { "--zones --quiet", false, "zones q ", "" },
        { "--zones=callstacks -q", false, "zones=callstacks q ", "" },
        { "--zones=", false, "zones= ", "" },
        { "--style att --style=intel", false, "style=att style=intel ", "" },
        { "--a-count=all --a-count 7", false, "count=all count=7 ", "" },
        { "--zones program -x", true, "zones ", "program -x" }, /* the next word is never its value */
};

/* loop test */
START_LOOP_TEST(test_good, 0, sizeof(good) / sizeof(good[0]))
{
        struct option_table table = table_of(good[_i].ends_at_operand);
        struct taken taken = { .used = 0 };
        struct command_line line;
        char operands[256] = "";
        int operand;

        split(&line, good[_i].line);
        ck_assert_int_eq(option_table_parse(&table, line.argc, line.argv, take, &taken, &operand), 0);
        ck_assert_str_eq(taken.text, good[_i].taken);
        for (int i = operand; i < line.argc; i++) {
                (void)strcat(operands, i > operand ? " " : "");
                (void)strcat(operands, line.argv[i]);
        }
        ck_assert_str_eq(operands, good[_i].operands);
}
END_TEST

static const struct {
        const char *line;
        const char *words; /* of the complaint */
} bad[] = {
        { "a b c", "error: unexpected argument 'c'" },
        { "-x", "unknown option -x\n" },
        { "--wrong", "unknown option --wrong\n" },
        { "-q --wrong=3 file", "unknown option --wrong=3\n" },
        { "-qx", "unknown option -x\n" },
        { "-xq", "unknown option -x\n" },
        { "--quiet -xyz", "unknown option -x\n" },
        { "file -xq", "unknown option -x\n" },
        { "-q -o", "option -o needs a value\n" },
        { "-qo", "option -o needs a value\n" },
        { "--deep", "option --deep needs a value\n" },
        { "--output", "option --output needs a value\n" },
        { "--quiet=3", "option --quiet takes no value\n" },
        { "--outptu=x", "unknown option --outptu=x; did you mean --output?\n" },
        { "--=x", "unknown option --=x\n" },
        { "--style=itnel", "error: --style itnel: expected one of att, intel; did you mean 'intel'?\n" },
        { "--style something", "error: --style something: expected one of att, intel\n" },
        { "--style=", "error: --style : " },
};

/* loop test */
START_LOOP_TEST(test_bad, 0, sizeof(bad) / sizeof(bad[0]))
{
        struct option_table table = table_of(false);
        struct taken taken = { .used = 0 };
        struct command_line line;
        char words[512] = "";
        size_t n_bytes;
        int operand, r;
        int capture = memfd_create("complaint", MFD_CLOEXEC);
        int saved = dup(STDERR_FILENO);

        split(&line, bad[_i].line);
        ck_assert_int_eq(dup2(capture, STDERR_FILENO), STDERR_FILENO);
        r = option_table_parse(&table, line.argc, line.argv, take, &taken, &operand);
        (void)dup2(saved, STDERR_FILENO);
        (void)close(saved);

        ck_assert_int_eq(r, -EINVAL);
        ck_assert_int_eq(io_pread_full(capture, words, sizeof(words) - 1, 0, &n_bytes, NULL), 0);
        ck_assert_msg(strstr(words, bad[_i].words) != NULL, "%s", words);
        ck_assert_msg(strstr(words, "hyprof test --help\n") != NULL, "%s", words);
        io_close(&capture);
}
END_TEST

START_TEST(test_choices)
{
        struct option_table table = table_of(false);
        struct taken taken = { .used = 0 };
        struct command_line line;
        int operand;

        table.choices = "folded|chrome";
        split(&line, "-q chrome trace");
        ck_assert_int_eq(option_table_parse(&table, line.argc, line.argv, take, &taken, &operand), 0);
        ck_assert_int_eq(operand, 2);
        split(&line, "-q");
        ck_assert_int_eq(option_table_parse(&table, line.argc, line.argv, take, &taken, &operand), 0);
        split(&line, "chrom trace");
        ck_assert_int_eq(option_table_parse(&table, line.argc, line.argv, take, &taken, &operand), -EINVAL);
}
END_TEST

START_TEST(test_refused_value)
{
        struct option_table table = table_of(false);
        struct taken taken = { .refuse = 'o' };
        struct command_line line;
        int operand;

        split(&line, "-q -o out --deep 3");
        ck_assert_int_eq(option_table_parse(&table, line.argc, line.argv, take, &taken, &operand), -EINVAL);
        ck_assert_str_eq(taken.text, "q ");
}
END_TEST

START_TEST(test_help)
{
        struct option_table table = table_of(false);
        char text[1024] = "";
        FILE *out = fmemopen(text, sizeof(text), "w");

        option_table_print(&table, out);
        ck_assert_int_eq(fclose(out), 0);
        ck_assert_str_eq(
                text,
                "usage: hyprof test [OPTIONS] [FILE]\n\nWhat it does.\n"
                "  -o, --output FILE       write to FILE\n"
                "  -q, --quiet             say nothing\n"
                "  -h, --help              print this text\n"
                "  --deep N                how deep\n"
                "  --zones[=HOW]           with zones\n"
                "  --style att|intel       of instructions\n"
                "  --a-count-with-a-long-name N|all\n"
                "                          how many of them there are to be, which is said in so many words that they\n"
                "                          need more than one line\n"
                "\nThe end.\n");
}
END_TEST

START_TEST(test_number)
{
        static const char *const wrong[] = {
                "", " 5", "5 ", "+5", "-5", "5k", "0x5", "x", "4", "1001", "99999999999999999999"
        };
        uint64_t value = 1;

        ck_assert_int_eq(option_parse_number("5", 5, 1000, &value), 0);
        ck_assert_uint_eq(value, 5);
        ck_assert_int_eq(option_parse_number("1000", 5, 1000, &value), 0);
        ck_assert_uint_eq(value, 1000);
        ck_assert_int_eq(option_parse_number("18446744073709551615", 0, UINT64_MAX, &value), 0);
        ck_assert_uint_eq(value, UINT64_MAX);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                value = 77;
                ck_assert_int_eq(option_parse_number(wrong[i], 5, 1000, &value), -EINVAL);
                ck_assert_uint_eq(value, 77);
        }
        ck_assert_int_eq(option_parse_number("18446744073709551616", 0, UINT64_MAX, &value), -EINVAL);
}
END_TEST

START_TEST(test_mode)
{
        static const char *const wrong[] = { "",    "0",   "7",    "64",    "0o640", "888", "400", "755",
                                             "700", "466", "1644", "00640", "0640 ", "-44", "rw-r" };
        unsigned mode = 1;

        ck_assert_int_eq(option_parse_mode("600", &mode), 0);
        ck_assert_uint_eq(mode, 0600);
        ck_assert_int_eq(option_parse_mode("0640", &mode), 0);
        ck_assert_uint_eq(mode, 0640);
        ck_assert_int_eq(option_parse_mode("666", &mode), 0);
        ck_assert_uint_eq(mode, 0666);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                ck_assert_msg(option_parse_mode(wrong[i], &mode) == -EINVAL, "%s", wrong[i]);
                ck_assert_uint_eq(mode, 0666);
        }
}
END_TEST

START_TEST(test_bytes)
{
        static const struct {
                const char *text;
                uint64_t bytes;
        } right[] = { { "4096", 4096 },       { "4K", 4096 },    { "4k", 4096 },       { "512K", 524288 },
                      { "1048576", 1048576 }, { "4M", 4194304 }, { "256M", 268435456 } };
        static const char *const wrong[] = { "",   "K",    "4 K",  "4KB",       "4MiB",
                                             "4m", "-4K",  "0x4K", "4.5K",      "4095",
                                             "3K", "257M", "1G",   "16777216G", "17179869184G" };
        uint64_t value;

        for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
                ck_assert_int_eq(option_parse_bytes(right[i].text, 4096, 268435456, &value), 0);
                ck_assert_uint_eq(value, right[i].bytes);
        }
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                value = 77;
                ck_assert_msg(option_parse_bytes(wrong[i], 4096, 268435456, &value) == -EINVAL, "%s",
                              wrong[i]);
                ck_assert_uint_eq(value, 77);
        }
        ck_assert_int_eq(option_parse_bytes("16G", 0, UINT64_MAX, &value), 0);
        ck_assert_uint_eq(value, UINT64_C(17179869184));
        ck_assert_int_eq(option_parse_bytes("17179869183G", 0, UINT64_MAX, &value), 0);
        ck_assert_int_eq(option_parse_bytes("17179869184G", 0, UINT64_MAX, &value), -EINVAL);
}
END_TEST

START_TEST(test_duration)
{
        static const struct {
                const char *text;
                uint64_t ns;
        } right[] = { { "1ms", UINT64_C(1000000) },
                      { "500ms", UINT64_C(500000000) },
                      { "10s", UINT64_C(10000000000) },
                      { "10", UINT64_C(10000000000) },
                      { "2m", UINT64_C(120000000000) },
                      { "1h", UINT64_C(3600000000000) },
                      { "24h", UINT64_C(86400000000000) },
                      { "1.5s", UINT64_C(1500000000) },
                      { "0.2", UINT64_C(200000000) },
                      { "500000us", UINT64_C(500000000) },
                      { "17ns", 17 },
                      { "10 s", UINT64_C(10000000000) } };
        static const char *const wrong[] = { "",
                                             "s",
                                             "0",
                                             "0ms",
                                             "10  s",
                                             "-1s",
                                             "+1s",
                                             "1d",
                                             "1S",
                                             "1.",
                                             ".5s",
                                             "25h",
                                             "1ms ",
                                             "0.1ns",
                                             "1,5s",
                                             "1e3",
                                             "9999999999999999999h" };
        uint64_t value;

        for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
                ck_assert_int_eq(option_parse_duration(right[i].text, 1, UINT64_C(86400000000000), &value),
                                 0);
                ck_assert_uint_eq(value, right[i].ns);
        }
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                value = 77;
                ck_assert_msg(option_parse_duration(wrong[i], 1, UINT64_C(86400000000000), &value) == -EINVAL,
                              "%s", wrong[i]);
                ck_assert_uint_eq(value, 77);
        }
}
END_TEST
