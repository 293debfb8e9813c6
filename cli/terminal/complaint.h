/* SPDX-License-Identifier: MIT */
/*
 * cli/terminal/complaint.h - how every command reports to people: problems, and results
 *
 * Way of the data:  error -> [complaint] -> standard error
 *
 *      hyprof: error: WHAT
 *        try: COMMAND
 *
 * One line each, whatever control characters are in the names.
 */
#ifndef CLI_TERMINAL_COMPLAINT_H
#define CLI_TERMINAL_COMPLAINT_H

#include <stdint.h>

struct error;
struct trace_version;

/* "hyprof: ..." on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "next: ...", the command that is likely to follow. */
void complain_next(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * complain_of_trace() - that a trace could not be read: the words, and what to try
 * @code:  -errno: -ENOENT, -EISDIR, -EBADMSG, -ENOTSUP and -EACCES have a remedy, others none
 */
void complain_of_trace(int code, const char *path, const struct error *err);

/*
 * complain_of_existing() - -EEXIST of the file to write: the words, and the same command with --force
 * @option:  the one that named the file: "-o"
 * @path:    what it named; NULL = the file is named after the trace
 */
void complain_of_existing(const char *command, const char *option, const char *path, const char *trace,
                          const struct error *err);

/*
 * Prints how to repair a trace that is cut off.  A trace from standard input has to be saved in a file first.
 */
void complain_try_repair(const char *path);

/*
 * One line, if a newer hyprof wrote the trace: what of it was left out.  @n_unknown_events:
 * UINT64_MAX if they were not counted.
 */
void complain_of_newer(const char *path, const struct trace_version *version, uint64_t n_unknown_events);

/* The remedy, below the problem. */
void complain_try(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* CLI_TERMINAL_COMPLAINT_H */
