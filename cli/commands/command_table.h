/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/command_table.h - the commands: the one list that main(), the help, man pages and
 * completions are made from
 *
 * Way of the data:  command line -> main -> [command_table] -> cmd_*
 */
#ifndef CLI_COMMANDS_COMMAND_TABLE_H
#define CLI_COMMANDS_COMMAND_TABLE_H

#include "cli/options/option_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command_row {
        const char *name;
        int (*run)(int argc, char **argv); /* @argv: from the command's name on; returns an exit status */
        const struct option_table *(*options)(void);
        bool runs_command; /* whose signals are left alone */
        const char *help;  /* one line */
};

/* All of them, in the order in which they are shown. */
const struct command_row *command_table_rows(size_t *ret_n_rows);

/* NULL when absent. */
const struct command_row *command_table_find(const char *name);

/* Says that there is no such command, and which may be meant. */
void command_table_complain(const char *name);

/* The text of `hyprof --help`. */
void command_table_print(FILE *out);

#endif /* CLI_COMMANDS_COMMAND_TABLE_H */
