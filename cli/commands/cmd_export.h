/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_export.h - `hyprof export`: a trace as a file of another tool
 *
 * Way of the data:  command line, file -> [cmd_export] -> export_format -> file, standard output
 */
#ifndef CLI_COMMANDS_CMD_EXPORT_H
#define CLI_COMMANDS_CMD_EXPORT_H

struct option_table;

/* @argv[0] is the command's name.  Returns the exit status. */
int cmd_export(int argc, char **argv);

/* For manual pages and completions. */
const struct option_table *cmd_export_options(void);

#endif /* CLI_COMMANDS_CMD_EXPORT_H */
