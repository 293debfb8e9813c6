/* SPDX-License-Identifier: MIT */
/*
 * cli/cmd_dump.h - `hyprof dump`
 *
 * Way of the data:  trace -> trace_dump -> [cmd_dump] -> standard output
 */
#ifndef CLI_CMD_DUMP_H
#define CLI_CMD_DUMP_H

/* Returns the exit status. */
int cmd_dump(int argc, char **argv);

#endif /* CLI_CMD_DUMP_H */
