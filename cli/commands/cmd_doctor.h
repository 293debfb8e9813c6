/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_doctor.h - `hyprof doctor`
 *
 * Way of the data:  perf_access -> [cmd_doctor] -> standard output
 */
#ifndef CLI_COMMANDS_CMD_DOCTOR_H
#define CLI_COMMANDS_CMD_DOCTOR_H

struct option_table;

/* Returns the exit status. */
int cmd_doctor(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_doctor_options(void);

#endif /* CLI_COMMANDS_CMD_DOCTOR_H */
