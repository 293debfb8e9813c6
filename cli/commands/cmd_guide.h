/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_guide.h - `hyprof guide`: one page of how to work with it, for people and assistants
 *
 * Way of the data:  manual_prose -> man_page -> [cmd_guide] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_GUIDE_H
#define CLI_COMMANDS_CMD_GUIDE_H

struct option_table;

/* @argv: from the command's name on.  Returns an exit status, which its --help lists. */
int cmd_guide(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_guide_options(void);

#endif /* CLI_COMMANDS_CMD_GUIDE_H */
