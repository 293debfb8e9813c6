/* SPDX-License-Identifier: MIT */
/*
 * cli/record/record_and_view.h - `hyprof record --view`: the recording, and the viewer beside it
 *
 * Way of the data:  cmd_record -> [record_and_view] -> fork -> the recording; fork -> viewer_start
 *
 * A recording gives up rights as it goes on, and so does the viewer, others: each runs in a
 * child.  The viewer follows the trace as it grows; Ctrl-C ends the recording, another one the viewer.
 */
#ifndef CLI_RECORD_RECORD_AND_VIEW_H
#define CLI_RECORD_RECORD_AND_VIEW_H

struct record_options;

/*
 * record_and_view_run() - record in a child, view the trace in another one as soon as there is one
 * @record:  what records; returns an exit status
 * Returns the exit status of the recording if it wrote no trace, else that of the viewer.
 */
int record_and_view_run(struct record_options *options, char **argv,
                        int (*record)(struct record_options *options, char **argv));

#endif /* CLI_RECORD_RECORD_AND_VIEW_H */
