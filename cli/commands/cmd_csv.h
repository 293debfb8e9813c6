/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_csv.h - hyprof csv: the tables that tracy-csvexport prints
 *
 * Way of the data:  main -> [cmd_csv] -> tracy_csv
 */
#ifndef CLI_COMMANDS_CMD_CSV_H
#define CLI_COMMANDS_CMD_CSV_H

struct option_table;

/* Returns an exit status. */
int cmd_csv(int argc, char **argv);

const struct option_table *cmd_csv_options(void);

#endif /* CLI_COMMANDS_CMD_CSV_H */
