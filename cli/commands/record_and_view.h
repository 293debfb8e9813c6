/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/record_and_view.h - `hyprof record --view`: the recording, then the viewer
 *
 * Way of the data:  cmd_record -> [record_and_view] -> fork -> the recording; then viewer_start
 *
 * A recording gives up rights as it goes on, and those of the viewer with them: it runs in a child.
 */
#ifndef CLI_COMMANDS_RECORD_AND_VIEW_H
#define CLI_COMMANDS_RECORD_AND_VIEW_H

struct record_options;

/*
 * record_and_view_run() - record in a child, then view the trace if there is one
 * @record:  what records; returns an exit status
 * Returns the exit status of the recording if it wrote no trace, else that of the viewer.
 */
int record_and_view_run(struct record_options *options, char **argv,
                        int (*record)(struct record_options *options, char **argv));

#endif /* CLI_COMMANDS_RECORD_AND_VIEW_H */
