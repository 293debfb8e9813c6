/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_record.h - `hyprof record`
 *
 * Way of the data:  command line -> [cmd_record] -> recorder, symbol_process -> trace
 */
#ifndef CLI_COMMANDS_CMD_RECORD_H
#define CLI_COMMANDS_CMD_RECORD_H

struct option_table;

/* Returns the exit status; does not return if the recorded command died by a signal: neither do we. */
int cmd_record(int argc, char **argv);

/* For the command_table. */
const struct option_table *cmd_record_options(void);

#endif /* CLI_COMMANDS_CMD_RECORD_H */
