/* SPDX-License-Identifier: MIT */
/*
 * cli/exit_status.h - what hyprof ends with
 *
 * Way of the data:  cli -> [exit_status] -> shell
 *
 * `hyprof record` ends as the command that it ran did, so its own failures have
 * the numbers that timeout(1) and env(1) use for theirs.
 */
#ifndef CLI_EXIT_STATUS_H
#define CLI_EXIT_STATUS_H

enum exit_status {
        EXIT_STATUS_OK = 0,
        EXIT_STATUS_FAILED = 1, /* the trace cannot be read, or the result cannot be written */
        EXIT_STATUS_USAGE = 2,
        EXIT_STATUS_RECORD_FAILED = 125,     /* hyprof record itself failed, before or while recording */
        EXIT_STATUS_CANNOT_EXECUTE = 126,    /* the command is there but cannot be executed */
        EXIT_STATUS_COMMAND_NOT_FOUND = 127, /* the command is not there */
};

#endif /* CLI_EXIT_STATUS_H */
