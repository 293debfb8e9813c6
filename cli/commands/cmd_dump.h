/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_dump.h - `hyprof dump`
 *
 * Way of the data:  trace -> trace_dump -> [cmd_dump] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_DUMP_H
#define CLI_COMMANDS_CMD_DUMP_H

struct option_table;

/* Returns the exit status. */
int cmd_dump(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_dump_options(void);

#endif /* CLI_COMMANDS_CMD_DUMP_H */
