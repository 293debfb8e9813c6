/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/command_table.h - the commands: the one list that main(), the help, man pages and
 * completions are made from
 *
 * Way of the data:  command line -> main -> [command_table] -> cmd_*
 */
#ifndef CLI_MANUAL_COMMAND_TABLE_H
#define CLI_MANUAL_COMMAND_TABLE_H

#include "cli/options/option_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command_row {
        const char *name;
        int (*run)(int argc, char **argv); /* @argv: from the command's name on; returns an exit status */
        const struct option_table *(*options)(void);
        bool runs_command; /* whose signals are left alone */
        /*
         * It reads files that may be a stranger's: under sudo it gives up all rights but the invoking user's
         * before it looks at anything, and its results are that user's.
         */
        bool becomes_user;
        const char *help; /* one line */
};

/*
 * An earlier name of a command that is a part of another command now.  The name still works; lists show the
 * part once.
 */
struct command_alias {
        struct command_row row;  /* as it is called alone: "csv" */
        struct command_row form; /* the command and the word that stand for it: "export csv" */
};

/* All but the aliases, in the order in which they are shown. */
const struct command_row *command_table_rows(size_t *ret_n_rows);
const struct command_alias *command_table_aliases(size_t *ret_n_aliases);

/* A command or an alias; NULL when absent. */
const struct command_row *command_table_find(const char *name);

/* Whether the alias @a stands for a part of the command @name. */
bool command_alias_is_of(const struct command_alias *a, const char *name);

/*
 * command_table_find_form() - whether the words of a command line ask for what an alias does
 * @words:      from the command's name on
 * @ret_place:  of the word that says so
 * NULL = they do not.
 */
const struct command_row *command_table_find_form(const struct command_row *row, int n_words, char **words,
                                                  int *ret_place);

/* Returns the exit status.  @argv: from the command's name on; is changed. */
int command_table_run(const struct command_row *row, int argc, char **argv);

/* "csv = export csv, ..." */
#define COMMAND_ALIASES_BYTES 512
void command_table_list_aliases(char words[COMMAND_ALIASES_BYTES]);

/* Says that there is no such command, and which may be meant. */
void command_table_complain(const char *name);

/* The text of `hyprof --help`. */
void command_table_print(FILE *out);

#endif /* CLI_MANUAL_COMMAND_TABLE_H */
