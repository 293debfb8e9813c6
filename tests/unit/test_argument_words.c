/* SPDX-License-Identifier: MIT */
/*
 * cli/options/argument_words.c, command_table.c: words of arguments are told apart, and all our tables
 * use words that are known
 */
#include "cli/commands/command_table.h"
#include "cli/options/argument_words.h"
#include "cli/options/option_table.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

/* The words of @argument with blanks between, choices in brackets. */
static void list_words(const char *argument, char *text)
{
        struct argument_word word = { .text = argument };

        text[0] = '\0';
        while (argument_word_next(&word) == 1) {
                bool choice = argument_word_is_choice(&word);

                (void)strcat(text, text[0] != '\0' ? " " : "");
                (void)strcat(text, choice ? "(" : "");
                (void)strncat(text, word.text, word.n_bytes);
                (void)strcat(text, choice ? ")" : "");
        }
}

static const struct {
        const char *argument, *words;
        bool are_choices;
} arguments[] = {
        { "FILE", "FILE", false },
        { "att|intel", "(att) (intel)", true },
        { "N|all", "N (all)", false },
        { "[=callstacks]", "(callstacks)", true },
        { "[=N]", "N", false },
        { "PID[,...]", "PID", false },
        { "perf-data|v2_x", "(perf-data) (v2_x)", true },
};

/* loop test */
START_LOOP_TEST(test_words, 0, sizeof(arguments) / sizeof(arguments[0]))
{
        char text[128];

        list_words(arguments[_i].argument, text);
        ck_assert_str_eq(text, arguments[_i].words);
        ck_assert(argument_words_are_choices(arguments[_i].argument) == arguments[_i].are_choices);
}
END_TEST

START_TEST(test_find)
{
        ck_assert_int_eq(argument_words_find("auto|always|never", "auto"), 0);
        ck_assert_int_eq(argument_words_find("auto|always|never", "never"), 2);
        ck_assert_int_eq(argument_words_find("auto|always|never", "al"), -EINVAL);
        ck_assert_int_eq(argument_words_find("auto|always|never", ""), -EINVAL);
        ck_assert_int_eq(argument_words_find("auto|always|never", "auto|always"), -EINVAL);
}
END_TEST

START_TEST(test_kinds)
{
        struct argument_word trace = { "TRACE", 5 }, file = { "FILE", 4 }, none = { "FIL", 3 };

        ck_assert_int_eq(argument_word_kind(&trace), ARGUMENT_TRACE);
        ck_assert_int_eq(argument_word_kind(&file), ARGUMENT_FILE);
        ck_assert_int_eq(argument_word_kind(&none), ARGUMENT_TEXT);
}
END_TEST

/* Tables keep this: two options are never one, and help is a paragraph. */
static void check_table(const struct option_table *table)
{
        for (size_t i = 0; i < table->n_rows; i++) {
                const struct option_row *row = &table->rows[i];

                ck_assert_ptr_eq(option_table_find_letter(table, row->letter), row);
                ck_assert_ptr_eq(option_table_find_name(table, row->name, strlen(row->name)), row);
                ck_assert_msg(!row->help || !strchr(row->help, '\n'), "%s --%s", table->command, row->name);
        }
        ck_assert_uint_le(table->n_rows, OPTION_ROWS_MAX);
        ck_assert_ptr_nonnull(option_table_find_name(table, "help", 4));
        ck_assert_msg(strstr(table->closing, "exit status: "), "%s", table->command);
}

START_TEST(test_tables)
{
        size_t n_rows;
        const struct command_row *rows = command_table_rows(&n_rows);

        for (size_t i = 0; i < n_rows; i++) {
                const struct option_table *table = rows[i].options();

                ck_assert_ptr_eq(command_table_find(rows[i].name), &rows[i]);
                ck_assert_str_eq(table->command + strlen("hyprof "), rows[i].name);
                check_table(table);
        }
        ck_assert_ptr_null(command_table_find("no"));
        ck_assert_ptr_null(command_table_find(""));
}
END_TEST
