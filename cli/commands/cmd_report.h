/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_report.h - `hyprof report`
 *
 * Way of the data:  report -> report_text, report_json -> [cmd_report] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_REPORT_H
#define CLI_COMMANDS_CMD_REPORT_H

struct option_table;

/* @argv[0] is "report".  Returns the exit status, an enum exit_status. */
int cmd_report(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_report_options(void);

#endif /* CLI_COMMANDS_CMD_REPORT_H */
