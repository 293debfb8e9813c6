/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_extract.h - `hyprof extract`: the code that a trace keeps, as a file again
 *
 * Way of the data:  trace -> trace_code -> [cmd_extract] -> file
 */
#ifndef CLI_COMMANDS_CMD_EXTRACT_H
#define CLI_COMMANDS_CMD_EXTRACT_H

struct option_table;

/* @argv: from the command's name on.  Returns an exit status, which its --help lists. */
int cmd_extract(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_extract_options(void);

#endif /* CLI_COMMANDS_CMD_EXTRACT_H */
