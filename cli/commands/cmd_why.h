/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_why.h - `hyprof why`: what the slowest instances of a zone do that the others do not
 *
 * Way of the data:  command line, file -> [cmd_why] -> why -> why_view -> standard output
 */
#ifndef CLI_COMMANDS_CMD_WHY_H
#define CLI_COMMANDS_CMD_WHY_H

struct option_table;

/* @argv[0] is the command's name.  Returns the exit status. */
int cmd_why(int argc, char **argv);

/* For manual pages and completions. */
const struct option_table *cmd_why_options(void);

#endif /* CLI_COMMANDS_CMD_WHY_H */
