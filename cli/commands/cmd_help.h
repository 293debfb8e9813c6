/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_help.h - `hyprof help`: the manual of a command
 *
 * Way of the data:  manual_prose -> man_page -> [cmd_help] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_HELP_H
#define CLI_COMMANDS_CMD_HELP_H

struct option_table;

/* @argv: from the command's name on.  Returns an exit status, which its --help lists. */
int cmd_help(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_help_options(void);

#endif /* CLI_COMMANDS_CMD_HELP_H */
