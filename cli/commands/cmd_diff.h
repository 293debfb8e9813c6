/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_diff.h - `hyprof diff`
 *
 * Way of the data:  command line, diff_comparison, diff_view -> [cmd_diff] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_DIFF_H
#define CLI_COMMANDS_CMD_DIFF_H

struct option_table;

/*
 * @argv[0] is "diff".  Returns the exit status as diff(1) does: 0; 1 if --fail-above holds; 2 = usage, or a recording
 * that cannot be read.
 */
int cmd_diff(int argc, char **argv);

const struct option_table *cmd_diff_options(void);

#endif /* CLI_COMMANDS_CMD_DIFF_H */
