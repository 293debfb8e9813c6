/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_annotate.h - `hyprof annotate`
 *
 * Way of the data:  main -> [cmd_annotate] -> sampled_trace, function_choice, annotation -> annotate_text, annotate_json
 */
#ifndef CLI_COMMANDS_CMD_ANNOTATE_H
#define CLI_COMMANDS_CMD_ANNOTATE_H

struct option_table;

/* @argv from the command's name on; returns the exit status. */
int cmd_annotate(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_annotate_options(void);

#endif /* CLI_COMMANDS_CMD_ANNOTATE_H */
