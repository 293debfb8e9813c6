/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/filtered_dump.h - the events of a trace that pass a filter, as the lines of `hyprof dump`
 *
 * Way of the data:  loaded_trace -> trace_walk -> [filtered_dump] -> trace_dump -> standard output
 *
 * All tables stand before them: what an event refers to is there.  Chunks and runs are not printed.
 */
#ifndef CLI_COMMANDS_FILTERED_DUMP_H
#define CLI_COMMANDS_FILTERED_DUMP_H

#include "analyze/walk/trace_filter.h"

#include <stdio.h>

struct error;

/* Returns an exit status of a dump that was printed, after a warning if the trace is not whole; else -errno with words. */
int filtered_dump_print(const char *path, const struct trace_filter_request *request, FILE *out,
                        struct error *err);

#endif /* CLI_COMMANDS_FILTERED_DUMP_H */
