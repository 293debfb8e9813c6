/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/cmd_query.h - hyprof query: a trace as an SQLite database
 *
 * Way of the data:  main -> [cmd_query] -> sqlite_database
 */
#ifndef CLI_COMMANDS_CMD_QUERY_H
#define CLI_COMMANDS_CMD_QUERY_H

struct option_table;

/* Returns an exit status. */
int cmd_query(int argc, char **argv);

const struct option_table *cmd_query_options(void);

#endif /* CLI_COMMANDS_CMD_QUERY_H */
