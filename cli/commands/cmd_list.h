/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_list.h - `hyprof list`
 *
 * Way of the data:  event_catalog -> [cmd_list] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_LIST_H
#define CLI_COMMANDS_CMD_LIST_H

struct option_table;

/* Returns the exit status. */
int cmd_list(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_list_options(void);

#endif /* CLI_COMMANDS_CMD_LIST_H */
