/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_modules.h - `hyprof modules`: the code of a trace: kept, found, or missing
 *
 * Way of the data:  trace -> trace_code -> symbol_process (looks only) -> [cmd_modules] -> terminal, JSON
 */
#ifndef CLI_COMMANDS_CMD_MODULES_H
#define CLI_COMMANDS_CMD_MODULES_H

struct option_table;

/* @argv: from the command's name on.  Returns an exit status, which its --help lists. */
int cmd_modules(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_modules_options(void);

#endif /* CLI_COMMANDS_CMD_MODULES_H */
