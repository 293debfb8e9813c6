/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_check.h - `hyprof check`
 *
 * Way of the data:  trace -> trace_reader -> [cmd_check] -> standard output, mended trace
 */
#ifndef CLI_COMMANDS_CMD_CHECK_H
#define CLI_COMMANDS_CMD_CHECK_H

struct option_table;

/* Returns the exit status. */
int cmd_check(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_check_options(void);

#endif /* CLI_COMMANDS_CMD_CHECK_H */
