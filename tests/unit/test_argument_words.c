/* SPDX-License-Identifier: MIT */
/*
 * cli/options/argument_words.c, command_table.c: words of arguments are told apart, and all our tables
 * use words that are known
 */
#include "cli/manual/command_table.h"
#include "cli/options/argument_words.h"
#include "cli/options/option_table.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Where a table has groups, each row that is shown is in one of them, once. */
static void check_order(const struct option_table *table)
{
        struct option_cursor cursor = { .row = NULL };
        size_t n_shown = 0, n_rows = 0, n_titles = 0;
        bool seen[OPTION_ROWS_MAX] = { false };

        for (size_t i = 0; i < table->n_rows; i++)
                n_rows += table->rows[i].help && !option_row_is_alias(&table->rows[i]);
        while (option_table_next(table, &cursor) == 1) {
                size_t place = (size_t)(cursor.row - table->rows);

                ck_assert_msg(!seen[place], "%s: --%s is shown twice", table->command, cursor.row->name);
                ck_assert_ptr_nonnull(cursor.row->help);
                ck_assert(cursor.row->help[0] != '=');
                seen[place] = true;
                n_shown++;
                n_titles += cursor.begins_group;
        }
        ck_assert_uint_eq(n_shown, n_rows);
        ck_assert_uint_eq(n_titles, table->n_groups);
}

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
        check_order(table);
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

/* main() finds an alias by its name; no row of the list has that name; one command has its part. */
START_TEST(test_aliases)
{
        size_t n_rows, n_aliases;
        const struct command_row *rows = command_table_rows(&n_rows);
        const struct command_alias *aliases = command_table_aliases(&n_aliases);
        char list[COMMAND_ALIASES_BYTES];

        command_table_list_aliases(list);
        for (size_t i = 0; i < n_aliases; i++) {
                const struct command_alias *a = &aliases[i];
                size_t n_parents = 0;

                ck_assert_ptr_eq(command_table_find(a->row.name), &a->row);
                ck_assert_ptr_null(command_table_find(a->form.name));
                ck_assert_str_eq(a->row.options()->command + strlen("hyprof "), a->row.name);
                check_table(a->row.options());
                check_table(a->form.options());
                for (size_t j = 0; j < n_rows; j++) {
                        ck_assert_str_ne(rows[j].name, a->row.name);
                        n_parents += command_alias_is_of(a, rows[j].name);
                }
                ck_assert_uint_eq(n_parents, 1);
                ck_assert_ptr_nonnull(strstr(list, a->form.name));
        }
        ck_assert_uint_eq(n_aliases, 5);
}
END_TEST

static const struct {
        const char *line, *form; /* NULL = the command itself */
        int place;
} forms[] = {
        { "export csv t.hyp", "export csv", 1 },
        { "export -q sqlite t.hyp", "export sqlite", 2 },
        { "export -qo csv html", "export html", 3 },
        { "export --output csv html", "export html", 3 },
        { "export --outp csv html", "export html", 3 },
        { "export --output=csv html", "export html", 2 },
        { "export -- html", "export html", 2 },
        { "export folded csv", NULL, 0 },
        { "export -i csv folded", NULL, 0 },
        { "export - csv", NULL, 0 },
        { "export --", NULL, 0 },
        { "export", NULL, 0 },
        { "modules --extract", "modules --extract", 1 },
        { "modules t.hyp 1 --extr -o x", "modules --extract", 3 },
        { "modules --debug-dir --extract", NULL, 0 },
        { "modules -- --extract", NULL, 0 },
        { "modules extract", NULL, 0 },
        { "modules", NULL, 0 },
        { "help guide", "help guide", 1 },
        { "help record guide", NULL, 0 },
        { "report csv", NULL, 0 },
};

/* The words of a command line that ask for what an alias does, and those that only look so; loop test */
START_LOOP_TEST(test_forms, 0, sizeof(forms) / sizeof(forms[0]))
{
        char text[64], *words[8], *rest = text;
        const struct command_row *form;
        int n_words = 0, place = 0;

        (void)snprintf(text, sizeof(text), "%s", forms[_i].line);
        for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
                words[n_words++] = word;
        form = command_table_find_form(command_table_find(words[0]), n_words, words, &place);
        ck_assert_str_eq(form ? form->name : "none", forms[_i].form ? forms[_i].form : "none");
        ck_assert_int_eq(place, forms[_i].place);
}
END_TEST
