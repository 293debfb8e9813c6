/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_symbolize.h - `hyprof symbolize`: names for the addresses of a trace, on any machine, at any time
 *
 * Way of the data:  trace -> trace_code -> symbol_process -> [cmd_symbolize] -> trace
 */
#ifndef CLI_COMMANDS_CMD_SYMBOLIZE_H
#define CLI_COMMANDS_CMD_SYMBOLIZE_H

struct option_table;

/* @argv: from the command's name on.  Returns an exit status, which its --help lists. */
int cmd_symbolize(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_symbolize_options(void);

#endif /* CLI_COMMANDS_CMD_SYMBOLIZE_H */
