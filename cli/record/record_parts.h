/* SPDX-License-Identifier: MIT */
/*
 * cli/record/record_parts.h - the small parts of `hyprof record` beside the recorder: checks of what can be
 * recorded here, the viewer beside the recording, the line that shows progress
 *
 * Way of the data:  record_options -> [record_parts] -> cmd_record, people
 */
#ifndef CLI_RECORD_RECORD_PARTS_H
#define CLI_RECORD_RECORD_PARTS_H

#include <stdbool.h>

struct record_options;
struct recorder_progress;

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
