/* SPDX-License-Identifier: MIT */
/*
 * cli/record/record_parts.h - the small parts of `hyprof record` beside the recorder: checks of what can be
 * recorded here, the viewer beside the recording, the line that shows progress
 *
 * Way of the data:  record_options -> [record_parts] -> cmd_record, people
 */
#ifndef CLI_RECORD_RECORD_PARTS_H
#define CLI_RECORD_RECORD_PARTS_H

#include "cli/options/record_options.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct recorder_progress;
struct trace_dictionary;

/*
 * scope_check.c - can what the options name be recorded?  Said before a trace is begun
 *
 * Way of the data:  record_options -> [scope_check] -> cmd_record
 */

/*
 * Checks that processes, threads, a cgroup and CPUs exist and may be recorded.  Complains.  Returns an exit
 * status.
 */
int scope_check(const struct record_options *options);

/*
 * rate_limit.c - compares the requested rate with the one that the kernel allows
 *
 * Way of the data:  record_options -> [rate_limit] -> recorder; after the recording -> people
 */

/*
 * rate_limit_apply() - fills in -F max, and lowers a rate that is over the limit, and says so
 * Returns an exit status: with --strict-freq such a rate is refused.
 */
int rate_limit_apply(struct record_options *options);

/* Says so if the kernel lowered its limit meanwhile; @before_hz: what it was, LONG_MIN = unknown. */
void rate_limit_check(const struct record_options *options, long before_hz);

/*
 * injection.c - the environment in which a command loads libhyprof_inject.so
 *
 * Way of the data:  record_options -> [injection] -> recorder -> the command's environment
 */

struct injection {
        const char *pairs[16]; /* NULL-terminated pairs of a variable and its value; some lie below */
        size_t n;
        char path[PATH_MAX];
        char words[INJECTION_WORDS_BYTES];
};

/*
 * Stays where it is.  Variables that are set already, and commands with rights of their own, are left as they
 * are; notes say so.
 */
void injection_init(struct injection *in, const struct record_options *options, char **argv);

/* Says so if it was asked for, and no program loaded the library. */
void injection_note_unused(const struct injection *in, const struct record_options *options,
                           const struct trace_dictionary *dictionary);

/*
 * record_and_view.c - `hyprof record --view`: the recording, and the viewer beside it
 *
 * Way of the data:  cmd_record -> [record_and_view] -> fork -> the recording; fork -> viewer_start
 *
 * The recording and the viewer each give up rights as they go on, but not the same ones, so each runs in a
 * child.  The viewer follows the trace as it grows.  Ctrl-C ends the recording; a second Ctrl-C ends the
 * viewer.
 */

/*
 * record_and_view_run() - record in a child, view the trace in another one as soon as there is one
 * @record:  what records; returns an exit status
 * Returns the exit status of the recording if it wrote no trace, else that of the viewer.
 */
int record_and_view_run(struct record_options *options, char **argv,
                        int (*record)(struct record_options *options, char **argv));

/*
 * progress_line.c - one line on the terminal that is drawn over while recording
 *
 * Way of the data:  recorder -> [progress_line] -> standard error, if it is a terminal
 */

struct progress_line {
        bool shown; /* something is on the line */
};

/* Draws; @context is a struct progress_line. */
void progress_line_draw(void *context, const struct recorder_progress *progress);

/* Wipes the line away. */
void progress_line_clear(struct progress_line *line);

#endif /* CLI_RECORD_RECORD_PARTS_H */
